"""Requests beyond memory, labels of pandas, long seeds: errors and answers that were not there.

Each case failed before: the process ended (SIGABRT), or a number was silently another one.
"""

from __future__ import annotations

import importlib.util
import pickle
import subprocess
import sys
from hashlib import blake2s
from typing import Any

import headwater
import numpy as np
import pytest
from headwater import Key

S: Any = Key(42).stream(0)

#: In a process of their own, whose memory ends at 4 GiB: a failure here was the end of a process.
BEYOND = {
    "choice of a list": "S.choice(['a'], 2**40)",
    "choice of a text": "S.choice('abc', 2**36)",
    "choice with weights": "S.choice((1, 2), 2**36, p=[1, 3])",
    "choice of a range": "S.choice(range(10), 2**36)",
    "choice without replacement": "S.choice(range(10**13), 2**36, replace=False)",
    "choice of two dimensions": "S.choice([1, 2], (2**20, 2**20))",
    "choice within half of the limit": "S.choice([1, 2, 3], 600_000_000)",
    "indices of a range": "S.at(range(2**34))",
    "indices of a broadcast": "S.at(np.broadcast_to(np.int64(3), (2**36,)))",
    "a permutation's places": "S.permutation(10**12).at(range(2**40))",
    "a covariance": "S.multivariate_normal(np.zeros(100_000), np.broadcast_to(0.0, (10**5, 10**5)))",
    "weights": "S.categorical(np.broadcast_to(1.0, (2**33,)))",
    "shares": "S.multinomial(5, np.broadcast_to(1.0, (2**33,)))",
    "bytes of a key": "Key(1).expand('a', 2**63)",
    "a generator": "headwater.Generator(1).random(2**50)",
    "a generator's choice": "headwater.Generator(1).choice(['a'], 2**40)",
}

SCRIPT = """
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
import headwater, numpy as np
from headwater import Key
S = Key(42).stream(0)
try:
    {call}
except MemoryError as error:
    print("MemoryError", error)
"""


@pytest.mark.parametrize("name", BEYOND)
def test_a_request_beyond_memory_is_a_memory_error(name: str) -> None:
    script = SCRIPT.format(call=BEYOND[name])
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("MemoryError"), done.stdout


def test_items_with_labels_are_chosen_by_place() -> None:
    if importlib.util.find_spec("pandas") is None:
        pytest.skip("pandas is not installed: choices of its objects stay untried")
    pd = importlib.import_module("pandas")
    for index in ([2, 1, 0], [5, 6, 7], [1, 1, 1]):
        series = pd.Series(["a", "b", "c"], index=index)
        assert list(S.choice(series, 5, p=[1, 0, 0])) == ["a"] * 5
        assert list(S.choice(series, 9)) == list(S.choice(["a", "b", "c"], 9))
        assert list(S.at([3, 1]).choice(series)) == list(S.at([3, 1]).choice(["a", "b", "c"]))
    frame = pd.DataFrame({"x": [1, 2, 3], "y": [4, 5, 6]}, index=[7, 8, 9])
    assert np.array_equal(S.choice(frame, 4), S.choice(frame.to_numpy(), 4))


def test_an_array_like_object_is_chosen_by_place() -> None:
    class Labelled:
        """Selects by label, as xarray and pandas do."""

        def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
            return np.array([10, 20, 30])

        def __len__(self) -> int:
            return 3

        def __getitem__(self, label: Any) -> Any:
            raise KeyError(label)

    assert np.array_equal(S.choice(Labelled(), 20), S.choice(np.array([10, 20, 30]), 20))


@pytest.mark.parametrize("seed", [2**128, -(2**128) - 1, 2**4000 + 5, -(3**999), 10**40])
def test_an_integer_of_any_length_is_a_seed(seed: int) -> None:
    n = seed if seed >= 0 else -1 - seed
    kind = bytes([4 if seed >= 0 else 5])
    encoded = kind + n.to_bytes((n.bit_length() + 7) // 8, "little")
    head = b"hw-streams-v1".ljust(16, b"\0") + b"ars7".ljust(12, b"\0")
    assert Key(seed).raw == blake2s(head + b"\0" + encoded).digest()[:16]
    child = blake2s(head + b"\1" + Key(1).raw + encoded).digest()[:16]
    assert Key(1).child(seed).raw == child


def test_a_shorter_integer_keeps_its_key() -> None:
    for seed in (2**128 - 1, -(2**128), 0, -1):
        kind, n = (b"\0", seed) if seed >= 0 else (b"\1", -1 - seed)
        head = b"hw-streams-v1".ljust(16, b"\0") + b"ars7".ljust(12, b"\0")
        assert Key(seed).raw == blake2s(head + b"\0" + kind + n.to_bytes(16, "little")).digest()[:16]


@pytest.mark.parametrize("weights", [{1: 2.0, 3: 4.0}, {1.0, 2.0}, frozenset([1.0])])
def test_weights_without_an_order_are_refused(weights: Any) -> None:
    with pytest.raises(TypeError, match="weights must be a sequence of numbers"):
        S.categorical(weights, 3)


def test_a_covariance_that_is_not_symmetric_warns() -> None:
    with pytest.warns(RuntimeWarning, match="not symmetric"):
        S.multivariate_normal([0, 0], [[1, 0], [0.5, 1]])


@pytest.mark.parametrize(
    ("name", "long"),
    [
        ("d", "float64"),
        ("double", "float64"),
        ("f", "float32"),
        ("single", "float32"),
        ("half", "float16"),
        ("e", "float16"),
    ],
)
def test_numpys_other_names_of_types(name: str, long: str) -> None:
    assert np.array_equal(S.random(5, name), S.random(5, long))


def test_complex_names() -> None:
    for name in (complex, "complex", "D"):
        assert np.array_equal(S.complex_normal(3, name), S.complex_normal(3))
    with pytest.raises(TypeError, match="dtype must be one of"):
        S.random(3, bool)


def test_the_end_that_is_excluded_may_be_one_more() -> None:
    S.integers(0, 256, 3, "uint8")
    with pytest.raises(ValueError, match="high must stay within 0 to 256 for uint8, not 257"):
        S.integers(0, 257, 3, "uint8")
    with pytest.raises(ValueError, match="high must stay within 0 to 255 for uint8, not 256"):
        S.integers(0, 256, 3, "uint8", endpoint=True)


@pytest.mark.parametrize("indices", [3, [5, 0, 3], np.array([[1, 2], [3, 2**63]], np.uint64)])
def test_elements_can_be_pickled(indices: Any) -> None:
    there = S.at(indices)
    again = pickle.loads(pickle.dumps(there))
    assert again == there and np.array_equal(again.random(), there.random())


def test_a_childs_stream_is_another_one() -> None:
    assert S.child("noise") == Key(42).child("noise").stream(0)
    assert Key(42).stream(1).child("noise") != S.child("noise")
    n = 100_000
    x, y = S.random(n), S.child("other").integers(0, 1 << 30, n)
    assert abs(np.corrcoef(x, y)[0, 1]) < 0.02
    assert np.corrcoef(x, S.integers(0, 1 << 30, n))[0, 1] > 0.99  # the trap that it avoids


def test_the_version() -> None:
    from importlib.metadata import version

    assert headwater.__version__ == version("headwater")
    assert not {"annotations", "sys", "TYPE_CHECKING"} & set(dir(headwater))


def test_dask_calls_the_gamma_shape_by_its_name() -> None:
    if importlib.util.find_spec("dask") is None:
        pytest.skip("Dask is not installed: the errors of its functions stay untried")
    hd = importlib.import_module("headwater.dask")
    with pytest.raises(ValueError, match="^a must be a finite number above 0"):
        hd.gamma(Key(1), 10, -1)
    with pytest.raises(TypeError, match="^a must be one number"):
        hd.standard_gamma(Key(1), 10, [1, 2])
