"""Times Spark's JVM functions beside Spark's own generators: medians of rounds in which they take turns.

    python ratios.py headwater-spark-0.2.0.jar > ratios.txt

Each figure is the median over the rounds of (time of Spark's own) / (time of headwater's), on the
clock and in CPU time of the JVM. Both read `range` in `local[2]` and write to Spark's sink `noop`,
which takes all columns and keeps nothing.
"""

import os
import platform
import statistics
import sys
import time

import pyspark
from pyspark.sql import SparkSession

JAR, ROWS, ROUNDS = sys.argv[1], int((sys.argv[2:] or [10_000_000])[0]), int((sys.argv[3:] or [15])[0])
CALLS = {
    "hw_normal, ids in order": ("hw_normal(id, 42, 'z')", "randn(42)", "id"),
    "hw_uniform": ("hw_uniform(id, 42, 'u')", "rand(42)", "id"),
    "hw_poisson of 3.5, beside randn": ("hw_poisson(id, 42, 'p', 3.5)", "randn(42)", "id"),
    "hw_normal, ids in no order": ("hw_normal(id, 42, 'z')", "randn(42)", "pmod(id * 7919, 20000003)"),
    "hw_uniform, ids in no order": ("hw_uniform(id, 42, 'u')", "rand(42)", "pmod(id * 7919, 20000003)"),
}
FILTERS = {"where hw_sample(id, 42, 0.01)": ("hw_sample(id, 42, 0.01)", "rand(42) < 0.01")}


def cpu(pid: int) -> float:
    with open(f"/proc/{pid}/stat") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main() -> None:
    spark = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.memory", "2g")
        .config("spark.jars", JAR)
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("OFF")
    spark._jvm.headwater.spark.Functions.register(spark._jsparkSession)
    jvm = spark._jvm.java.lang.ProcessHandle.current().pid()
    java = spark._jvm.java.lang.System.getProperty("java.vm.version")
    with open("/proc/cpuinfo") as file:
        names = [line.split(": ")[1].strip() for line in file if line.startswith("model name")]
    print(f"Spark {pyspark.__version__}, Java {java}, Python {platform.python_version()}")
    print(f"{names[0]}, {len(names)} CPUs, {ROWS:,} rows in 2 partitions, medians of {ROUNDS} rounds")
    print(f"load {os.getloadavg()[0]:.2f} at the start", flush=True)

    def timed(sql: str, ids: str, is_filter: bool) -> tuple[float, float]:
        frame = spark.range(0, ROWS, 1, 2).selectExpr(f"{ids} as id")
        frame = frame.where(sql) if is_filter else frame.selectExpr(sql)
        before, start = cpu(jvm), time.perf_counter()
        frame.write.format("noop").mode("overwrite").save()
        return time.perf_counter() - start, cpu(jvm) - before

    calls = {name: (*call, False) for name, call in CALLS.items()}
    calls |= {name: (*call, "id", True) for name, call in FILTERS.items()}
    print("| headwater | Spark's own | M rows/s | own's | ratio | ratio of CPU time | least, most |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for name, (ours, own, ids, is_filter) in calls.items():
        timed(ours, ids, is_filter), timed(own, ids, is_filter)
        rounds = []
        for i in range(ROUNDS):
            pair = [timed(sql, ids, is_filter) for sql in ((ours, own) if i % 2 else (own, ours))]
            rounds.append(pair if i % 2 else pair[::-1])
        clock = [b[0] / a[0] for a, b in rounds]
        cpus = [b[1] / a[1] for a, b in rounds if a[1] > 0]
        rate = [ROWS / 1e6 / statistics.median(pair[i][0] for pair in rounds) for i in (0, 1)]
        print(
            f"| {name} | {own} | {rate[0]:.0f} | {rate[1]:.0f} | {statistics.median(clock):.2f}"
            f" | {statistics.median(cpus):.2f} | {min(clock):.2f}, {max(clock):.2f} |",
            flush=True,
        )
    print(f"load {os.getloadavg()[0]:.2f} at the end")
    spark.stop()


main()
