"""`headwater.Generator`: NumPy's `Generator` over a stream, with a cursor.

The class is a subclass of `numpy.random.Generator`, because SciPy, pandas and others ask by
`isinstance`. A method draws a kind of headwater's at the cursor. If the kinds have no such numbers,
or the arguments are ones that NumPy refuses, the method of NumPy's answers: so errors are NumPy's
own, word for word, and no method is missing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from headwater import _native
from headwater._generator_arrays import Arrays
from headwater._generator_bits import Bits, bits_of
from headwater._generator_distributions import Distributions
from headwater._generator_draw import KINDS, REFUSED, whole
from headwater._generator_more import More

if TYPE_CHECKING:
    from headwater import Stream

_NumPy = np.random.Generator
_UNIFORM, _NORMAL, _EXPONENTIAL, _GAMMA, _SCALED_EXPONENTIAL = (
    KINDS[name] for name in ("uniform", "normal", "exponential", "gamma", "scaled_exponential")
)
_FLOATS = (np.float64, np.float32)


def _float(dtype: Any) -> Any:
    """Returns NumPy's class of a float type however it is spelled, and what is none as it is."""
    if dtype is np.float64 or dtype is np.float32:
        return dtype
    try:
        spelled = np.dtype(dtype)
    except TypeError:
        return dtype
    return spelled.type if spelled.type in _FLOATS and spelled.isnative else dtype


class Generator(Arrays, Distributions, More, _NumPy):
    """NumPy's `Generator` over a headwater stream: `Generator(42)`, or `Generator(Key(42))`.

    `seed` is an integer, bytes, a text, a `headwater.Key` (its stream 0), a `headwater.Stream`, or
    what NumPy takes: a list of integers, a `SeedSequence`, or None for a fresh key. Draws advance a
    cursor over the stream, with the methods, arguments, defaults and errors of NumPy 2.

    Not for secrets: from some of the numbers an attacker may compute the others.

    >>> rng = headwater.Generator(42)
    >>> rng.normal(10, 2, size=3)
    """

    def __init__(self, seed: Any = None, /, *, engine: str | None = None) -> None:
        self._bits = bits_of(seed, engine)
        self._cursor = self._bits.cursor
        self._draw = self._cursor.draw
        _NumPy.__init__(self, self._bits)

    @property
    def stream(self) -> Stream:
        """The stream of which the next draw takes elements."""
        key, number, _, _ = self._cursor.get()
        return key.stream(number)

    @property
    def word(self) -> int:
        """The first word of the stream that no draw has used."""
        return self._cursor.get()[2]

    def advance(self, delta: int) -> Generator:
        """Moves the cursor by `delta` words, back if it is negative; returns the generator."""
        self._bits.advance(delta)
        return self

    def jumped(self, jumps: int = 1) -> Generator:
        """Returns the generator at this word of the stream that comes `jumps` streams later."""
        return type(self)(self._bits.jumped(jumps))

    def spawn(self, n_children: int) -> list[np.random.Generator]:
        """Returns generators of the key's next children: child i is `Generator(key.child(i))`."""
        return [type(self)(bits) for bits in self._bits.spawn(n_children)]

    def __reduce__(self) -> Any:
        return _restored, (type(self), self._bits)

    def __getstate__(self) -> Any:
        return None

    def __setstate__(self, state: Any) -> None:
        pass

    def __repr__(self) -> str:
        key, number, word, _ = self._cursor.get()
        return f"<headwater.Generator at word {word} of {key!r}.stream({number})>"

    __str__ = __repr__

    # --- numbers without parameters ----------------------------------------------------------

    def random(self, size: Any = None, dtype: Any = np.float64, out: Any = None) -> Any:
        """Returns uniform numbers in [0, 1)."""
        made = None
        dtype = _float(dtype)
        if dtype in _FLOATS:
            of = None if dtype is np.float64 and out is None else dtype
            made = self._draw(_UNIFORM, size, of, out)
        return self._numpy(_NumPy.random, size, dtype, out) if made is None else made

    def standard_normal(self, size: Any = None, dtype: Any = np.float64, out: Any = None) -> Any:
        """Returns normal numbers of mean 0 and standard deviation 1."""
        made = None
        dtype = _float(dtype)
        if dtype in _FLOATS:
            of = None if dtype is np.float64 and out is None else dtype
            made = self._draw(_NORMAL, size, of, out)
        return self._numpy(_NumPy.standard_normal, size, dtype, out) if made is None else made

    def standard_exponential(
        self, size: Any = None, dtype: Any = np.float64, method: Any = "zig", out: Any = None
    ) -> Any:
        """Returns exponential numbers of mean 1. `method` is NumPy's, and changes nothing."""
        made = None
        dtype = _float(dtype)
        if method in ("zig", "inv"):
            if dtype is np.float64:
                made = self._draw(_EXPONENTIAL, size, None if out is None else dtype, out)
            elif dtype in _FLOATS:
                made = self._draw(_SCALED_EXPONENTIAL, size, dtype, out, 1.0)
        if made is not None:
            return made
        return self._numpy(_NumPy.standard_exponential, size, dtype, method, out)

    def standard_gamma(
        self, shape: Any, size: Any = None, dtype: Any = np.float64, out: Any = None
    ) -> Any:
        """Returns gamma numbers of this shape and scale 1."""
        made = None
        dtype = _float(dtype)
        if dtype in _FLOATS:
            of = None if dtype is np.float64 and out is None else dtype
            made = self._draw(_GAMMA, size, of, out, shape)
        if made is not None:
            return made
        if out is None and dtype is np.float64 and np.ndim(shape):
            return self._rest(_GAMMA, _NumPy.standard_gamma, (shape,), size)
        return self._numpy(_NumPy.standard_gamma, shape, size, dtype, out)

    def integers(
        self,
        low: Any,
        high: Any = None,
        size: Any = None,
        dtype: Any = np.int64,
        endpoint: bool = False,
    ) -> Any:
        """Returns integers from `low` (included) to `high` (excluded, unless `endpoint`)."""
        if type(low) is not int or (type(high) is not int and high is not None):
            low, high = whole(low), whole(high)
        try:
            made = self._cursor.integers(low, high, size, dtype, endpoint)
            if size is None and dtype is not int:
                return (np.int64 if dtype is np.int64 else np.dtype(dtype).type)(made)
            return made
        except REFUSED:
            return self._numpy(_NumPy.integers, low, high, size, dtype, endpoint)

    def bytes(self, length: Any) -> bytes:
        """Returns `length` bytes."""
        if isinstance(length, int) and length < 0:
            raise ValueError(f"length must be 0 or more, not {length}")
        try:
            return self._cursor.bytes(length)
        except REFUSED:
            return self._numpy(_NumPy.bytes, length)  # type: ignore[no-any-return]


def _restored(cls: type[Generator], bits: Bits) -> Generator:
    """Returns the generator over a bit generator: the other half of a pickle."""
    return cls(bits)


# The name under which pickles and readers know the class.
Generator.__module__ = "headwater"
