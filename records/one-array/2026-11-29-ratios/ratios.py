"""Times columns by row id beside the engines' own generators, as ratios of one run.

Rivals take turns, round by round, because the machine has other users. A ratio is the median over the
rounds of rival / headwater, of the times on the clock and of those that the process computed.

Run with the package installed, by the Python of `cargo xtask test --only "Python package"`:
cd records/one-array/2026-11-29-ratios; python ratios.py > zen4.txt; lscpu > lscpu.txt
"""

import os
import platform
import statistics
import subprocess
import sys
import time
from importlib.metadata import version

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

import headwater
import headwater.arrow
import headwater.duckdb
import headwater.polars as hp

N = 10_000_000
ROUNDS = 15
KEY = headwater.Key(42)


def connect(threads, **config):
    con = duckdb.connect(config={"threads": threads, **config})
    headwater.duckdb.load(con)
    return con


def sql(con, text):
    return lambda: con.execute(text).fetchall()


BOX = "sum(sqrt(-2 * ln(1 - random())) * cos(2 * pi() * random()))"


def below(k):
    """The pre-filter of an exact sample: words below the share of k + 6 sqrt(k) + 10 rows."""
    return f"{int((k + 6 * k**0.5 + 10) / N * 2**64)}::ubigint"


def exact(k):
    return (
        f"select sum(id) from (select id from t where hw_order(id, 42) < {below(k)}"
        f" order by hw_order(id, 42), id limit {k})"
    )


def of_duckdb(con, note):
    def pair(name, rival, ours, theirs, target):
        return f"DuckDB, {note}: {name}", rival, sql(con, ours), sql(con, theirs), target

    return [
        pair("hw_uniform", "random()", "select sum(hw_uniform(id, 42, 'u')) from t", "select sum(random()) from t", 1.5),
        pair("hw_normal", "Box-Muller", "select sum(hw_normal(id, 42, 'z')) from t", f"select {BOX} from t", 5),
        pair("where hw_uniform < 0.01", "where random() < 0.01", "select count(*) from t where hw_uniform(id, 42, 'u') < 0.01", "select count(*) from t where random() < 0.01", 1.4),
        pair("where hw_sample", "where random() < 0.01", "select count(*) from t where hw_sample(id, 42, 0.01)", "select count(*) from t where random() < 0.01", None),
        pair("where hw_sample", "bernoulli, repeatable", "select count(*) from t where hw_sample(id, 42, 0.01)", "select count(*) from t using sample 1% (bernoulli, 42)", 2.5),
        pair("exactly 100,000", "reservoir, repeatable", exact(100_000), "select sum(id) from (select id from t using sample reservoir(100000 rows) repeatable (42))", 2.5),
        pair("exactly 1,000", "reservoir, repeatable", exact(1_000), "select sum(id) from (select id from t using sample reservoir(1000 rows) repeatable (42))", None),
    ]  # fmt: skip


def once(call):
    wall, used = time.perf_counter(), time.process_time()
    call()
    return time.perf_counter() - wall, time.process_time() - used


def rivals(pairs, rounds=ROUNDS):
    times = [([], []) for _ in pairs]
    for _, _, ours, theirs, _ in pairs:
        ours(), theirs()
    for _ in range(rounds):
        for (_, _, ours, theirs, _), (mine, rival) in zip(pairs, times, strict=True):
            mine.append(once(ours))
            rival.append(once(theirs))
    for (name, rival, _, _, target), (mine, other) in zip(pairs, times, strict=True):
        wall, used = (
            statistics.median(b[i] / a[i] for a, b in zip(mine, other, strict=True)) for i in (0, 1)
        )
        rate, rate_of_other = (N / statistics.median(t[0] for t in x) / 1e6 for x in (mine, other))
        print(
            f"| {name} | {rival} | {rate:.0f} | {rate_of_other:.0f} | {wall:.2f} | {used:.2f} |"
            f" {target or ''} |",
            flush=True,
        )


# In a process of its own, which imports nothing else that takes memory.
MEMORY = """
import time
import duckdb, headwater.duckdb
peak = lambda: next(int(l.split()[1]) // 1024 for l in open("/proc/self/status") if "VmHWM" in l)
con = duckdb.connect(config={"threads": 2, "allow_unsigned_extensions": "true"})
headwater.duckdb.load(con)
con.execute("set enable_progress_bar = false")
before, start = peak(), time.perf_counter()
sql = "select count(*), sum(hw_normal(id, 42, 'z')) from range(1000000000) t(id)"
rows = con.execute(f"{sql} where hw_sample(id, 42, 0.01)").fetchall()
took = time.perf_counter() - start
print(f"{headwater.duckdb.engine(con)}: {rows}, {took:.1f} s, peak {peak()} MiB, before {before} MiB")
"""


def main():
    ids = pa.array(np.arange(N))
    frame = pl.DataFrame({"id": np.arange(N)})
    lazy = frame.lazy()
    generator = np.random.default_rng(42)
    native = connect(2, allow_unsigned_extensions="true")
    python = connect(2)
    assert headwater.duckdb.engine(native) == "extension"
    assert headwater.duckdb.engine(python) == "arrow functions"
    for con in (native, python):
        con.execute(f"create table t as select range id from range({N})")
    names = ("duckdb", "polars", "pyarrow", "numpy")
    versions = ", ".join(f"{name} {version(name)}" for name in names)
    load = os.getloadavg()[0]
    print(f"Python {platform.python_version()}, {versions}, {os.cpu_count()} CPUs, load {load:.1f},")
    print(f"{N:,} rows, medians of {ROUNDS} rounds (Arrow functions: 3), DuckDB and Polars with 2 threads\n")
    print("| headwater | rival | M rows/s | rival's | ratio | ratio of CPU time | target |")
    print("| --- | --- | --- | --- | --- | --- | --- |")

    def numpy_column():
        return frame.with_columns(z=pl.Series(generator.standard_normal(N)))

    def in_stream(expression):
        return lazy.select(expression.sum()).collect(engine="streaming")

    rivals(of_duckdb(native, "extension"))
    rivals(of_duckdb(python, "Arrow functions")[:2], 3)
    rivals(
        [
            ("kernel: uniform", "pyarrow.compute.random", lambda: headwater.arrow.uniform(ids, KEY), lambda: pc.random(N), 1.3),
            ("kernel: normal", "NumPy's standard_normal", lambda: headwater.arrow.normal(ids, KEY), lambda: generator.standard_normal(N), 3),
            ("Polars: normal", "a column of NumPy's", lambda: frame.with_columns(hp.normal("id", KEY, name="z")), numpy_column, 3),
            ("Polars, streaming: sum of normals", "a column of NumPy's", lambda: in_stream(hp.normal("id", KEY, name="z")), lambda: numpy_column()["z"].sum(), 6),
            ("Polars: filter by sample", "filter by hash(seed)", lambda: frame.filter(hp.sample("id", KEY, 0.01)), lambda: frame.filter(pl.col("id").hash(42) < 2**64 // 100), 0.7),
        ]
    )  # fmt: skip
    order = KEY.stream(0).permutation(10**9)
    out = np.empty(1_000_000, "u8")
    each = [once(lambda i=i: order.fill(out, start=i * 1_000_003))[1] for i in range(3 * ROUNDS)]
    print(f"\npermutation of 10^9: {statistics.median(each) * 1e9 / len(out):.1f} ns an index (target 9)")
    print("10^9 rows through DuckDB (target 100 MiB):", flush=True)
    subprocess.run([sys.executable, "-c", MEMORY], check=True)
    print(f"load at the end {os.getloadavg()[0]:.1f}")


main()
