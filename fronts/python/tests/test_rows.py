"""Each row has its own number, however the rows are passed to the functions by row id."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import headwater
from headwater import Key

KEY = Key(42)


def test_an_index_of_pandas_keeps_its_rows() -> None:
    pd = pytest.importorskip("pandas")
    pytest.importorskip("headwater.pandas")
    frame = pd.DataFrame({"v": [20, 0, 10]}, index=[2, 0, 1])
    right = headwater.pandas.normal(pd.Series([2, 0, 1], index=frame.index), KEY)
    frame["x"] = headwater.pandas.normal(frame.index, KEY)
    assert frame["x"].tolist() == right.tolist()
    frame["key"] = headwater.pandas.key_of(frame.index)
    assert frame["key"].tolist() == headwater.pandas.key_of(np.array([2, 0, 1])).tolist()
    mixed = pd.DataFrame({"v": range(1000)}).sample(frac=1, random_state=1)
    chosen = mixed[headwater.pandas.sample(mixed.index, KEY, 0.1)]
    rows = headwater.pandas.sample(pd.Series(range(1000)), KEY, 0.1)
    assert sorted(chosen["v"]) == np.flatnonzero(rows).tolist()
    names = pd.DataFrame({"v": [1, 2]}, index=pd.Index(["b", "a"], name="who"))
    assert headwater.pandas.key_of(names.index).index.equals(names.index)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda hp, pd: hp.weighted_order(pd.Series([1, 2]), KEY, pd.Series([9.0, 1], index=[1, 0])), ValueError, "same index"),
        (lambda hp, pd: hp.weighted_order(pd.Series([1, 2, 3]), KEY, [2.0]), ValueError, "one number a row"),
        (lambda hp, pd: hp.weighted_order(pd.Series([1, 2]), KEY, 2.0), ValueError, "one number a row"),
        (lambda hp, pd: hp.weighted_order(pd.Series([1, 2]), KEY, np.ma.array([1.0, 5], mask=[0, 1])), TypeError, "mask"),
        (lambda hp, pd: hp.normal(pd.Index([1, 2]), KEY, pd.Series([1.0, 2])), ValueError, "same index"),
        (lambda hp, pd: hp.key_of(pd.Series([1, 2]), pd.Series(["x", "y"], index=[1, 0])), ValueError, "same index"),
        (lambda hp, pd: hp.key_of(np.ma.array([1, 5], mask=[0, 1])), TypeError, "mask"),
        (lambda hp, pd: hp.normal(pd.Series([9.0, 7.0]).astype("category"), KEY), TypeError, "integers"),
        (lambda hp, pd: hp.normal(pd.Series([True, False]).astype("category"), KEY), TypeError, "integers"),
    ],
)  # fmt: skip
def test_rows_that_are_not_those_of_the_ids_are_errors(
    call: Callable[[Any, Any], Any], error: type[Exception], words: str
) -> None:
    pd = pytest.importorskip("pandas")
    pytest.importorskip("headwater.pandas")
    with pytest.raises(error, match=words):
        call(headwater.pandas, pd)


def test_a_categorical_of_integers_counts_by_its_values() -> None:
    pd = pytest.importorskip("pandas")
    pytest.importorskip("headwater.pandas")
    ids = pd.Series([9, 7, 9], index=[3, 1, 2])
    mine = headwater.pandas.normal(ids.astype("category"), KEY)
    assert mine.tolist() == headwater.pandas.normal(ids, KEY).tolist()
    assert mine.index.tolist() == [3, 1, 2]


def test_calls_in_one_plan_of_datafusion_have_their_own_numbers() -> None:
    datafusion = pytest.importorskip("datafusion")
    pa = pytest.importorskip("pyarrow")
    pytest.importorskip("headwater.pyarrow")
    import headwater.datafusion as hd

    frame = datafusion.SessionContext().from_arrow(pa.table({"id": range(1000)}))
    ids = pa.array(range(1000))
    two = frame.select(hd.sample("id", KEY, 0.1).alias("a"), hd.sample("id", KEY, 0.5).alias("b"))
    found = two.to_pydict()
    assert found["a"] == headwater.pyarrow.sample(ids, KEY, 0.1).to_pylist()
    assert found["b"] == headwater.pyarrow.sample(ids, KEY, 0.5).to_pylist()
    both = frame.filter(hd.sample("id", KEY, 0.5)).filter(hd.sample("id", Key(7), 0.5))
    other = headwater.pyarrow.sample(ids, Key(7), 0.5).to_pylist()
    assert both.count() == sum(a and b for a, b in zip(found["b"], other, strict=True))
    named = frame.with_column("a", hd.normal("id", KEY, name="n")).with_column("b", hd.normal("id", Key(43)))
    rows = named.to_pydict()
    assert rows["a"] == headwater.pyarrow.normal(ids, KEY, name="n").to_pylist()
    assert rows["b"] == headwater.pyarrow.normal(ids, Key(43)).to_pylist()


def test_a_sample_of_no_rows_has_none_and_keeps_the_columns() -> None:
    pl = pytest.importorskip("polars")
    pytest.importorskip("headwater.polars")
    frame = pl.DataFrame({"id": [1, 2, 3], "g": ["a", "a", "b"], "__headwater_order": [7, 8, 9]})
    for by in (None, "g"):
        for some in (frame, frame.lazy()):
            none = headwater.polars.sample_n(some, "id", 0, KEY, by=by).lazy().collect()
            assert none.shape == (0, 3)
            whole = headwater.polars.sample_n(some, "id", 3, KEY, by=by).lazy().collect()
            assert whole.sort("id").equals(frame)


def test_a_shuffle_does_not_leave_a_mask_behind() -> None:
    x = np.ma.array(np.arange(8), mask=[0, 1] * 4)
    with pytest.raises(TypeError, match="masked array"):
        KEY.stream(0).shuffle(x)
    assert x.tolist() == [0, None, 2, None, 4, None, 6, None]


def test_an_elastic_sampler_without_a_rank_is_an_error() -> None:
    pytest.importorskip("torch")
    from headwater.torch import ElasticSampler

    with pytest.raises(ValueError, match="rank must be given"):
        ElasticSampler(10, KEY, num_replicas=2)
    assert len(ElasticSampler(10, KEY, num_replicas=1)) == 10
