"""What an elastic sampler has reached: by itself, and in the loaders and trainers that save it."""

from __future__ import annotations

import copy
import itertools
import pickle
import subprocess
import sys
from typing import Any

import pytest

import headwater
from headwater.torch import ElasticSampler

KEY = headwater.Key(42)
N = 103


def right(number: int) -> list[int]:
    """Returns the order of an epoch."""
    order = KEY.child(b"epoch").child(number).stream(0).permutation(N)
    return [order.at(place) for place in range(N)]


@pytest.mark.parametrize("world", [1, 2, 7, N, N + 1])
@pytest.mark.parametrize("drop_last", [False, True])
@pytest.mark.parametrize("start", [0, 40, 2 * N + 99])
def test_the_state_is_what_was_taken(world: int, drop_last: bool, start: int) -> None:
    sampler = ElasticSampler(
        N, KEY, num_replicas=world, rank=world - 1, drop_last=drop_last, position=start
    )
    epoch, before = divmod(start, N)
    assert sampler.state_dict()["position"] == start
    rows = iter(sampler)
    left = (N - before) // world if drop_last else -(-(N - before) // world)
    for taken in range(left + 1):
        position = sampler.state_dict()["position"]
        done = taken == left
        assert position == ((epoch + 1) * N if done else min(start + taken * world, (epoch + 1) * N))
        assert position == sampler.position_after(taken)
        # Any number of processes has the others.
        again = ElasticSampler(N, KEY, num_replicas=2, rank=0)
        again.load_state_dict(pickle.loads(pickle.dumps(sampler.state_dict())))
        of, at = divmod(position, N)
        assert list(again) == right(of)[at::2]
        next(rows, None)
    assert list(rows) == []


def test_an_iterator_takes_a_state_of_its_own() -> None:
    sampler = ElasticSampler(N, KEY)
    rows: Any = iter(sampler)
    seen = list(itertools.islice(rows, 30))
    state = rows.state_dict()
    assert state == sampler.state_dict() and seen == right(0)[:30]
    other: Any = iter(ElasticSampler(N, KEY, num_replicas=2, rank=1))
    other.load_state_dict(state)
    assert list(other) == [*right(0)[31::2], right(0)[0]] and other.state_dict()["position"] == N
    other.load_state_dict(state)
    assert next(other) == right(0)[31]
    for wrong, error in [
        (None, TypeError),
        ({"n": N}, ValueError),
        ({**state, "key": 1}, ValueError),
        ({**state, "position": -1}, ValueError),
    ]:
        with pytest.raises(error):
            other.load_state_dict(wrong)
    assert next(other) == right(0)[33]
    # The sampler goes where its iterator went.
    sampler = ElasticSampler(N, KEY)
    moved: Any = iter(sampler)
    moved.load_state_dict({**state, "position": 3 * N + 50})
    assert (sampler.epoch, sampler.position) == (3, 3 * N + 50) and next(moved) == right(3)[50]
    assert sampler.state_dict()["position"] == 3 * N + 51


def test_the_rest_of_an_epoch_is_seen_once() -> None:
    sampler = ElasticSampler(N, KEY, position=100)
    # Its length is that of an epoch, because trainers end all epochs at the first length they see.
    assert list(sampler) == right(0)[100:] and len(sampler) == N and sampler.position == 0
    assert sampler.state_dict()["position"] == N
    assert list(pickle.loads(pickle.dumps(sampler))) == right(0) == list(sampler)
    # A look at the first rows is no epoch.
    sampler.position = 100
    assert next(iter(sampler)) == right(0)[100] and list(sampler) == right(0)[100:]
    # To set the same epoch once more does not bring the rest back.
    sampler.set_epoch(0)
    assert list(sampler) == right(0)
    sampler.position = 100
    for epoch in range(sampler.epoch, 3):
        sampler.set_epoch(epoch)
        assert list(sampler) == right(epoch)[100 if epoch == 0 else 0 :]


def test_two_iterations_at_once() -> None:
    sampler = ElasticSampler(N, KEY)
    one = iter(sampler)
    assert list(itertools.islice(one, 5)) == right(0)[:5]
    two = iter(sampler)
    assert next(two) == right(0)[0] and sampler.state_dict()["position"] == 1
    sampler.set_epoch(4)
    assert sampler.state_dict()["position"] == 4 * N
    assert list(one) == right(0)[5:] and list(two) == right(0)[1:]
    assert list(sampler) == right(4)


def test_copies_in_the_midst() -> None:
    sampler = ElasticSampler(N, KEY, num_replicas=3, rank=2, position=50)
    rows = iter(sampler)
    next(rows)
    for copied in (copy.copy(sampler), copy.deepcopy(sampler), pickle.loads(pickle.dumps(sampler))):
        assert repr(copied) == repr(sampler) and list(copied) == right(0)[52::3] + right(0)[:1]
    assert next(rows) == right(0)[55]


def test_attributes_of_a_distributed_sampler() -> None:
    sampler = ElasticSampler(N, KEY, num_replicas=4, rank=1, position=50)
    assert (sampler.num_samples, sampler.total_size, len(sampler)) == (26, 104, 26)
    sampler.drop_last = True
    assert (sampler.num_samples, sampler.total_size, len(sampler)) == (25, 100, 25)
    assert repr(sampler) == (
        "ElasticSampler(103, key, num_replicas=4, rank=1, drop_last=True, position=50)"
    )


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: ElasticSampler([1, 2], KEY), TypeError, r"number of rows, not list: pass its len\(\)"),  # type: ignore[arg-type]
        (lambda: ElasticSampler(1.0, KEY), TypeError, "n must be an integer, not 1.0"),  # type: ignore[arg-type]
        (lambda: ElasticSampler("9", KEY), TypeError, "number of rows, not str"),  # type: ignore[arg-type]
        (lambda: ElasticSampler(9, KEY, num_replicas=1.0), TypeError, "num_replicas must be an integer"),  # type: ignore[arg-type]
        (lambda: ElasticSampler(9, KEY, rank="1"), TypeError, "rank must be an integer"),  # type: ignore[arg-type]
        (lambda: ElasticSampler(9, KEY, rank=1), ValueError, "num_replicas must be given with rank=1"),
        (lambda: ElasticSampler(9, KEY, num_replicas=2), ValueError, "rank must be given with num_replicas=2"),
    ],
)  # fmt: skip
def test_errors_name_the_cause(call: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        call()


def test_a_launcher_without_a_group_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORLD_SIZE", "2")
    with pytest.raises(ValueError, match="WORLD_SIZE is 2, and no process group runs: call torch"):
        ElasticSampler(9, KEY)
    assert len(ElasticSampler(9, KEY, num_replicas=2, rank=1)) == 5
    assert len(ElasticSampler(9, KEY, num_replicas=1, rank=0)) == 9
    monkeypatch.setenv("WORLD_SIZE", "1")
    assert len(ElasticSampler(9, KEY)) == 9


class Group:
    """What `torch.distributed` says of a process group."""

    def __init__(self, world: int, rank: int) -> None:
        self.is_available = self.is_initialized = lambda: True
        self.get_world_size, self.get_rank = lambda: world, lambda: rank


def test_a_group_that_came_later_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    before, given = ElasticSampler(9, KEY), ElasticSampler(9, KEY, num_replicas=1, rank=0)
    monkeypatch.setitem(sys.modules, "torch.distributed", Group(2, 1))  # type: ignore[arg-type]
    with pytest.raises(RuntimeError, match="for process 0 of 1, before this became process 1 of 2"):
        iter(before)
    assert len(list(given)) == 9 and len(list(ElasticSampler(9, KEY))) == 5
    # One that was copied from another process has that process's rank.
    copied = pickle.dumps(ElasticSampler(9, KEY))
    monkeypatch.setitem(sys.modules, "torch.distributed", Group(2, 0))  # type: ignore[arg-type]
    with pytest.raises(RuntimeError, match="for process 1 of 2, before this became process 0 of 2"):
        iter(pickle.loads(copied))


def test_without_pytorch_the_numbers_of_devices_say_what_they_need() -> None:
    code = """
import sys
sys.modules["torch"] = None
import headwater, headwater.torch
print(len(headwater.torch.ElasticSampler(9, headwater.Key(1))))
try:
    headwater.torch.random(headwater.Key(1, engine="philox4x32"), 3)
except ImportError as error:
    print(error)
"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout == "9\nheadwater.torch.bits and random need PyTorch: pip install torch\n"


def test_it_is_a_distributed_sampler_of_pytorch() -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is not installed: its class was not asked")
    sampler = ElasticSampler(N, KEY)
    assert isinstance(sampler, torch.utils.data.DistributedSampler)
    theirs = torch.utils.data.DistributedSampler(range(N), num_replicas=4, rank=1)
    own = ElasticSampler(N, KEY, num_replicas=4, rank=1)
    assert (own.num_samples, own.total_size) == (theirs.num_samples, theirs.total_size)


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("before", [1, 3, 9])
@pytest.mark.parametrize("after", [1, 2])
@pytest.mark.parametrize("epoch", [0, 3])
def test_a_stateful_loader_resumes_with_other_processes(
    workers: int, before: int, after: int, epoch: int
) -> None:
    loaders = pytest.importorskip(
        "torchdata.stateful_dataloader",
        reason="torchdata is not installed: its loader did not save the sampler",
    )

    def loader(world: int, rank: int) -> Any:
        sampler = ElasticSampler(N, KEY, num_replicas=world, rank=rank)
        return loaders.StatefulDataLoader(
            range(N), sampler=sampler, batch_size=4, num_workers=workers
        )

    first = loader(1, 0)
    first.sampler.set_epoch(epoch)
    seen = [batch.tolist() for batch in itertools.islice(first, before)]
    state = first.state_dict()
    rest = []
    for rank in range(after):
        again = loader(after, rank)
        again.load_state_dict(state)
        # The trainer's own number of the epoch: the loader takes the state when it is iterated.
        again.sampler.set_epoch(epoch)
        rest.append([row for batch in again for row in batch.tolist()])
        # The next epoch is whole.
        again.sampler.set_epoch(epoch + 1)
        assert len([row for batch in again for row in batch]) == -(-N // after) == len(again.sampler)
    steps = [row for step in zip(*rest, strict=True) for row in step]
    assert ([row for batch in seen for row in batch] + steps)[:N] == right(epoch)
