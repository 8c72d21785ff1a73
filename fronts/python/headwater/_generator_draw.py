"""How a method of `headwater.Generator` draws: a kind at the cursor, or else NumPy's method."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from headwater import _native

if TYPE_CHECKING:
    from collections.abc import Callable

    from headwater._generator_bits import Bits

KINDS = _native.KINDS
#: Errors after which NumPy's method is asked, which raises its own error or has an answer.
REFUSED = (TypeError, ValueError, OverflowError)
#: The kinds of counts, whose arrays are int64 as NumPy's are.
_COUNTS = {
    KINDS[name]
    for name in ("geometric", "poisson", "binomial", "zipf", "log_series")
    if name in KINDS
}


class Draw:
    """The ways to numbers that all methods share."""

    _bits: Bits
    _cursor: _native.Cursor

    def _numpy(self, method: Callable[..., Any], /, *arguments: Any, **named: Any) -> Any:
        """Calls a method of NumPy's, over the words of a key that the cursor makes."""
        before = self._bits.state
        with self._bits.lock:
            self._bits.rekey(self._cursor.block())
            try:
                return method(self, *arguments, **named)
            except BaseException:
                self._bits.state = before  # nothing was drawn
                raise

    def _made(self, name: str, size: Any, *given: Any) -> Any:
        """Returns numbers of a kind, or None for NumPy's method to answer."""
        kind = KINDS.get(name)
        if kind is None:
            return None
        try:
            made = self._cursor.draw(kind, size, None, None, *given)
            return self._each(kind, size, given) if made is NotImplemented else made
        except REFUSED:
            return None

    def _each(self, kind: int, size: Any, given: tuple[Any, ...]) -> Any:
        """Returns numbers whose parameters are arrays, element by element."""
        arrays = [np.asarray(one) for one in given]
        if any(array.dtype.kind not in "fiub" for array in arrays):
            return None
        shape = np.broadcast_shapes(*(array.shape for array in arrays))
        if size is not None:
            wanted = tuple(np.atleast_1d(np.asarray(size, np.int64)).tolist())
            if np.broadcast_shapes(shape, wanted) != wanted:
                return None
            shape = wanted
        out = np.empty(shape, np.int64 if kind in _COUNTS else np.float64)
        before = self._cursor.get()
        try:
            full = [np.broadcast_to(array, shape).reshape(-1) for array in arrays]
            self._cursor.each(kind, out.reshape(-1), *full)
        except REFUSED:
            self._cursor.set(*before)
            return None
        return out

    def _moved(self, name: str, size: Any, loc: Any, scale: Any) -> Any:
        """Returns loc + scale * x, with the kind's numbers of location 0 and scale 1 as x."""
        made = self._made(name, size, loc, scale) if _plain(loc) and _plain(scale) else None
        if made is not None or (_plain(loc) and _plain(scale)):
            return made
        try:
            where, width = np.asarray(loc, np.float64), np.asarray(scale, np.float64)
            shape = np.broadcast_shapes(where.shape, width.shape)
            wanted = shape if size is None else size
            # NumPy's method refuses a scale below 0, and a size of another shape.
            if np.any(np.signbit(width)) or np.isnan(width).any():
                return None
            made = self._made(name, wanted, 0.0, 1.0)
            if made is None or np.broadcast_shapes(shape, made.shape) != made.shape:
                return None
        except REFUSED:
            return None
        made *= width
        made += where
        return made


def _plain(value: Any) -> bool:
    """Returns true for a parameter that is one number."""
    return type(value) is float or type(value) is int or np.ndim(value) == 0
