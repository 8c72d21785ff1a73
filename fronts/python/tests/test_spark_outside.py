"""SQL that users write, over both of Spark's engines: `spark-outside.md` has the answers.

The statements are those of `test_duckdb_outside.py` in Spark's words, as far as Spark has them, and
others that Spark's users write. An answer is the ids whose numbers must come, in their order, a value,
or words of the error. No third thing may happen, least of all other numbers.
"""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np
import pytest
from _spark_engines import ENGINES, session
from test_duckdb_outside import ERRORS, IDS, KEYS, SEEDS, VALUES, Z, numbers

import headwater

pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed: Spark was not compared")

KEY = headwater.Key(42)

# Words of DuckDB's SQL, and Spark's. Decimals hold what Spark's integers do not.
WORDS = (
    ("::utinyint", "::smallint"), ("::usmallint", "::int"), ("::uinteger", "::bigint"),
    ("::ubigint", "::decimal(20, 0)"), ("::uhugeint", "::decimal(38, 0)"),
    ("::hugeint", "::decimal(38, 0)"), ("::varchar", "::string"),
    ("'\\x01\\xff'::blob", "x'01ff'"), ("'\\x00\\xff'::blob", "x'00ff'"), ("'1'::blob", "x'31'"),
    ("unnest([4, 2, null])", "explode(array(4, 2, null))"), ("{'id': 8}", "named_struct('id', 8)"),
    ("{'id': 1}", "named_struct('id', 1)"), ("{'a': 1}", "named_struct('a', 1)"),
    ("[id, 1 - id]", "array(id, 1 - id)"), ("[0.5, 0.4]", "array(0.5, 0.4)"), ("[42]", "array(42)"),
    ("[1.5, -0.5]", "array(1.5, -0.5)"), ("['a']", "array('a')"), ("[1]", "array(1)"),
    ("with recursive t(id)", "with recursive t(id)"), ("'nan'::double", "double('nan')"),
    ("'inf'::double", "double('inf')"), ("-9223372036854775808, ", "(-9223372036854775808L), "),
    ("(-9223372036854775808)::bigint", "-9223372036854775808L"),
)  # fmt: skip
# Types and functions that Spark lacks.
LACKS = ("letters", "uuid", "::time", "time '", "timestamp_", "noise(id)", "(-1701411834604692")


def in_spark(sql: str) -> str | None:
    """Returns a statement in Spark's words, or None if Spark has no such type."""
    for duckdb, spark in WORDS:
        sql = sql.replace(duckdb, spark)
    return None if any(word in sql for word in LACKS) else sql


def translated(cases: list[Any]) -> list[Any]:
    made = [(in_spark(case[0]), *case[1:]) for case in cases]
    return [case for case in made if case[0] is not None]


# A constant of Spark's is known before the first row, so these are errors.
NOT_CONSTANT = ("(select 42)", "(values (42, 'z')) c(s, n)")
# Spark evaluates a Python function for every row, also for those that a CASE leaves out, and knows
# none in a lambda. Both are errors.
EVERY_ROW = ("case when id >= 0", "if(id < 0, null", "x -> hw_normal")

SPARKS: list[tuple[str, list[int | None]]] = [
    (f"select {Z} from (select explode(sequence(3, 5)) as id) order by id", [3, 4, 5]),
    (f"select {Z} from values (7S), (8Y), (9L) t(id) order by id", [7, 8, 9]),
    (f"select {Z} from range(4) where id in (select id + 2 from range(5))", [2, 3]),
    (f"select {Z} from range(3) lateral view explode(array(1, 2)) e as x order by id, x", [0, 0, 1, 1, 2, 2]),
    ("select v from (select explode(transform(array(4, 1, null), x -> hw_normal(x, 42, 'z'))) as v)", [4, 1, None]),
    (f"select v from (select {Z} as v, id from range(6) distribute by id % 2 sort by id desc) order by id", [0, 1, 2, 3, 4, 5]),
    (f"select max(v) from (select id, {Z} as v from range(4)) group by id order by id", [0, 1, 2, 3]),
    (f"select sum({Z}) from range(4) group by id having id > 1 order by id", [2, 3]),
    (f"select a.v from (select id, {Z} v from range(3)) a join (select id, {Z} v from range(2, 9)) b on a.id = b.id", [2]),
    (f"select /*+ broadcast(b) */ b.v from range(3) a join (select id, {Z} v from range(9)) b on a.id = b.id order by a.id", [0, 1, 2]),
    ("select hw_normal(b.id, 42, 'z') from range(2) a left join range(1, 2) b on a.id = b.id order by a.id", [None, 1]),
    (f"select nvl({Z}, 0D) from values (1), (2) t(id) order by id", [1, 2]),
    (f"select if(id < 0, null, {Z}) from values (-1), (2) t(id) order by id", [None, 2]),
    (f"select first({Z}) filter (where id > 2) from range(3, 4) t(id)", [3]),
    (f"select lag({Z}) over (order by id) from range(3) order by id", [None, 0, 1]),
    (f"select {Z} from range(100) order by hw_order(id, 42), id limit 0", []),
    (f"select {Z} from range(0, 10, 3) order by id", [0, 3, 6, 9]),
    (f"select {Z} from range(0, 50, 1, 50) where id > 47 order by id", [48, 49]),
    (f"select {Z} from range(3) union all select {Z} from range(1)", [0, 1, 2, 0]),
    (f"select v from (select {Z} v, id from range(4) intersect select {Z} v, id from range(2, 6)) order by id", [2, 3]),
    ("select hw_normal(id, 42, concat('', 'z')) from range(2) order by id", [0, 1]),
    ("select hw_normal(id, 42, 'z', loc, 1D) from (select 5 as id, 0D as loc)", [5]),
    ("select hw_normal(cast(id as decimal(10, 0)), 42, 'z') from values (6), (null) t(id)", [6, None]),
    (f"select {Z} from (select cast('9' as int) as id)", [9]),
    (f"select {Z} from (select int(get_json_object('{{\"id\": 12}}', '$.id')) as id)", [12]),
    (f"select {Z} from (select map_keys(map(5, 'a'))[0] as id)", [5]),
    (f"select {Z} from range(20000) where id % 6000 = 5999 order by id", [5999, 11999, 17999]),
    (f"select {Z} from range(3) cross join range(2) x(y) order by id, y", [0, 0, 1, 1, 2, 2]),
    (f"select aggregate(collect_list({Z}), 0D, (a, x) -> a + x) from range(7, 8) t(id)", [7]),
    (f"select {Z} from (select id from range(4) group by id with rollup) order by id nulls last", [0, 1, 2, 3, None]),
    (f"select {Z} from (select stack(2, 3, 4) as id) order by id", [3, 4]),
    ("select hw_normal(null, 42, 'z') from range(2)", [None, None]),
    (f"select {Z} from (select null as id)", [None]),
    ("select hw_normal(id, 42, 'z', loc, 1D) from (select null as id, 0D as loc)", [None]),
    ("select hw_normal(id, 42, 'z', 0D, scale) from (select 5 as id, null as scale)", [None]),
    ("select double(hw_sample(id, 42, 0.5)) from (select null as id)", [None]),
    ("select double(hw_split(id, 42, 3)) from (select null as id)", [None]),
    ("select double(hw_order(id, 42)) from (select null as id)", [None]),
    ("select double(hw_permute(id, 9, 42)) from (select null as id)", [None]),
    ("select hw_weighted_order(id, 42, 1.5) from (select null as id)", [None]),
    (f"select {Z} from (select row_number() over (order by id desc) - 1 as id from range(3)) order by id", [0, 1, 2]),
]  # fmt: skip

SPARKS_ERRORS: list[tuple[str, str]] = [
    ("hw_normal(monotonically_increasing_id(), monotonically_increasing_id(), 'z') from range(3)", "seed in hw_normal"),
    ("hw_normal(-7, 42, 'z') from range(1)", "id -7 .* is negative"),
    ("hw_normal(id, 42, 'z') from values (1), (-7) t(id)", "id -7 .* is negative"),
    ("hw_normal(cast(-7 as decimal(38, 0)), 42, 'z') from range(1)", "id -7 .* is negative"),
    ("hw_permute(id, 3, 42) from range(3, 4)", "id 3 .* the last id is 2"),
    ("hw_split(id, 42, array(0.5, null)) from range(1)", "parts .*no null in"),
    ("hw_permute(id, 18446744073709551615, 42) from range(2)", "n must be from 0 to 2.63"),
    ("hw_permute(id, 9223372036854775809, 42) from range(1)", "n must be from 0 to 2.63"),
    ("hw_sample(id, 42) from range(1)", "takes 3 to 4 arguments, not 2"),
    ("hw_normal(id) from range(1)", "takes 3 to 5 arguments, not 1"),
    ("hw_key(map(1, 2)) from range(1)", "hw_key"),
    ("hw_weighted_order(id, 42, -1.5) from range(1)", "weights must be"),
    ("hw_weighted_order(id, 42, double(null)) from range(1)", "weights must be"),
    ("hw_nothing(id) from range(1)", "hw_nothing"),
    ("hw_normal(id, 42, 'z', scale => 2) from range(1)", "scale"),
]  # fmt: skip


@pytest.fixture(scope="module", params=ENGINES)
def spark(request: pytest.FixtureRequest) -> Any:
    made = session(request.param)
    made.sql(f"create or replace temporary view noisy as select id, {Z} as noise from range(3)")
    made.engine = request.param
    return made


def rows(spark: Any, sql: str) -> list[Any]:
    return [row[0] for row in spark.sql(sql).collect()]


@pytest.mark.parametrize(("sql", "ids"), [*translated(IDS), *SPARKS])
def test_ids(spark: Any, sql: str, ids: list[int | None]) -> None:
    if "recursive" in sql and spark.version.startswith("4.0."):
        return  # Spark 4.1 is the first to have such queries.
    if spark.engine == "arrow functions" and any(words in sql for words in EVERY_ROW):
        with pytest.raises(Exception, match="is negative|LAMBDA_FUNCTION_WITH_PYTHON_UDF"):
            rows(spark, sql)
        return
    if spark.engine == "jvm" and any(words in sql for words in NOT_CONSTANT):
        with pytest.raises(Exception, match="must be one value for all rows"):
            rows(spark, sql)
        return
    assert rows(spark, sql) == numbers(ids)


@pytest.mark.parametrize(("arguments", "seed", "name"), translated(SEEDS))
def test_seeds_and_names(spark: Any, arguments: str, seed: Any, name: str) -> None:
    made = rows(spark, f"select hw_normal(id, {arguments}) from range(3) order by id")
    assert made == numbers([0, 1, 2], headwater.Key(seed), name)


@pytest.mark.parametrize(("sql", "words"), [*translated(ERRORS), *SPARKS_ERRORS])
def test_errors(spark: Any, sql: str, words: str) -> None:
    if sql.startswith("hw_norml"):
        words = "hw_norml"  # Spark looks for no name that is near.
    # Which rows are in a batch, and which row fails first, depends on the partitions.
    words = words.replace("id -2 in", "id -[12] in").replace(r"not -2\.5", r"not -[012]\.5")
    words = words.replace(" in row 0 ", r" in row \d ").replace(" in row 2 ", r" in row \d ")
    words = words.replace(" row 0 of the ", r" row \d of the ")
    words = words.replace(" row 1 of the batch has -1", r" row \d of the batch has -[12]")
    if spark.engine == "jvm":
        # The row of a batch is not known there, and the names of types are Spark's.
        words = words.replace(r" in row \d ", " ").replace(r"but row \d of the batch has 1e", "not 1.0E")
        words = words.partition(", .* row")[0]
        for theirs, ours in JVMS:
            words = words.replace(theirs, ours)
    with pytest.raises(Exception, match=words):
        rows(spark, f"select {sql}")
    # The session is still good.
    assert rows(spark, "select hw_sample(1, 42, 1)") == [True]


# Names of types, in Python's engine and in the JVM.
JVMS = (
    ("float64", "double"),
    ("decimals with digits", "decimal.2,1."),
    ("lists", "array<int>"),
    ("structs", "struct<"),
)


@pytest.mark.parametrize(("sql", "column"), translated(KEYS))
def test_keys(spark: Any, sql: str, column: Any) -> None:
    from headwater.pyarrow import key_of

    two = [column, pa.array([7])]
    expected = (key_of(column).to_pylist()[0], key_of(*two).to_pylist()[0])
    assert tuple(spark.sql(f"select hw_key({sql}), hw_key({sql}, 7)").collect()[0]) == expected


def test_every_function_has_its_numbers(spark: Any) -> None:
    from headwater import _kinds

    samples: dict[str, list[Any]] = {"integers": [-3, 9], "permutation": [4000]}
    tried = 0
    for name, kind in _kinds.KINDS.items():
        if not kind["is_plain"] or kind["dtypes"][0] not in ("float64", "int64", "uint64"):
            continue
        needed = [parameter for parameter, default in kind["parameters"] if default is None]
        values = samples.get(name) or [VALUES.get(parameter, 0.5) for parameter in needed]
        written = "".join(f", {value!r}" for value in values)
        call = f"hw_{name}(id, 42, 'z'{written})"
        # In order, which the JVM computes in blocks, and in no order, one by one.
        ordered = rows(spark, f"select {call} from range(0, 3000, 1, 2) order by id")
        mixed = f"select {call} from (select id * 7919 % 3001 as id from range(0, 3001, 1, 1))"
        made = dict(zip((i * 7919 % 3001 for i in range(3001)), rows(spark, mixed), strict=True))
        plan = _kinds.plan(kind, KEY, tuple(values), {}, None, "z")
        right = pa.array(plan.run(pa.array(range(3000)), "")).to_pylist()
        assert ordered == right, name
        assert [made[i] for i in range(3000)] == right, name
        tried += 1
    assert tried > 30


def test_decisions(spark: Any) -> None:
    from headwater import arrow

    ids = np.arange(5000)
    sql = (
        "select hw_sample(id, 42, 0.3), hw_sample(id, 42, 0.3, 'x'), hw_split(id, 42, 7),"
        " hw_split(id, 42, array(0.8, 0.1, 0.1)), hw_split(id, 42, array(0.5D, 0.5D), 'x'),"
        " hw_split(id, 42, 256), hw_sample(id, 42, 0), hw_sample(id, 42, 1),"
        " hw_order(id, 42), hw_order(id, 42, 'x'), hw_permute(id, 5000, 42),"
        " hw_permute(id, 1000000000000, 42, 'x'), hw_weighted_order(id, 42, 1 + id % 3),"
        " hw_weighted_order(id, 42, id % 2 = 0) from range(5000) order by id"
    )
    made = [list(column) for column in zip(*spark.sql(sql).collect(), strict=True)]
    words = [KEY.child(b"order").stream(0), KEY.child(b"order").child("x").stream(0)]
    shares = ([0.8, 0.1, 0.1], [0.5, 0.5])
    right = [
        arrow.sample(ids, KEY, 0.3),
        arrow.sample(ids, KEY, 0.3, name="x"),
        arrow.split(ids, KEY, 7),
        arrow.split(ids, KEY, shares[0]),
        arrow.split(ids, KEY, shares[1], name="x"),
        arrow.split(ids, KEY, 256),
        arrow.sample(ids, KEY, 0),
        arrow.sample(ids, KEY, 1),
    ]
    assert made[:8] == [pa.array(column).to_pylist() for column in right]
    for column, stream in zip(made[8:10], words, strict=True):
        assert [word + 2**63 for word in column] == stream.integers(0, 2**64, 5000, "uint64").tolist()
    assert made[10] == list(KEY.child(b"permutation").stream(0).permutation(5000)[:])
    assert made[11] == list(KEY.child("x").stream(0).permutation(10**12)[:5000])
    exponential = KEY.child(b"weighted").stream(0).standard_exponential(5000).tolist()
    assert made[12] == [number / (1 + i % 3) for i, number in enumerate(exponential)]
    flags = [number if i % 2 == 0 else float("inf") for i, number in enumerate(exponential)]
    assert made[13] == flags
    alone = spark.sql("select hw_weighted_order(6L, 42, true), hw_weighted_order(7L, 42, false)")
    assert list(alone.collect()[0]) == flags[6:8]


def test_nulls_among_many_rows(spark: Any) -> None:
    ids = [None if i % 7 == 3 or 2040 < i < 2060 else i for i in range(5000)]
    calls = (
        f"{Z}, hw_sample(id, 42, 0.5), hw_split(id, 42, 10), hw_order(id, 42),"
        " hw_permute(id, 5000, 42), hw_weighted_order(id, 42, 2), hw_words(id, 42, 'w')"
    )
    sql = (
        f"select {calls} from (select id as place, if(id % 7 = 3 or id > 2040 and id < 2060, null,"
        " id) as id from range(5000)) order by place"
    )
    made = spark.sql(sql).collect()
    assert [row[0] for row in made] == numbers(ids)
    assert all((list(row).count(None) == 7) == (i is None) for row, i in zip(made, ids, strict=True))


def test_keys_of_columns(spark: Any) -> None:
    from headwater.pyarrow import key_of

    texts = ["", "a", "exactly 12 b", "Größe ☃", None]
    whens = [datetime.datetime(2026, 11, 25, 9, 30, i % 60, i) for i in range(1000)]
    table = pa.table({
        "text": [texts[i % 5] for i in range(1000)],
        "flag": [None if i % 5 == 4 else i % 3 == 0 for i in range(1000)],
        "day": [None if i % 5 == 4 else when.date() for i, when in enumerate(whens)],
        "at": pa.array([None if i % 5 == 4 else t for i, t in enumerate(whens)], pa.timestamp("us")),
    })  # fmt: skip
    frame = spark.createDataFrame(
        list(zip(*table.to_pydict().values(), range(1000), strict=True)),
        "text string, flag boolean, day date, at timestamp_ntz, row int",
    )
    frame.createOrReplaceTempView("keys")
    sql = "select hw_key(text, flag, day, at), hw_key(day), hw_key(at, flag) from keys order by row"
    made = [tuple(row) for row in spark.sql(sql).collect()]
    right = [
        key_of(table["text"], table["flag"], table["day"], table["at"]),
        key_of(table["day"]),
        key_of(table["at"], table["flag"]),
    ]
    assert made == list(zip(*(keys.to_pylist() for keys in right), strict=True))


def test_parameters_of_statements(spark: Any) -> None:
    sql = "select hw_normal(id, :seed, :name, :loc, :scale) from range(3) order by id"
    for seed, name in ((42, "z"), ("text", "a name of more than twelve bytes"), (-7, "")):
        arguments = {"seed": seed, "name": name, "loc": 0.0, "scale": 1}
        made = [row[0] for row in spark.sql(sql, arguments).collect()]
        assert made == numbers([0, 1, 2], headwater.Key(seed), name)


def test_ids_of_no_type_are_null_in_generated_code(spark: Any) -> None:
    frame = spark.createDataFrame([(None, 1.0), (None, 2.0)], "x void, y double").cache()
    frame.createOrReplaceTempView("voids")
    calls = (
        "hw_normal(x, 42, 'z')", "hw_normal(x, 42, 'z', y, 1)", "hw_weighted_order(x, 42, y)",
        "hw_sample(x, 42, 0.5)", "hw_split(x, 42, 3)", "hw_order(x, 42)", "hw_words(x, 42, 'a')",
    )  # fmt: skip
    # Spark would compute by itself what it cannot compile, and not say so.
    spark.conf.set("spark.sql.codegen.factoryMode", "CODEGEN_ONLY")
    spark.conf.set("spark.sql.codegen.fallback", "false")
    try:
        made = [tuple(row) for row in spark.sql(f"select {', '.join(calls)} from voids").collect()]
    finally:
        spark.conf.unset("spark.sql.codegen.factoryMode")
        spark.conf.unset("spark.sql.codegen.fallback")
        frame.unpersist()
    assert made == [(None,) * len(calls)] * 2
