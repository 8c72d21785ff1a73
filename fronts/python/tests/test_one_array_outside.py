"""Columns that users of each library have: `one-array-outside.md` has the answers, written first.

A case is a column, or SQL, and its answer: `same` ids, which have the numbers of the stream, or the
error and the words that it must have. No third thing may happen, least of all other numbers.
"""

from __future__ import annotations

import array
import datetime
import decimal
import uuid
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from _duckdb_engines import ENGINES, connect

import headwater
from headwater import arrow

REASON = "{} is not installed: its columns were not tried"
pa = pytest.importorskip("pyarrow", reason=REASON.format("pyarrow"))
pc = pytest.importorskip("pyarrow.compute")
pd = pytest.importorskip("pandas", reason=REASON.format("pandas"))
pl = pytest.importorskip("polars", reason=REASON.format("Polars"))
duckdb = pytest.importorskip("duckdb", reason=REASON.format("DuckDB"))

import headwater.pandas as in_pandas  # noqa: E402
import headwater.polars as in_polars  # noqa: E402

KEY = headwater.Key(42)
STREAM = KEY.child("z").stream(0)
Case = tuple[str, Callable[[], Any], Any]


def right(ids: list[int | None]) -> list[float | None]:
    known = [i for i in ids if i is not None]
    numbers = iter(STREAM.at(known).standard_normal().tolist() if known else [])
    return [None if i is None else next(numbers) for i in ids]


def judged(call: Callable[[], list[Any]], answer: Any) -> None:
    if isinstance(answer, list):
        assert call() == right(answer)
        return
    errors, words = answer
    with pytest.raises(errors, match=words) as raised:
        call()
    text = str(raised.value).split("\n")[0]
    assert len(text) > 20 and "unexpected" not in text


NO_IDS = (TypeError, "has no ids: integers are needed")
HUGE = 2**63
WHEN = datetime.datetime(2026, 11, 25, 9, 30)
ARROW: list[Case] = [
    ("int8", lambda: pa.array([1, 127], "int8"), [1, 127]),
    ("dictionary of integers", lambda: pa.array([5, 7, 5]).dictionary_encode(), [5, 7, 5]),
    ("dictionary with a null value", lambda: pa.DictionaryArray.from_arrays([0, 1, None], pa.array([9, None])), [9, None, None]),
    ("decimal128(38, 0)", lambda: pa.array([decimal.Decimal(7)], pa.decimal128(38, 0)), [7]),
    ("decimal128(10, 2)", lambda: pa.array([decimal.Decimal("7.25")], pa.decimal128(10, 2)), NO_IDS),
    ("decimal32(5, 0)", lambda: pa.array([decimal.Decimal(7)], pa.decimal32(5, 0)), [7]),
    ("decimal above 2^64", lambda: pa.array([decimal.Decimal(2**70)], pa.decimal128(38, 0)), (ValueError, "past the end of the stream: the last id is")),
    ("run-end encoded", lambda: pc.run_end_encode(pa.array([1, 1, 2])), NO_IDS),
    ("boolean", lambda: pa.array([True]), NO_IDS),
    ("timestamp", lambda: pa.array([WHEN]), NO_IDS),
    ("date32", lambda: pa.array([WHEN.date()]), NO_IDS),
    ("duration", lambda: pa.array([5], pa.duration("s")), NO_IDS),
    ("time64", lambda: pa.array([5], pa.time64("us")), NO_IDS),
    ("list", lambda: pa.array([[1, 2]]), NO_IDS),
    ("struct", lambda: pa.array([{"id": 1}]), NO_IDS),
    ("record batch", lambda: pa.record_batch({"id": [1]}), NO_IDS),
    ("half floats", lambda: pa.array([np.float16(1)], pa.float16()), NO_IDS),
    ("float64 of whole numbers", lambda: pa.array([1.0, 2.0]), NO_IDS),
    ("text of digits", lambda: pa.array(["1"]), NO_IDS),
    ("UUIDs", lambda: pa.array([uuid.uuid4().bytes], pa.uuid()), NO_IDS),
    ("nulls without a type", lambda: pa.nulls(3), [None, None, None]),
    ("scalar", lambda: pa.scalar(3), (TypeError, "ids must be an Arrow array")),
    ("2^63", lambda: pa.array([HUGE], "uint64"), [HUGE]),
    ("2^64 - 1", lambda: pa.array([2**64 - 1], "uint64"), (ValueError, "key_of\\(\\) makes a smaller one")),
    ("-2^63", lambda: pa.array([-HUGE]), (ValueError, "is negative: ids count from 0")),
    ("empty chunks", lambda: pa.chunked_array([[], [3], []], "int64"), [3]),
    ("slice of a slice", lambda: pa.array([0, 1, None, 3, 4])[1:][1:3], [None, 3]),
    ("column of a table", lambda: pa.table({"id": [4, 2]})["id"], [4, 2]),
    ("Polars' Series", lambda: pl.Series([4, None]), [4, None]),
    ("pandas' Series", lambda: pd.Series([4, 2]), [4, 2]),
]  # fmt: skip

NUMPY: list[Case] = [
    ("empty", lambda: np.array([], "i8"), []),
    ("read-only", lambda: np.frombuffer(np.array([5, 6]).tobytes(), "i8"), [5, 6]),
    ("array.array", lambda: array.array("q", [5, 6]), [5, 6]),
    ("memoryview", lambda: memoryview(array.array("I", [5, 6])), [5, 6]),
    ("other byte order", lambda: np.array([1, 2], ">i8"), (TypeError, "ids must hold integers")),
    ("booleans", lambda: np.array([True]), (TypeError, "ids must hold integers")),
    ("objects", lambda: np.array([1, 2], object), (TypeError, "ids must hold integers")),
    ("datetime64", lambda: np.array(["2026-11-25"], "M8[s]"), (TypeError, "ids must")),
    ("complex", lambda: np.array([1j]), (TypeError, "ids must hold integers")),
    ("no dimension", lambda: np.array(5), (ValueError, "ids must have one dimension, not 0")),
    ("each second one", lambda: np.arange(9)[::2], (ValueError, "numpy.ascontiguousarray")),
    ("masked", lambda: np.ma.array([1, 2], mask=[0, 1]), (TypeError, "mask")),
    ("list", lambda: [1, 2], (TypeError, "ids must be an Arrow array, a Series or a NumPy array")),
    ("range", lambda: range(3), (TypeError, "ids must be an Arrow array, a Series or a NumPy")),
    ("number", lambda: 5, (TypeError, "not int")),
    ("bytes", lambda: b"12345678", (TypeError, "ids must hold integers")),
]


@pytest.mark.parametrize(("what", "column", "answer"), ARROW + NUMPY, ids=lambda v: v if isinstance(v, str) else "")
def test_arrow(what: str, column: Callable[[], Any], answer: Any) -> None:
    def call() -> list[Any]:
        made = arrow.normal(column(), KEY, name="z")
        taken = pa.chunked_array(made) if hasattr(made, "num_chunks") else pa.array(made)
        return taken.to_pylist()  # type: ignore[no-any-return]

    judged(call, answer)


PANDAS: list[Case] = [
    ("RangeIndex", lambda: pd.RangeIndex(3), [0, 1, 2]),
    ("Index", lambda: pd.Index([7, 3]), [7, 3]),
    ("uint8", lambda: pd.Series([7], dtype="uint8"), [7]),
    ("Int64 with a missing one", lambda: pd.Series([7, None], dtype="Int64"), [7, None]),
    ("ArrowDtype", lambda: pd.Series([7, None], dtype=pd.ArrowDtype(pa.int64())), [7, None]),
    ("category", lambda: pd.Series([7, 3, 7], dtype="category"), [7, 3, 7]),
    ("each second row", lambda: pd.Series(range(9))[::2], [0, 2, 4, 6, 8]),
    ("empty", lambda: pd.Series([], dtype="int64"), []),
    ("same label twice", lambda: pd.Series([7, 3], index=[0, 0]), [7, 3]),
    ("Sparse", lambda: pd.Series([0, 3], dtype="Sparse[int64]"), [0, 3]),
    ("floats with a missing one", lambda: pd.Series([7, None]), (TypeError, "in pandas to 'Int64'")),
    ("texts", lambda: pd.Series(["a"]), (TypeError, "ids must hold integers")),
    ("dates", lambda: pd.Series([WHEN]), (TypeError, "ids must")),
    ("booleans", lambda: pd.Series([True]), (TypeError, "ids must hold integers")),
    ("objects", lambda: pd.Series([1, 2], dtype=object), (TypeError, "ids must hold integers")),
    ("frame", lambda: pd.DataFrame({"id": [1]}), (TypeError, "ids must be a Series, an Index")),
    ("MultiIndex", lambda: pd.MultiIndex.from_tuples([(1, 2)]), (TypeError, "ids must")),
    ("negative", lambda: pd.Series([1, -7]), (ValueError, "id -7 in row 1")),
]  # fmt: skip


@pytest.mark.parametrize(("what", "column", "answer"), PANDAS, ids=lambda v: v if isinstance(v, str) else "")
def test_pandas(what: str, column: Callable[[], Any], answer: Any) -> None:
    def call() -> list[Any]:
        ids = column()
        made = in_pandas.normal(ids, KEY, name="z")
        if isinstance(ids, pd.Series):
            assert made.index.equals(ids.index)
        return [None if pd.isna(number) else float(number) for number in made]

    judged(call, answer)


ANY = (pl.exceptions.PolarsError, ValueError, TypeError)
POLARS: list[Case] = [
    ("UInt8", lambda: pl.Series("id", [7, 255], pl.UInt8), [7, 255]),
    ("Decimal without digits", lambda: pl.Series("id", [decimal.Decimal(7)], pl.Decimal(10, 0)), [7]),
    ("Null", lambda: pl.Series("id", [None, None]), [None, None]),
    ("empty", lambda: pl.Series("id", [], pl.Int64), []),
    ("chunks", lambda: pl.Series("id", [1]).append(pl.Series("id", [None, 2])), [1, None, 2]),
    ("sliced", lambda: pl.Series("id", range(9)).slice(3, 2), [3, 4]),
    ("Float64", lambda: pl.Series("id", [1.0]), (ANY, "has no ids")),
    ("String", lambda: pl.Series("id", ["a"]), (ANY, "has no ids")),
    ("Categorical", lambda: pl.Series("id", ["a"], pl.Categorical), (ANY, "has no ids")),
    ("Date", lambda: pl.Series("id", [WHEN.date()]), (ANY, "has no ids")),
    ("Boolean", lambda: pl.Series("id", [True]), (ANY, "has no ids")),
    ("Struct", lambda: pl.Series("id", [{"a": 1}]), (ANY, "has no ids")),
    ("Array", lambda: pl.Series("id", [[1, 2]], pl.Array(pl.Int64, 2)), (ANY, "has no ids")),
    ("negative", lambda: pl.Series("id", [0, -1]), (ANY, "id -1 in row 1")),
]  # fmt: skip


@pytest.mark.parametrize(("what", "column", "answer"), POLARS, ids=lambda v: v if isinstance(v, str) else "")
def test_polars(what: str, column: Callable[[], Any], answer: Any) -> None:
    number = in_polars.normal("id", KEY, name="z")
    judged(lambda: column().to_frame().select(number)["z"].to_list(), answer)


def test_polars_expressions(tmp_path: Any) -> None:
    frame = pl.DataFrame({"id": range(5000), "g": [0, 1] * 2500})
    number = in_polars.normal("id", KEY, name="z")
    whole = frame.with_columns(number)
    assert whole["z"].to_list() == right(list(range(5000)))
    # A filter that Polars moves before or into the scan leaves the numbers of the rows.
    frame.write_parquet(tmp_path / "t.parquet", row_group_size=700)
    scan = pl.scan_parquet(tmp_path / "t.parquet").with_columns(number).filter(pl.col("g") == 1)
    assert scan.collect().equals(whole.filter(pl.col("g") == 1))
    assert scan.sort("id", descending=True).head(3).collect()["id"].to_list() == [4999, 4997, 4995]
    chosen = pl.scan_parquet(tmp_path / "t.parquet").filter(pl.col("id") > 4990, number > 0)
    assert chosen.collect()["id"].to_list() == [
        i for i, z in zip(range(4991, 5000), right(list(range(4991, 5000))), strict=True) if z > 0
    ]
    halves = frame.with_columns(pl.when(pl.col("g") == 1).then(number).alias("z"))
    assert halves["z"].drop_nulls().to_list() == right(list(range(1, 5000, 2)))
    assert frame.select(in_polars.normal(pl.lit(3), KEY, name="z"))["z"].to_list() == right([3])
    shifted = frame.select(in_polars.normal(pl.col("id") + 1, KEY, name="z"))
    assert shifted["z"].to_list() == right(list(range(1, 5001)))


SQL_NUMBERS: list[tuple[str, list[int | None]]] = [
    ("select hw_normal(id, 42, 'z') from (values (7::hugeint)) t(id)", [7]),
    ("select hw_normal(id, 42, 'z') from (values (9223372036854775808::ubigint)) t(id)", [HUGE]),
    ("select hw_normal(id, 42, 'z') from (values (200::utinyint)) t(id)", [200]),
    ("select hw_normal(id, 42, 'z') from (values (7::decimal(5, 0))) t(id)", [7]),
    ("select hw_normal(null::bigint, 42, 'z')", [None]),
    ("select hw_normal(3, 42, 'z')", [3]),
    ("select hw_normal(3, '42'::bigint, 'z')", [3]),
    ("select hw_normal(r, 42, 'z') from (select a.x r from range(1) b(y) left join (select 5 x where false) a on true)", [None]),
    ("with t as (select range id from range(5)) select hw_normal(id, 42, 'z') from t where id > 2 order by id", [3, 4]),
    ("select z from (select id, hw_normal(id, 42, 'z') z from range(4100) t(id)) where id in (0, 2047, 2048, 4099) order by id", [0, 2047, 2048, 4099]),
    ("select max(hw_normal(id, 42, 'z')) filter (id = 5) over () from range(9) t(id) limit 1", [5]),
    ("select hw_normal(rowid, 42, 'z') from three order by rowid", [0, 1, 2]),
    ("select hw_normal(sum(id), 42, 'z') from range(4) t(id)", [6]),
    ("select case when id < 2 then hw_normal(id, 42, 'z') end from range(3) t(id) order by id", [0, 1, None]),
]  # fmt: skip
SQL_ERRORS = [
    ("hw_normal(1.5::double, 42, 'z')", "has no ids"),
    ("hw_normal(7.25, 42, 'z')", "has no ids"),
    ("hw_normal('1', 42, 'z')", "has no ids"),
    ("hw_normal(true, 42, 'z')", "has no ids"),
    ("hw_normal(date '2026-11-25', 42, 'z')", "has no ids"),
    ("hw_normal(1, 42.5, 'z')", "seed"),
    ("hw_normal(1, 1e3::double, 'z')", "seed"),
    ("hw_normal(1, 42, null)", "name in hw_normal.* must be one value"),
    ("hw_normal(1, 42, 7)", "name"),
    ("hw_normal(1, 42, 'z', 0, -1)", "scale must be"),
    ("hw_normal(1, 42, 'z', 0, 1, 2)", "takes 3 to 5 arguments, not 6"),
    ("hw_sample(1, 42, 2)", "p must be a number from 0 to 1"),
    ("hw_sample(1, 42, 'nan'::double)", "p must be"),
    ("hw_split(1, 42, 257)", "parts must be"),
    ("hw_split(1, 42, 2.5)", "parts"),
    ("hw_norml(1, 42, 'z')", "hw_normal"),
]


@pytest.fixture(scope="module", params=ENGINES)
def con(request: pytest.FixtureRequest) -> Any:
    made = connect(request.param)
    made.execute("create table three as select 'x' as x from range(3)")
    return made


@pytest.mark.parametrize(("sql", "ids"), SQL_NUMBERS)
def test_sql_numbers(con: Any, sql: str, ids: list[int | None]) -> None:
    assert [row[0] for row in con.execute(sql).fetchall()] == right(ids)


@pytest.mark.parametrize(("sql", "words"), SQL_ERRORS)
def test_sql_errors(con: Any, sql: str, words: str) -> None:
    with pytest.raises(duckdb.Error, match=words):
        con.execute(f"select {sql}").fetchall()


KEYS = {
    "texts": [pa.array(["a", "ß"], type) for type in ("string", "large_string", "string_view")]
    + [pa.array([b"a", "ß".encode()], type) for type in ("binary", "large_binary", "binary_view")]
    + [pa.array(["a", "ß"]).dictionary_encode()],
    "integers": [pa.array([1, 100], t) for t in ("int8", "uint8", "int16", "int64", "uint64")],
    "times": [pa.array([WHEN], pa.timestamp(unit)) for unit in ("s", "ms", "us", "ns")]
    + [pa.array([WHEN.replace(tzinfo=datetime.UTC)], pa.timestamp("us", "UTC"))],
    "dates": [pa.array([WHEN.date()], type) for type in ("date32", "date64")],
}


@pytest.mark.parametrize("what", [*KEYS])
def test_one_value_has_one_key(what: str) -> None:
    made = [pa.array(arrow.key_of(column)).to_pylist() for column in KEYS[what]]
    assert all(keys == made[0] for keys in made) and len(set(made[0])) == len(made[0])


@pytest.mark.parametrize(
    ("error", "words", "column"),
    [
        (ValueError, "whole number of microseconds", pa.array([1], pa.timestamp("ns"))),
        (ValueError, "microseconds fit 64 bits", pa.array([2**62], pa.timestamp("s"))),
        (ValueError, "a whole day", pa.array([1], "int64").view("date64")),
        (TypeError, "key_of\\(\\) takes no", pa.array([[1]])),
        (TypeError, "key_of\\(\\) takes no", pa.array([1], pa.duration("s"))),
        (TypeError, "columns must be an Arrow array", "a"),
    ],
)
def test_values_without_a_key(error: type[Exception], words: str, column: Any) -> None:
    with pytest.raises(error, match=words):
        arrow.key_of(column)
    with pytest.raises((TypeError, ValueError), match="column"):
        arrow.key_of()


@pytest.mark.parametrize(
    ("words", "column"),
    [
        # pyarrow would take the letters of a text for rows, and periods for integers.
        ("columns must be .*, not str: pass each column", "user"),
        ("columns must be .*, not DataFrame: pass each column", pd.DataFrame({"a": [1]})),
        ("columns must be .*, not MultiIndex", pd.MultiIndex.from_tuples([(1, 2)])),
        ("columns must be .*, not int", 5),
        ("takes no periods", pd.Series(pd.period_range("2024", periods=2, freq="M"))),
    ],
)
def test_values_without_a_key_in_pandas(words: str, column: Any) -> None:
    with pytest.raises(TypeError, match=words):
        in_pandas.key_of(column)


def test_a_sparse_column_has_the_keys_of_its_values() -> None:
    values = pd.Series([0, 7, 0])
    assert in_pandas.key_of(values.astype("Sparse[int]")).equals(in_pandas.key_of(values))


@pytest.mark.parametrize("call", [in_pandas.normal, in_pandas.order])
def test_names_and_answers_to_nulls_are_texts(call: Any) -> None:
    ids = pd.Series([1])
    with pytest.raises(TypeError, match="name must be a text, not bytes"):
        call(ids, KEY, name=b"sample")
    for nulls in (None, 1, "skip"):
        with pytest.raises(ValueError, match="nulls must be 'null' .* or 'error', not"):
            call(ids, KEY, nulls=nulls)


@pytest.mark.parametrize("name", ["polars", "pandas", "duckdb", "pyarrow"])
def test_an_engine_that_is_too_old_is_named(name: str) -> None:
    import types

    from headwater import _engines

    old = types.SimpleNamespace(__version__="0.19.5")
    with pytest.raises(ImportError, match=f"headwater.{name} needs {name} 1.2 or later, .* 0.19.5"):
        _engines.need(old, name, (1, 2))
    for new in ("1.2", "1.10.0rc1", "2.0.1.dev7"):
        _engines.need(types.SimpleNamespace(__version__=new), name, (1, 2))
