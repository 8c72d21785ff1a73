"""One SHA-256 over every engine, whatever its chunks, partitions, threads and order of rows."""

from __future__ import annotations

import doctest
import hashlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from _duckdb_engines import ENGINES, connect
from secure_support import python

import headwater
import headwater.arrow

ROOT = Path(__file__).parents[3]
N = 50_000
KEY = headwater.Key(42)
ORDER = np.random.default_rng(7).permutation(N)
PARTS = (1, 7, 64)


def digest(normal: Any, uniform: Any, sample: Any, split: Any) -> str:
    """Returns the hash of four columns in the order of the ids."""
    made = hashlib.sha256()
    for column, type in ((normal, "<f8"), (uniform, "<f8"), (sample, "u1"), (split, "u1")):
        made.update(np.ascontiguousarray(column, dtype=type).tobytes())
    return made.hexdigest()


@pytest.fixture(scope="module")
def expected() -> str:
    """Returns the hash of the streams' own arrays, which no engine has touched."""
    streams = [KEY.child(label).stream(0) for label in ("z", "u", b"sample", b"split")]
    words = [stream.integers(0, 2**64, N, dtype="uint64") for stream in streams[2:]]
    # A row is in the sample if its word is below the share of 2^64, rounded up; and the part is the
    # upper half of word * 10.
    numerator, denominator = (0.01).as_integer_ratio()
    sample = words[0] < np.uint64(-(-numerator * 2**64 // denominator))
    split = [int(word) * 10 >> 64 for word in words[1]]
    return digest(streams[0].standard_normal(N), streams[1].random(N), sample, split)


def by_id(ids: Any, *columns: Any) -> str:
    """Returns the hash of columns whose rows have these ids."""
    place = np.argsort(np.asarray(ids), kind="stable")
    return digest(*(np.asarray(column)[place] for column in columns))


def columns(front: Any, ids: Any) -> tuple[Any, ...]:
    return (
        front.normal(ids, KEY, name="z"),
        front.uniform(ids, KEY, name="u"),
        front.sample(ids, KEY, 0.01),
        front.split(ids, KEY, 10),
    )


@pytest.mark.parametrize("parts", PARTS)
def test_pyarrow(parts: int, expected: str) -> None:
    pa = pytest.importorskip(
        "pyarrow", reason="pyarrow is not installed: its arrays were not compared"
    )
    import headwater.pyarrow as front

    for ids in (np.arange(N), ORDER):
        chunked = pa.chunked_array([pa.array(part) for part in np.array_split(ids, parts)])
        made = columns(front, chunked)
        assert made[0].num_chunks == parts
        assert by_id(ids, *(column.to_numpy() for column in made)) == expected


@pytest.mark.parametrize("parts", PARTS)
def test_pandas(parts: int, expected: str) -> None:
    pd = pytest.importorskip(
        "pandas", reason="pandas is not installed: its Series were not compared"
    )
    import headwater.pandas as front

    frame = pd.DataFrame({"id": ORDER})
    groups = [group for _, group in frame.groupby(frame["id"] % parts)]
    made = [
        pd.concat(columns(front, group["id"]), axis=1).assign(id=group["id"]) for group in groups
    ]
    whole = pd.concat(made)
    assert by_id(whole["id"], *(whole[name] for name in ("z", "u", "sample", "split"))) == expected


POLARS = """
import numpy as np, polars as pl
import headwater.polars as front
import test_one_array as one
assert front.engine() == "plugin", front.engine()
print(pl.thread_pool_size())
for parts in one.PARTS:
    frames = [pl.DataFrame({"id": part}) for part in np.array_split(one.ORDER, parts)]
    frame = pl.concat(frames, rechunk=False).lazy()
    made = frame.with_columns(*one.columns(front, "id"))
    for engine in ("in-memory", "streaming"):
        table = made.collect(engine=engine)
        made_by = [table[name].to_numpy() for name in ("z", "u", "sample", "split")]
        print(one.by_id(table["id"], *made_by))
"""


@pytest.mark.parametrize("threads", [1, 4])
def test_polars(threads: int, expected: str) -> None:
    pytest.importorskip("polars", reason="Polars is not installed: its columns were not compared")
    lines = python(POLARS, POLARS_MAX_THREADS=str(threads))
    assert lines.split() == [str(threads), *[expected] * 6]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("threads", [1, 4])
def test_duckdb(threads: int, engine: str, expected: str) -> None:
    pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed: DuckDB was not filled")
    pytest.importorskip("duckdb", reason="DuckDB is not installed: its columns were not compared")
    import headwater.duckdb as front

    con = connect(engine, threads=threads)
    front.load(con)
    assert front.engine(con) == engine
    for parts in PARTS:
        con.execute("create or replace table t(id bigint)")
        for part in np.array_split(ORDER, parts):
            con.register("piece", pa.table({"id": part}))
            con.execute("insert into t select * from piece")
        row = con.execute(
            "select id, hw_normal(id, 42, 'z') z, hw_uniform(id, 42, 'u') u,"
            " hw_sample(id, 42, 0.01) k, hw_split(id, 42, 10) s from t"
        ).fetchnumpy()
        assert by_id(row["id"], *(row[name] for name in "zuks")) == expected


@pytest.mark.parametrize("engine", ENGINES)
def test_exact_samples_are_the_same_rows_and_nested(engine: str) -> None:
    pd = pytest.importorskip("pandas", reason="pandas is not installed: samples were not compared")
    pl = pytest.importorskip("polars", reason="Polars is not installed: samples were not compared")
    import headwater.pandas
    import headwater.polars

    ids = ORDER[:5000]
    frame = pd.DataFrame({"id": ids, "g": ids % 7})
    con = connect(engine)
    before: set[int] = set()
    for n in (0, 10, 100, 4999, 5000, 6000):
        rows = headwater.pandas.sample_n(frame, "id", n, KEY)["id"].tolist()
        polars = headwater.polars.sample_n(pl.from_pandas(frame), "id", n, KEY)["id"].to_list()
        sql = con.execute(
            "select id from frame order by hw_order(id, 42), id limit ?", [n]
        ).fetchall()
        assert rows == polars == [row[0] for row in sql]
        assert len(rows) == min(n, 5000) and before <= set(rows)
        before = set(rows)
    some = headwater.pandas.sample_n(frame, "id", 10, KEY, by="g")
    other = headwater.polars.sample_n(pl.from_pandas(frame), "id", 10, KEY, by="g")
    assert sorted(some["id"]) == sorted(other["id"]) and len(some) == 70


@pytest.mark.parametrize("engine", ENGINES)
def test_keys_agree_between_engines(engine: str) -> None:
    pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed: keys were not compared")
    pd = pytest.importorskip("pandas", reason="pandas is not installed: keys were not compared")
    pl = pytest.importorskip("polars", reason="Polars is not installed: keys were not compared")
    import headwater.pandas
    import headwater.polars
    import headwater.pyarrow

    users, days = ["a", "Größe", None, "x" * 40], [1, -5, 7, None]
    keys = headwater.pyarrow.key_of(pa.array(users), pa.array(days)).to_pylist()
    frame = pd.DataFrame({"user": users, "day": pd.array(days, "Int64")})
    assert headwater.pandas.key_of(frame["user"], frame["day"]).tolist() == keys
    table = pl.DataFrame({"user": users, "day": days})
    assert table.select(headwater.polars.key_of("user", "day")).to_series().to_list() == keys
    con = connect(engine)
    con.register("rows", pa.table({"user": users, "day": days}))
    sql = con.execute('select hw_key("user", "day") from rows').fetchall()
    assert [row[0] for row in sql] == keys


@pytest.mark.parametrize("engine", ENGINES)
def test_null_ids_in_each_engine(engine: str) -> None:
    pd = pytest.importorskip("pandas", reason="pandas is not installed: nulls were not compared")
    pl = pytest.importorskip("polars", reason="Polars is not installed: nulls were not compared")
    import headwater.pandas
    import headwater.polars

    right = KEY.child("z").stream(0).at([5, 6]).standard_normal()
    series = pd.Series([5, None, 6], dtype="Int64", index=[3, 1, 2])
    made = headwater.pandas.normal(series, KEY, name="z")
    assert made.index.tolist() == [3, 1, 2] and np.isnan(made[1]) and made[2] == right[1]
    counts = headwater.pandas.poisson(series, KEY, 3.0, name="z")
    assert str(counts.dtype) == "Int64" and counts.isna().tolist() == [False, True, False]
    assert str(headwater.pandas.sample(series, KEY, 0.5).dtype) == "boolean"
    assert (
        headwater.pandas.normal(series.astype("category"), KEY, name="z").dropna().tolist()
        == right.tolist()
    )
    with pytest.raises(ValueError, match="row 1 is missing"):
        headwater.pandas.normal(series, KEY, nulls="error")
    frame = pl.DataFrame({"id": [5, None, 6]})
    assert frame.select(headwater.polars.normal("id", KEY, name="z"))["z"].to_list() == [
        right[0],
        None,
        right[1],
    ]
    con = connect(engine)
    sql = "select hw_normal(id, 42, 'z') from (values (5), (null), (6)) t(id)"
    assert [row[0] for row in con.execute(sql).fetchall()] == [right[0], None, right[1]]


def test_polars_plans() -> None:
    pl = pytest.importorskip(
        "polars", reason="Polars is not installed: its expressions were not tried"
    )
    import headwater.polars as front

    frame = pl.DataFrame({"id": range(100), "g": [0, 1] * 50, "x": [0.5] * 100})
    lists = frame.select(front.dirichlet("id", KEY, [1.0, 2.0], name="d"))["d"]
    assert lists.dtype == pl.Array(pl.Float64, 2) and len(lists) == 100
    for dtype, type in (
        ("int8", pl.Int8),
        ("uint16", pl.UInt16),
        ("int32", pl.Int32),
        ("uint64", pl.UInt64),
    ):
        made = frame.select(front.integers("id", KEY, 0, 100, dtype=dtype, name="i"))
        right = KEY.child("i").stream(0).integers(0, 100, 100, dtype=dtype)
        assert made["i"].dtype == type and made["i"].to_list() == right.tolist()
    singles = frame.select(front.normal("id", KEY, dtype="float32", name="f"))["f"]
    assert (
        singles.to_list()
        == KEY.child("f").stream(0).normal(0.0, 1.0, 100, dtype="float32").tolist()
    )
    over = frame.select(front.normal("id", KEY, name="z").sum().over("g"))
    assert over.n_unique() == 2
    lazy = frame.lazy().filter(front.sample("id", KEY, 0.5))
    assert lazy.collect().equals(frame.filter(front.sample("id", KEY, 0.5)))
    with pytest.raises(pl.exceptions.ComputeError, match="float64 has no ids"):
        frame.select(front.normal("x", KEY))
    with pytest.raises(pl.exceptions.ComputeError, match="id -1 in row 0"):
        frame.select(front.normal(pl.lit(-1), KEY))
    with pytest.raises(TypeError, match="ids must be a column's name"):
        front.normal(5, KEY)


def test_polars_without_plugins(monkeypatch: pytest.MonkeyPatch) -> None:
    pl = pytest.importorskip("polars", reason="Polars is not installed: its fallback was not tried")
    import headwater.polars as front

    frame = pl.DataFrame({"id": [3, None, 5]})
    with_plugin = frame.select(front.normal("id", KEY, name="z"), front.sample("id", KEY, 0.5))
    monkeypatch.setattr(front, "engine", lambda: "map_batches")
    without = frame.select(front.normal("id", KEY, name="z"), front.sample("id", KEY, 0.5))
    assert without.equals(with_plugin)


@pytest.mark.parametrize("engine", ENGINES)
def test_sql(engine: str) -> None:
    con = connect(engine)
    import duckdb
    import headwater.duckdb

    assert headwater.duckdb.engine(duckdb.connect()) == "not loaded"
    right = headwater.Key("seed").child("g").stream(0).gamma(2.0, 3.0, 3000)
    sql = "select hw_gamma(id, 'seed', 'g', 2.0, 3.0) from range(3000) t(id) order by id"
    assert [row[0] for row in con.execute(sql).fetchall()] == right.tolist()
    x = headwater.Key(42).child("x").stream(0)
    for sql, right in [
        ("hw_normal(id, 42, 'x')", x.standard_normal(9)),
        ("hw_normal(id, 42, 'x', 5.0, 0.25)", x.normal(5.0, 0.25, 9)),
        ("hw_standard_normal(id, 42, 'x')", x.standard_normal(9)),
        ("hw_uniform(id, 42, 'x')", x.random(9)),
        ("hw_uniform(id, 42, 'x', -3)", x.uniform(-3.0, 1.0, 9)),
        ("hw_integers(id, 42, 'x', 1, 7)", x.integers(1, 7, 9)),
    ]:
        rows = con.execute(f"select {sql} from range(9) t(id) order by id").fetchall()
        assert [row[0] for row in rows] == right.tolist(), sql
    prepared = "select hw_uniform(id, ?, ?) from range(3) t(id)"
    rows = con.execute(prepared, [7, "u"]).fetchall()
    assert [row[0] for row in rows] == headwater.Key(7).child("u").stream(0).random(3).tolist()
    assert con.execute("select hw_normal(id, 42, 'x') from range(0) t(id)").fetchall() == []
    case = "select sum(case when id % 2 = 0 then hw_normal(id, 42, 'x') end) from range(5000) t(id)"
    total = x.standard_normal(5000)[::2].sum()
    assert con.execute(case).fetchall()[0][0] == pytest.approx(total)
    for sql, words in [
        (
            "select hw_normal(id, id, 'x') from range(3) t(id)",
            "seed in hw_normal.* must be one value",
        ),
        ("select hw_normal(id, null, 'x') from range(3) t(id)", "must be one value"),
        ("select hw_normal(id, 42) from range(3) t(id)", "takes 3 to 5 arguments, not 2"),
        ("select hw_normal(id - 5, 42, 'x') from range(3) t(id)", "id -5 in row 0"),
        ("select hw_normal(id + 0.5, 42, 'x') from range(3) t(id)", "no ids"),
        ("select hw_sample(id, 42, 1.5) from range(3) t(id)", "p must be a number from 0 to 1"),
        ("select hw_split(id, 42, 0) from range(3) t(id)", "parts must be"),
        ("select hw_gamma(id, 42, 'x', -1.0) from range(3) t(id)", "shape must be"),
        ("select hw_key(id + 0.5::double) from range(3) t(id)", "no float64"),
    ]:
        with pytest.raises(duckdb.Error, match=words):
            con.execute(sql).fetchall()


def test_the_examples_of_the_page() -> None:
    for engine in ("pyarrow", "pandas", "polars", "duckdb"):
        pytest.importorskip(engine, reason=f"{engine} is not installed: its example was not run")
    failed, tried = doctest.testfile(str(ROOT / "docs/one-array.md"), module_relative=False)
    assert tried > 15 and failed == 0
