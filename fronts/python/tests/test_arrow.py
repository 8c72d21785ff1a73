"""Columns by row id over Arrow's capsules: values, chunks, nulls, labels, and bad input."""

from __future__ import annotations

import inspect
import pickle
from typing import Any

import numpy as np
import pytest

import headwater
from headwater import _kinds, arrow
from headwater._native import Plan

pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed: no capsules were exchanged")

KEY = headwater.Key(42)
IDS = [7, 3, 10**12, 4, 5, 6]


def values(column: Any) -> list[Any]:
    taken = pa.chunked_array(column) if hasattr(column, "num_chunks") else pa.array(column)
    return taken.to_pylist()


@pytest.mark.parametrize("kind", [*_kinds.KINDS])
def test_each_kind_has_the_elements_of_its_stream(kind: str) -> None:
    arguments: dict[str, Any] = {
        "integers": (3, 900),
        "permutation": (2 * 10**12,),
        "binomial": (10, 0.5),
        "multinomial": (10, [1.0, 2.0]),
        "categorical": ([1.0, 2.0],),
        "dirichlet": ([1.0, 2.0],),
        "multivariate_normal": ([0.0, 1.0], [[1.0, 0.1], [0.1, 2.0]]),
        "truncated_normal": (-1.0, 2.0),
        "geometric": (0.3,),
        "sobol": (3,),
        "vonmises": (0.5, 2.0),
        "triangular": (-1.0, 0.5, 4.0),
        "logseries": (0.6,),
        "negative_binomial": (2.5, 0.4),
        "hypergeometric": (30, 40, 20),
        "multivariate_hypergeometric": ([30, 40], 20),
        "normal": (3.0, 0.5),
        "uniform": (-2.0, 7.0),
    }
    entry = _kinds.KINDS[kind]
    needed = sum(default is None for _, default in entry["parameters"])
    given = arguments.get(kind, (2.5,) * needed)
    at = KEY.child("x").stream(0).at(IDS)
    if kind == "words":
        expected = at.integers(0, 2**64, dtype="uint64")
    elif kind == "permutation":
        order = KEY.child("x").stream(0).permutation(*given)
        expected = np.array([order.at(i) for i in IDS])
    else:
        expected = getattr(at, kind)(*given)
    column = getattr(arrow, kind)(pa.array(IDS), KEY, *given, name="x")
    got = np.array(values(column))
    if np.iscomplexobj(expected):
        expected = np.stack([expected.real, expected.imag], axis=-1)
    assert np.array_equal(got, expected), kind
    assert list(inspect.signature(getattr(arrow, kind)).parameters)[:2] == ["ids", "key"]


@pytest.mark.parametrize(
    "type", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"]
)
def test_ids_of_every_type_chunk_and_slice(type: str) -> None:
    small = [5, None, 7, 8, 9, 3]
    expected = values(arrow.normal(pa.array(small, pa.int64()), KEY, name="n"))
    assert expected[1] is None
    column = pa.array([1, *small, 2], type)
    assert values(arrow.normal(column[1:7], KEY, name="n")) == expected
    chunked = pa.chunked_array([column[1:3], column[3:3], column[3:7]])
    made = arrow.normal(chunked, KEY, name="n")
    assert made.num_chunks == 3 and made.null_count == 1 and len(made) == 6
    assert values(made) == expected
    none = arrow.normal(pa.chunked_array([], type), KEY, name="n")
    assert values(none) == [] and pa.chunked_array(none).type == pa.float64()


def test_numpy_arrays_are_columns() -> None:
    for dtype in ("u1", "i4", "i8", "u8"):
        column = arrow.normal(np.arange(9, dtype=dtype), KEY, name="n")
        numbers, mask = column.to_numpy()
        assert mask is None
        assert np.array_equal(numbers, KEY.child("n").stream(0).at(range(9)).standard_normal())
    with pytest.raises(ValueError, match="contiguous"):
        arrow.normal(np.arange(9)[::2], KEY)
    with pytest.raises(ValueError, match="one dimension"):
        arrow.normal(np.zeros((2, 2), int), KEY)
    bits, mask = arrow.sample(pa.array([1, None, 2]), KEY, 1.0).to_numpy()
    assert bits.tolist() == [True, False, True] and mask.tolist() == [False, True, False]


def test_a_column_outlives_its_object() -> None:
    taken = pa.array(arrow.normal(pa.array([1, 2, 3]), KEY, name="n"))
    again = arrow.normal(taken.cast("int64", safe=False).is_valid().cast("int64"), KEY, name="n")
    assert len(again) == 3 and pa.array(again).equals(pa.array(again))
    assert pa.schema([pa.field(again)]).field(0).name == "n"


def test_decisions() -> None:
    ids = pa.array(range(20_000))
    one, two = (np.array(values(arrow.sample(ids, KEY, p))) for p in (0.01, 0.02))
    assert (two[one]).all() and 150 < one.sum() < 250
    words = KEY.child(b"sample").stream(0).integers(0, 2**64, 20_000, dtype="uint64")
    assert np.array_equal(one, words < np.uint64(round(0.01 * 2**64)))
    parts = np.array(values(arrow.split(ids, KEY, 10)))
    words = KEY.child(b"split").stream(0).integers(0, 2**64, 20_000, dtype="uint64")
    assert np.array_equal(parts, [int(word) * 10 >> 64 for word in words])
    # The sample is not in one of the folds: both have words of their own.
    assert len(set(parts[one])) == 10
    named = np.array(values(arrow.split(ids, KEY, [0.8, 0.1, 0.1], name="x")))
    assert not np.array_equal(named, values(arrow.split(ids, KEY, [0.8, 0.1, 0.1])))
    assert 0.78 < (named == 0).mean() < 0.82
    order = np.array(values(arrow.order(ids, KEY)))
    assert np.array_equal(
        order, KEY.child(b"order").stream(0).integers(0, 2**64, 20_000, dtype="uint64")
    )


def test_names_are_labels() -> None:
    ids = pa.array(range(100_000))
    columns = [
        np.array(values(column))
        for column in (
            arrow.normal(ids, KEY),
            arrow.uniform(ids, KEY),
            arrow.normal(ids, KEY, name="normal"),
            arrow.normal(ids, KEY, name="other"),
        )
    ]
    correlated = np.corrcoef([np.abs(columns[0]), *columns[1:]])
    assert np.abs(correlated - np.eye(4)).max() < 0.015
    stream = KEY.stream(5)
    assert values(arrow.normal(ids, stream)) == stream.standard_normal(100_000).tolist()
    with pytest.raises(ValueError, match="a stream has none"):
        arrow.normal(ids, stream, name="x")


def test_plans_are_values() -> None:
    plan = Plan.draw(KEY, "gamma", (2.5,), "float32", "x", "error")
    same = pickle.loads(pickle.dumps(plan))
    assert same.to_bytes() == plan.to_bytes() and same.format == ("f", None)
    assert pa.array(same.run(pa.array([1]))).equals(pa.array(plan.run(pa.array([1]))))
    raw = plan.to_bytes()
    for wrong in (b"", raw[:-1], raw + b"x", b"x" + raw[1:], raw[:8] + b"\xff" + raw[9:]):
        with pytest.raises(ValueError, match="no plan of this version"):
            Plan.from_bytes(wrong)


def test_keys_of_rows() -> None:
    users, days = pa.array(["a", None, None]), pa.array([1, 2, None])
    keys = values(arrow.key_of(users, days))
    # From Spark 4.3: xxhash64('a') is -8582455328737087284.
    assert values(arrow.key_of(pa.array(["a"]))) == [(2**64 - 8582455328737087284) // 2]
    assert keys[1] == values(arrow.key_of(pa.array([2])))[0] and keys[2] is None
    assert values(arrow.key_of(users.dictionary_encode(), days)) == keys
    with pytest.raises(TypeError, match="no float64"):
        arrow.key_of(pa.array([1.5]))
    with pytest.raises(ValueError, match="rows"):
        arrow.key_of(users, pa.array([1]))


@pytest.mark.parametrize(
    ("error", "words", "call"),
    [
        (ValueError, "id -5 in row 1", lambda: arrow.normal(pa.array([1, -5]), KEY)),
        (ValueError, "past the end", lambda: arrow.normal(pa.array([2**64 - 1], "uint64"), KEY)),
        (
            ValueError,
            "row 1 of the batch is null",
            lambda: arrow.normal(pa.array([1, None]), KEY, nulls="error"),
        ),
        (ValueError, "nulls must be", lambda: arrow.normal(pa.array([1]), KEY, nulls="drop")),
        (TypeError, "float64 has no ids", lambda: arrow.normal(pa.array([1.0]), KEY)),
        (TypeError, "not floats", lambda: arrow.normal(np.array([1.0]), KEY)),
        (TypeError, "text has no ids", lambda: arrow.normal(pa.array(["a"]), KEY)),
        (TypeError, "structs has no ids", lambda: arrow.normal(pa.table({"id": [1]}), KEY)),
        (TypeError, "ids must be an Arrow array", lambda: arrow.normal([1, 2], KEY)),
        (TypeError, "ids must hold integers", lambda: arrow.normal(b"abc", KEY)),
        (TypeError, "key must be a headwater.Key", lambda: arrow.normal(pa.array([1]), 42)),
        (TypeError, "needs shape", lambda: arrow.standard_gamma(pa.array([1]), KEY)),
        (
            TypeError,
            "has no parameter 'shap'",
            lambda: arrow.standard_gamma(pa.array([1]), KEY, shap=1),
        ),
        (
            TypeError,
            "two values for 'shape'",
            lambda: arrow.standard_gamma(pa.array([1]), KEY, 1, shape=1),
        ),
        (
            ValueError,
            "shape must be a finite number above 0, not -1.0",
            lambda: arrow.standard_gamma(pa.array([1]), KEY, -1.0),
        ),
        (
            TypeError,
            "arrays are not supported",
            lambda: arrow.standard_gamma(pa.array([1]), KEY, [1.0]),
        ),
        (
            TypeError,
            "dtype must be of type",
            lambda: arrow.poisson(pa.array([1]), KEY, dtype="float64"),
        ),
        (
            TypeError,
            "Arrow has no type for elements of bfloat16: ask for another type",
            lambda: arrow.standard_normal(pa.array([1]), KEY, dtype="bfloat16"),
        ),
        (
            ValueError,
            "p must be a number from 0 to 1",
            lambda: arrow.sample(pa.array([1]), KEY, 1.5),
        ),
        (ValueError, "parts must be", lambda: arrow.split(pa.array([1]), KEY, [0.5, 0.4])),
        (ValueError, "parts must be from 1 to 256.*, not 0", lambda: arrow.split(pa.array([1]), KEY, 0)),
        (ValueError, "parts must be from 1 to 256.*, not -1$", lambda: arrow.split(pa.array([1]), KEY, -1)),
        (ValueError, "parts must be .*, not 257", lambda: arrow.split(pa.array([1]), KEY, 257)),
        (ValueError, "parts must be .*, not 1180591", lambda: arrow.split(pa.array([1]), KEY, 2**70)),
        (TypeError, "parts must be .*, not float", lambda: arrow.split(pa.array([1]), KEY, 2.0)),
        (TypeError, "parts must be .*, not str", lambda: arrow.split(pa.array([1]), KEY, "3")),
        (ValueError, "NUL", lambda: pa.array(arrow.normal(pa.array([1]), KEY, name="a\0b"))),
        (AttributeError, "no attribute 'norml'", lambda: arrow.norml),
    ],
)
def test_bad_input_is_one_sentence(error: type[Exception], words: str, call: Any) -> None:
    with pytest.raises(error, match=words) as raised:
        call()
    assert "\n" not in str(raised.value)
