"""Vectors and distributions do not depend on parts, threads, places and indices."""

from __future__ import annotations

import pickle
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from headwater import Key
from hypothesis import given, settings
from hypothesis import strategies as st

STREAM = Key(42).child("partition").stream(6)
COV = [[2.0, 0.5, 0.0], [0.5, 1.0, 0.25], [0.0, 0.25, 3.0]]

#: Each distribution of vectors as a function of a stream or of elements.
VECTORS: dict[str, Callable[..., Any]] = {
    "dirichlet": lambda s, *a, **k: s.dirichlet([0.5, 1, 2.5, 9], *a, **k),
    "multinomial": lambda s, *a, **k: s.multinomial(40, [1, 0, 2.5], *a, **k),
    "multivariate_normal": lambda s, *a, **k: s.multivariate_normal([1, 2, 3], COV, *a, **k),
    "sobol": lambda s, *a, **k: s.sobol(5, *a, **k),
    "sobol plain": lambda s, *a, **k: s.sobol(5, *a, scramble=False, **k),
}

starts = st.one_of(st.integers(0, 1 << 20), st.integers(0, (1 << 53) - 4000))


@given(
    kind=st.sampled_from(sorted(VECTORS)),
    start=starts,
    cuts=st.lists(st.integers(0, 300), max_size=5),
    threads=st.integers(0, 3),
)
@settings(deadline=None, max_examples=60)
def test_any_parts_make_one_array_of_vectors(
    kind: str, start: int, cuts: list[int], threads: int
) -> None:
    make = VECTORS[kind]
    whole = make(STREAM, 300, start=start)
    parts = np.empty_like(whole)
    edges = sorted({0, *cuts, 300})
    for first, last in zip(edges[:-1], edges[1:], strict=True):
        view = parts[first:last]
        assert make(STREAM, out=view, start=start + first, threads=threads) is view
    assert parts.tobytes() == whole.tobytes()
    shaped = make(STREAM, (3, 4, 5), start=start)
    assert shaped.shape == (3, 4, 5, whole.shape[1])
    assert shaped.tobytes() == whole[:60].tobytes()


@given(kind=st.sampled_from(sorted(VECTORS)), indices=st.lists(starts, max_size=40))
@settings(deadline=None, max_examples=40)
def test_vectors_at_indices_are_those_of_the_array(kind: str, indices: list[int]) -> None:
    made = VECTORS[kind](STREAM.at(indices))
    single = [VECTORS[kind](STREAM, start=index).tolist() for index in indices]
    assert made.tolist() == single
    if indices:
        grid = np.array([indices, indices], "u8")
        listed = VECTORS[kind](STREAM.at(grid))
        assert listed.shape == (2, len(indices), made.shape[1])
        assert VECTORS[kind](STREAM.at(indices[0])).shape == made.shape[1:]


@pytest.mark.parametrize("kind", sorted(VECTORS))
def test_threads_change_no_vector(kind: str) -> None:
    one = VECTORS[kind](STREAM, 40_001, start=3)
    for threads in (2, 5, 0):
        assert VECTORS[kind](STREAM, 40_001, start=3, threads=threads).tobytes() == one.tobytes()


def test_no_vectors_are_an_array_as_well() -> None:
    for kind, make in VECTORS.items():
        width = make(STREAM).shape[0]
        assert make(STREAM, 0).shape == (0, width), kind
        assert make(STREAM, (2, 0)).shape == (2, 0, width), kind
        assert make(STREAM.at([])).shape == (0, width), kind


@given(
    start=st.integers(0, (1 << 62)),
    cut=st.integers(0, 500),
    dtype=st.sampled_from(["complex128", "complex64"]),
)
@settings(deadline=None, max_examples=30)
def test_complex_numbers_by_parts(start: int, cut: int, dtype: Any) -> None:
    whole: Any = STREAM.complex_normal(500, dtype, start=start)
    parts = np.empty_like(whole)
    STREAM.complex_normal(out=parts[cut:], start=start + cut, threads=2)
    STREAM.complex_normal(out=parts[:cut], start=start)
    assert parts.tobytes() == whole.tobytes()
    assert (STREAM.at([start + 499, start]).complex_normal(dtype) == whole[[499, 0]]).all()


def test_other_threads_run_during_a_large_fill() -> None:
    out = np.empty(1_000_000)

    def counted_meanwhile() -> int:
        """Returns what this thread counts while another one fills the array."""
        stop = threading.Event()
        thread = threading.Thread(
            target=lambda: (STREAM.standard_t(3.5, out=out), stop.set()) and None
        )
        thread.start()
        counted = 0
        while not stop.is_set():
            counted += 1
        thread.join()
        return counted

    # A busy machine may not run this thread during one fill, which takes 20 ms.
    assert any(counted_meanwhile() > 0 for _ in range(50))
    assert (out == STREAM.standard_t(3.5, 1_000_000)).all()
    again = pickle.loads(pickle.dumps(STREAM))
    assert again.standard_t(3.5) == out[0]
