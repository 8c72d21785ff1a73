"""An order of rows for PyTorch's DataLoader that any number of processes share, and resume.

The order of an epoch is a permutation that is computed row by row, so 10^9 rows take no list. It
depends on the key and the epoch alone, and not on the number of processes: process r of w takes
places r, r + w, r + 2w. So a job that stopped after some rows goes on with the next one, with any
other number of processes, from one integer.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from typing import Any, SupportsIndex

from headwater._native import Key
from headwater._samples import whole

# Places that are computed at a time: 64 KiB, of which a loop that stops early wastes little.
_BLOCK = 8192


def _base() -> Any:
    """Returns PyTorch's class, for which trainers look: Lightning shares out the rows of any other
    sampler once more, and half of them would never be seen."""
    try:
        from torch.utils.data.distributed import DistributedSampler
    except (ImportError, OSError):  # not installed, or one of its libraries is missing
        return object
    return DistributedSampler


def _group() -> tuple[int, int] | None:
    """Returns the number of processes and this one's rank, of `torch.distributed` if it runs."""
    distributed: Any = sys.modules.get("torch.distributed")
    if distributed is None or not distributed.is_available() or not distributed.is_initialized():
        return None
    return distributed.get_world_size(), distributed.get_rank()


def _processes(num_replicas: SupportsIndex | None, rank: SupportsIndex | None) -> tuple[int, int]:
    """Returns the number of processes and the rank: the group's, as far as they were not given."""
    many = None if num_replicas is None else whole("num_replicas", num_replicas)
    own = None if rank is None else whole("rank", rank)
    group = (1, 0) if many is not None and own is not None else _group()
    if group is None:
        if many is None and own:
            raise ValueError(f"num_replicas must be given with rank={own}: no process group runs")
        if many is None and os.environ.get("WORLD_SIZE", "1") not in ("", "0", "1"):
            # As the only process, each of them would have all rows.
            raise ValueError(
                f"WORLD_SIZE is {os.environ['WORLD_SIZE']}, and no process group runs: call "
                "torch.distributed.init_process_group() first, or give num_replicas and rank"
            )
        group = 1, 0
    if own is None and many is not None and many != group[0]:
        # As rank 0, each process would have the same rows.
        raise ValueError(
            f"rank must be given with num_replicas={many}: torch.distributed runs "
            f"{group[0]} process{'es' if group[0] > 1 else ''}"
        )
    many = group[0] if many is None else many
    own = group[1] if own is None else own
    if many < 1:
        raise ValueError(f"num_replicas must be at least 1, not {many}")
    if not 0 <= own < many:
        raise ValueError(f"rank must be from 0 to num_replicas - 1 = {many - 1}, not {own}")
    return many, own


class ElasticSampler(_base()):  # type: ignore[misc]
    """The indices of a data set of `n` rows, each once an epoch, in an order of the key's.

    It is one of PyTorch's DistributedSampler, where PyTorch is installed. `num_replicas`, `rank`
    and `drop_last` are those of that class. They come from the process group if they are not given;
    without a group there is one process. All processes yield the same number of indices. If `n` is
    no multiple of the number of processes, the last step takes rows from the start of the order
    once more; with `drop_last`, it is left out.

    `position` is where the next iteration begins: the number of rows that all processes together
    have seen since the first epoch. It may be given, read, and assigned. What an iteration has
    reached is in `state_dict`, and `position_after` computes it of a trainer's own count. `len()`
    is that of a whole epoch, also of a sampler that begins in the midst of one: trainers read it
    once, and end each epoch there.
    """

    def __init__(
        self,
        n: SupportsIndex,
        key: Key,
        *,
        num_replicas: SupportsIndex | None = None,
        rank: SupportsIndex | None = None,
        drop_last: bool = False,
        position: SupportsIndex = 0,
    ) -> None:
        # Not the base's __init__, which takes the data set.
        self._n = _rows_of(n)
        self._num_replicas, self._rank = _processes(num_replicas, rank)
        self._is_of_group = num_replicas is None or rank is None
        self.drop_last = drop_last
        if not isinstance(key, Key):
            raise TypeError(f"key must be a headwater.Key, not {type(key).__name__}")
        if not 0 < self.n < 2**63:
            raise ValueError(f"n must be a number of rows from 1 to 2^63 - 1, not {self.n}")
        self._key = key
        # Another key is noticed by it.
        self._mark = int(key.child(b"state").stream(0).integers(0, 2**48))
        self.position = position  # type: ignore[assignment]

    def __repr__(self) -> str:
        return (
            f"ElasticSampler({self.n}, key, num_replicas={self.num_replicas}, rank={self.rank}, "
            f"drop_last={self.drop_last}, position={self.position})"
        )

    def __getstate__(self) -> dict[str, Any]:
        # An iteration under way belongs to this process.
        return {**self.__dict__, "_newest": None}

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
    def num_samples(self) -> int:
        """The number of indices that each process has in a whole epoch."""
        return _rows(self.n, self.num_replicas, self.drop_last)

    @property
    def total_size(self) -> int:
        """The number of indices that all processes have in a whole epoch."""
        return self.num_samples * self.num_replicas

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
        """The number of rows, from the first epoch on, after which the next iteration begins."""
        return self.epoch * self.n + self._start

    @position.setter
    def position(self, position: int) -> None:
        rows = whole("position", position)
        if rows < 0:
            raise ValueError(f"position must be a number of rows from 0, not {rows}")
        self._epoch, self._start = divmod(rows, self.n)
        self._newest: _Iteration | None = None

    def set_epoch(self, epoch: SupportsIndex) -> None:
        """Moves to the start of an epoch. In the epoch of `position` it changes nothing.

        So a loop that calls it before each epoch, `for epoch in range(sampler.epoch, epochs)`,
        resumes in the midst of the first one. An epoch that was iterated to its end begins at its
        start when it is iterated again.
        """
        number = whole("epoch", epoch)
        if number < 0:
            raise ValueError(f"epoch must be a number from 0, not {number}")
        if number != self._epoch:
            self.position = number * self.n

    def position_after(
        self, batches: SupportsIndex, batch_size: SupportsIndex = 1, *, drop_last: bool = False
    ) -> int:
        """Returns the position after so many batches of each process in the newest iteration.

        Save it with the model. A count of the trainer's is needed, because a DataLoader takes
        indices ahead of the batches that it hands out. `drop_last` says that the DataLoader leaves
        out a last batch that is not full, so that the epoch ends before it.
        """
        batches, batch_size = whole("batches", batches), whole("batch_size", batch_size)
        if batches < 0:
            raise ValueError(f"batches must be a number from 0, not {batches}")
        if batch_size < 1:
            raise ValueError(f"batch_size must be a number of rows from 1, not {batch_size}")
        run = self._newest or _Iteration(self)
        whole_ones, rest = divmod(run.rows, batch_size)
        many = whole_ones + (rest > 0 and not drop_last)
        if batches > many:
            raise ValueError(
                f"the iteration has {many} batches of {batch_size} and not {batches}: count from "
                "its beginning, anew in each epoch and after each resume"
            )
        return run.position_after(run.rows if batches == many else batches * batch_size)

    def __len__(self) -> int:
        """Returns the number of indices that each process has in a whole epoch."""
        return self.num_samples

    def __iter__(self) -> Iterator[int]:
        """Returns an iterator, from `position` to the end of the epoch."""
        group = _group() if self._is_of_group else None
        if group is not None and group != (self.num_replicas, self.rank):
            # Each process would have all rows, and Lightning shares out no DistributedSampler.
            raise RuntimeError(
                f"the sampler was made for process {self.rank} of {self.num_replicas}, before this "
                f"became process {group[1]} of {group[0]}: make it after the process group, in "
                "Lightning in train_dataloader()"
            )
        self._newest = _Iteration(self)
        return self._newest

    def state_dict(self) -> dict[str, int]:
        """Returns the position that the newest iteration has reached, with what it belongs to.

        It counts the indices that were taken. A DataLoader with workers takes them ahead: there
        torchdata's StatefulDataLoader has the right state, or `position_after`.
        """
        return self._state(self._newest.reached() if self._newest else self.position)

    def load_state_dict(self, state_dict: Mapping[str, int]) -> None:
        """Takes the position of `state_dict`, for the next iteration.

        Another number of rows, or another key, has another order, and is an error.
        """
        self.position = self._position_in(state_dict)

    def _state(self, position: int) -> dict[str, int]:
        return {"position": position, "n": self.n, "key": self._mark}

    def _position_in(self, state: Any) -> int:
        if not isinstance(state, Mapping):
            raise TypeError(
                f"the state must be what state_dict() returned, not {type(state).__name__}"
            )
        missing = [name for name in ("position", "n", "key") if name not in state]
        if missing:
            raise ValueError(
                f"the state has no {' and no '.join(missing)}: pass what state_dict() of an "
                "ElasticSampler returned"
            )
        if whole("n in the state", state["n"]) != self.n:
            raise ValueError(
                f"the state is of {state['n']} rows and the data set has {self.n}: their orders "
                "differ, so start an epoch of the new rows"
            )
        if state["key"] != self._mark:
            raise ValueError(
                "the state is of another key, which has another order: make the sampler with the "
                "key of the run that wrote it"
            )
        position = whole("position in the state", state["position"])
        if position < 0:
            raise ValueError(f"position in the state must be from 0, not {position}")
        return position


def _rows_of(n: Any) -> int:
    try:
        return whole("n", n)
    except TypeError:
        if not hasattr(n, "__getitem__"):
            raise
    # Not its repr, which may be a whole data set.
    raise TypeError(f"n must be the number of rows, not {type(n).__name__}: pass its len()")


def _rows(left: int, num_replicas: int, drop_last: bool) -> int:
    """Returns how many indices each process has of rows that are left."""
    return left // num_replicas if drop_last else -(-left // num_replicas)


class _Iteration(Iterator[int]):
    """An iteration, with the state by which torchdata resumes it.

    What it is of is fixed when it begins, so a change of the sampler is for the next one.
    """

    def __init__(self, sampler: ElasticSampler) -> None:
        self._sampler = sampler
        self._drop_last = sampler.drop_last
        self._begin(sampler.position)

    def _begin(self, position: int) -> None:
        sampler = self._sampler
        self.began_at = position
        self._epoch, start = divmod(position, sampler.n)
        self.rows = _rows(sampler.n - start, sampler.num_replicas, self._drop_last)
        self._taken = 0
        first, step = start + sampler.rank, sampler.num_replicas
        order = sampler._key.child(b"epoch").child(self._epoch).stream(0).permutation(sampler.n)
        places = range(first, first + self.rows * step, step)
        self._indices = _indices(order, sampler.n, places)

    def position_after(self, taken: int) -> int:
        """Returns the position after so many indices of each process."""
        end = (self._epoch + 1) * self._sampler.n
        # The last step may pass the end, with rows that are taken once more, or stop before it.
        seen = taken * self._sampler.num_replicas
        return end if taken >= self.rows else min(self.began_at + seen, end)

    def __next__(self) -> int:
        row = next(self._indices, None)
        if row is not None:
            self._taken += 1
            return row
        sampler = self._sampler
        if sampler.position == self.began_at:
            # What was left of the epoch was seen. Otherwise a loop that never sets an epoch would
            # see the rest of the first one for ever.
            sampler._start = 0
        raise StopIteration

    def reached(self) -> int:
        """Returns the position after the indices that were taken."""
        return self.position_after(self._taken)

    def state_dict(self) -> dict[str, int]:
        return self._sampler._state(self.reached())

    def load_state_dict(self, state_dict: Mapping[str, int]) -> None:
        sampler = self._sampler
        sampler.position = sampler._position_in(state_dict)
        sampler._newest = self
        self._begin(sampler.position)


def _indices(order: Any, n: int, places: range) -> Iterator[int]:
    for start in range(0, len(places), _BLOCK):
        block = places[start : start + _BLOCK]
        if block[-1] >= n:  # the last step of an uneven data set
            yield from (order[place % n] for place in block)
        else:
            yield from order.at(block).tolist()
