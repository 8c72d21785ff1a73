"""An order of rows for PyTorch's DataLoader that any number of processes share, and resume.

    >>> import headwater, headwater.torch
    >>> sampler = headwater.torch.ElasticSampler(len(dataset), headwater.Key(42))
    >>> loader = torch.utils.data.DataLoader(dataset, sampler=sampler, batch_size=32)

The sampler is one of PyTorch's DistributedSampler, and needs no PyTorch: a DataLoader takes every
object that has `__iter__` and `__len__`.

`bits` and `random` make numbers of a stream on a device, the same on every one:

    >>> key = headwater.Key(42, engine="philox4x32")
    >>> headwater.torch.random(key, (2, 3), device="cuda")
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from operator import index
from typing import Any

from headwater import _philox
from headwater._elastic import ElasticSampler
from headwater._native import Key

__all__ = ["ElasticSampler", "bits", "random"]


def _torch() -> Any:
    try:
        import torch
    except ImportError as error:
        raise ImportError("headwater.torch.bits and random need PyTorch: pip install torch") from error
    return torch


def _mul(a: Any, b: int) -> tuple[Any, Any]:
    """Returns the halves of a product of 64 bits, whose sign bit is the highest of the upper one."""
    product = a * b
    return product >> 32 & 0xFFFFFFFF, product & 0xFFFFFFFF


def bits(
    key: Key, shape: int | Sequence[int], *, stream: Any = 0, start: int = 0, device: Any = None
) -> Any:
    """Returns half words of a stream, from 0 to 2^32 - 1, as a tensor of int64 on a device.

    `key` has the engine philox4x32, and `start` is the index of the first element. `stream` is an
    integer below 2^48, or a tensor of one, such as the number of a step in a compiled function. The
    value of a tensor is not checked, because that would wait for the device.
    The numbers are those of `key.stream(stream).integers(0, 2**32, shape, dtype="uint32")`, on any
    device and in any number of processes.
    """
    torch = _torch()
    sizes, first, count = _philox.checked(key, shape, start)
    # Taken here, because a compiler would pass `start` on to what comes after the rounds, and beyond
    # 2^63 it is no integer of its own.
    skip = index(start) % 4
    # The mask changes nothing. But without it torch.compile computes a sum of arange and a constant
    # as an index, in 32 bits, and the sum wraps: 9,960 of 10,000 numbers were wrong in PyTorch 2.11.
    place = torch.arange(count, dtype=torch.int64, device=device) & (2**62 - 1)
    low = place + (first & 0xFFFFFFFF)
    high, low = (low >> 32) + (first >> 32), low & 0xFFFFFFFF
    if not isinstance(stream, torch.Tensor):
        c2, c3 = _philox.number(stream)
    elif stream.is_floating_point() or stream.is_complex() or stream.dtype == torch.bool:
        raise TypeError(f"stream must be an integer, not {stream.dtype}")
    elif stream.numel() != 1:  # they would be streams of blocks, one after the other
        raise ValueError(f"stream must be one integer, not a tensor of {stream.numel()}")
    else:
        step = stream.to(device=low.device, dtype=torch.int64)
        c2, c3 = step << 16 & 0xFFFFFFFF, step >> 16 & 0xFFFFFFFF
    zeros = torch.zeros_like(low)
    counter = (low, high, zeros + c2, zeros + c3)
    halves = torch.stack(_philox.blocks(key, counter, _mul, int), dim=-1).reshape(-1)
    return halves[skip : skip + prod(sizes)].reshape(sizes)


def random(
    key: Key, shape: int | Sequence[int], *, stream: Any = 0, start: int = 0, device: Any = None
) -> Any:
    """Returns uniform numbers from 0, below 1, as a tensor of float32 on a device.

    The arguments are those of `bits`, and the numbers those of
    `key.stream(stream).random(shape, dtype="float32", start=start)`.
    """
    torch = _torch()
    words = bits(key, shape, stream=stream, start=start, device=device)
    return (words >> 8).to(torch.float32) * 2**-24
