"""The hash of `test_one_array.py` in Spark: its Arrow functions, and those of its JVM.

`cargo xtask test --only "columns by row id in more engines"` installs it and runs this file.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from _spark_engines import JAR, SKIP
from test_one_array import PARTS, expected

__all__ = ["expected"]
REASON = "{} is not installed: its columns were not compared"

SPARK = """
import sys, numpy as np, headwater.spark as front, test_one_array as one
from pyspark.sql import SparkSession, functions as sf
spark = (SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    .config("spark.driver.bindAddress", "127.0.0.1").config("spark.driver.host", "127.0.0.1")
    .config("spark.sql.execution.arrow.maxRecordsPerBatch", "1000").getOrCreate())
spark.sparkContext.setLogLevel("OFF")
for parts in one.PARTS:
    frame = spark.range(0, one.N, 1, parts).repartition(parts, sf.xxhash64("id"))
    made = frame.select("id", *one.columns(front, "id")).toArrow()
    print(one.by_id(made["id"], *(made[name].to_numpy() for name in ("z", "u", "sample", "split"))))
words = spark.range(0, 100).select(front.order("id", one.KEY)).toArrow()["order"].to_pylist()
right = one.KEY.child(b"order").stream(0).integers(0, 2**64, 100, dtype="uint64").tolist()
assert [word + 2**63 for word in words] == right
import headwater.pyarrow as arrow, pyarrow as pa
keys = spark.sql("select 'ß' as user, 5L as day").select(front.key_of("user", "day")).toArrow()
assert keys["key"].to_pylist() == arrow.key_of(pa.array(["ß"]), pa.array([5])).to_pylist()
places = spark.range(0, 100).select(front.permutation("id", one.KEY, 100)).toArrow()["permutation"]
assert places.to_pylist() == list(one.KEY.child(b"permutation").stream(0).permutation(100)[:])
halves = spark.range(0, 100).select(front.words("id", one.KEY, dtype="uint32")).toArrow()["words"]
assert halves.to_pylist() == arrow.words(pa.array(range(100)), one.KEY, dtype="uint32").to_pylist()
for call, words in [
    (lambda: front.permutation("id", one.KEY, 100, dtype="uint64"), "such as 'int64'"),
    (lambda: front.words("id", one.KEY), "such as 'int64' or 'uint32'"),
    (lambda: front.standard_normal("id", one.KEY, dtype="float16"), "pass dtype='float32'"),
    (lambda: front.normal(5, one.KEY), "ids must be a column's name or a Column, not int"),
    (lambda: front.key_of(5), "takes names of columns and Columns, not int"),
    (lambda: front.key_of(["user"]), "takes names of columns and Columns, not list"),
]:
    try:
        call()
    except TypeError as error:
        assert words in str(error)
    else:
        raise AssertionError(words)
spark.stop()
"""


def of_spark(code: str) -> str:
    """Returns what code prints in a process of its own, whose Spark goes when it ends."""
    pytest.importorskip("pyspark", reason=REASON.format("Spark"))
    # Its workers would otherwise be the first python3 of the path.
    env = {**os.environ, "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    command = [sys.executable, "-c", code]
    ran = subprocess.run(command, capture_output=True, text=True, cwd=Path(__file__).parent, env=env)
    assert ran.returncode == 0, ran.stderr[-3000:]
    return ran.stdout


def test_spark(expected: str) -> None:
    assert of_spark(SPARK).split() == [expected] * len(PARTS)


JVM = """
import os, signal, sys, threading, time
import headwater.spark as front, test_one_array as one
from pyspark.sql import SparkSession, functions as sf
jar, master, extensions, adaptive = sys.argv[1:]
builder = (SparkSession.builder.master(master).config("spark.ui.enabled", "false")
    .config("spark.driver.bindAddress", "127.0.0.1").config("spark.driver.host", "127.0.0.1")
    .config("spark.jars", jar).config("spark.sql.adaptive.enabled", adaptive)
    .config("spark.sql.extensions", extensions))
spark = builder.getOrCreate()
spark.sparkContext.setLogLevel("OFF")
assert front.engine(spark) == ("jvm" if extensions else "not registered")
front.register(spark)
assert front.engine(spark) == "jvm"
front.register(spark)
calls = {"z": "hw_normal(id, 42, 'z')", "u": "hw_uniform(id, 42, 'u')",
    "sample": "hw_sample(id, 42, 0.01)", "split": "hw_split(id, 42, 10)"}
def hashed(frame):
    made = frame.toArrow()
    return one.by_id(made["id"], *(made[name].to_numpy(zero_copy_only=False) for name in calls))
def columns(frame):
    return frame.selectExpr("*", *(f"{call} as {name}" for name, call in calls.items()))
if master.startswith("local["):
    for parts in (1, 2, 7, 64):
        ids = spark.range(0, one.N, 1, parts)
        print(hashed(columns(ids)))
        # By hash, so that no two ids follow each other in a partition; and after an exchange.
        print(hashed(columns(ids.repartition(parts, sf.xxhash64("id")))))
        print(hashed(columns(ids).repartition(3).sort("z")))
    few = spark.range(10).select(sf.call_function("hw_normal", "id", sf.lit(42), sf.lit("z")))
    right = one.KEY.child("z").stream(0).standard_normal(10).tolist()
    assert [row[0] for row in few.collect()] == right
    keys = spark.sql("select hw_key('ß', 5) = shiftrightunsigned(xxhash64('ß', 5L), 1)")
    assert keys.collect()[0][0]
else:
    # Each row of 200 sleeps, so that the kill comes in the middle.
    sleep = "if(id % 250 = 0, java_method('java.lang.Thread', 'sleep', 50L), '') as slept"
    frame = columns(spark.range(0, one.N, 1, 200)).selectExpr("*", sleep)
    made = []
    worker = threading.Thread(target=lambda: made.append(hashed(frame)))
    worker.start()
    tracker = spark.sparkContext.statusTracker()
    def done():
        stages = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
        return sum(stage.numCompletedTasks for stage in stages if stage)
    deadline = time.time() + 120
    while done() < 20 and time.time() < deadline:
        time.sleep(0.01)
    jvm = spark._jvm.java.lang.ProcessHandle.current().pid()
    children = set()
    for task in os.listdir(f"/proc/{jvm}/task"):
        children |= set(open(f"/proc/{jvm}/task/{task}/children").read().split())
    executors = [int(pid) for pid in children
        if b"CoarseGrainedExecutorBackend" in open(f"/proc/{pid}/cmdline", "rb").read()]
    assert len(executors) == 2, executors
    assert 20 <= done() < 200, done()
    os.kill(executors[0], signal.SIGKILL)
    worker.join()
    print(*made)
spark.stop()
"""


def of_the_jvm(*arguments: str) -> list[str]:
    """Runs the script above with the jar, and returns the hashes that it prints."""
    pytest.importorskip("pyspark", reason=REASON.format("Spark"))
    if not Path(JAR).is_file():
        pytest.skip(SKIP)
    code = [sys.executable, "-c", JVM, JAR, *arguments]
    env = {**os.environ, "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    ran = subprocess.run(code, capture_output=True, text=True, cwd=Path(__file__).parent, env=env)
    assert ran.returncode == 0, ran.stderr[-3000:]
    return ran.stdout.split()


@pytest.mark.parametrize("adaptive", ["true", "false"])
def test_functions_of_sparks_jvm(adaptive: str, expected: str) -> None:
    extensions = "headwater.spark.Extensions" if adaptive == "true" else ""
    assert of_the_jvm("local[2]", extensions, adaptive) == [expected] * 12


def test_functions_of_sparks_jvm_after_an_executor_was_killed(expected: str) -> None:
    assert of_the_jvm("local-cluster[2,1,1024]", "", "true") == [expected]


KEYS_OF_NULLS = """
import headwater.pyarrow as right, headwater.spark as front, pyarrow as pa
from pyspark.sql import SparkSession, functions as sf
spark = (SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
    .config("spark.driver.bindAddress", "127.0.0.1").config("spark.driver.host", "127.0.0.1")
    .getOrCreate())
spark.sparkContext.setLogLevel("OFF")
rows = [("a", 1, None), (None, None, None), (None, 2, True), ("b", None, False)]
frame = spark.createDataFrame(rows, "text string, number bigint, flag boolean")
columns = [pa.array(list(column)) for column in zip(*rows)]
for given, taken in (
    (["text", sf.col("number"), frame["flag"]], columns),
    (["text"], columns[:1]),
    ([sf.col("number")], columns[1:2]),
):
    made = [row[0] for row in frame.select(front.key_of(*given)).collect()]
    assert made == right.key_of(*taken).to_pylist() and None in made, made
# Types whose hash in Spark is another one, or the only one.
fits = ["5L", "cast(5 as decimal(18, 0))", "'5'", "true", "date '1960-01-02'",
    "timestamp_ntz '1960-01-02 03:04:05'", "cast('5' as binary)"]
for value in fits:
    frame = spark.sql(f"select {value} as value")
    made = frame.select(front.key_of("value")).toArrow()["key"].to_pylist()
    assert made == right.key_of(frame.toArrow()["value"]).to_pylist(), value
for value in ["5", "5S", "5Y", "cast(5 as decimal(19, 0))", "cast(5 as decimal(20, 0))", "1.5D",
        "float(1.5)", "'Ab' collate UTF8_LCASE", "cast(1.5 as decimal(3, 1))", "array(1)", "struct(1)", "interval 1 month"]:
    frame = spark.sql(f"select {value} as value, 5L as good")
    for given in (["value"], ["good", "value"], [sf.col("value"), sf.col("good")]):
        try:
            frame.select(front.key_of(*given)).collect()
        except Exception as error:
            assert "key_of() takes no " in str(error) and "cast an integer to bigint" in str(error)
        else:
            raise AssertionError(value)
try:
    front.key_of()
except TypeError as error:
    print(error)
"""


def test_keys_of_nulls_are_null_in_spark() -> None:
    assert of_spark(KEYS_OF_NULLS).strip() == "key_of() needs a column"


WITHOUT_JAR = """
import warnings, headwater.spark as front, test_one_array as one
from pyspark.sql import SparkSession
spark = (SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
    .config("spark.driver.bindAddress", "127.0.0.1").config("spark.driver.host", "127.0.0.1")
    .getOrCreate())
spark.sparkContext.setLogLevel("OFF")
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    front.register(spark)
print([str(one.message) for one in caught if one.category is RuntimeWarning])
print(front.engine(spark))
made = spark.sql("select hw_normal(id, 42, 'z') from range(10)").collect()
assert [row[0] for row in made] == one.KEY.child("z").stream(0).standard_normal(10).tolist()
"""


def test_without_the_jar_spark_is_said_to_use_python() -> None:
    warning, engine = of_spark(WITHOUT_JAR).splitlines()
    assert "its jar is not on Spark's class path" in warning
    assert engine == "arrow functions"
