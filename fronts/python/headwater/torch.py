"""An order of rows for PyTorch's DataLoader that any number of processes share, and resume.

    >>> import headwater, headwater.torch
    >>> sampler = headwater.torch.ElasticSampler(len(dataset), headwater.Key(42))
    >>> loader = torch.utils.data.DataLoader(dataset, sampler=sampler, batch_size=32)

The order of an epoch is a permutation that is computed row by row, so 10^9 rows take no list. It
depends on the key and the epoch alone, and not on the number of processes: process r of w takes
places r, r + w, r + 2w. So a job that stopped after some rows goes on with the next one, with any
other number of processes, from one integer (`position`).

PyTorch itself is not imported for it: a DataLoader takes every object that has `__iter__` and
`__len__`.

`bits` and `random` make numbers of a stream on a device, the same on every one:

    >>> key = headwater.Key(42, engine="philox4x32")
    >>> headwater.torch.random(key, (2, 3), device="cuda")
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from math import prod
from operator import index
from typing import Any

from headwater import _philox
from headwater._native import Key
from headwater._samples import whole

__all__ = ["ElasticSampler", "bits", "random"]
# Places that are computed at a time: 64 KiB, of which a loop that stops early wastes little.
_BLOCK = 8192


def _group() -> tuple[int, int]:
    """Returns the number of processes and this one's rank, of `torch.distributed` if it runs."""
    distributed: Any = sys.modules.get("torch.distributed")
    if distributed is None or not distributed.is_available() or not distributed.is_initialized():
        return 1, 0
    return distributed.get_world_size(), distributed.get_rank()


class ElasticSampler:
    """The indices of a data set of `n` rows, each once an epoch, in an order of the key's.

    The arguments `num_replicas`, `rank` and `drop_last` are those of PyTorch's DistributedSampler,
    and so are their defaults: the process group's, if there is one. All processes yield the same
    number of indices. If `n` is no multiple of the number of processes, the last step takes rows
    from the start of the order once more; with `drop_last`, it is left out.

    `position` is the number of rows that all processes together have seen since the first epoch.
    It may be given, read, and assigned; `position_after` computes the one to save.
    """

    def __init__(
        self,
        n: int,
        key: Key,
        *,
        num_replicas: int | None = None,
        rank: int | None = None,
        drop_last: bool = False,
        position: int = 0,
    ) -> None:
        replicas, own = _group() if num_replicas is None or rank is None else (1, 0)
        if rank is None and num_replicas is not None and index(num_replicas) != replicas:
            # As rank 0, each process would have the same rows.
            raise ValueError(
                f"rank must be given with num_replicas={num_replicas}: torch.distributed runs "
                f"{replicas} process{'es' if replicas > 1 else ''}"
            )
        self._n = whole("n", n)
        if num_replicas is not None:
            replicas = whole("num_replicas", num_replicas)
        self._num_replicas = replicas
        self._rank = own if rank is None else whole("rank", rank)
        self.drop_last = drop_last
        if not isinstance(key, Key):
            raise TypeError(f"key must be a headwater.Key, not {type(key).__name__}")
        if not 0 < self.n < 2**63:
            raise ValueError(f"n must be a number of rows from 1 to 2^63 - 1, not {self.n}")
        if self.num_replicas < 1:
            raise ValueError(f"num_replicas must be at least 1, not {self.num_replicas}")
        if not 0 <= self.rank < self.num_replicas:
            last = self.num_replicas - 1
            raise ValueError(f"rank must be from 0 to num_replicas - 1 = {last}, not {self.rank}")
        self._key = key
        self.position = position

    # These have no setters. A loop that is under way would go on with the old numbers, and
    # processes that change theirs one after the other would see rows twice or never.

    @property
    def n(self) -> int:
        """The number of rows. Another number of rows has another order: make a new sampler."""
        return self._n

    @property
    def num_replicas(self) -> int:
        """The number of processes. For another number make a new sampler, from this position."""
        return self._num_replicas

    @property
    def rank(self) -> int:
        """The number of this process, from 0. For another one make a new sampler."""
        return self._rank

    @property
    def epoch(self) -> int:
        """The epoch of the next iteration. To assign it is `set_epoch`."""
        return self._epoch

    @epoch.setter
    def epoch(self, epoch: int) -> None:
        self.set_epoch(epoch)

    @property
    def drop_last(self) -> bool:
        """Whether the last step is left out if it has no row for each process."""
        return self._drop_last

    @drop_last.setter
    def drop_last(self, drop_last: bool) -> None:
        if type(drop_last).__name__ not in ("bool", "bool_"):  # NumPy's, whose name differs
            raise TypeError(f"drop_last must be True or False, not {drop_last!r}")
        self._drop_last = bool(drop_last)

    @property
    def position(self) -> int:
        """The number of rows that were seen before the next iteration, from the first epoch on."""
        return self.epoch * self.n + self._start

    @position.setter
    def position(self, position: int) -> None:
        rows = whole("position", position)
        if rows < 0:
            raise ValueError(f"position must be a number of rows from 0, not {rows}")
        self._epoch, self._start = divmod(rows, self.n)

    def set_epoch(self, epoch: int) -> None:
        """Moves to the start of an epoch. In the epoch of `position` it changes nothing.

        So the usual loop, which calls it before each epoch, resumes in the midst of the first one.
        """
        number = whole("epoch", epoch)
        if number < 0:
            raise ValueError(f"epoch must be a number from 0, not {number}")
        if number != self._epoch:
            self.position = number * self.n

    def position_after(self, batches: int, batch_size: int = 1) -> int:
        """Returns the position after so many batches of each process in this iteration.

        Save it with the model. A count of the trainer's is needed, because a DataLoader takes
        indices ahead of the batches that it hands out.
        """
        batches, batch_size = whole("batches", batches), whole("batch_size", batch_size)
        if batches < 0:
            raise ValueError(f"batches must be a number from 0, not {batches}")
        if batch_size < 1:
            raise ValueError(f"batch_size must be a number of rows from 1, not {batch_size}")
        seen = batches * batch_size * self.num_replicas
        left = len(self) * self.num_replicas
        # The last step may pass the end, with rows that are taken once more, or stop before it.
        if seen >= left:
            return (self.epoch + 1) * self.n
        return min(self.position + seen, (self.epoch + 1) * self.n)

    def __len__(self) -> int:
        left = self.n - self._start
        return left // self.num_replicas if self.drop_last else -(-left // self.num_replicas)

    def __iter__(self) -> Iterator[int]:
        # What the iteration is of is fixed here, so that a change of the position is for the next.
        n, replicas = self.n, self.num_replicas
        order = self._key.child(b"epoch").child(self.epoch).stream(0).permutation(n)
        first = self._start + self.rank
        return _places(order, n, range(first, first + len(self) * replicas, replicas))

    def state_dict(self) -> dict[str, int]:
        """Returns the position and the number of rows, which belong together."""
        return {"position": self.position, "n": self.n}

    def load_state_dict(self, state: dict[str, int]) -> None:
        """Takes the position of `state_dict`. A data set of another length has another order."""
        if not isinstance(state, Mapping):
            raise TypeError(
                f"the state must be what state_dict() returned, not {type(state).__name__}"
            )
        missing = [name for name in ("position", "n") if name not in state]
        if missing:
            raise ValueError(
                f"the state has no {' and no '.join(missing)}: pass what state_dict() of an "
                "ElasticSampler returned"
            )
        if state["n"] != self.n:
            raise ValueError(
                f"the state is of {state['n']} rows and the data set has {self.n}: their orders "
                "differ, so start an epoch of the new rows"
            )
        self.position = state["position"]


def _places(order: Any, n: int, places: range) -> Iterator[int]:
    for start in range(0, len(places), _BLOCK):
        block = places[start : start + _BLOCK]
        if block[-1] >= n:  # the last step of an uneven data set
            yield from (order[place % n] for place in block)
        else:
            yield from order.at(block).tolist()


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
    import torch

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
    elif stream.is_floating_point() or stream.dtype == torch.bool:
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
    import torch

    words = bits(key, shape, stream=stream, start=start, device=device)
    return (words >> 8).to(torch.float32) * 2**-24
