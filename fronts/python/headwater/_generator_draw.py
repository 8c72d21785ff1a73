"""How a method of `headwater.Generator` draws: a kind at the cursor, or else NumPy's method."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from headwater import _native

if TYPE_CHECKING:
    from collections.abc import Callable

    from headwater._generator_bits import Bits

KINDS = _native.KINDS
#: Errors after which NumPy's method is asked, which raises its own error or has an answer.
REFUSED = (TypeError, ValueError, OverflowError, BufferError)
#: The kinds of counts, whose arrays are int64 as NumPy's are.
_COUNTS = {
    KINDS[name]
    for name in (
        "geometric", "poisson", "binomial", "zipf", "log_series", "negative_binomial",
        "hypergeometric",
    )
}


def whole(n: Any) -> Any:
    """Returns a count that is a float without digits after the point as an integer, as NumPy does.

    Otherwise a spelling would decide which numbers come: `10.0` is no count of a kind's.
    """
    if isinstance(n, (float, np.floating)):
        number = float(n)
        return int(number) if number.is_integer() and abs(number) < 2**53 else n
    if isinstance(n, (list, tuple, np.ndarray)):
        try:
            counts = np.asarray(n)
        except ValueError:
            return n  # a ragged list, which NumPy's method refuses
        if counts.dtype.kind == "f":
            is_whole = (np.trunc(counts) == counts) & (abs(counts) < 2**53)
            return counts.astype(np.int64) if is_whole.all() else n
    return n


def lengths(size: Any) -> tuple[int, ...]:
    """Returns the shape that a `size` means; none of them is one element."""
    if size is None:
        return ()
    if isinstance(size, bool):
        raise TypeError("size must be an integer or a tuple of integers, not bool")
    if np.ndim(size) == 0:
        return (operator.index(size),)
    return tuple(operator.index(length) for length in size)


def floats(value: Any, of: Any = np.float64) -> Any:
    """Returns an array of floats, or raises NumPy's TypeError for an array of another kind.

    A cast that NumPy's methods refuse would take a date for its days, and a complex number for its
    real half.
    """
    if not hasattr(value, "__array__"):
        return np.asarray(value, of)
    return np.asarray(value).astype(of, casting="safe", copy=False)


class Draw:
    """The ways to numbers that all methods share."""

    _bits: Bits
    _cursor: _native.Cursor
    #: The cursor's method, bound once: one look-up less in each draw.
    _draw: Callable[..., Any]

    def _numpy(self, method: Callable[..., Any], /, *arguments: Any, **named: Any) -> Any:
        """Calls a method of NumPy's, over the words of a key that the cursor makes."""
        bits, cursor = self._bits, self._cursor
        with bits.lock:
            before = cursor.get(), bits.words()
            bits.rekey(cursor.block())
            try:
                return method(self, *arguments, **named)
            except BaseException:
                # Nothing was drawn, so nothing moves.
                cursor.set(*before[0])
                bits.set_words(before[1])
                raise

    def _rest(
        self, kind: int, method: Callable[..., Any], given: tuple[Any, ...], size: Any
    ) -> Any:
        """Returns numbers of a kind whose parameters are arrays, otherwise what NumPy answers."""
        try:
            made = self._each(kind, size, given)
        except REFUSED:
            made = None
        return self._numpy(method, *given, size) if made is None else made

    def _each(self, kind: int, size: Any, given: tuple[Any, ...]) -> Any:
        """Returns numbers whose parameters are arrays, element by element."""
        arrays = [np.asarray(one) for one in given]
        # The native half reads numbers in the byte order of this machine.
        arrays = [a if a.dtype.isnative else a.astype(a.dtype.newbyteorder("=")) for a in arrays]
        if any(array.dtype.kind not in "fiub" for array in arrays):
            return None
        shape = np.broadcast_shapes(*(array.shape for array in arrays))
        if size is not None:
            wanted = lengths(size)
            if np.broadcast_shapes(shape, wanted) != wanted:
                return None
            shape = wanted
        out = np.empty(shape, np.int64 if kind in _COUNTS else np.float64)
        before = self._cursor.get()
        try:
            # A number stays one, since an array of copies takes longer than its elements' draws.
            full = [
                np.broadcast_to(array, shape).reshape(-1) if array.ndim or array.dtype.kind == "b"
                else array.item()
                for array in arrays
            ]
            self._cursor.each(kind, out.reshape(-1), *full)
        except REFUSED:
            self._cursor.set(*before)
            return None
        return out

    def _moved(
        self, kind: int, method: Callable[..., Any], loc: Any, scale: Any, size: Any
    ) -> Any:
        """Returns loc + scale * x of arrays, with the kind's numbers of place 0 and scale 1 as x."""
        made = self._stretched(kind, (0.0, 1.0), size, scale, loc)
        return self._numpy(method, loc, scale, size) if made is None else made

    def _stretched(
        self, kind: int, unit: tuple[float, ...], size: Any, scale: Any, loc: Any = None
    ) -> Any:
        """Returns numbers of a kind with the parameters `unit`, times a scale, and from a place on.

        A pass over arrays is several times as fast as elements with parameters of their own, and
        rounds as these do. Returns None for what NumPy refuses, and for parameters that are numbers.
        """
        try:
            width = floats(scale)
            where = None if loc is None else floats(loc)
            shape = np.broadcast_shapes(width.shape, () if where is None else where.shape)
            wanted = shape
            if size is not None:
                wanted = lengths(size)
            # NumPy's method refuses a scale below 0, and a size of another shape.
            fits = bool(shape) and np.broadcast_shapes(shape, wanted) == wanted
            if not fits or np.signbit(width).any() or not np.isfinite(width).all():
                return None
            made = self._draw(kind, wanted, None, None, *unit)
            if made is not None:
                made *= width
                if where is not None:
                    made += where
        except REFUSED:
            return None
        return made
