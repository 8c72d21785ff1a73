"""Numbers of a stream inside compiled functions of JAX, the same on every device and sharding.

    >>> import headwater, headwater.jax
    >>> key = headwater.Key(42, engine="philox4x32")
    >>> headwater.jax.random(key, (2, 3))
    >>> jax.jit(lambda step: headwater.jax.random(key, (1024,), stream=step))(7)

Element i is a function of the key, the stream and i. So an array is the same in one process and in
many, on a CPU and on a graphics card, and however it is sharded; NumPy has it as
`key.stream(7).random(1024, dtype="float32")`. These numbers are not for secrets.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from headwater import _philox
from headwater._native import Key

try:
    import jax.numpy as jnp
except ImportError as error:
    raise ImportError("headwater.jax needs JAX: pip install jax") from error

__all__ = ["bits", "random"]


def _mul(a: Any, b: int) -> tuple[Any, Any]:
    """Returns the halves of a product, by quarters: JAX has no integers of 64 bits by default."""
    upper, lower = a >> 16, a & 0xFFFF
    one = lower * jnp.uint32(b & 0xFFFF)
    two = upper * jnp.uint32(b & 0xFFFF) + (one >> 16)
    three = lower * jnp.uint32(b >> 16) + (two & 0xFFFF)
    return upper * jnp.uint32(b >> 16) + (two >> 16) + (three >> 16), a * jnp.uint32(b)


def bits(key: Key, shape: int | Sequence[int], *, stream: Any = 0, start: int = 0) -> Any:
    """Returns half words of a stream, as an array of uint32.

    `key` has the engine philox4x32. `shape` and `start`, the index of the first element, are fixed
    when a function is compiled. `stream` is an integer below 2^48, or a value of the compiled
    function, such as the number of a step. Such a value cannot be checked: its lower 48 bits count,
    so -1 stands for 2^48 - 1, and for 2^32 - 1 if it has 32 bits, as JAX's have by default.

        >>> headwater.jax.bits(key, 4)  # key.stream(0).integers(0, 2**32, 4, dtype="uint32")
    """
    sizes, first, count = _philox.checked(key, shape, start)
    low = jnp.arange(count, dtype=jnp.uint32) + jnp.uint32(first & 0xFFFFFFFF)
    high = jnp.uint32(first >> 32) + (low < jnp.uint32(first & 0xFFFFFFFF)).astype(jnp.uint32)
    try:
        c2, c3 = (jnp.uint32(half) for half in _philox.number(stream))
    except TypeError:  # a value of the compiled function has no integer yet
        if not hasattr(stream, "dtype"):
            raise
        step = jnp.asarray(stream)
        if not jnp.issubdtype(step.dtype, jnp.integer):
            raise TypeError(f"stream must be an integer, not {step.dtype}") from None
        if step.size != 1:  # they would be streams of blocks, one after the other
            raise ValueError(f"stream must be one integer, not an array of {step.size}") from None
        lower = step.astype(jnp.uint32)
        c2, c3 = lower << 16, lower >> 16
        if step.dtype.itemsize > 4:
            c3 = c3 | (step >> 32).astype(jnp.uint32) << 16
    counter = (low, high, jnp.full_like(low, c2), jnp.full_like(low, c3))
    halves = jnp.stack(_philox.blocks(key, counter, _mul, jnp.uint32), axis=-1)
    at = start % 4
    return halves.reshape(-1)[at : at + prod(sizes)].reshape(sizes)


def random(key: Key, shape: int | Sequence[int], *, stream: Any = 0, start: int = 0) -> Any:
    """Returns uniform numbers from 0, below 1, as an array of float32.

    The arguments are those of `bits`, and the numbers those of
    `key.stream(stream).random(shape, dtype="float32", start=start)`.
    """
    words = bits(key, shape, stream=stream, start=start)
    return (words >> 8).astype(jnp.float32) * jnp.float32(2**-24)
