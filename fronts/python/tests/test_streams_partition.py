"""An array does not depend on the way in which it is made: parts, threads, places, processes."""

from __future__ import annotations

import pickle
import threading
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from typing import Any

import headwater
import numpy as np
import pytest
from headwater import Key, Stream
from hypothesis import given, settings
from hypothesis import strategies as st

STREAM = Key(42).child("partition").stream(5)
INTEGERS = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"]

#: Each kind as a function of the stream and the arguments that all kinds share.
KINDS: dict[str, Callable[..., Any]] = {
    "random": lambda s, *a, **k: s.random(*a, **k),
    "random32": lambda s, *a, **k: s.random(*a, dtype="float32", **k),
    "normal": lambda s, *a, **k: s.standard_normal(*a, **k),
    "normal32": lambda s, *a, **k: s.standard_normal(*a, dtype="float32", **k),
    "standard_exponential": lambda s, *a, **k: s.standard_exponential(*a, **k),
    "uint64": lambda s, *a, **k: s.uint64(*a, **k),
    "uint32": lambda s, *a, **k: s.uint32(*a, **k),
}
#: Distributions with parameters, by the name of the method; the size follows the parameters.
PARAMETERS: dict[str, tuple[Any, ...]] = {
    "beta": (0.5, 3),
    "binomial": (1000, 0.25),
    "categorical": ([3, 0, 1, 2.5],),
    "chisquare": (3,),
    "gamma": (0.7, 2.5),
    "geometric": (0.2,),
    "lognormal": (0.5, 2),
    "poisson": (12.5,),
    "standard_gamma": (4,),
    "standard_t": (3,),
    "truncated_normal": (-1, 0.5, 0.25, 2),
    "vonmises": (1, 4),
}
for _name in PARAMETERS:
    KINDS[_name] = lambda s, *a, _name=_name, **k: getattr(s, _name)(*PARAMETERS[_name], *a, **k)
KINDS["random16"] = lambda s, *a, **k: s.random(*a, dtype="float16", **k)
for _name in INTEGERS:
    KINDS[_name] = lambda s, *a, _name=_name, **k: s.integers(0, 100, *(a or (None,)), _name, **k)
# A bound of 3/4 of 2^64 rejects a quarter of the words.
KINDS["rejecting"] = lambda s, *a, **k: s.integers(0, 3 << 62, *(a or (None,)), "uint64", **k)

AT: dict[str, Callable[..., Any]] = {
    "random": lambda e, **k: e.random(**k),
    "random32": lambda e, **k: e.random("float32", **k),
    "normal": lambda e, **k: e.standard_normal(**k),
    "normal32": lambda e, **k: e.standard_normal("float32", **k),
    "standard_exponential": lambda e, **k: e.standard_exponential(**k),
    "uint64": lambda e, **k: e.uint64(**k),
    "uint32": lambda e, **k: e.uint32(**k),
    "rejecting": lambda e, **k: e.integers(0, 3 << 62, "uint64", **k),
    "random16": lambda e, **k: e.random("float16", **k),
} | {name: (lambda e, _name=name, **k: e.integers(0, 100, _name, **k)) for name in INTEGERS}
for _name in PARAMETERS:
    AT[_name] = lambda e, _name=_name, **k: getattr(e, _name)(*PARAMETERS[_name], **k)

starts = st.one_of(st.integers(0, 1 << 20), st.integers(0, (1 << 64) - 4000))


@given(
    kind=st.sampled_from(sorted(KINDS)),
    start=starts,
    cuts=st.lists(st.integers(0, 2000), max_size=6),
    threads=st.integers(0, 3),
    numpys=st.booleans(),
)
@settings(deadline=None, max_examples=150)
def test_any_parts_make_one_array(
    kind: str, start: int, cuts: list[int], threads: int, numpys: bool
) -> None:
    make = KINDS[kind]
    whole = make(STREAM, 2000, start=start)
    parts = np.empty_like(whole) if numpys else headwater.Array(2000, whole.dtype)
    edges = sorted({0, *cuts, 2000})
    for first, last in zip(edges[:-1], edges[1:], strict=True):
        view = memoryview(parts)[first:last]
        assert make(STREAM, out=view, start=start + first, threads=threads) is view
    assert np.asarray(parts).tobytes() == whole.tobytes()


@given(
    kind=st.sampled_from(sorted(AT)),
    indices=st.lists(starts, max_size=200),
    form=st.sampled_from(["list", "tuple", "uint64", "strided", "memoryview"]),
)
@settings(deadline=None, max_examples=150)
def test_elements_are_those_of_the_array(kind: str, indices: list[int], form: str) -> None:
    array: Any = np.array(indices, "u8")
    forms: dict[str, Any] = {
        "list": indices,
        "tuple": tuple(indices),
        "uint64": array,
        "strided": np.array([array, array]).T[:, 1],
        "memoryview": memoryview(array),
    }
    made = AT[kind](STREAM.at(forms[form]))
    single = [KINDS[kind](STREAM, 1, start=index)[0] for index in indices]
    assert made.tolist() == [value.item() for value in single]
    assert made.shape == (len(indices),)


@given(
    shape=st.lists(st.integers(0, 9), max_size=4).map(tuple),
    kind=st.sampled_from(sorted(KINDS)),
    start=starts,
)
@settings(deadline=None)
def test_elements_are_counted_in_c_order(shape: tuple[int, ...], kind: str, start: int) -> None:
    many = KINDS[kind](STREAM, shape, start=start)
    assert many.shape == shape and many.flags.c_contiguous
    size = int(np.prod(shape, dtype=int))
    assert many.tobytes() == KINDS[kind](STREAM, size, start=start).tobytes()
    if size:
        indices = np.arange(size, dtype="u8").reshape(shape) + np.uint64(start)
        listed = AT[kind](STREAM.at(indices))
        assert np.shape(listed) == shape
        assert np.asarray(listed, many.dtype).tobytes() == many.tobytes()


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_threads_change_no_value(kind: str) -> None:
    # Long enough for two threads of the library, which take at least 256 KiB each.
    shape = (700_001,)
    one = KINDS[kind](STREAM, shape, start=3)
    for threads in (2, 5, 0):
        assert KINDS[kind](STREAM, shape, start=3, threads=threads).tobytes() == one.tobytes()


def test_bytes_by_parts_and_threads() -> None:
    whole = STREAM.bytes(1_200_003, start=7)
    assert STREAM.bytes(1_200_003, start=7, threads=3) == whole
    target = bytearray(1_200_003)
    for first in range(0, len(target), 300_001):
        STREAM.fill(memoryview(target)[first : first + 300_001], start=7 + first)
    assert target == whole


def test_python_threads_fill_at_the_same_time() -> None:
    whole = STREAM.standard_normal(1 << 19)
    out = np.empty(1 << 19)
    with ThreadPoolExecutor(4) as pool:
        list(
            pool.map(
                lambda first: STREAM.standard_normal(out=out[first : first + 9999], start=first),
                range(0, 1 << 19, 9999),
            )
        )
    assert (out == whole).all()


def test_a_large_fill_lets_other_threads_run() -> None:
    # A Python thread counts while one call fills 64 MiB of normals, some 100 ms of work.
    out = np.empty(8 << 20)
    count, stop = 0, threading.Event()

    def counts() -> None:
        nonlocal count
        while not stop.wait(0.001):
            count += 1

    thread = threading.Thread(target=counts)
    thread.start()
    before = count
    STREAM.standard_normal(out=out)
    during = count - before
    stop.set()
    thread.join()
    assert during >= 3


def values(stream: Stream, first: int) -> bytes:
    """Returns a part, in another process."""
    return stream.random(100, start=first).tobytes()


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_other_processes_make_the_same_values(method: str) -> None:
    with ProcessPoolExecutor(2, mp_context=get_context(method)) as pool:
        parts = list(pool.map(values, [STREAM] * 5, range(0, 500, 100)))
    assert b"".join(parts) == STREAM.random(500).tobytes()


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_pickles_of_every_protocol(protocol: int) -> None:
    array = headwater.Array((2, 3), "float32")
    STREAM.random(out=array)
    for value in (STREAM.key, STREAM, STREAM.permutation(1 << 40), array):
        again = pickle.loads(pickle.dumps(value, protocol))
        assert again == value and type(again) is type(value)


@given(n=st.integers(0, 3000), data=st.data())
@settings(deadline=None, max_examples=60)
def test_a_permutation_is_a_sequence_of_all_numbers(n: int, data: st.DataObject) -> None:
    order = STREAM.permutation(n)
    values = list(order)
    assert sorted(values) == list(range(n)) and len(order) == n
    assert order[:].tolist() == values and np.asarray(order).tolist() == values
    ends = st.one_of(st.none(), st.integers(-n - 3, n + 3))
    step = data.draw(st.one_of(st.none(), st.integers(-7, 7).filter(bool)))
    part = slice(data.draw(ends), data.draw(ends), step)
    assert order[part].tolist() == values[part]
    if n:
        i = data.draw(st.integers(-n, n - 1))
        assert order[i] == values[i] and order.index(values[i]) == i % n
        assert values[i] in order and order.count(values[i]) == 1
        assert order.fill(np.empty(n, "i8"), start=0).tolist() == values
    assert list(reversed(order)) == values[::-1]
    k = data.draw(st.integers(0, n))
    assert STREAM.sample(n, k).tolist() == values[:k]


def test_permutations_longer_than_pythons_sequences() -> None:
    order = STREAM.permutation((1 << 64) - 1)
    assert order.n == (1 << 64) - 1
    value = order[-1]
    assert order[order.n - 1] == value and order.index(value) == order.n - 1
    last = order[-3:]
    assert last.dtype == "uint64" and last.tolist() == [order[-3], order[-2], value]
    assert order[:: 1 << 63].tolist() == [order[0], order[1 << 63]]
    with pytest.raises(OverflowError, match="attribute n"):
        len(order)
    # The middle of a trillion, by parts of any length.
    order = STREAM.permutation(10**12)
    part = order[5 * 10**11 : 5 * 10**11 + 1000]
    assert [order[5 * 10**11 + i] for i in range(1000)] == part.tolist()
