# The types of the distributions' parameters. No module has this name at run time.

from collections.abc import Sequence
from typing import Any, SupportsFloat, SupportsIndex, TypeAlias, final

import numpy as np
from typing_extensions import Buffer

#: One number for all elements: a parameter of a distribution.
_Real: TypeAlias = float | SupportsFloat | SupportsIndex
# An array is no `Buffer` to type checkers on Python 3.11, so it is named.
_Array: TypeAlias = Buffer | np.ndarray[Any, Any]
_Reals: TypeAlias = Sequence[float] | _Array
_Matrix: TypeAlias = Sequence[Sequence[float] | _Array] | _Array

@final
class Categorical:
    def __init__(self, weights: _Reals, /) -> None: ...
    def __len__(self) -> int: ...
    def __hash__(self) -> int: ...
    def __eq__(self, other: object, /) -> bool: ...
