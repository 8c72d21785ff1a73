"""Conditions of columns by row id that come together: each alone was tried before."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from _duckdb_engines import ENGINES, connect

import headwater
from headwater import Key

REASON = "{} is not installed: its crossed conditions were not tried"
pa = pytest.importorskip("pyarrow", reason=REASON.format("pyarrow"))
pd = pytest.importorskip("pandas", reason=REASON.format("pandas"))
pl = pytest.importorskip("polars", reason=REASON.format("Polars"))

import headwater.pandas as in_pandas  # noqa: E402
import headwater.polars as in_polars  # noqa: E402
import headwater.pyarrow as in_arrow  # noqa: E402

KEY = Key(42)
INVALID = Exception  # each engine wraps Python's errors in one of its own


@pytest.fixture(scope="module", params=ENGINES)
def con(request: pytest.FixtureRequest) -> Any:
    return connect(request.param)


def test_decimal_weights_are_rounded_once_in_every_engine(con: Any) -> None:
    texts = ("0.1", "0.7", "123456789012345678.123456789", "0.30000000000000004441", "7.777777777")
    weights = [Decimal(text) for text in texts] * 40
    ids = list(range(len(weights)))
    numbers = KEY.child(b"weighted").stream(0).at(ids).standard_exponential()
    right = [x / float(w) for x, w in zip(numbers.tolist(), weights, strict=True)]
    table = pa.table({"id": ids, "w": pa.array(weights, pa.decimal128(38, 20))})
    con.register("decimals", table)
    sql = "select hw_weighted_order(id, 42, w) from decimals order by id"
    assert [row[0] for row in con.execute(sql).fetchall()] == right
    assert in_pandas.weighted_order(pd.Series(ids), KEY, pd.Series(weights)).tolist() == right
    made = pl.from_arrow(table).select(in_polars.weighted_order("id", KEY, "w"))
    assert made.to_series().to_list() == right


@pytest.mark.parametrize(
    ("sql", "words"),
    [
        ("hw_weighted_order(id, 42, 1.0, 7)", r"name in hw_weighted_order\(.* a text, not 7"),
        ("hw_weighted_order(id, 42, 1.0, 'x'::blob)", r"name in hw_weighted_order\(.* a text"),
        ("hw_split(id, 42, [0.8, 0.2]::double[2])", r"be an ARRAY: cast it to a list, DOUBLE\[\]"),
        ("hw_split(id, 42, array_value(id, 1 - id))", r"not be an ARRAY: cast it to a list"),
        ("hw_normal(id, 42, 'z', 0, -1.0)", "scale must be a finite number from 0, not -1"),
        ("hw_normal(id, 42, 'z', 'x')", "loc must be a number, not"),
        ("hw_split(id, 42, interval 1 day)", "INTERVAL"),
        ("hw_normal(id, interval 1 day, 'z')", "INTERVAL"),
        ("hw_integers(id, 42, 'z', 5, 5)", "raise its end"),
        ("hw_permute(id + 9, 10, 42)", "id 10 in row 1 .* the last id is 9(?!, and hw_key)"),
    ],
)
def test_errors_of_both_engines(con: Any, sql: str, words: str) -> None:
    with pytest.raises(INVALID, match=words):
        con.execute(f"select {sql} from range(2) t(id)").fetchall()


# A parameter that the kind refuses is no error in a row without an id, however many such rows
# come together: alone they were a batch with a constant, which was refused.
ROWS = [(0, 1.0, 1.0), (None, float("nan"), -1.0), (None, float("nan"), -1.0), (5, 2.0, 0.5)]


@pytest.mark.parametrize("rows", [slice(*x) for x in ((0, 4), (1, 3), (2, 3), (1, 4), (0, 2))])
def test_rows_without_an_id_are_null_in_every_batch(con: Any, rows: slice) -> None:
    ids, mu, sigma = zip(*ROWS[rows], strict=True)
    right = [
        None if i is None else m + s * KEY.child("z").stream(0).at([i]).standard_normal()[0]
        for i, m, s in zip(ids, mu, sigma, strict=True)
    ]
    columns = {"id": pa.array(ids, pa.int64()), "mu": pa.array(mu), "sigma": pa.array(sigma)}
    table = pa.table(columns)
    made = in_arrow.normal(*(columns["id"], KEY, columns["mu"], columns["sigma"]), name="z")
    assert made.to_pylist() == right
    con.register("batch_of_rows", table)
    sql = "select hw_normal(id, 42, 'z', mu, sigma) from batch_of_rows"
    assert [row[0] for row in con.execute(sql).fetchall()] == right
    frame = pl.from_arrow(table)
    made = frame.select(in_polars.normal("id", KEY, pl.col("mu"), pl.col("sigma"), name="z"))
    assert made.to_series().to_list() == right
    for dtype in ("float64", "Float64"):
        series = pd.Series(ids, dtype="Int64")
        given = [pd.Series(x, dtype="float64").astype(dtype) for x in (mu, sigma)]
        drawn = in_pandas.normal(series, KEY, *given, name="z")
        assert [None if x != x else x for x in drawn] == right


# A null parameter makes a null, whatever the row's others are, and whether they are in front of it
# or the same in all rows of a batch.
TRIALS = [(10, 0.5), (-3, None), (-3, None), (None, 7.0), (5, 0.25)]


@pytest.mark.parametrize("rows", [slice(*x) for x in ((0, 5), (1, 3), (1, 2), (2, 4), (3, 4), (0, 2))])
def test_rows_with_a_null_parameter_are_null_in_every_batch(con: Any, rows: slice) -> None:
    trials, chances = zip(*TRIALS[rows], strict=True)
    ids = range(5)[rows]
    right = [
        None if n is None or p is None else KEY.child("z").stream(0).at([i]).binomial(n, p)[0]
        for i, n, p in zip(ids, trials, chances, strict=True)
    ]
    columns = [pa.array(trials, pa.int64()), pa.array(chances, pa.float64())]
    assert in_arrow.binomial(pa.array(ids), KEY, *columns, name="z").to_pylist() == right
    con.register("trials", pa.table({"id": pa.array(ids), "n": columns[0], "p": columns[1]}))
    sql = "select hw_binomial(id, 42, 'z', n, p) from trials"
    assert [row[0] for row in con.execute(sql).fetchall()] == right
    frame = pl.DataFrame({"id": ids, "n": columns[0], "p": columns[1]})
    made = frame.select(in_polars.binomial("id", KEY, pl.col("n"), pl.col("p"), name="z"))
    assert made.to_series().to_list() == right


# Not each type has a 0 to stand where a parameter is missing.
@pytest.mark.parametrize("dtype", ["category", "boolean", "bool[pyarrow]", "Int8", "Float32"])
def test_rows_without_an_id_may_miss_parameters_of_every_type_in_pandas(dtype: str) -> None:
    ids = pd.Series([0, None, 2], dtype="Int64")
    for given in ([1, None, 1], [None, None, None]):
        rows = ids if given[0] else pd.Series([None] * 3, dtype="Int64")
        made = in_pandas.normal(rows, KEY, pd.Series(given, dtype=dtype), name="z")
        plain = in_pandas.normal(rows, KEY, 1.0, name="z")
        assert made.isna().tolist() == rows.isna().tolist()
        assert made.dropna().tolist() == plain.dropna().tolist()


def test_samples_of_groups_are_in_the_order_of_their_words() -> None:
    frame = pd.DataFrame({"id": [*range(40), 7, 7], "g": [0, 1, None] * 14, "w": [1.0, 2.0] * 21})
    for weights in (None, "w"):
        right = in_pandas.sample_n(frame, "id", 3, KEY, by="g", weights=weights)
        polars = pl.from_pandas(frame)
        for given in (polars, polars.lazy()):
            made = in_polars.sample_n(given, "id", 3, KEY, by="g", weights=weights).lazy()
            for engine in ("in-memory", "streaming"):
                rows = made.collect(engine=engine)
                assert rows["id"].to_list() == right["id"].tolist()
                assert rows["w"].to_list() == right["w"].tolist()
        assert in_polars.sample_n(polars, "id", 0, KEY, by="g").height == 0


@pytest.mark.parametrize(
    ("given", "seen"),
    [
        ("'1bb18314-c9a3-4fec-b707-0ea3a44a6c0f'::uuid", "'1bb18314-c9a3-4fec-b707-0ea3a44a6c0f'"),
        ("'1'::bit", "'\\x07\\xFF'::blob"),
        ("union_value(a := 5)", "5"),
    ],
)
def test_types_that_arrow_functions_do_not_see(con: Any, given: str, seen: str) -> None:
    def drawn(seed: str) -> Any:
        return con.execute(f"select hw_normal(id, {seed}, 'z') from range(2) t(id)").fetchall()

    import headwater.duckdb

    if headwater.duckdb.engine(con) == "extension":
        with pytest.raises(INVALID, match="seed must be an integer, a text or a BLOB"):
            drawn(given)
    else:
        assert drawn(given) == drawn(seen)


def test_duckdb_drops_the_names_of_arguments(con: Any) -> None:
    call = "select hw_normal(1, 42, 'z', {}2.0)"
    named, plain = (con.execute(call.format(name)).fetchall() for name in ("scale := ", ""))
    assert named == plain


def test_boolean_weights_are_numbers_in_every_engine(con: Any) -> None:
    frame = pd.DataFrame({"id": range(4), "w": [True, False, True, True]})
    right = in_pandas.weighted_order(frame["id"], KEY, frame["w"]).tolist()
    con.register("flags", frame)
    made = con.execute("select hw_weighted_order(id, 42, w) from flags order by id").fetchall()
    assert [row[0] for row in made] == right


def test_keys_of_timestamps_with_zones_are_those_of_arrow(con: Any) -> None:
    has = con.execute("select 1 from duckdb_types() where type_name = 'timestamptz_ns'").fetchone()
    if has is None:
        pytest.skip("this DuckDB has no TIMESTAMPTZ_NS: its key was not compared")
    made = con.execute("select hw_key('2020-01-01'::timestamptz::timestamptz_ns)").fetchone()
    assert made == con.execute("select hw_key('2020-01-01'::timestamptz)").fetchone()


def test_errors_of_pandas_name_the_row_of_the_frame() -> None:
    ids = pd.Series([None, 7, None, 8, 9], dtype="Int64")
    bad = pd.Series([-1.0, 1.0, -1.0, 1.0, -1.0])
    with pytest.raises(ValueError, match="scale in row 4 of the batch must be a finite number"):
        in_pandas.normal(ids, KEY, 0, bad)
    with pytest.raises(ValueError, match="loc in row 3 is missing"):
        in_pandas.normal(ids, KEY, pd.Series([None, 1, None, None, 2], dtype="Int64"))
    with pytest.raises(ValueError, match="the id in row 0 is missing"):
        in_pandas.normal(ids, KEY, 0, bad, nulls="error")
    made = in_pandas.binomial(ids, KEY, pd.Series([None, 5, None, 6, 7], dtype="Int64"), 0.5)
    assert made.isna().tolist() == [True, False, True, False, False]
    assert str(made.dtype) == "Int64"


@pytest.mark.parametrize("by", [None, "g"])
@pytest.mark.parametrize("weights", [None, "w"])
def test_rows_of_one_id_stay_in_their_order(by: str | None, weights: str | None) -> None:
    rows = 50_000
    ids = np.repeat(np.arange(rows // 5), 5)
    frame = pd.DataFrame({"id": ids, "row": np.arange(rows), "w": 2.0})
    frame["g"] = frame["row"] % 3
    right = in_pandas.sample_n(frame, "id", 1003, KEY, by=by, weights=weights)["row"]
    for made in (pl.from_pandas(frame), pl.from_pandas(frame).lazy()):
        few = in_polars.sample_n(made, "id", 1003, KEY, by=by, weights=weights).lazy().collect()
        assert sorted(few["row"]) == sorted(right)
        assert by is not None or few["row"].to_list() == right.tolist()


@pytest.mark.parametrize("k", [1, 257, 2.0, "3"])
def test_folds_are_refused_at_the_call(k: Any) -> None:
    frame = pd.DataFrame({"id": range(10)})
    for front, rows in ((in_pandas, frame), (in_polars, pl.from_pandas(frame))):
        with pytest.raises((TypeError, ValueError), match="k must be"):
            front.folds(rows, "id", k, KEY)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: in_polars.normal("id", KEY, "mu"), r"the text 'mu': a column is pl.col\('mu'\)"),
        (lambda: in_pandas.normal(pl.Series([1]), KEY), "not polars.Series: headwater.arrow"),
        (lambda: in_pandas.normal(pa.array([1]), KEY), "not pyarrow.Int64Array: headwater.arrow"),
        (
            lambda: in_pandas.sample_n(
                pd.DataFrame({"id": [1]}), "id", 1, KEY, weights=pd.Series([1.0])
            ),
            "weights must be the name of a column, not Series",
        ),
        (lambda: in_arrow.normal(np.array([1], ">i8"), KEY), "of another byte order: cast them"),
        (
            lambda: in_arrow.normal(np.array(["2020-01-01"], "M8[s]"), KEY),
            "ids must hold integers, and key_of.. makes them of dates and times",
        ),
        (lambda: in_arrow.normal(pa.array([1]), KEY, name="\ud800"), "name must be a text of"),
    ],
)
def test_errors_name_the_way_out(call: Any, words: str) -> None:
    with pytest.raises((TypeError, ValueError), match=words):
        call()


def test_columns_of_ray_replace_those_of_their_name() -> None:
    import headwater.ray as front

    table = pa.table({"id": [2, 0, None], "user": ["a", None, "c"]})
    made = front.normal("id", KEY, name="n")(front.uniform("id", KEY, name="n")(table))
    assert made.column_names == ["id", "user", "n"]
    assert made["n"].equals(in_arrow.normal(table["id"], KEY, name="n"))
    keyed = front.key_of("user", "id")(table)
    assert keyed["key"].equals(in_arrow.key_of(table["user"], table["id"]))
    assert front.key_of("user", name="id")(table).column_names == ["id", "user"]
    with pytest.raises(TypeError, match="names of columns"):
        front.key_of(table["user"])
    with pytest.raises(TypeError, match='pass batch_format="pyarrow"'):
        front.key_of("user")({"user": np.array(["a"])})
    with pytest.raises(TypeError, match=r"no column such as this ChunkedArray: .*pyarrow"):
        front.normal("id", KEY, table["id"])
    with pytest.raises(AttributeError, match="headwater's pandas and polars have it"):
        front.sample_n  # noqa: B018
    with pytest.raises(TypeError, match="the state must be what state_dict"):
        from headwater.torch import ElasticSampler

        ElasticSampler(3, KEY).load_state_dict(None)  # type: ignore[arg-type]


def test_a_plan_takes_bits_of_validity_for_a_buffer() -> None:
    plan = headwater._native.Plan.order(KEY, None, "null")
    ids = np.arange(20)
    values, missing = plan.run(ids, "", [], bytes([0b11111101, 255, 7])).to_numpy()
    assert missing.tolist() == [place in (1, 19) for place in range(20)]
    assert values[[0, 18]].tolist() == in_arrow.order(ids[[0, 18]], KEY).to_pylist()
    with pytest.raises(ValueError, match="Arrow data"):
        plan.run(ids, "", [], b"\xff\xff")
    with pytest.raises(TypeError, match="an Arrow column has bits of validity of its own"):
        plan.run(pa.array(ids), "", [], b"\xff\xff\xff")
