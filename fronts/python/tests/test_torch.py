"""The elastic sampler: by the protocol of PyTorch's samplers, and with PyTorch where it is here."""

from __future__ import annotations

import itertools
import pickle
import subprocess
import sys
from typing import Any

import pytest

import headwater
from headwater.torch import ElasticSampler

KEY = headwater.Key(42)
N = 1003
STATE = ElasticSampler(N, KEY, position=7).state_dict()


def epoch(world: int, **more: int) -> list[int]:
    """Returns what all processes yield, step by step."""
    samplers = [ElasticSampler(N, KEY, num_replicas=world, rank=r, **more) for r in range(world)]
    parts = [list(sampler) for sampler in samplers]
    assert len({len(part) for part in parts}) == 1
    if not more:
        assert [len(sampler) for sampler in samplers] == [len(part) for part in parts]
    return [row for step in zip(*parts, strict=True) for row in step]


def right(number: int) -> list[int]:
    """Returns the order of an epoch."""
    order = KEY.child(b"epoch").child(number).stream(0).permutation(N)
    return [order.at(place) for place in range(N)]


@pytest.mark.parametrize("world", [1, 2, 7, 64, 1003, 1010])
def test_each_row_once_whatever_the_number_of_processes(world: int) -> None:
    rows = epoch(world)
    assert rows[:N] == right(0) and sorted(rows[:N]) == list(range(N))
    assert len(rows) == -(-N // world) * world and rows[N:] == right(0)[: len(rows) - N]


@pytest.mark.parametrize(("before", "after"), [(7, 2), (2, 64), (64, 1), (1, 7)])
def test_resumed_by_one_integer_with_other_processes(before: int, after: int) -> None:
    first = [ElasticSampler(N, KEY, num_replicas=before, rank=r) for r in range(before)]
    batches, size = 3, 4
    seen = [list(itertools.islice(sampler, batches * size)) for sampler in first]
    position = first[0].position_after(batches, size)
    assert position == batches * size * before
    rest = epoch(after, position=position)
    done = {row for part in seen for row in part}
    assert rest[: N - position] == right(0)[position:] and done == set(right(0)[:position])


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda one: one.position_after(-1, -1), ValueError, "batches must be .* from 0, not -1"),
        (lambda one: one.position_after(-1, 2), ValueError, "batches must be .* from 0, not -1"),
        (lambda one: one.position_after(1, -2), ValueError, "batch_size must be .* from 1, not -2"),
        (lambda one: one.position_after(1, 0), ValueError, "batch_size must be .* from 1, not 0"),
        (lambda one: one.position_after(1.0), TypeError, "batches must be an integer, not 1.0"),
        (lambda one: one.set_epoch(-1), ValueError, "epoch must be a number from 0, not -1"),
        (lambda one: one.set_epoch(1.5), TypeError, "epoch must be an integer, not 1.5"),
        (lambda one: setattr(one, "epoch", -1), ValueError, "epoch must be a number from 0"),
        (lambda one: setattr(one, "position", 2.0), TypeError, "position must be an integer"),
        (lambda one: setattr(one, "num_replicas", 4), AttributeError, "num_replicas"),
        (lambda one: setattr(one, "rank", 5), AttributeError, "rank"),
        (lambda one: setattr(one, "n", 5), AttributeError, "n"),
        (lambda one: setattr(one, "drop_last", "no"), TypeError, "drop_last must be True or False"),
        (lambda one: one.load_state_dict({"position": 1}), ValueError, "the state has no n"),
        (lambda one: one.load_state_dict({}), ValueError, "no position and no n"),
        (lambda one: one.load_state_dict({**STATE, "n": "9"}), TypeError, "n in the state must be"),
        (lambda one: one.load_state_dict({**STATE, "position": "1"}), TypeError, "position in the st"),
        (lambda one: one.load_state_dict({**STATE, "position": -1}), ValueError, "be from 0, not -1"),
        (
            lambda one: one.load_state_dict(ElasticSampler(N, headwater.Key(43)).state_dict()),
            ValueError,
            "the state is of another key",
        ),
        (lambda one: one.position_after(498), ValueError, "has 497 batches of 1 and not 498"),
        (lambda one: one.position_after(2, 497), ValueError, "has 1 batches of 497 and not 2"),
    ],
)
def test_what_would_be_other_rows_is_an_error(
    call: Any, error: type[Exception], text: str
) -> None:
    sampler = ElasticSampler(N, KEY, num_replicas=2, rank=1, position=10)
    rows = list(sampler)
    with pytest.raises(error, match=text):
        call(sampler)
    # Nothing has changed.
    assert sampler.position == 0 and sampler.state_dict()["position"] == N
    sampler.position = 10
    assert list(sampler) == rows


def test_to_assign_the_epoch_is_to_set_it() -> None:
    sampler = ElasticSampler(N, KEY, num_replicas=4, rank=1, position=200)
    sampler.epoch = 0
    assert sampler.position == 200
    sampler.epoch = 3
    assert sampler.position == 3 * N and list(sampler)[0] == right(3)[1]


def test_epochs() -> None:
    sampler = ElasticSampler(N, KEY, num_replicas=4, rank=1)
    sampler.position = sampler.position_after(10, 5)
    sampler.set_epoch(0)
    assert sampler.position == 200 and list(sampler) == right(0)[201::4]
    sampler.set_epoch(1)
    assert sampler.position == N and list(sampler) == right(1)[1::4]
    assert right(1) != right(0)
    # All rows of an epoch, also if its last step is uneven or left out, lead to the next one.
    assert sampler.position_after(len(sampler)) == 2 * N
    last = ElasticSampler(N, KEY, num_replicas=4, rank=3, drop_last=True)
    assert len(last) == 250 and list(last) == right(0)[3:1000:4]
    assert last.position_after(250) == N and last.position_after(249) == 996
    # So do the batches of a loader that leaves out the last one: 35 of 7, and 5 rows more.
    assert last.position_after(35, 7) == 980 and last.position_after(35, 7, drop_last=True) == N


def test_state() -> None:
    sampler = ElasticSampler(N, KEY, position=5 * N + 77)
    again = ElasticSampler(N, KEY)
    again.load_state_dict(pickle.loads(pickle.dumps(sampler.state_dict())))
    assert (again.epoch, again.position) == (5, 5 * N + 77) and list(again) == right(5)[77:]
    assert list(pickle.loads(pickle.dumps(sampler))) == right(5)[77:]
    with pytest.raises(ValueError, match="the state is of 1003 rows and the data set has 9"):
        ElasticSampler(9, KEY).load_state_dict(sampler.state_dict())


def test_a_billion_rows_take_no_list() -> None:
    code = """
import itertools, resource, headwater, headwater.torch
from headwater import Key
def peak(): return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
small = headwater.torch.ElasticSampler(100_000, Key(42), num_replicas=8, rank=3)
sum(small)
before = peak()
large = headwater.torch.ElasticSampler(10**9, Key(42), num_replicas=8, rank=3)
assert len(large) == 125_000_000
sum(itertools.islice(large, 100_000))
print(peak() - before)
"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(ran.stdout) < 1024  # KiB


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"n": 0}, "n must be a number of rows from 1"),
        ({"num_replicas": 0, "rank": 0}, "num_replicas must be at least 1"),
        ({"num_replicas": 2, "rank": 2}, "rank must be from 0 to num_replicas - 1 = 1, not 2"),
        ({"position": -1}, "position must be a number of rows from 0"),
    ],
)
def test_bad_input(more: dict[str, int], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        ElasticSampler(**{"n": 10, "key": KEY, **more})  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="key must be a headwater.Key, not int"):
        ElasticSampler(10, 42)  # type: ignore[arg-type]


def test_the_data_loader_of_pytorch() -> None:
    torch = pytest.importorskip(
        "torch", reason="PyTorch is not installed: its DataLoader did not take the sampler"
    )
    sampler = ElasticSampler(N, KEY, num_replicas=2, rank=1)
    rows = torch.arange(N)
    for workers in (0, 2):
        loader = torch.utils.data.DataLoader(
            rows, sampler=sampler, batch_size=10, num_workers=workers
        )
        assert torch.cat(list(loader)).tolist() == list(sampler)
