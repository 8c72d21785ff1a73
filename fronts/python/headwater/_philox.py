"""Philox4x32-10 over arrays of 32-bit numbers, in the operations of any array library.

The numbers are those of streams/STREAMS.md for the engine philox4x32. A front brings its product of
two 32-bit numbers as (upper, lower) half, because no two libraries have it in the same way: JAX has
no 64-bit integers by default, and PyTorch has no operations on unsigned ones.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from operator import index
from typing import Any

from headwater._native import Key
from headwater._samples import whole

_MASK = 0xFFFFFFFF
_MULTIPLIERS = (0xD2511F53, 0xCD9E8D57)
_WEYL = (0x9E3779B9, 0xBB67AE85)


def checked(key: Key, shape: int | Sequence[int], start: int) -> tuple[tuple[int, ...], int, int]:
    """Returns the shape, and the first block and the number of blocks that hold its half words."""
    if not isinstance(key, Key):
        raise TypeError(f"key must be a headwater.Key, not {type(key).__name__}")
    if key.engine != "philox4x32":
        raise ValueError(
            f"devices compute philox4x32, not {key.engine}: make the key with engine='philox4x32'"
        )
    try:
        sizes = tuple(map(index, shape if isinstance(shape, Sequence) else (shape,)))
    except TypeError:
        raise TypeError(f"shape must be an integer or a sequence of them, not {shape!r}") from None
    if any(size < 0 for size in sizes):
        raise ValueError(f"shape must have no negative size, not {sizes}")
    n, start = prod(sizes), whole("start", start)
    if start < 0 or start + n > 2**64 - 1:
        raise ValueError(f"start must be from 0, and the last element before 2^64 - 1, not {start}")
    first = start // 4
    return sizes, first, (start + n + 3) // 4 - first


def blocks(
    key: Key,
    counter: tuple[Any, Any, Any, Any],
    mul: Callable[[Any, int], tuple[Any, Any]],
    half: Callable[[int], Any],
) -> list[Any]:
    """Returns the four half words of each block. The counter's half words come lowest first.

    `half` makes a number of Python's one that the library's operations take.
    """
    k0, k1, k2, k3 = (int.from_bytes(key.raw[at : at + 4], "little") for at in (0, 4, 8, 12))
    c0, c1, c2, c3 = counter
    c2, c3 = c2 ^ half(k2), c3 ^ half(k3)
    for _ in range(10):
        (p1, p0), (q1, q0) = mul(c0, _MULTIPLIERS[0]), mul(c2, _MULTIPLIERS[1])
        c0, c1, c2, c3 = q1 ^ c1 ^ half(k0), q0, p1 ^ c3 ^ half(k1), p0
        k0, k1 = k0 + _WEYL[0] & _MASK, k1 + _WEYL[1] & _MASK
    return [c0, c1, c2, c3]


def number(stream: Any) -> tuple[int, int]:
    """Returns the two half words of a counter that hold the number of a stream."""
    stream = whole("stream", stream)
    if not 0 <= stream < 2**48:
        raise ValueError(f"stream must be from 0 to 2^48 - 1, not {stream}")
    return stream << 16 & _MASK, stream >> 16
