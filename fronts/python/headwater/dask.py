"""Dask arrays that are the same for any chunks and any number of workers.

    >>> import headwater, headwater.dask
    >>> key = headwater.Key(42).child("noise")
    >>> array = headwater.dask.normal(key, (20_000, 1_000), chunks=(1_000, 1_000))

Element e, counted in C order over the whole array, is element e of the key's stream 0, or of the
stream that is given instead of the key. A chunk therefore depends on its place alone. All kinds of
numbers are views of the same words, so two independent arrays need two keys or streams.

Not for secrets: from some of the numbers an attacker may compute the others.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from headwater import _dask_distributions, _native
from headwater._dask_distributions import *
from headwater._dask_draw import complex_normal
from headwater._dask_layer import Region, Shape, Source, layer, shape_of, source
from headwater.numpy import _integer

if TYPE_CHECKING:
    from dask.array.core import Array
    from numpy.typing import DTypeLike

    from headwater import Key, Stream

__all__ = [
    "complex_normal",
    "exponential",
    "integers",
    "normal",
    "permutation",
    "random",
    "sample",
]
__all__ += [name for name in _dask_distributions.__all__ if name not in __all__]

_FLOATS = ("float64", "float32")
_INTEGERS = ("int64", "uint64", "int32", "uint32", "int16", "uint16", "int8", "uint8")

def random(
    key: Key | Stream, shape: Shape, *, dtype: DTypeLike = "float64", chunks: Any = "auto"
) -> Array:
    """Returns uniform numbers in [0, 1), as `Stream.random` does."""
    return _array(key, shape, chunks, "uniform", _dtype(dtype, _FLOATS))


def normal(  # type: ignore[no-redef]
    key: Key | Stream,
    shape: Shape,
    loc: float = 0.0,
    scale: float = 1.0,
    *,
    dtype: DTypeLike = "float64",
    chunks: Any = "auto",
) -> Array:
    """Returns normal numbers, as `Stream.standard_normal` or, with parameters, `Stream.normal`."""
    if not (_is(loc, 0) and _is(scale, 1)):
        return _dask_distributions.normal(key, shape, loc, scale, dtype=dtype, chunks=chunks)
    return _array(key, shape, chunks, "normal", _dtype(dtype, _FLOATS))


def _is(value: Any, number: int) -> bool:
    """Returns whether a parameter is this number, which an array never is."""
    return np.ndim(value) == 0 and bool(value == number)


def exponential(  # type: ignore[no-redef]
    key: Key | Stream, shape: Shape, scale: float = 1.0, *, chunks: Any = "auto"
) -> Array:
    """Returns exponential numbers of this mean, as `Stream.exponential` does."""
    if not _is(scale, 1):
        return _dask_distributions.exponential(key, shape, scale, chunks=chunks)
    return _array(key, shape, chunks, "exponential", np.dtype("float64"))


def integers(
    key: Key | Stream,
    shape: Shape,
    low: int,
    high: int | None = None,
    *,
    dtype: DTypeLike = "int64",
    endpoint: bool = False,
    chunks: Any = "auto",
) -> Array:
    """Returns integers from `low` (included) to `high` (excluded), as `Stream.integers` does.

    `low` alone is the end of a range from 0 on. `endpoint` includes `high`.
    """
    kind = _dtype(dtype, _INTEGERS)
    first, end = (0, _integer("low", low)) if high is None else (low, _integer("high", high))
    first = _integer("low", first)
    last = end if endpoint else end - 1
    limits = np.iinfo(kind)
    if first > last:
        raise ValueError(f"high must be above low: no integer is from {first} to {last}")
    if first < limits.min or last > limits.max:
        raise ValueError(f"low and high must be in the range of {kind}, not {first} to {last}")
    return _array(key, shape, chunks, "range", kind, (first, last))


def permutation(key: Key | Stream, n: int, *, chunks: Any = "auto") -> Array:
    """Returns the numbers 0 to `n` - 1 in random order, as `Stream.permutation(n)` does.

    Each chunk is computed by itself: no worker holds a list of all numbers.
    """
    n = _integer("n", n)
    return sample(key, n, n, chunks=chunks)


def sample(key: Key | Stream, n: int, size: int, *, chunks: Any = "auto") -> Array:
    """Returns `size` different numbers below `n`, in random order: the first of `permutation`."""
    n, size = _integer("n", n), _integer("size", size)
    if not 0 <= n < 2**63:
        raise ValueError(f"n must be from 0 to 2**63 - 1, not {n}")
    if not 0 <= size <= n:
        raise ValueError(f"size must be from 0 to n, {n}, not {size}")
    return _array(key, (size,), chunks, "permutation", np.dtype("int64"), (0, n))


def _array(
    key: Key | Stream,
    shape: Shape,
    chunks: Any,
    kind: str,
    dtype: np.dtype[Any],
    bounds: tuple[int, int] | None = None,
) -> Array:
    """Returns the Dask array of one kind of numbers."""
    sizes = shape_of(shape)
    fill = _Fill(source(key), kind, dtype.str, sizes, bounds)
    return layer(fill, kind, sizes, chunks, dtype)


@dataclass(frozen=True, slots=True)
class _Fill:
    """The function of the layer: returns the numbers of a region."""

    source: Source
    kind: str
    dtype: str
    shape: tuple[int, ...]
    bounds: tuple[int, int] | None

    def __call__(self, region: Region) -> np.ndarray[Any, Any]:
        dtype = np.dtype(self.dtype)
        out = np.empty([end - start for start, end in region], dtype)
        kind, target = f"{self.kind}_{dtype.name}", out
        if self.kind == "permutation":
            # Both types hold the numbers below 2**63, and the native code writes uint64.
            kind, target = self.kind, out.view(np.uint64)
        # A buffer of no dimensions has no shape to check.
        target = target.reshape(-1)
        _native.fill_region(self.source, kind, target, self.shape, region, self.bounds)
        return out


def _dtype(dtype: DTypeLike, allowed: tuple[str, ...]) -> np.dtype[Any]:
    """Returns a dtype that the kind of numbers has."""
    found = np.dtype(dtype)
    if found.name not in allowed or not found.isnative:
        raise TypeError(f"dtype must be one of {', '.join(allowed)}, not {found}")
    return found
