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

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from dask.array.core import Array, normalize_chunks
from dask.base import tokenize
from dask.blockwise import blockwise
from dask.highlevelgraph import HighLevelGraph
from dask.layers import ArrayBlockwiseDep

from headwater import _native
from headwater.numpy import _integer, _key

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

    from headwater import Key, Stream

__all__ = ["exponential", "integers", "normal", "permutation", "random", "sample"]

_FLOATS = ("float64", "float32")
_INTEGERS = ("int64", "uint64", "int32", "uint32", "int16", "uint16", "int8", "uint8")

#: A size, or one size for each dimension.
Shape = int | Sequence[int]
#: The first element of a chunk and its end, for each dimension.
Region = tuple[tuple[int, int], ...]


def random(
    key: Key | Stream, shape: Shape, *, dtype: DTypeLike = "float64", chunks: Any = "auto"
) -> Array:
    """Returns uniform numbers in [0, 1), as `Stream.random` does."""
    return _array(key, shape, chunks, "uniform", _dtype(dtype, _FLOATS))


def normal(
    key: Key | Stream, shape: Shape, *, dtype: DTypeLike = "float64", chunks: Any = "auto"
) -> Array:
    """Returns normal numbers, mean 0 and standard deviation 1, as `Stream.standard_normal` does."""
    return _array(key, shape, chunks, "normal", _dtype(dtype, _FLOATS))


def exponential(key: Key | Stream, shape: Shape, *, chunks: Any = "auto") -> Array:
    """Returns exponential numbers with mean 1, as `Stream.exponential` does."""
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
    """Returns the Dask array of one kind of numbers: a single lazy layer."""
    source = _source(key)
    shape = _shape(shape)
    try:
        chunks = normalize_chunks(chunks, shape, dtype=dtype)  # type: ignore[no-untyped-call]
        negative = any(size < 0 for sizes in chunks for size in sizes)
    except (ValueError, ZeroDivisionError) as error:
        raise ValueError(f"chunks={chunks!r} do not fit the shape {shape}: {error}") from error
    if negative:
        raise ValueError(f"chunks must have no negative size: {chunks}")
    places = _Places(tuple(_axis(sizes) for sizes in chunks))
    fill = _Fill(source, kind, dtype.str, shape, bounds)
    name = f"headwater-{kind}-{tokenize(source, kind, dtype.str, shape, bounds, places.axes)}"
    axes = tuple(range(len(shape)))
    # The lazy layer holds one function and one description of the chunks, whatever their number.
    layer = blockwise(  # type: ignore[no-untyped-call]
        fill, name, axes, places, axes, numblocks={}
    )
    graph = HighLevelGraph.from_collections(name, layer, dependencies=())
    meta = np.empty((0,) * len(shape), dtype)
    array = Array(graph, name, chunks, meta=meta)  # type: ignore[no-untyped-call]
    # A list of the chunks that Dask keeps in the layer, for a picture of it.
    if layer.collection_annotations:
        layer.collection_annotations.pop("chunks", None)
    return array


@dataclass(frozen=True, slots=True)
class _Regular:
    """The chunks of a dimension, all of one size but the last, which may be smaller."""

    length: int
    size: int

    def __len__(self) -> int:
        return max(1, -(-self.length // self.size)) if self.size else 1

    def __getitem__(self, i: int) -> tuple[int, int]:
        return i * self.size, min(self.length, (i + 1) * self.size)

    def sizes(self) -> tuple[int, ...]:
        whole, rest = divmod(self.length, self.size) if self.size else (0, 0)
        return (self.size,) * whole + ((rest,) if rest or not whole else ())


@dataclass(frozen=True, slots=True)
class _Irregular:
    """The chunks of a dimension, by all their ends."""

    ends: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.ends) - 1

    def __getitem__(self, i: int) -> tuple[int, int]:
        return self.ends[i], self.ends[i + 1]

    def sizes(self) -> tuple[int, ...]:
        return tuple(end - start for start, end in pairwise(self.ends))


_Axis = _Regular | _Irregular


def _axis(sizes: tuple[int, ...]) -> _Axis:
    regular = _Regular(sum(sizes), sizes[0])
    if sizes == regular.sizes():
        return regular
    return _Irregular((0, *accumulate(sizes)))


class _Places(ArrayBlockwiseDep):
    """Returns the region of a block to the blockwise layer, which passes it to the function.

    It takes the place of `ArrayBlockIdDep`, whose list of chunks would be most of the graph.
    """

    def __init__(self, axes: tuple[_Axis, ...]) -> None:
        self.axes = axes
        self.numblocks = tuple(len(axis) for axis in axes)

    @property
    def chunks(self) -> tuple[tuple[int, ...], ...]:  # type: ignore[override]
        return tuple(axis.sizes() for axis in self.axes)

    def __getitem__(self, block: tuple[int, ...]) -> Region:
        return tuple(axis[i] for axis, i in zip(self.axes, block, strict=True))


@dataclass(frozen=True, slots=True)
class _Fill:
    """The function of the layer: returns the numbers of a region."""

    source: tuple[str, bytes, int]
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


def _source(key: Key | Stream) -> tuple[str, bytes, int]:
    """Returns the engine, the bytes of the key, and the number of the stream."""
    if hasattr(key, "key") and hasattr(key, "id"):
        engine, raw = _key("key", key.key, None)
        return engine, raw, int(key.id)
    if isinstance(key, (bytes, bytearray)) or not hasattr(key, "engine"):
        name = type(key).__name__
        raise TypeError(f"key must be a headwater.Key or a headwater.Stream, not {name}")
    return *_key("key", key, None), 0


def _shape(shape: Shape) -> tuple[int, ...]:
    """Returns the shape as a tuple of integers."""
    parts = shape if isinstance(shape, Sequence) and not isinstance(shape, str) else (shape,)
    sizes = tuple(_integer("shape", size) for size in parts)
    if any(size < 0 for size in sizes):
        raise ValueError(f"shape must have no negative size: {sizes}")
    if math.prod(sizes) >= 2**63:
        raise OverflowError(f"shape must have fewer than 2**63 elements: {sizes}")
    return sizes


def _dtype(dtype: DTypeLike, allowed: tuple[str, ...]) -> np.dtype[Any]:
    """Returns a dtype that the kind of numbers has."""
    found = np.dtype(dtype)
    if found.name not in allowed or not found.isnative:
        raise TypeError(f"dtype must be one of {', '.join(allowed)}, not {found}")
    return found
