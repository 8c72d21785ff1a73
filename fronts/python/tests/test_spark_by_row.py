"""Parameters that are columns in Spark's SQL, over both of its engines: `by_row_cases.py`.

The statements are those of DuckDB in Spark's words, with the same answers. A row's error names the id
in the JVM, and the row of the batch in Python.
"""

from __future__ import annotations

import re
from typing import Any

import pytest
from _spark_engines import ENGINES, session
from by_row_cases import CASES, ERRORS, MU, SIGMA, SLOW, TABLE, N, alone
from test_duckdb_by_row import same
from test_spark_outside import in_spark, rows

pytest.importorskip("pyspark", reason="Spark is not installed: its SQL was not tried")


@pytest.fixture(scope="module", params=ENGINES)
def spark(request: pytest.FixtureRequest) -> Any:
    made = session(request.param)
    # One partition, so that the rows of a batch are those of DuckDB's.
    ids = f"(select id as i from range(0, {N}, 1, 1))"
    made.sql(f"create or replace temporary view t as {TABLE.format(rows=ids)}")
    made.engine = request.param
    return made


def translated(text: str) -> str:
    made = in_spark(text)
    assert made is not None
    return made.replace("[n]", "array(n)").replace("[4]", "array(4)")


@pytest.mark.parametrize(("arguments", "kind", "parameters"), CASES)
def test_each_row_has_the_number_of_its_own_parameters(
    spark: Any, arguments: str, kind: str, parameters: Any
) -> None:
    call = translated(f"hw_{kind}(id, 42, 'z', {arguments})")
    right = alone(kind, parameters)
    assert same(rows(spark, f"select {call} from t order by i"), right)
    # Ids in no order in 7 partitions, and few rows of them.
    few = f"select z from (select i, {call} as z from (select /*+ repartition(7, i) */ * from t) where i % 7 = 0)"
    assert same(rows(spark, f"{few} order by i"), right[::7])


@pytest.mark.parametrize(("call", "words"), ERRORS)
def test_errors_name_the_value(spark: Any, call: str, words: str) -> None:
    if spark.engine == "jvm":
        words = re.sub(r" in row (\\d\+|\d+) of the batch", ".*", words)
        words = words.replace("not inf", "not Infinity").replace("not nan", "not NaN")
    with pytest.raises(Exception, match=words):
        rows(spark, f"select {translated(call)} from t")
    # The session is still good.
    assert rows(spark, "select hw_sample(1, 42, 1)") == [True]


def test_plans_of_every_form(spark: Any) -> None:
    right = alone("normal", (MU, SIGMA))
    call = "hw_normal(id, 42, 'z', mu, sigma)"
    for sql in (
        f"select z from (select i, {call} as z from (select * from t cluster by sigma)) order by i",
        "select hw_normal(a.id, 42, 'z', b.mu, a.sigma) from t a join t b on a.i = b.i order by a.i",
        f"select z from (select i, {call} as z from t order by sigma, mu desc) order by i",
        f"select {call} from (select * from t where i < 77 union all select * from t where i >= 77) order by i",
        "select hw_normal(id, 42, 'z', first(mu), first(sigma)) from t group by i, id order by i",
        "select hw_normal(id, 42, 'z', lag(mu, 0) over (order by i), sigma) from t order by i",
        "select hw_normal(id, 42, 'z', s.mu, s.sigma) from (select i, id, named_struct('mu', mu, 'sigma', sigma) s from t) order by i",
        "select z from (select i, hw_normal(id, 42, 'z', m, sigma) as z from t lateral view explode(array(mu)) e as m) order by i",
        f"select max({call}) from t group by i order by i",
        f"select coalesce({call}, 0D) from t order by i",
    ):
        assert same(rows(spark, sql), right), sql
    assert rows(spark, "select hw_normal(3, 42, 'z', double(null))") == [None]
    assert rows(spark, f"select {call} from t where i < 0") == []


def test_without_generated_code(spark: Any) -> None:
    if spark.engine != "jvm":
        return  # Python's functions have none.
    spark.conf.set("spark.sql.codegen.wholeStage", "false")
    spark.conf.set("spark.sql.codegen.factoryMode", "NO_CODEGEN")
    try:
        for arguments, kind, parameters in CASES[:45:4] + CASES[45::3]:
            call = translated(f"hw_{kind}(id, 42, 'z', {arguments})")
            made = rows(spark, f"select z from (select i, {call} as z from t) where i % 9 = 0 order by i")
            assert same(made, alone(kind, parameters, 9)), call
    finally:
        spark.conf.unset("spark.sql.codegen.wholeStage")
        spark.conf.unset("spark.sql.codegen.factoryMode")


def test_the_frames_functions_take_columns(spark: Any) -> None:
    from pyspark.sql import functions as sf

    frame = spark.table("t").orderBy("i")
    noise = sf.call_function("hw_gamma", "id", sf.lit(42), sf.lit("z"), sf.col("sigma") + 0.5, "slow")
    made = [row[0] for row in frame.select(noise).collect()]
    assert same(made, alone("gamma", (lambda row: row["sigma"] + 0.5, SLOW)))
