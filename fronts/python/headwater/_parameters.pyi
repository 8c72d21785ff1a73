# The types of the distributions' parameters. No module has this name at run time.

from collections.abc import Sequence
from typing import SupportsFloat, SupportsIndex, TypeAlias, final

from typing_extensions import Buffer

#: One number for all elements: a parameter of a distribution.
_Real: TypeAlias = float | SupportsFloat | SupportsIndex
_Reals: TypeAlias = Sequence[float] | Buffer
_Matrix: TypeAlias = Sequence[Sequence[float] | Buffer] | Buffer

@final
class Categorical:
    def __init__(self, weights: _Reals, /) -> None: ...
    def __len__(self) -> int: ...
    def __hash__(self) -> int: ...
    def __eq__(self, other: object, /) -> bool: ...
