# The types of the streams' half of headwater._native. No module has this name at run time.
#
# Arrays are typed as NumPy's, which they are where NumPy is installed; elsewhere they are `Array`.

import builtins
from collections.abc import Iterator, MutableSequence, Sequence
from typing import (
    Any,
    Literal,
    Protocol,
    Self,
    SupportsIndex,
    TypeAlias,
    TypeVar,
    final,
    overload,
)

import numpy as np
from numpy.typing import NDArray

from headwater._distributions import _Distributions, _DistributionsAt
from headwater._parameters import Categorical, _Array, _Reals

_Engine: TypeAlias = Literal["ars7", "ars5", "philox4x32"]
_Seed: TypeAlias = SupportsIndex | str | bytes | bytearray | memoryview
_Shape: TypeAlias = SupportsIndex | tuple[SupportsIndex, ...] | list[SupportsIndex] | list[int]
_T = TypeVar("_T")
_Scalar = TypeVar("_Scalar", bound=np.generic)

class _Tensor(Protocol):
    def __dlpack__(self, *, stream: None = None) -> Any: ...
    def __dlpack_device__(self) -> tuple[Any, Any]: ...

_Out = TypeVar("_Out", bound=_Array | _Tensor)
_Indices: TypeAlias = Sequence[int] | _Array | _Tensor
_F64: TypeAlias = Literal["float64", "f8"] | type[float] | type[np.float64] | np.dtype[np.float64]
_F32: TypeAlias = Literal["float32", "f4"] | type[np.float32] | np.dtype[np.float32]
_F16: TypeAlias = Literal["float16", "f2"] | type[np.float16] | np.dtype[np.float16]
_BF16: TypeAlias = Literal["bfloat16"]
_C128: TypeAlias = Literal["complex128", "c16"] | type[np.complex128] | np.dtype[np.complex128]
_C64: TypeAlias = Literal["complex64", "c8"] | type[np.complex64] | np.dtype[np.complex64]
_I64: TypeAlias = Literal["int64", "i8"] | type[int] | type[np.int64] | np.dtype[np.int64]
_Integers: TypeAlias = (
    Literal["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"]
    | type[int]
    | type[np.integer[Any]]
    | np.dtype[Any]
)

ENGINES: tuple[str, ...]

@final
class Key:
    def __new__(cls, seed: _Seed, /, *, engine: _Engine | str = "ars7") -> Self: ...
    @staticmethod
    def parse(text: str, /, *, engine: _Engine | str = "ars7") -> Key: ...
    @staticmethod
    def from_raw(raw: builtins.bytes, /, *, engine: _Engine | str = "ars7") -> Key: ...
    def child(self, label: _Seed, /) -> Key: ...
    def split(self, num: int = 2, /) -> list[Key]: ...
    def fold_in(self, data: _Seed, /) -> Key: ...
    def stream(self, id: SupportsIndex, /) -> Stream: ...
    def expand(self, label: _Seed, n: SupportsIndex, /) -> builtins.bytes: ...
    def block(self, counter: SupportsIndex, /) -> int: ...
    @property
    def engine(self) -> str: ...
    @property
    def raw(self) -> builtins.bytes: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __copy__(self) -> Self: ...
    def __deepcopy__(self, memo: Any, /) -> Self: ...

@final
class Stream(_Distributions):
    def __new__(cls, key: Key, id: SupportsIndex, /) -> Self: ...
    def child(self, label: _Seed, /) -> Stream: ...
    @property
    def key(self) -> Key: ...
    @property
    def id(self) -> int: ...
    @overload
    def random(
        self,
        shape: None = None,
        dtype: _F64 | _F32 | _F16 | _BF16 | None = None,
        out: None = None,
        *,
        start: SupportsIndex = 0,
        threads: SupportsIndex = 1,
    ) -> float: ...
    @overload
    def random(  # type: ignore[overload-overlap]
        self,
        shape: _Shape,
        dtype: _F64 | None = None,
        out: None = None,
        *,
        start: SupportsIndex = 0,
        threads: SupportsIndex = 1,
    ) -> NDArray[np.float64]: ...
    @overload
    def random(  # type: ignore[overload-overlap]
        self,
        shape: _Shape,
        dtype: _F32,
        out: None = None,
        *,
        start: SupportsIndex = 0,
        threads: SupportsIndex = 1,
    ) -> NDArray[np.float32]: ...
    @overload
    def random(
        self,
        shape: _Shape,
        dtype: _F16,
        out: None = None,
        *,
        start: SupportsIndex = 0,
        threads: SupportsIndex = 1,
    ) -> NDArray[np.float16]: ...
    @overload
    def random(
        self,
        shape: _Shape,
        dtype: _BF16,
        out: None = None,
        *,
        start: SupportsIndex = 0,
        threads: SupportsIndex = 1,
    ) -> Array: ...
    @overload
    def random(
        self,
        shape: _Shape | None = None,
        dtype: _F64 | _F32 | _F16 | _BF16 | None = None,
        *,
        out: _Out,
        start: SupportsIndex = 0,
        threads: SupportsIndex = 1,
    ) -> _Out: ...
    @overload
    def standard_normal(
        self,
        shape: None = None,
        dtype: _F64 | _F32 | _F16 | _BF16 | None = None,
        out: None = None,
        *,
        start: SupportsIndex = 0,
        threads: SupportsIndex = 1,
    ) -> float: ...
    @overload
    def standard_normal(  # type: ignore[overload-overlap]
        self,
        shape: _Shape,
        dtype: _F64 | None = None,
        out: None = None,
        *,
        start: SupportsIndex = 0,
        threads: SupportsIndex = 1,
    ) -> NDArray[np.float64]: ...
    @overload
    def standard_normal(  # type: ignore[overload-overlap]
        self,
        shape: _Shape,
        dtype: _F32,
        out: None = None,
        *,
        start: SupportsIndex = 0,
        threads: SupportsIndex = 1,
    ) -> NDArray[np.float32]: ...
    @overload
    def standard_normal(
        self,
        shape: _Shape,
        dtype: _F16,
        out: None = None,
        *,
        start: SupportsIndex = 0,
        threads: SupportsIndex = 1,
    ) -> NDArray[np.float16]: ...
    @overload
    def standard_normal(
        self,
        shape: _Shape,
        dtype: _BF16,
        out: None = None,
        *,
        start: SupportsIndex = 0,
        threads: SupportsIndex = 1,
    ) -> Array: ...
    @overload
    def standard_normal(
        self,
        shape: _Shape | None = None,
        dtype: _F64 | _F32 | _F16 | _BF16 | None = None,
        *,
        out: _Out,
        start: SupportsIndex = 0,
        threads: SupportsIndex = 1,
    ) -> _Out: ...
    @overload
    def standard_exponential(
        self,
        shape: None = None,
        dtype: _F64 | None = None,
        out: None = None,
        *,
        start: SupportsIndex = 0,
        threads: SupportsIndex = 1,
    ) -> float: ...
    @overload
    def standard_exponential(
        self,
        shape: _Shape,
        dtype: _F64 | None = None,
        out: None = None,
        *,
        start: SupportsIndex = 0,
        threads: SupportsIndex = 1,
    ) -> NDArray[np.float64]: ...
    @overload
    def standard_exponential(
        self,
        shape: _Shape | None = None,
        dtype: _F64 | None = None,
        *,
        out: _Out,
        start: SupportsIndex = 0,
        threads: SupportsIndex = 1,
    ) -> _Out: ...
    @overload
    def integers(
        self,
        low: SupportsIndex,
        high: SupportsIndex | None = None,
        shape: None = None,
        dtype: _Integers | str | None = None,
        endpoint: bool = False,
        *,
        out: None = None,
        start: SupportsIndex = 0,
        threads: SupportsIndex = 1,
    ) -> int: ...
    @overload
    def integers(
        self,
        low: SupportsIndex,
        high: SupportsIndex | None = None,
        *,
        shape: _Shape,
        dtype: _I64 | None = None,
        endpoint: bool = False,
        out: None = None,
        start: SupportsIndex = 0,
        threads: SupportsIndex = 1,
    ) -> NDArray[np.int64]: ...
    @overload
    def integers(
        self,
        low: SupportsIndex,
        high: SupportsIndex | None,
        shape: _Shape,
        dtype: _I64 | None = None,
        endpoint: bool = False,
        *,
        out: None = None,
        start: SupportsIndex = 0,
        threads: SupportsIndex = 1,
    ) -> NDArray[np.int64]: ...
    @overload
    def integers(
        self,
        low: SupportsIndex,
        high: SupportsIndex | None = None,
        *,
        shape: _Shape,
        dtype: type[_Scalar] | np.dtype[_Scalar],
        endpoint: bool = False,
        out: None = None,
        start: SupportsIndex = 0,
        threads: SupportsIndex = 1,
    ) -> NDArray[_Scalar]: ...
    @overload
    def integers(
        self,
        low: SupportsIndex,
        high: SupportsIndex | None = None,
        shape: _Shape | None = None,
        dtype: _Integers | str | None = None,
        endpoint: bool = False,
        *,
        out: _Out,
        start: SupportsIndex = 0,
        threads: SupportsIndex = 1,
    ) -> _Out: ...
    @overload
    def integers(
        self,
        low: SupportsIndex,
        high: SupportsIndex | None = None,
        shape: _Shape | None = None,
        dtype: _Integers | str | None = None,
        endpoint: bool = False,
        *,
        out: None = None,
        start: SupportsIndex = 0,
        threads: SupportsIndex = 1,
    ) -> Any: ...
    @overload
    def uint64(
        self,
        shape: None = None,
        out: None = None,
        *,
        start: SupportsIndex = 0,
        threads: SupportsIndex = 1,
    ) -> int: ...
    @overload
    def uint64(
        self,
        shape: _Shape,
        out: None = None,
        *,
        start: SupportsIndex = 0,
        threads: SupportsIndex = 1,
    ) -> NDArray[np.uint64]: ...
    @overload
    def uint64(
        self,
        shape: _Shape | None = None,
        *,
        out: _Out,
        start: SupportsIndex = 0,
        threads: SupportsIndex = 1,
    ) -> _Out: ...
    @overload
    def uint32(
        self,
        shape: None = None,
        out: None = None,
        *,
        start: SupportsIndex = 0,
        threads: SupportsIndex = 1,
    ) -> int: ...
    @overload
    def uint32(
        self,
        shape: _Shape,
        out: None = None,
        *,
        start: SupportsIndex = 0,
        threads: SupportsIndex = 1,
    ) -> NDArray[np.uint32]: ...
    @overload
    def uint32(
        self,
        shape: _Shape | None = None,
        *,
        out: _Out,
        start: SupportsIndex = 0,
        threads: SupportsIndex = 1,
    ) -> _Out: ...
    def bytes(
        self, n: SupportsIndex, *, start: SupportsIndex = 0, threads: SupportsIndex = 1
    ) -> builtins.bytes: ...
    def fill(
        self, buffer: _Out, *, start: SupportsIndex = 0, threads: SupportsIndex = 1
    ) -> _Out: ...
    def at(self, indices: SupportsIndex | _Indices, /) -> Elements: ...
    def permutation(self, n: SupportsIndex, /) -> Permutation: ...
    @overload
    def sample(
        self, n: SupportsIndex, k: SupportsIndex, /, *, out: None = None
    ) -> NDArray[np.int64]: ...
    @overload
    def sample(self, n: SupportsIndex, k: SupportsIndex, /, *, out: _Out) -> _Out: ...
    def shuffle(self, x: MutableSequence[Any] | _Array | _Tensor, /) -> None: ...
    @overload
    def choice(
        self,
        a: SupportsIndex,
        size: None = None,
        *,
        replace: bool = True,
        p: _Reals | Categorical | None = None,
        start: SupportsIndex = 0,
    ) -> int: ...
    @overload
    def choice(  # type: ignore[overload-overlap]
        self,
        a: NDArray[_Scalar],
        size: _Shape,
        *,
        replace: bool = True,
        p: _Reals | Categorical | None = None,
        start: SupportsIndex = 0,
    ) -> NDArray[_Scalar]: ...
    @overload
    def choice(
        self,
        a: SupportsIndex,
        size: _Shape,
        *,
        replace: bool = True,
        p: _Reals | Categorical | None = None,
        start: SupportsIndex = 0,
    ) -> NDArray[np.int64]: ...
    @overload
    def choice(
        self,
        a: Sequence[_T],
        size: None = None,
        *,
        replace: bool = True,
        p: _Reals | Categorical | None = None,
        start: SupportsIndex = 0,
    ) -> _T: ...
    @overload
    def choice(
        self,
        a: Sequence[_T],
        size: SupportsIndex,
        *,
        replace: bool = True,
        p: _Reals | Categorical | None = None,
        start: SupportsIndex = 0,
    ) -> list[_T]: ...
    @overload
    def choice(
        self,
        a: Any,
        size: _Shape | None = None,
        *,
        replace: bool = True,
        p: _Reals | Categorical | None = None,
        start: SupportsIndex = 0,
    ) -> Any: ...
    @overload
    def complex_normal(
        self,
        shape: None = None,
        dtype: _C128 | _C64 | None = None,
        out: None = None,
        *,
        start: SupportsIndex = 0,
        threads: SupportsIndex = 1,
    ) -> complex: ...
    @overload
    def complex_normal(  # type: ignore[overload-overlap]
        self,
        shape: _Shape,
        dtype: _C128 | None = None,
        out: None = None,
        *,
        start: SupportsIndex = 0,
        threads: SupportsIndex = 1,
    ) -> NDArray[np.complex128]: ...
    @overload
    def complex_normal(
        self,
        shape: _Shape,
        dtype: _C64,
        out: None = None,
        *,
        start: SupportsIndex = 0,
        threads: SupportsIndex = 1,
    ) -> NDArray[np.complex64]: ...
    @overload
    def complex_normal(
        self,
        shape: _Shape | None = None,
        dtype: _C128 | _C64 | None = None,
        *,
        out: _Out,
        start: SupportsIndex = 0,
        threads: SupportsIndex = 1,
    ) -> _Out: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __copy__(self) -> Self: ...
    def __deepcopy__(self, memo: Any, /) -> Self: ...

@final
class Elements(_DistributionsAt):
    @property
    def stream(self) -> Stream: ...
    @property
    def indices(self) -> list[int]: ...
    @property
    def shape(self) -> tuple[int, ...]: ...
    # One index has a number and several have an array, which the types do not distinguish.
    def random(
        self, dtype: _F64 | _F32 | _F16 | _BF16 | str | None = None, out: Any = None
    ) -> Any: ...
    def standard_normal(
        self, dtype: _F64 | _F32 | _F16 | _BF16 | str | None = None, out: Any = None
    ) -> Any: ...
    def standard_exponential(self, dtype: _F64 | str | None = None, out: Any = None) -> Any: ...
    def integers(
        self,
        low: SupportsIndex,
        high: SupportsIndex | None = None,
        dtype: _Integers | str | None = None,
        endpoint: bool = False,
        *,
        out: Any = None,
    ) -> Any: ...
    def uint64(self, out: Any = None) -> Any: ...
    def uint32(self, out: Any = None) -> Any: ...
    def bytes(self) -> builtins.bytes: ...
    def permutation(self, n: SupportsIndex, /, *, out: Any = None) -> Any: ...
    def choice(self, a: Any, /, *, p: _Reals | Categorical | None = None) -> Any: ...
    def complex_normal(self, dtype: _C128 | _C64 | str | None = None, out: Any = None) -> Any: ...
    def __len__(self) -> int: ...
    def __eq__(self, other: object, /) -> bool: ...

@final
class Permutation(Sequence[int]):
    @property
    def n(self) -> int: ...
    @property
    def stream(self) -> Stream: ...
    def index(self, value: object, /) -> int: ...  # type: ignore[override]
    def count(self, value: object, /) -> int: ...
    def at(self, indices: SupportsIndex | _Indices, /, *, out: Any = None) -> Any: ...
    def fill(self, out: _Out, *, start: SupportsIndex = 0) -> _Out: ...
    def __len__(self) -> int: ...
    @overload  # type: ignore[override]
    def __getitem__(self, key: SupportsIndex, /) -> int: ...
    @overload
    def __getitem__(self, key: slice, /) -> NDArray[np.int64]: ...
    def __contains__(self, value: object, /) -> bool: ...
    def __iter__(self) -> Iterator[int]: ...
    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __copy__(self) -> Self: ...
    def __deepcopy__(self, memo: Any, /) -> Self: ...

@final
class Array:
    def __new__(cls, shape: _Shape, dtype: Any = "float64") -> Self: ...
    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def dtype(self) -> str: ...
    @property
    def ndim(self) -> int: ...
    @property
    def size(self) -> int: ...
    @property
    def itemsize(self) -> int: ...
    @property
    def nbytes(self) -> int: ...
    def tolist(self) -> list[Any]: ...
    def tobytes(self) -> builtins.bytes: ...
    def __buffer__(self, flags: int, /) -> memoryview: ...
    def __dlpack__(
        self,
        *,
        stream: None = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any: ...
    def __dlpack_device__(self) -> tuple[int, int]: ...
    def __len__(self) -> int: ...
    def __getitem__(self, key: Any, /) -> Any: ...
    def __setitem__(self, key: Any, value: Any, /) -> None: ...
    def __iter__(self) -> Iterator[Any]: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __copy__(self) -> Self: ...
    def __deepcopy__(self, memo: Any, /) -> Self: ...
