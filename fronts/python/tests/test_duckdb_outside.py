"""SQL that users write, over both engines: `duckdb-outside.md` has the answers, written first.

An answer is the ids whose numbers must come, in their order, a value, or words of the error. No third
thing may happen, least of all other numbers.
"""

from __future__ import annotations

import datetime
import math
import subprocess
import sys
import uuid
from typing import Any

import numpy as np
import pytest
from _duckdb_engines import ENGINES, connect

import headwater

pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed: DuckDB was not compared")
duckdb = pytest.importorskip("duckdb", reason="DuckDB is not installed: its SQL was not tried")

import headwater.duckdb as front  # noqa: E402

KEY = headwater.Key(42)
Z = "hw_normal(id, 42, 'z')"


def numbers(ids: list[int | None], key: Any = KEY, name: str = "z") -> list[float | None]:
    known = [i for i in ids if i is not None]
    made = iter(key.child(name).stream(0).at(known).standard_normal().tolist() if known else [])
    return [None if i is None else next(made) for i in ids]


IDS: list[tuple[str, list[int | None]]] = [
    (f"select {Z} from (values (5::tinyint), (0)) t(id)", [5, 0]),
    (f"select {Z} from (values (300::smallint)) t(id)", [300]),
    (f"select {Z} from (values (70000::integer)) t(id)", [70000]),
    (f"select {Z} from (values (200::utinyint)) t(id)", [200]),
    (f"select {Z} from (values (60000::usmallint)) t(id)", [60000]),
    (f"select {Z} from (values (4000000000::uinteger)) t(id)", [4000000000]),
    (f"select {Z} from (values (9223372036854775809::ubigint)) t(id)", [2**63 + 1]),
    (f"select {Z} from (values (7::hugeint), (null), (18446744073709551600)) t(id)", [7, None, 2**64 - 16]),
    (f"select {Z} from (values (7::uhugeint), (null), (18446744073709551600)) t(id)", [7, None, 2**64 - 16]),
    (f"select {Z} from (values (7::decimal(4, 0)), (null)) t(id)", [7, None]),
    (f"select {Z} from (values (7::decimal(9, 0))) t(id)", [7]),
    (f"select {Z} from (values (7::decimal(18, 0))) t(id)", [7]),
    (f"select {Z} from (values (7::decimal(38, 0)), (null)) t(id)", [7, None]),
    (f"select {Z} from range(0) t(id)", []),
    (f"select {Z} from range(9) t(id) where id > 100", []),
    (f"select z from (select id, {Z} z from range(2049) t(id)) where id in (0, 2047, 2048) order by id", [0, 2047, 2048]),
    (f"select z from (select id, {Z} z from range(10000, 20000) t(id)) where id % 4999 = 0 order by id", [14997, 19996]),
    (f"select case when id >= 0 then {Z} end from range(-2, 2) t(id) order by id", [None, None, 0, 1]),
    (f"select case when id % 2 = 0 then {Z} else hw_normal(id + 1, 42, 'z') end from range(4) t(id) order by id", [0, 2, 2, 4]),
    (f"select coalesce({Z}, -1) from (values (1), (2)) t(id) order by id", [1, 2]),
    (f"select sum({Z}) over (order by id rows between current row and current row) from range(4) t(id) order by id", [0, 1, 2, 3]),
    (f"select first({Z}) over (partition by id % 2 order by id) from range(4) t(id) order by id", [0, 1, 0, 1]),
    ("select hw_normal(row_number() over (order by id desc) - 1, 42, 'z') from range(3) t(id) order by id", [2, 1, 0]),
    (f"select z from (select distinct id, {Z} z from (select a.id from range(3) a(id), range(1000) b(x))) order by id", [0, 1, 2]),
    ("select hw_normal(b.id, 42, 'z') from range(3) a(id) left join (values (1)) b(id) on a.id = b.id order by a.id", [None, 1, None]),
    (f"select {Z} from (select 3 as id union all select 4) order by id", [3, 4]),
    (f"select hw_normal(s.id, 42, 'z') from (select {{'id': 8}} as s)", [8]),
    (f"select {Z} from (select unnest([4, 2, null]) as id)", [4, 2, None]),
    (f"with recursive t(id) as (select 0 union all select id + 1 from t where id < 3) select {Z} from t order by id", [0, 1, 2, 3]),
    ("select (select hw_normal(t.id, 42, 'z')) from range(2) t(id) order by id", [0, 1]),
    (f"select max({Z}) from range(5) t(id) group by id order by id", [0, 1, 2, 3, 4]),
    ("select hw_normal(max(id), 42, 'z') from range(5) t(id)", [4]),
    ("select hw_normal(3, 42, 'z') from range(2)", [3, 3]),
    ("select hw_normal(id, (select 42), 'z') from range(2) t(id) order by id", [0, 1]),
    ("select hw_normal(id, s, n) from range(2) t(id), (values (42, 'z')) c(s, n) order by id", [0, 1]),
    ("select hw_normal(id, 40 + 2, lower('Z')) from range(2) t(id) order by id", [0, 1]),
    ("select hw_normal(id, 42::hugeint, 'z') from range(1) t(id)", [0]),
    ("select hw_normal(id, 42::utinyint, 'z', 0, 1) from range(1) t(id)", [0]),
    ("select hw_normal(id, 42, 'z', 0.0, 1.00) from range(1) t(id)", [0]),
    ("select hw_normal(id, 42, 'z', false, true) from range(1) t(id)", [0]),
    ("select hw_normal(id, 42, 'z'::letters) from range(1) t(id)", [0]),
    ("select noise from noisy order by id", [0, 1, 2]),
    ("select noise(id) from range(2) t(id) order by id", [0, 1]),
]  # fmt: skip

SEEDS: list[tuple[str, Any, str]] = [
    ("'42', 'z'", "42", "z"),
    ("-1, 'z'", -1, "z"),
    ("-9223372036854775808, 'z'", -(2**63), "z"),
    ("(-170141183460469231731687303715884105727)::hugeint, 'z'", -(2**127) + 1, "z"),
    ("1267650600228229401496703205376::hugeint, 'z'", 2**100, "z"),
    ("'\\x01\\xff'::blob, 'z'", b"\x01\xff", "z"),
    ("true, 'z'", 1, "z"),
    ("7, ''", 7, ""),
    ("7, 'exactly 12 b'", 7, "exactly 12 b"),
    ("7, 'a name of more than twelve bytes'", 7, "a name of more than twelve bytes"),
    ("7, 'Größe ☃'", 7, "Größe ☃"),
    ("'a seed of more than twelve bytes', 'z'", "a seed of more than twelve bytes", "z"),
]

NO_IDS = "has no ids: integers are needed"
CONSTANT = "must be one value for all rows, and not null: write a constant"
# Spark may make batches of one row, whose columns cannot be known from constants.
ERRORS: list[tuple[str, str]] = [
    ("hw_normal(id, id, 'z') from range(3) t(id)", f"seed in hw_normal.* {CONSTANT}"),
    ("hw_normal(id, 42, id::varchar) from range(3) t(id)", f"name in hw_normal.* {CONSTANT}"),
    ("hw_normal(id, 42, 'a longer name ' || id) from range(3) t(id)", f"name in hw_normal.* {CONSTANT}"),
    ("hw_normal(id, 42, 'z', 'a' || id) from range(3) t(id)", "loc must be a (column of numbers|number)"),
    ("hw_normal(id, 42, 'z', 0.0, id - 2.5) from range(3) t(id)", r"scale (in .* )?must be a finite number from 0, not -2\.5"),
    ("hw_normal(id, case when id = 0 then 42 end, 'z') from range(3) t(id)", f"seed in hw_normal.* {CONSTANT}"),
    ("hw_split(id, 42, [id, 1 - id]) from range(3) t(id)", f"parts in hw_split.* {CONSTANT}"),
    ("hw_normal(1, null, 'z')", f"seed in hw_normal.* {CONSTANT}"),
    ("hw_normal(1, 42, null)", f"name in hw_normal.* {CONSTANT}"),
    ("hw_sample(1, 42, null)", f"p in hw_sample.* {CONSTANT}"),
    ("hw_normal(1::double, 42, 'z')", NO_IDS),
    ("hw_normal(1::float, 42, 'z')", NO_IDS),
    ("hw_normal(1.5, 42, 'z')", NO_IDS),
    ("hw_normal('1', 42, 'z')", NO_IDS),
    ("hw_normal('1'::blob, 42, 'z')", NO_IDS),
    ("hw_normal(true, 42, 'z')", NO_IDS),
    ("hw_normal(date '2026-11-25', 42, 'z')", NO_IDS),
    ("hw_normal(timestamp '2026-11-25 00:00:00', 42, 'z')", NO_IDS),
    ("hw_normal(time '01:00:00', 42, 'z')", NO_IDS),
    ("hw_normal(interval 1 day, 42, 'z')", NO_IDS),
    ("hw_normal('00000000-0000-0000-0000-000000000001'::uuid, 42, 'z')", NO_IDS),
    ("hw_normal([1], 42, 'z')", NO_IDS),
    ("hw_normal({'id': 1}, 42, 'z')", NO_IDS),
    ("hw_normal('z'::letters, 42, 'z')", NO_IDS),
    ("hw_normal(id - 2, 42, 'z') from range(3) t(id)", "id -2 in row 0 .* is negative"),
    ("hw_normal((-1)::tinyint, 42, 'z')", "id -1 in row 0 .* is negative"),
    ("hw_normal((-1)::hugeint, 42, 'z')", "id -1 in row 0 .* is negative"),
    ("hw_normal(id, 42, 'z') from (values (null), (3), (-4)) t(id)", "id -4 in row 2 .* is negative"),
    ("hw_normal(18446744073709551615::ubigint, 42, 'z')", "id 18446744073709551615 in row 0 .* past the end"),
    ("hw_normal(1267650600228229401496703205376::hugeint, 42, 'z')", "id 1267650600228229401496703205376 in row 0 .* past the end"),
    ("hw_normal(1)", r"hw_normal\(id, seed, name, loc, scale\) takes 3 to 5 arguments, not 1"),
    ("hw_normal(1, 42)", "takes 3 to 5 arguments, not 2"),
    ("hw_normal(1, 42, 'z', 0, 1, 2)", "takes 3 to 5 arguments, not 6"),
    ("hw_sample(1, 42)", r"hw_sample\(id, seed, p, name\) takes 3 to 4 arguments, not 2"),
    ("hw_order(1)", "takes 2 to 3 arguments, not 1"),
    ("hw_permute(1, 10)", r"hw_permute\(i, n, seed, name\) takes 3 to 4 arguments, not 2"),
    ("hw_weighted_order(1, 42)", "takes 3 to 4 arguments, not 2"),
    ("hw_norml(1, 42, 'z')", "hw_normal"),
    ("hw_normal(1, 42.5, 'z')", "seed must be an integer"),
    ("hw_normal(1, 42::double, 'z')", "seed must be an integer"),
    ("hw_normal(1, date '2026-11-25', 'z')", "seed must be an integer"),
    ("hw_normal(1, [42], 'z')", "seed must be an integer"),
    ("hw_normal(1, 42, 7)", r"name in hw_normal\(id, seed, name, loc, scale\) must be a text"),
    ("hw_order(1, 42, 7)", r"name in hw_order\(id, seed, name\) must be a text"),
    ("hw_normal(1, 42, 'z', 0, -1)", "scale must be a finite number from 0, not -1"),
    ("hw_normal(1, 42, 'z', 'a')", "loc must be a number"),
    ("hw_normal(1, 42, 'z', 'nan'::double)", "loc must be a finite number"),
    ("hw_normal(1, 42, 'z', date '2026-11-25')", "loc must be a number"),
    ("hw_gamma(1, 42, 'z')", "takes 4 to 5 arguments, not 3"),
    ("hw_gamma(1, 42, 'z', 0)", "shape must be a finite number above 0"),
    ("hw_integers(1, 42, 'z', 2.5, 7)", "low must be an integer"),
    ("hw_integers(1, 42, 'z', 7, 7)", "a range that ends before it begins: raise its end"),
    ("hw_sample(1, 42, 1.5)", "p must be a number from 0 to 1, not 1.5"),
    ("hw_sample(1, 42, -0.5)", "p must be a number from 0 to 1, not -0.5"),
    ("hw_sample(1, 42, 'nan'::double)", "p must be a number from 0 to 1, not NaN"),
    ("hw_sample(1, 42, 'x')", "p must be a number, not"),
    ("hw_split(1, 42, 0)", "parts must be from 1 to 256"),
    ("hw_split(1, 42, 257)", "parts must be from 1 to 256"),
    ("hw_split(1, 42, 2.5)", "parts must be"),
    ("hw_split(1, 42, 'x')", "parts must be"),
    ("hw_split(1, 42, [0.5, 0.4])", "parts must be a number from 1 to 256, or as many shares"),
    ("hw_split(1, 42, [1.5, -0.5])", "parts must be a number from 1 to 256, or as many shares"),
    ("hw_split(1, 42, ['a'])", "parts must be"),
    ("hw_permute(10, 10, 42)", "id 10 in row 0 .* the last id is 9"),
    ("hw_permute(0, 0, 42)", "more than a permutation of 0 has"),
    ("hw_permute(-1, 10, 42)", "id -1 in row 0 .* is negative"),
    ("hw_permute(1, -10, 42)", "n must be from 0 to 2\\^64 - 1, not -10"),
    ("hw_permute(1, 2.5, 42)", "n must be an integer"),
    ("hw_weighted_order(1, 42, -1)", "weights must be finite numbers from 0, .* row 0 of the batch has -1.0"),
    ("hw_weighted_order(1, 42, null::double)", "weights must be finite numbers from 0, .* row 0 of the batch has no number"),
    ("hw_weighted_order(1, 42, 'inf'::double)", "weights must be finite numbers from 0, .* row 0 of the batch has inf"),
    ("hw_weighted_order(id, 42, 2 - id) from range(2, 5) t(id)", "weights must be finite numbers from 0, .* row 1 of the batch has -1.0"),
    ("hw_weighted_order(1, 42, 'nan'::double)", "weights must be finite numbers from 0, .* row 0 of the batch has no number"),
    ("hw_weighted_order(1, 42, 1e-310)", "from 1e-306 on, but row 0 of the batch has 1e-310: multiply all of them"),
    ("hw_weighted_order(1, 42, '1.5')", "weights must be finite numbers from 0"),
    ("hw_key(1.5::double)", r"hw_key\(\) takes no float64"),
    ("hw_key(1.5)", r"hw_key\(\) takes no decimals with digits"),
    ("hw_key([1])", r"hw_key\(\) takes no lists"),
    ("hw_key({'a': 1})", r"hw_key\(\) takes no structs"),
    ("hw_key(time '01:00:00')", r"hw_key\(\) takes no times of day"),
    ("hw_key(timestamp_ns '2026-11-25 01:00:00.000000001')", "a whole number of microseconds"),
    ("hw_key(1267650600228229401496703205376::hugeint)", "not an integer of 64 bits"),
    # Before DuckDB 1.5, Arrow functions get it as bytes.
    ("hw_key(1267650600228229401496703205376::uhugeint)", "not an integer of 64 bits|takes no uhugeint"),
]  # fmt: skip

WHEN = datetime.datetime(2026, 11, 25, 9, 30)
UUID = uuid.UUID("9a1b2c3d-0000-4000-8000-00000000beef")
TEXTS = ["", "a", "exactly 12 b", "more than twelve bytes", "Größe ☃", None]
KEYS: list[tuple[str, Any]] = [
    *((f"'{text}'" if text is not None else "null::varchar", pa.array([text], "string")) for text in TEXTS),
    ("'\\x00\\xff'::blob", pa.array([b"\x00\xff"])),
    ("(-5)::tinyint", pa.array([-5], "int8")),
    ("5::usmallint", pa.array([5])),
    ("(-9223372036854775808)::bigint", pa.array([-(2**63)])),
    ("18446744073709551615::ubigint", pa.array([2**64 - 1], "uint64")),
    ("(-5)::hugeint", pa.array([-5])),
    ("5::decimal(9, 0)", pa.array([5])),
    ("true", pa.array([True])),
    ("false", pa.array([False])),
    ("date '2026-11-25'", pa.array([WHEN.date()])),
    ("date '1969-12-31'", pa.array([datetime.date(1969, 12, 31)])),
    ("timestamp '2026-11-25 09:30:00'", pa.array([WHEN])),
    ("'2026-11-25 09:30:00'::timestamp_s", pa.array([WHEN])),
    ("'2026-11-25 09:30:00'::timestamp_ms", pa.array([WHEN])),
    ("'2026-11-25 09:30:00'::timestamp_ns", pa.array([WHEN])),
    (f"'{UUID}'::uuid", pa.array([str(UUID)])),
    ("'more than twelve'::letters", pa.array(["more than twelve"])),
]  # fmt: skip


@pytest.fixture(scope="module", params=ENGINES)
def con(request: pytest.FixtureRequest) -> Any:
    made = connect(request.param, threads=2)
    made.execute("create type letters as enum ('z', 'more than twelve')")
    made.execute(f"create view noisy as select id, {Z} as noise from range(3) t(id)")
    made.execute("create macro noise(id) as hw_normal(id, 42, 'z')")
    return made


@pytest.mark.parametrize(("sql", "ids"), IDS)
def test_ids(con: Any, sql: str, ids: list[int | None]) -> None:
    old = tuple(int(part) for part in duckdb.__version__.split(".")[:2]) < (1, 5)
    if "uhugeint" in sql and old and front.engine(con) == "arrow functions":
        # DuckDB hands it over as 16 bytes without a meaning.
        with pytest.raises(duckdb.Error, match=NO_IDS):
            con.execute(sql).fetchall()
        return
    assert [row[0] for row in con.execute(sql).fetchall()] == numbers(ids)


@pytest.mark.parametrize(("arguments", "seed", "name"), SEEDS)
def test_seeds_and_names(con: Any, arguments: str, seed: Any, name: str) -> None:
    rows = con.execute(f"select hw_normal(id, {arguments}) from range(3) t(id) order by id")
    expected = numbers([0, 1, 2], headwater.Key(seed), name)
    assert [row[0] for row in rows.fetchall()] == expected


@pytest.mark.parametrize(("sql", "words"), ERRORS)
def test_errors(con: Any, sql: str, words: str) -> None:
    with pytest.raises(duckdb.Error, match=words) as raised:
        con.execute(f"select {sql}").fetchall()
    assert "unexpectedly" not in str(raised.value)
    # The connection is still good.
    assert con.execute("select hw_sample(1, 42, 1)").fetchall() == [(True,)]


@pytest.mark.parametrize(("sql", "column"), KEYS)
def test_keys(con: Any, sql: str, column: Any) -> None:
    from headwater.pyarrow import key_of

    two = [column, pa.array([7])]
    expected = (key_of(column).to_pylist()[0], key_of(*two).to_pylist()[0])
    assert con.execute(f"select hw_key({sql}), hw_key({sql}, 7)").fetchall() == [expected]


def test_keys_of_columns(con: Any) -> None:
    from headwater.pyarrow import key_of

    [key] = key_of(pa.array(["a"])).to_pylist()
    assert con.execute("select hw_normal(hw_key('a'), 42, 'z')").fetchall() == [(*numbers([key]),)]

    texts = [TEXTS[i % 6] for i in range(5000)]
    flags = [None if i % 5 == 0 else i % 3 == 0 for i in range(5000)]
    table = pa.table({"id": range(5000), "text": texts, "flag": flags})
    con.register("many", table)
    rows = con.execute("select hw_key(text, flag), hw_key(flag) from many order by id").fetchall()
    right = [key_of(table["text"], table["flag"]), key_of(table["flag"])]
    assert rows == list(zip(*(keys.to_pylist() for keys in right), strict=True))
    con.unregister("many")


def test_nulls_among_many_rows(con: Any) -> None:
    ids = [None if i % 7 == 3 or 2040 < i < 2060 else i for i in range(5000)]
    con.register("many", pa.table({"row": range(5000), "id": pa.array(ids, "int64")}))
    made = con.execute(
        f"select {Z}, hw_sample(id, 42, 0.5), hw_split(id, 42, 10), hw_order(id, 42),"
        ' hw_permute(id, 5000, 42), hw_weighted_order(id, 42, 2) from many order by "row"'
    ).fetchall()
    known = [i for i in ids if i is not None]
    words = KEY.child(b"order").stream(0).at(known).integers(0, 2**64, dtype="uint64").tolist()
    places = KEY.child(b"permutation").stream(0).permutation(5000)
    assert [row[0] for row in made] == numbers(ids)
    assert [row[3] for row in made if row[3] is not None] == words
    assert [row[4] for row in made if row[4] is not None] == [int(places[i]) for i in known]
    assert all((row.count(None) == 6) == (i is None) for row, i in zip(made, ids, strict=True))
    con.unregister("many")


def test_prepared(con: Any) -> None:
    sql = "select hw_normal(id, ?, ?, ?, ?) from range(3) t(id) order by id"
    for seed, name in ((42, "z"), ("text", "a name of more than twelve bytes"), (-7, "")):
        rows = con.execute(sql, [seed, name, 0.0, 1]).fetchall()
        assert [row[0] for row in rows] == numbers([0, 1, 2], headwater.Key(seed), name)
    with pytest.raises(duckdb.Error, match="seed must be an integer"):
        con.execute(sql, [4.5, "z", 0, 1]).fetchall()
    with pytest.raises(duckdb.Error, match=CONSTANT):
        con.execute(sql, [None, "z", 0, 1]).fetchall()


def test_shares(con: Any) -> None:
    sql = "select hw_split(id, 42, [0.8, 0.1, 0.1]), hw_split(id, 42, [0.5::double, 0.5], 'x')"
    made = np.array(con.execute(f"{sql} from range(5000) t(id) order by id").fetchall())
    ids = np.arange(5000)
    from headwater import arrow

    for column, right in zip(
        made.T,
        (
            arrow.split(ids, KEY, [0.8, 0.1, 0.1]),
            arrow.split(ids, KEY, [0.5, 0.5], name="x"),
        ),
        strict=True,
    ):
        assert column.tolist() == right.to_numpy()[0].tolist()


def test_permutations(con: Any) -> None:
    for n in (1, 10, 2049, 10**12):
        top = min(n, 3000)
        sql = f"select hw_permute(i, {n}, 42), hw_permute(i, {n}, 42, 'x') from range({top}) t(i)"
        made = con.execute(f"{sql} order by i").fetchall()
        for column, key in zip(
            zip(*made, strict=True), (KEY.child(b"permutation"), KEY.child("x")), strict=True
        ):
            assert list(column) == list(key.stream(0).permutation(n)[:top])


def test_every_kind_has_its_numbers(con: Any) -> None:
    from headwater import _kinds

    samples: dict[str, list[Any]] = {"integers": [-3, 9], "permutation": [4000]}
    tried = 0
    for name, kind in _kinds.KINDS.items():
        if not kind["is_plain"] or kind["dtypes"][0] not in ("float64", "int64", "uint64"):
            continue
        needed = [parameter for parameter, default in kind["parameters"] if default is None]
        values = samples.get(name) or [VALUES.get(parameter, 0.5) for parameter in needed]
        written = "".join(f", {value!r}" for value in values)
        sql = f"select hw_{name}(id, 42, 'z'{written}) from range(3000) t(id) order by id"
        made = [row[0] for row in con.execute(sql).fetchall()]
        plan = _kinds.plan(kind, KEY, tuple(values), {}, None, "z")
        assert made == pa.array(plan.run(pa.array(range(3000)), "")).to_pylist(), name
        tried += 1
    assert tried > 30


# Parameters for which 0.5 is no value, by name.
VALUES: dict[str, Any] = {
    "n": 20, "a": 2.5, "df": 3.0, "dfnum": 4.0, "dfden": 5.0, "ngood": 10, "nbad": 8,
    "nsample": 6, "mode": 0.6, "right": 1.0, "left": 0.0, "low": 0.0, "high": 1.0, "p": 0.25,
}  # fmt: skip


def test_threads_share_nothing() -> None:
    """Eight connections of one database compute with different seeds at the same time."""
    from concurrent.futures import ThreadPoolExecutor

    con = connect("extension", threads=4)

    def work(seed: int) -> bool:
        own = con.cursor()
        rows = own.execute(
            f"select hw_normal(id, {seed}, 'z'), hw_normal(id, {seed + 1}, 'y')"
            " from range(20000) t(id) order by id"
        ).fetchall()
        right = zip(
            headwater.Key(seed).child("z").stream(0).standard_normal(20000).tolist(),
            headwater.Key(seed + 1).child("y").stream(0).standard_normal(20000).tolist(),
            strict=True,
        )
        return bool(rows == list(right))

    with ThreadPoolExecutor(8) as pool:
        # More seeds than a thread keeps plans.
        assert all(pool.map(work, range(40)))


@pytest.mark.parametrize("engine", ENGINES)
def test_a_plan_of_zero_is_none_of_minus_zero(engine: str) -> None:
    # Of deviation 0, so that the sum of the mean and -0 shows which zero the mean is.
    con = connect(engine, threads=1)
    for zero, signs in [("0", {1.0}), ("-0.0", {1.0, -1.0}), ("0", {1.0})]:
        query = f"select hw_normal(id, 1, 'x', '{zero}'::double, 0.0) from range(100) t(id)"
        rows = con.execute(query).fetchall()
        assert {math.copysign(1.0, x) for (x,) in rows} == signs, zero


@pytest.mark.parametrize("engine", ENGINES)
def test_a_connection_without_access_to_files_has_the_functions(engine: str) -> None:
    con = connect(engine)
    con.execute("set enable_external_access = false")
    assert front.engine(con) == engine
    front.load(con)
    assert con.execute("select hw_order(3, 42)").fetchall()
    closed = duckdb.connect()
    closed.execute("set enable_external_access = false")
    assert front.engine(closed) == "not loaded"
    front.load(closed)
    assert front.engine(closed) == "arrow functions"


OTHERS = """
import gc, sys
import duckdb, headwater, headwater.duckdb
con = duckdb.connect(config={"allow_unsigned_extensions": sys.argv[1]})
if sys.argv[2] == "cursor":
    one = con.cursor()
    headwater.duckdb.load(one)
    one.close()
    del one
elif sys.argv[2] == "first":
    one = con.cursor()
    headwater.duckdb.load(con)
    del con
    con = one
else:
    con.execute("begin")
    headwater.duckdb.load(con)
    con.execute("rollback")
    headwater.duckdb.load(con)
gc.collect()
filler = [bytearray(100) for _ in range(100_000)]
made = con.execute("select hw_normal(id, 42, 'z') from range(5000) t(id)").fetchall()
right = headwater.Key(42).child("z").stream(0).standard_normal(5000)
assert [x for (x,) in made] == right.tolist()
print(headwater.duckdb.engine(con))
"""


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("gone", ["cursor", "first", "rolled back"])
def test_the_functions_outlive_the_connection_that_loaded_them(engine: str, gone: str) -> None:
    """In a process of its own: DuckDB called functions in Python that had been freed."""
    connect(engine).close()
    unsigned = "true" if engine == "extension" else "false"
    run = [sys.executable, "-c", OTHERS, unsigned, gone]
    done = subprocess.run(run, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, engine + "\n"), done.stderr


@pytest.mark.parametrize("engine", ENGINES)
def test_values_without_a_type_of_arrows_have_no_key(engine: str) -> None:
    con = connect(engine)
    types = con.execute("select type_name from duckdb_types()").fetchall()
    long = "bignum" if ("bignum",) in types else "varint"
    with pytest.raises(duckdb.Error, match=r"hw_key\(\) takes no"):
        con.execute(f"select hw_key(7, '5'::{long})").fetchall()


def test_a_file_that_duckdb_refuses_is_a_warning(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    connect("extension")
    bad = tmp_path / "headwater.duckdb_extension"
    # The end of the file is right and its library is not.
    bad.write_bytes(b"no library" + front.EXTENSION.read_bytes()[-512:])
    monkeypatch.setattr(front, "EXTENSION", bad)
    con = duckdb.connect(config={"allow_unsigned_extensions": "true"})
    with pytest.warns(RuntimeWarning, match="so its functions are in Python"):
        front.load(con)
    assert front.engine(con) == "arrow functions"
    # Of another machine, and missing: no warning, because nothing is wrong.
    bad.write_bytes(front.EXTENSION.read_bytes().replace(b"linux_", b"plan9_"))
    for _ in range(2):
        con = duckdb.connect(config={"allow_unsigned_extensions": "true"})
        front.load(con)
        assert front.engine(con) == "arrow functions"
        bad.unlink(missing_ok=True)
