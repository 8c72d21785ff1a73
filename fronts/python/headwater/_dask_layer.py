"""The lazy layer of all Dask arrays of headwater: a function of each chunk's place."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from dask.array.core import Array, normalize_chunks
from dask.base import tokenize
from dask.blockwise import blockwise
from dask.highlevelgraph import HighLevelGraph
from dask.layers import ArrayBlockwiseDep

from headwater.numpy import _integer, _key

if TYPE_CHECKING:
    from headwater import Key, Stream

#: A size, or one size for each dimension.
Shape = int | Sequence[int]
#: The first element of a chunk and its end, for each dimension.
Region = tuple[tuple[int, int], ...]
#: The engine, the bytes of the key, and the number of the stream.
Source = tuple[str, bytes, int]


def layer(
    fill: Callable[[Region], np.ndarray[Any, Any]],
    name: str,
    shape: tuple[int, ...],
    chunks: Any,
    dtype: np.dtype[Any],
    width: int | None = None,
) -> Array:
    """Returns the Dask array whose chunks `fill` makes: a single lazy layer.

    `fill` is a value that Dask can hash and pickle. If elements are vectors, `width` is the number
    of their components, which are one chunk of a further dimension.
    """
    try:
        chunks = normalize_chunks(chunks, shape, dtype=dtype)  # type: ignore[no-untyped-call]
        negative = any(size < 0 for sizes in chunks for size in sizes)
    except (ValueError, ZeroDivisionError) as error:
        raise ValueError(f"chunks={chunks!r} do not fit the shape {shape}: {error}") from error
    if negative:
        raise ValueError(f"chunks must have no negative size: {chunks}")
    places = Places(tuple(_axis(sizes) for sizes in chunks))
    name = f"headwater-{name}-{tokenize(fill, places.axes)}"
    axes = tuple(range(len(shape)))
    out_axes, new_axes = axes, {}
    if width is not None:
        out_axes, new_axes = (*axes, len(axes)), {len(axes): width}
        chunks = (*chunks, (width,))
    # The lazy layer holds one function and one description of the chunks, whatever their number.
    blocks = blockwise(  # type: ignore[no-untyped-call]
        fill, name, out_axes, places, axes, numblocks={}, new_axes=new_axes
    )
    graph = HighLevelGraph.from_collections(name, blocks, dependencies=())
    meta = np.empty((0,) * len(out_axes), dtype)
    array = Array(graph, name, chunks, meta=meta)  # type: ignore[no-untyped-call]
    # A list of the chunks that Dask keeps in the layer, for a picture of it.
    if blocks.collection_annotations:
        blocks.collection_annotations.pop("chunks", None)
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


class Places(ArrayBlockwiseDep):
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


def source(key: Key | Stream) -> Source:
    """Returns the engine, the bytes of the key, and the number of the stream."""
    if hasattr(key, "key") and hasattr(key, "id"):
        engine, raw = _key("key", key.key, None)
        return engine, raw, int(key.id)
    if isinstance(key, (bytes, bytearray)) or not hasattr(key, "engine"):
        name = type(key).__name__
        raise TypeError(f"key must be a headwater.Key or a headwater.Stream, not {name}")
    return *_key("key", key, None), 0


def shape_of(shape: Shape) -> tuple[int, ...]:
    """Returns the shape as a tuple of integers."""
    parts = shape if isinstance(shape, Sequence) and not isinstance(shape, str) else (shape,)
    sizes = tuple(_integer("shape", size) for size in parts)
    if any(size < 0 for size in sizes):
        raise ValueError(f"shape must have no negative size: {sizes}")
    if math.prod(sizes) >= 2**63:
        raise OverflowError(f"shape must have fewer than 2**63 elements: {sizes}")
    return sizes
