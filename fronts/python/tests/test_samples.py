"""Samples of exactly n rows, with strata and weights, and folds: the same rows in every engine."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from _duckdb_engines import ENGINES, connect

import headwater

REASON = "{} is not installed: its samples were not compared"
pa = pytest.importorskip("pyarrow", reason=REASON.format("pyarrow"))
pd = pytest.importorskip("pandas", reason=REASON.format("pandas"))
pl = pytest.importorskip("polars", reason=REASON.format("Polars"))
duckdb = pytest.importorskip("duckdb", reason=REASON.format("DuckDB"))

import headwater.pandas as in_pandas  # noqa: E402
import headwater.polars as in_polars  # noqa: E402

KEY = headwater.Key(42)
N = 3000
IDS = np.random.default_rng(3).permutation(10 * N)[:N]
FRAME = pd.DataFrame({"id": IDS, "g": IDS % 7, "w": (IDS % 5).astype(float)})


@pytest.fixture(scope="module", params=ENGINES)
def con(request: pytest.FixtureRequest) -> Any:
    made = connect(request.param)
    made.register("frame", FRAME)
    return made


def weighted(ids: Any, weights: Any, name: str | None) -> list[int]:
    """Returns ids in the order of x / weight, x exponential, as Efraimidis and Spirakis have it."""
    child = KEY.child(b"weighted")
    numbers = (child if name is None else child.child(name)).stream(0).at(ids)
    order = [
        (x / w, i)
        for x, w, i in zip(numbers.standard_exponential(), weights, ids, strict=True)
        if w > 0
    ]
    return [int(i) for _, i in sorted(order)]


@pytest.mark.parametrize("name", [None, "treated"])
@pytest.mark.parametrize("n", [0, 1, 100, 2400, 5000])
def test_weighted_samples(con: Any, n: int, name: str | None) -> None:
    right = weighted(IDS, FRAME["w"], name)[:n]
    some = {"weights": "w", "name": name}
    assert in_pandas.sample_n(FRAME, "id", n, KEY, **some)["id"].tolist() == right
    frame = pl.from_pandas(FRAME)
    assert in_polars.sample_n(frame, "id", n, KEY, **some)["id"].to_list() == right
    lazy = in_polars.sample_n(frame.lazy(), "id", n, KEY, **some).collect()
    assert lazy["id"].to_list() == right and lazy.columns == ["id", "g", "w"]
    label = "" if name is None else f", '{name}'"
    sql = f"select id from frame where w > 0 order by hw_weighted_order(id, 42, w{label}), id limit {n}"
    assert [row[0] for row in con.execute(sql).fetchall()] == right


def test_the_first_row_is_as_likely_as_its_weight() -> None:
    groups = 4000
    frame = pd.DataFrame({"id": range(3 * groups), "w": [1.0, 2.0, 7.0] * groups})
    frame["g"] = frame["id"] // 3
    two = in_pandas.sample_n(frame, "id", 2, KEY, by="g", weights="w")
    pairs = [tuple(rows % 3) for _, rows in two.groupby("g")["id"]]
    first = Counter(pair[0] for pair in pairs)
    for row, share in ((0, 0.1), (1, 0.2), (2, 0.7)):
        assert abs(first[row] / groups - share) < 5 * (share * (1 - share) / groups) ** 0.5
    # Without replacement: after row 2, rows 0 and 1 are 1 to 2.
    after = Counter(pair[1] for pair in pairs if pair[0] == 2)
    total = sum(after.values())
    assert abs(after[0] / total - 1 / 3) < 5 * (2 / 9 / total) ** 0.5


def test_strata(con: Any) -> None:
    words = KEY.child(b"order").stream(0).at(IDS).integers(0, 2**64, dtype="uint64")
    rows = sorted(zip(words.tolist(), IDS.tolist(), strict=True))
    right = sorted(i for g in range(7) for i in [i for _, i in rows if i % 7 == g][:20])
    assert sorted(in_pandas.sample_n(FRAME, "id", 20, KEY, by="g")["id"]) == right
    frame = pl.from_pandas(FRAME)
    assert sorted(in_polars.sample_n(frame, "id", 20, KEY, by="g")["id"]) == right
    sql = (
        "select id from frame qualify"
        " row_number() over (partition by g order by hw_order(id, 42), id) <= 20 order by id"
    )
    assert [row[0] for row in con.execute(sql).fetchall()] == right
    several = in_pandas.sample_n(FRAME.assign(h=1), "id", 20, KEY, by=["g", "h"])
    assert sorted(several["id"]) == right


@pytest.mark.parametrize("n", [1, 4])
def test_groups_are_those_of_the_rows_however_they_are_given(n: int) -> None:
    """An array of groups has them in the places of the frame's rows, which a sample reorders."""
    right = sorted(in_pandas.sample_n(FRAME, "id", n, KEY, by="g")["id"])
    groups = FRAME["g"]
    indexed = FRAME.set_index(pd.Index(["x"] * N))
    for by in (
        groups, groups.to_numpy(), groups.tolist(), pd.Categorical(groups, range(9)), [groups],
        pd.array(groups, "Int64"), pd.Index(groups), [groups.to_numpy(), "g"], pd.Grouper(key="g"),
        lambda row: groups[row],
    ):
        assert sorted(in_pandas.sample_n(FRAME, "id", n, KEY, by=by)["id"]) == right
    for by in ("g", groups.to_numpy()):
        assert sorted(in_pandas.sample_n(indexed, "id", n, KEY, by=by)["id"]) == right
    frame = pl.from_pandas(FRAME)
    for by in (
        "g", ["g"], ("g", "g"), pl.col("g"), frame["g"], pl.lit(frame["g"]), pl.col("id") % 7,
        [pl.col("g"), pl.col("id") % 1], pl.col("^g$"),
    ):
        made = in_polars.sample_n(frame, "id", n, KEY, by=by)
        assert sorted(made["id"]) == right and made.columns == ["id", "g", "w"]
    # Rows that are left out leave their groups, too.
    some = FRAME.assign(id=FRAME["id"].astype("Int64").where(FRAME["id"] % 3 > 0))
    right = sorted(in_pandas.sample_n(some, "id", n, KEY, by="g", weights="w")["id"])
    for by in (groups, groups.to_numpy(), groups.tolist()):
        made = in_pandas.sample_n(some, "id", n, KEY, by=by, weights="w")
        assert sorted(made["id"]) == right
    frame = pl.from_pandas(some)
    for by in ("g", frame["g"]):
        made = in_polars.sample_n(frame, "id", n, KEY, by=by, weights="w")
        assert sorted(made["id"]) == right


def test_rows_without_a_group_are_a_group() -> None:
    frame = pd.DataFrame({"id": range(60), "g": ["a", None, "b"] * 20})
    mine = in_pandas.sample_n(frame, "id", 5, KEY, by="g")
    other = in_polars.sample_n(pl.from_pandas(frame), "id", 5, KEY, by="g")
    assert len(mine) == 15 and sorted(mine["id"]) == sorted(other["id"])


def test_weighted_strata_agree() -> None:
    mine = in_pandas.sample_n(FRAME, "id", 9, KEY, by="g", weights="w")
    frame = pl.from_pandas(FRAME)
    other = in_polars.sample_n(frame, "id", 9, KEY, by="g", weights="w")
    assert len(mine) == 63 and sorted(mine["id"]) == sorted(other["id"])


@pytest.mark.parametrize("by", [None, "g"])
def test_more_rows_than_there_are_is_all_of_them(by: str | None) -> None:
    for n in (N, 2**32, 2**63, 10**30):
        assert len(in_pandas.sample_n(FRAME, "id", n, KEY, by=by)) == N
        frame = pl.from_pandas(FRAME)
        assert in_polars.sample_n(frame, "id", n, KEY, by=by).height == N
        assert in_polars.sample_n(frame.lazy(), "id", n, KEY, by=by).collect().height == N


def test_folds_are_parts_that_rows_keep() -> None:
    pairs = list(in_pandas.folds(FRAME, "id", 5, KEY))
    assert sorted(i for _, fold in pairs for i in fold["id"]) == sorted(IDS.tolist())
    more = pd.concat([FRAME, FRAME.assign(id=FRAME["id"] + 10 * N)], ignore_index=True)
    polars = in_polars.folds(pl.from_pandas(more), "id", 5, KEY)
    for (rest, fold), (_, larger) in zip(pairs, polars, strict=True):
        assert set(rest["id"]).isdisjoint(fold["id"]) and len(rest) + len(fold) == N
        assert set(fold["id"]) <= set(larger["id"])
        assert abs(len(fold) - N / 5) < 5 * (N * 0.16) ** 0.5


@pytest.mark.parametrize("tiny", [5e-324, 1e-310, 2.3e-308, 9.9e-307])
def test_weights_over_which_a_number_is_infinite_are_refused(con: Any, tiny: float) -> None:
    """Such a row would stand with those of weight 0, and never be drawn."""
    frame = pd.DataFrame({"id": range(50), "w": [tiny] * 50})
    need = "weights above 0 must be from 1e-306 on"
    with pytest.raises(ValueError, match=need):
        in_pandas.sample_n(frame, "id", 3, KEY, weights="w")
    with pytest.raises(ValueError, match=need):
        in_polars.sample_n(pl.from_pandas(frame), "id", 3, KEY, weights="w")
    with pytest.raises(duckdb.Error, match=need):
        con.execute(f"select hw_weighted_order(id, 42, {tiny!r}::double) from range(50) t(id)").fetchall()


@pytest.mark.parametrize("kind", ["text", "category", "date", "duration", "complex"])
def test_weights_that_are_no_numbers_are_refused(kind: str) -> None:
    """NumPy reads a text as a number, a date as nanoseconds, and drops an imaginary half."""
    w = FRAME["w"]
    column = {
        "text": w.astype(str), "category": w.astype(str).astype("category"),
        "date": pd.to_datetime(w, unit="D"), "duration": pd.to_timedelta(w, unit="s"),
        "complex": w + 1j,
    }[kind]
    for weights in (column, column.to_numpy(), column.tolist()):
        with pytest.raises(TypeError, match="weights must be numbers, not of"):
            in_pandas.weighted_order(FRAME["id"], KEY, weights)
    if kind != "complex":
        frame = pl.from_pandas(FRAME.assign(w=column))
        with pytest.raises(Exception, match="weights must be numbers, not of"):
            in_polars.sample_n(frame, "id", 3, KEY, weights="w")


@pytest.mark.parametrize("type", ["Int64", "Float64", "boolean", "int64[pyarrow]", "object"])
def test_a_missing_weight_is_refused(type: str) -> None:
    weights = pd.Series([1, pd.NA], dtype=type)
    with pytest.raises(ValueError, match="weights must be .*, and none may be missing"):
        in_pandas.weighted_order(pd.Series([0, 1]), KEY, weights)


def test_weights_of_every_type_of_numbers_are_one() -> None:
    right = in_pandas.weighted_order(FRAME["id"], KEY, FRAME["w"]).tolist()
    decimals = pa.array(FRAME["w"]).cast(pa.decimal128(9, 2))
    for weights in (
        FRAME["w"].astype("int8"), FRAME["w"].astype("Float64"), FRAME["w"].astype("float32"),
        FRAME["w"].astype("category"), FRAME["w"].tolist(), pd.Series(decimals.to_pylist()),
        pd.Series(decimals, dtype=pd.ArrowDtype(decimals.type)), FRAME["w"].astype(object),
    ):
        assert in_pandas.weighted_order(FRAME["id"], KEY, weights).tolist() == right
    for weights in (pl.Series(decimals), pl.Series(FRAME["w"].astype("u1")), pl.Series(FRAME["w"])):
        frame = pl.DataFrame({"id": IDS, "w": weights})
        assert frame.select(in_polars.weighted_order("id", KEY, "w")).to_series().to_list() == right
    flags = in_pandas.weighted_order(FRAME["id"], KEY, FRAME["w"] > 0)
    ones = in_pandas.weighted_order(FRAME["id"], KEY, (FRAME["w"] > 0).astype(float))
    assert flags.tolist() == ones.tolist()


def test_the_smallest_weights_are_drawn(con: Any) -> None:
    ids = np.arange(5000)
    large = in_pandas.weighted_order(ids, KEY, np.full(len(ids), 2.0**20)).to_numpy()
    small = in_pandas.weighted_order(ids, KEY, np.full(len(ids), 1e-306)).to_numpy()
    assert np.isfinite(small).all() and np.array_equal(np.argsort(small), np.argsort(large))
    frame = pl.DataFrame({"id": ids, "w": np.full(len(ids), 1e-306)})
    polars = frame.select(in_polars.weighted_order("id", KEY, "w")).to_series().to_numpy()
    assert np.array_equal(polars, small)
    sql = "select hw_weighted_order(id, 42, 1e-306::double) from range(5000) t(id) order by id"
    assert [row[0] for row in con.execute(sql).fetchall()] == small.tolist()
    # The largest number that has a chance: the logarithm of the smallest share is -45.
    assert 45 / 1e-306 < np.finfo(float).max


def test_bad_input_names_the_way_out(con: Any) -> None:
    missing = pd.DataFrame({"id": pd.array([1, None], "Int64"), "w": [1.0, 2.0]})
    negative = pd.DataFrame({"id": [1, 2], "w": [1.0, -2.0]})
    twice = pd.concat([missing, missing], axis=1)
    need = "weights must be finite numbers from 0, and none may be missing: row 1 has -2.0"
    for call, error, words in [
        (lambda: in_pandas.sample_n(FRAME, "id", -1, KEY), ValueError, "n must be .* from 0"),
        (lambda: in_pandas.sample_n(FRAME, "id", 1.5, KEY), TypeError, "n must be an integer"),  # type: ignore[arg-type]
        (lambda: in_polars.sample_n(pl.from_pandas(FRAME), "id", 2.0, KEY), TypeError, "n must be"),  # type: ignore[arg-type]
        (lambda: [*in_pandas.folds(FRAME, "id", 2.5, KEY)], TypeError, "k must be an integer"),  # type: ignore[arg-type]
        (lambda: in_pandas.sample_n(negative, "id", 1, KEY, weights="w"), ValueError, need),
        (lambda: [*in_pandas.folds(FRAME, "id", 1, KEY)], ValueError, "from 2 to 256"),
        (lambda: [*in_pandas.folds(twice, "id", 2, KEY)], ValueError, "several columns called 'id'"),
        (lambda: in_pandas.sample_n(FRAME, FRAME["id"], 2, KEY), TypeError, "name of a column, not S"),
        (lambda: in_pandas.sample_n(twice, "id", 2, KEY), ValueError, "several columns called 'id'"),
        (lambda: [*in_pandas.folds(missing, "id", 2, KEY)], ValueError, "row 1 is missing"),
        (
            lambda: in_polars.sample_n(pl.from_pandas(negative), "id", 1, KEY, weights="w"),
            ValueError,
            need.replace("row 1", "row 1 of the batch"),
        ),
        (
            lambda: con.execute("select hw_weighted_order(id, 42, w - 2) from frame").fetchall(),
            duckdb.Error,
            "and none may be missing: row 0 of the batch has -1.0",
        ),
    ]:
        with pytest.raises(error, match=words):
            call()
    assert in_pandas.sample_n(missing, "id", 2, KEY)["id"].tolist() == [1]
