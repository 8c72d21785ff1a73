"""Counts how many rows the engines' own seeded facilities agree on, when only the way changes.

Run with the engines of `cargo xtask test --only "columns by row id in more engines"`, and polars:
cd records/one-array/2026-11-25; python disagree.py > disagreement.txt
"""

import platform
from importlib.metadata import version

import dask.array as da
import dask.dataframe as dd
import datafusion
import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

N = 1_000_000
IDS = np.arange(N)


def shared(one, other):
    """The rows that both have, in per cent of those that either has."""
    one, other = set(one), set(other)
    return 100 * len(one & other) / max(1, len(one | other))


def equal(one, other):
    return 100 * float(np.mean(np.asarray(one) == np.asarray(other)))


def row(engine, facility, compared, percent):
    print(f"| {engine} | {facility} | {compared} | {percent:.1f} % |", flush=True)


def duck(threads, sql, order="id"):
    con = duckdb.connect(config={"threads": threads})
    con.execute(f"create table t as select * from range({N}) r(id) order by {order}")
    for statement in sql[:-1]:
        con.execute(statement)
    return con.execute(sql[-1]).fetchnumpy()


print(f"Python {platform.python_version()}, {N:,} rows,", end=" ")
names = ("duckdb", "polars", "datafusion", "dask", "pandas", "pyarrow", "numpy")
print(", ".join(f"{name} {version(name)}" for name in names), end="\n\n")
print("| engine | its own facility | compared | rows that agree |\n| --- | --- | --- | --- |")

seeded = ["select setseed(0.42)", "select id, random() u from t order by id"]
numbers = {threads: duck(threads, seeded)["u"] for threads in (1, 2, 4)}
row("DuckDB", "setseed, random()", "1 and 2 threads", equal(numbers[1], numbers[2]))
row("DuckDB", "setseed, random()", "2 threads, twice", equal(numbers[2], duck(2, seeded)["u"]))
where = ["select setseed(0.42)", "select id from t where random() < 0.01"]
row("DuckDB", "where random() < 0.01", "1 and 2 threads", shared(duck(1, where)["id"], duck(2, where)["id"]))
for method in ("system", "bernoulli", "reservoir"):
    size = "10000 rows" if method == "reservoir" else "1%"
    sample = [f"select id from t using sample {size} ({method}, 42)"]
    if method == "system":
        row("DuckDB", f"using sample ({method}, 42)", "1 and 4 threads", shared(duck(1, sample)["id"], duck(4, sample)["id"]))
        continue
    row("DuckDB", f"using sample ({method}, 42)", "1 and 4 threads", shared(duck(1, sample)["id"], duck(4, sample)["id"]))
    row("DuckDB", f"using sample ({method}, 42)", "ascending and descending rows", shared(duck(1, sample)["id"], duck(1, sample, "id desc")["id"]))

frame = pl.DataFrame({"id": IDS})
take = lambda rows: rows.sample(fraction=0.01, seed=42)["id"].to_list()
row("Polars", "sample(fraction, seed)", "twice", shared(take(frame), take(frame)))
row("Polars", "sample(fraction, seed)", "rows reversed", shared(take(frame), take(frame.reverse())))
row("Polars", "sample(fraction, seed)", "one row appended", shared(take(frame), take(pl.concat([frame, pl.DataFrame({"id": [N]})]))))

table = pd.DataFrame({"id": IDS})
take = lambda rows: rows.sample(frac=0.01, random_state=42)["id"]
row("pandas", "sample(frac, random_state)", "rows reversed", shared(take(table), take(table[::-1])))
take = lambda parts: dd.from_pandas(table, npartitions=parts).sample(frac=0.01, random_state=42).compute()["id"]
row("Dask", "DataFrame.sample(random_state)", "2 and 7 partitions", shared(take(2), take(7)))
draw = lambda chunks: da.random.default_rng(42).random(N, chunks=chunks).compute()
row("Dask", "random.default_rng(42)", "1 and 10 chunks", equal(draw(N), draw(N // 10)))

halves = [pc.random(N // 2, initializer=1).to_numpy()] * 2
row("pyarrow", "compute.random(initializer=1)", "a whole and two halves", equal(pc.random(N, initializer=1), np.concatenate(halves)))

context = datafusion.SessionContext()
context.from_arrow(pa.table({"id": IDS}), name="t")
draw = lambda: context.sql("select id, random() u from t order by id").to_arrow_table()["u"]
row("DataFusion", "random(), which takes no seed", "twice", equal(draw(), draw()))
sample = "select count(*) n from t tablesample bernoulli(1) repeatable(42)"
try:
    kept = context.sql(sample).to_arrow_table()["n"][0].as_py()
    print(f"\nDataFusion, tablesample bernoulli(1) repeatable(42): {kept:,} of {N:,} rows.")
except Exception as error:
    print(f"\nDataFusion, tablesample bernoulli(1) repeatable(42): {str(error).splitlines()[0]}")

import headwater
import headwater.duckdb
import headwater.pandas
import headwater.polars

key = headwater.Key(42)
print("\n| engine | headwater's | compared | rows that agree |\n| --- | --- | --- | --- |")
reference = table["id"][headwater.pandas.sample(table["id"], key, 0.01)]
reverse = table["id"][::-1]
row("pandas", "sample(id, key, 0.01)", "rows reversed", shared(reference, reverse[headwater.pandas.sample(reverse, key, 0.01)]))
for engine in ("in-memory", "streaming"):
    rows = frame.lazy().reverse().filter(headwater.polars.sample("id", key, 0.01)).collect(engine=engine)
    row("Polars", "sample(id, key, 0.01)", f"pandas; {engine}, rows reversed", shared(reference, rows["id"].to_list()))
for threads in (1, 4):
    con = duckdb.connect(config={"threads": threads})
    headwater.duckdb.load(con)
    rows = con.execute(f"select id from (select * from range({N}) t(id) order by id desc) where hw_sample(id, 42, 0.01)").fetchnumpy()
    row("DuckDB", "hw_sample(id, 42, 0.01)", f"pandas; {threads} threads, rows reversed", shared(reference, rows["id"]))
