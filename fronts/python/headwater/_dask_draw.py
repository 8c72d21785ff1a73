"""The Dask layer of a method of `Stream`: elements of an array, chunk by chunk."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from headwater import Key as _Key
from headwater._dask_layer import Region, Shape, Source, layer, shape_of, source

if TYPE_CHECKING:
    from dask.array.core import Array
    from numpy.typing import DTypeLike

    from headwater import Key, Stream

Reals = Sequence[float] | np.ndarray[Any, Any]
Matrix = Sequence[Sequence[float]] | np.ndarray[Any, Any]

#: Elements that follow each other in a chunk, from which on a run of them is drawn as a range.
#: Shorter runs are drawn by their indices, all of them in one call.
LONG = 256


def complex_normal(
    key: Key | Stream,
    shape: Shape,
    *,
    dtype: DTypeLike = "complex128",
    chunks: Any = "auto",
) -> Array:
    """Returns the numbers of `Stream.complex_normal`."""
    return drawn(key, shape, chunks, "complex_normal", (), np.dtype(dtype))


def drawn(
    key: Key | Stream,
    shape: Shape,
    chunks: Any,
    method: str,
    parameters: tuple[Any, ...],
    dtype: np.dtype[Any],
    **options: Any,
) -> Array:
    """Returns the Dask array of a method with its parameters."""
    sizes = shape_of(shape)
    draw = _Draw(source(key), method, parameters, dtype.str, sizes, options)
    # One element: bad parameters and types are errors here, and not on a worker.
    try:
        one = np.asarray(draw.stream_call(()))
    except (TypeError, ValueError) as error:
        # The gamma shape is `a` here, because `shape` is that of the array.
        if str(error).startswith("shape must"):
            raise type(error)("a" + str(error)[len("shape") :]) from None
        raise
    width = one.shape[0] if one.ndim else None
    return layer(draw, method, sizes, chunks, dtype, width)


@dataclass(frozen=True, slots=True)
class _Draw:
    """The function of the layer: returns the elements of a region."""

    source: Source
    method: str
    parameters: tuple[Any, ...]
    dtype: str
    shape: tuple[int, ...]
    options: dict[str, Any]

    def stream_call(
        self, size: tuple[int, ...], *, start: int = 0, indices: Any = None, out: Any = None
    ) -> Any:
        """Returns elements of the stream: a range of them, or those with these numbers."""
        engine, raw, number = self.source
        stream: Any = _Key.from_raw(raw, engine=engine).stream(number)
        if indices is not None:
            call = getattr(stream.at(indices), self.method)
            return call(*self.parameters, dtype=self.dtype, **self.options)
        call = getattr(stream, self.method)
        options = self.options | {"dtype": self.dtype, "start": start}
        if out is not None:
            return call(*self.parameters, out=out, **options)
        return call(*self.parameters, size, **options)

    def __call__(self, region: Region) -> np.ndarray[Any, Any]:
        sizes = tuple(end - start for start, end in region)
        # The run: dimensions from the last one on that are taken whole, and the one before them.
        whole = len(region)
        while whole > 0 and region[whole - 1] == (0, self.shape[whole - 1]):
            whole -= 1
        outer = max(0, whole - 1)
        strides = [math.prod(self.shape[i + 1 :]) for i in range(len(region))]
        first = sum(start * stride for (start, _), stride in zip(region, strides, strict=True))
        starts = np.full((), first, np.uint64)
        for size, stride in zip(sizes[:outer], strides[:outer], strict=True):
            starts = starts[..., None] + np.arange(size, dtype=np.uint64) * np.uint64(stride)
        run = math.prod(sizes[outer:])
        if starts.size == 1:
            return np.asarray(self.stream_call(sizes, start=first))
        if run < LONG:
            within = np.arange(run, dtype=np.uint64)
            made = self.stream_call((), indices=starts[..., None] + within)
            return np.asarray(made).reshape(*sizes, *made.shape[starts.ndim + 1 :])
        one = np.asarray(self.stream_call(()))
        out = np.empty((starts.size, run, *one.shape), one.dtype)
        for row, start in zip(out, starts.reshape(-1).tolist(), strict=True):
            self.stream_call((), start=start, out=row)
        return out.reshape(*sizes, *one.shape)
