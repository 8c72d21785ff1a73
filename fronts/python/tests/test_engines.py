"""The hash of `test_one_array.py` in the engines that take minutes to install.

`cargo xtask test --only "columns by row id in more engines"` installs them and runs this file. Ray
listens on every interface, so it runs in a network namespace of its own.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_one_array import KEY, N, ORDER, PARTS, by_id, columns, expected

__all__ = ["expected"]
REASON = "{} is not installed: its columns were not compared"
NAMES = ("z", "u", "sample", "split")


def table() -> Any:
    pa = pytest.importorskip("pyarrow", reason=REASON.format("pyarrow"))
    return pa.table({"id": ORDER})


@pytest.mark.parametrize("parts", PARTS)
def test_datafusion(parts: int, expected: str) -> None:
    datafusion = pytest.importorskip("datafusion", reason=REASON.format("DataFusion"))
    import headwater.datafusion as front

    whole = table()
    for threads in (1, 4):
        config = datafusion.SessionConfig().with_target_partitions(threads)
        ctx = datafusion.SessionContext(config.with_batch_size(1000))
        pieces = [
            whole.slice(part[0], len(part)).to_batches()
            for part in np.array_split(np.arange(N), parts)
        ]
        frame = ctx.create_dataframe(pieces)
        for column in columns(front, "id"):
            frame = frame.with_column(column.schema_name(), column)
        made = frame.to_arrow_table()
        assert by_id(made["id"], *(made[name].to_numpy() for name in NAMES)) == expected
    few = ctx.create_dataframe(pieces).filter(front.sample("id", KEY, 0.01))
    assert few.count() == int(np.sum(made["sample"].to_numpy()))
    with pytest.raises(Exception, match="id -1 in row 0"):
        ctx.sql("select -1 as id").select(front.normal("id", KEY)).collect()
    with pytest.raises(TypeError, match="ids must be a column's name or an Expr"):
        front.normal(5, KEY)


def test_ids_of_every_type_in_datafusion() -> None:
    datafusion = pytest.importorskip("datafusion", reason=REASON.format("DataFusion"))
    import headwater.datafusion as front
    import headwater.pyarrow as right
    import pyarrow as pa

    ctx = datafusion.SessionContext()
    types = [pa.int8(), pa.uint8(), pa.int16(), pa.uint16(), pa.int32(), pa.uint32(), pa.int64(),
             pa.uint64(), pa.decimal128(20, 0), pa.decimal128(38, 0)]
    small = pa.array([5, None, 0, 127])
    right_ones = right.order(small, KEY).to_pylist()
    for kind in types:
        column = small.cast(kind) if not pa.types.is_decimal(kind) else small.cast(pa.decimal128(19, 0)).cast(kind)
        made = ctx.from_arrow(pa.table({"id": column})).select(front.order("id", KEY))
        assert made.to_pydict()["order"] == right_ones, kind
    large = pa.array([2**64 - 2, 2**63, None], pa.uint64())
    made = ctx.from_arrow(pa.table({"id": large})).select(front.order("id", KEY))
    assert made.to_pydict()["order"] == right.order(large, KEY).to_pylist()
    for wrong in (pa.array([1.5]), pa.array(["1"]), pa.array([True]), pa.array([1]).cast(pa.decimal128(21, 2))):
        with pytest.raises(Exception, match="DataFusion error: Error during planning"):
            ctx.from_arrow(pa.table({"id": wrong})).select(front.order("id", KEY)).collect()


@pytest.mark.parametrize("parts", PARTS)
def test_daft(parts: int, expected: str, tmp_path: Path) -> None:
    daft = pytest.importorskip("daft", reason=REASON.format("Daft"))
    import headwater.daft as front
    import pyarrow.parquet as pq

    whole = table()
    for number, part in enumerate(np.array_split(np.arange(N), parts)):
        pq.write_table(whole.slice(part[0], len(part)), tmp_path / f"{number}.parquet")
    frame = daft.read_parquet(str(tmp_path / "*.parquet"))
    for name, column in zip(NAMES, columns(front, "id"), strict=True):
        frame = frame.with_column(name, column)
    made = frame.to_arrow()
    assert by_id(made["id"], *(made[name].to_numpy() for name in NAMES)) == expected
    few = daft.from_arrow(whole).where(front.sample("id", KEY, 0.01)).count_rows()
    assert few == int(np.sum(made["sample"].to_numpy()))
    with pytest.raises(TypeError, match="ids must be a column's name or an Expression"):
        front.normal(5, KEY)


@pytest.mark.parametrize("parts", PARTS)
def test_dask(parts: int, expected: str) -> None:
    dd = pytest.importorskip("dask.dataframe", reason=REASON.format("Dask's DataFrame"))
    import headwater.pandas as front
    import pandas as pd

    frame = dd.from_pandas(pd.DataFrame({"id": ORDER}), npartitions=parts, sort=False)
    for name, column in zip(NAMES, columns(front, frame["id"]), strict=True):
        frame[name] = column
    for scheduler in ("threads", "sync"):
        made = frame.compute(scheduler=scheduler)
        assert by_id(made["id"], *(made[name] for name in NAMES)) == expected


@pytest.mark.parametrize("parts", [1, 3, 7])
def test_every_function_in_dask(parts: int) -> None:
    """Values are those of pandas, and each partition has the type that Dask was told."""
    dd = pytest.importorskip("dask.dataframe", reason=REASON.format("Dask's DataFrame"))
    import headwater.pandas as front
    import pandas as pd

    rows = pd.DataFrame({"id": ORDER[:500], "w": 1.0 + ORDER[:500] % 3, "g": ORDER[:500] % 4})
    rows["some"] = rows["id"].astype("Int64").where(rows["id"] % 10 != 3)
    rows["kinds"] = rows["id"].astype("category")
    rows["text"] = [f"r{i}" if i % 7 else None for i in rows["id"]]
    frame = dd.from_pandas(rows, npartitions=parts, sort=False)
    made = []
    for ids in ("id", "some", "kinds"):
        for call in (
            lambda one, ids=ids: front.normal(one[ids], KEY, one["g"], one["w"]),
            lambda one, ids=ids: front.binomial(one[ids], KEY, one["g"], 0.5),
            lambda one, ids=ids: front.sample(one[ids], KEY, 0.5),
            lambda one, ids=ids: front.split(one[ids], KEY, 3),
            lambda one, ids=ids: front.order(one[ids], KEY),
            lambda one, ids=ids: front.poisson(one[ids], KEY, 3.0),
            lambda one, ids=ids: front.normal(one[ids], KEY, dtype="float32"),
            lambda one, ids=ids: front.weighted_order(one[ids], KEY, one["w"], name="x"),
        ):
            made.append((call(frame), call(rows)))
    made.append((front.key_of(frame["text"], frame["some"]), front.key_of(rows["text"], rows["some"])))
    made.append((front.key_of(frame["text"]), front.key_of(rows["text"])))
    for column, right in made:
        for partition in column.to_delayed():
            assert partition.compute(scheduler="sync").dtype == column.dtype
        column = column.compute(scheduler="sync")
        pd.testing.assert_series_equal(column, right, check_dtype=False)
    for ids in ("id", "some"):
        for some in ({}, {"by": "g"}, {"weights": "w"}, {"by": "g", "weights": "w"}, {"name": "x"}):
            for n in (0, 5, 1000):
                few = front.sample_n(frame, ids, n, KEY, **some).compute(scheduler="sync")
                right = front.sample_n(rows, ids, n, KEY, **some)
                assert few["id"].tolist() == right["id"].tolist()
    for (rest, fold), (other, part) in zip(
        front.folds(frame, "id", 3, KEY), front.folds(rows, "id", 3, KEY), strict=True
    ):
        assert rest["id"].compute(scheduler="sync").tolist() == other["id"].tolist()
        assert fold["id"].compute(scheduler="sync").tolist() == part["id"].tolist()
    with pytest.raises(TypeError, match="by must be names of columns, where the frame is Dask's"):
        front.sample_n(frame, "id", 1, KEY, by=rows["g"].to_numpy())
    ids = dd.from_pandas(rows["id"], npartitions=parts)
    others = dd.from_pandas(rows["w"], npartitions=parts + 2)
    for call in (lambda i, w: front.normal(i, KEY, 0, w), lambda i, w: front.weighted_order(i, KEY, w)):
        with pytest.raises(ValueError, match="columns must have the same partitions, not"):
            call(ids, others)
        one = ids.to_frame().assign(w=others)
        aligned = call(one["id"], one["w"]).compute(scheduler="sync")
        pd.testing.assert_series_equal(aligned, call(rows["id"], rows["w"]))
    for ids, parameter in ((frame["id"], rows["w"]), (rows["id"], frame["w"])):
        with pytest.raises(TypeError, match="must be Dask's, all or none"):
            front.normal(ids, KEY, 0, parameter)
    later = pytest.importorskip("dask").delayed(2.0)
    for mean in ({"scale": frame["w"].mean()}, {"loc": frame["w"].mean()}, {"loc": later}):
        with pytest.raises(TypeError, match="one value that Dask has not computed yet"):
            front.normal(frame["id"], KEY, **mean)
    with pytest.raises(ValueError, match="ids and scale must have the same index"):
        rotated = dd.from_pandas(rows["w"][::-1], npartitions=parts, sort=False)
        front.normal(frame["id"], KEY, 0, rotated).compute(scheduler="sync")
    with pytest.raises(ValueError, match="weights must be finite numbers from 0"):
        front.weighted_order(frame["id"], KEY, -frame["w"]).compute(scheduler="sync")


def test_ibis(expected: str) -> None:
    ibis = pytest.importorskip("ibis", reason=REASON.format("ibis"))
    import headwater.ibis as front

    rows = ibis.memtable(table().to_pandas())
    made = ibis.duckdb.connect().to_pyarrow(rows.mutate(*columns(front, rows.id)))
    assert by_id(made["id"], *(made[name].to_numpy() for name in NAMES)) == expected
    with pytest.raises(TypeError, match="ids must be an integer column of ibis"):
        front.normal("id", KEY)


@pytest.mark.parametrize("backend", ["duckdb", "polars"])
def test_every_sort_of_column_in_ibis(backend: str) -> None:
    """Types are those of the kind, nulls arrive, and a table may be not known yet."""
    ibis = pytest.importorskip("ibis", reason=REASON.format("ibis"))
    pytest.importorskip(backend, reason=REASON.format(backend))
    import headwater.ibis as front
    import headwater.pyarrow as right
    import pyarrow as pa

    con = getattr(ibis, backend).connect()
    given = pa.table({
        "id": pa.array([5, 0, 7], pa.int8()),
        "some": [3, None, 4],
        "text": ["x", None, None],
        "day": pa.array([1, None, 3], pa.date32()),
    })
    rows = ibis.memtable(given)

    def made(column: Any) -> Any:
        return con.to_pyarrow(rows.select(column.name("made")))["made"]

    for call in (
        lambda one, ids: one.normal(ids, KEY, dtype="float32"),
        lambda one, ids: one.dirichlet(ids, KEY, [1.0, 2.0]),
        lambda one, ids: one.complex_normal(ids, KEY),
        lambda one, ids: one.integers(ids, KEY, 0, 10, dtype="uint8"),
        lambda one, ids: one.order(ids, KEY),
    ):
        for ids in (rows.id, ibis._.id):
            column, same = made(call(front, ids)), call(right, given["id"])
            assert column.to_pylist() == same.to_pylist()
            assert column.type == same.type or pa.types.is_nested(same.type)
    assert made(front.normal(ibis._.id + 1, KEY)).to_pylist() == right.normal(
        pa.array([6, 1, 8]), KEY
    ).to_pylist()
    with pytest.raises(Exception, match="the id in row 1 of the batch is null"):
        made(front.normal(rows.some, KEY, nulls="error"))
    for names in (["text"], ["text", "day"], ["some", "text", "day"], ["id", "text"]):
        same = right.key_of(*(given[name] for name in names)).to_pylist()
        assert made(front.key_of(*(rows[name] for name in names))).to_pylist() == same
        assert made(front.key_of(*(ibis._[name] for name in names))).to_pylist() == same
    with pytest.raises(Exception, match="the id in row 1 of the batch is null"):
        made(front.key_of(rows.text, rows.day, nulls="error"))
    with pytest.raises(TypeError, match="needs columns of ibis"):
        front.key_of("text")
    with pytest.raises(TypeError, match="numbers, and no column such as this"):
        front.normal(rows.id, KEY, rows.id)


def test_keys_and_parameters_in_daft_and_datafusion() -> None:
    daft = pytest.importorskip("daft", reason=REASON.format("Daft"))
    datafusion = pytest.importorskip("datafusion", reason=REASON.format("DataFusion"))
    import headwater.daft as front
    import headwater.datafusion as other
    import headwater.pyarrow as right
    import pyarrow as pa

    given = {"text": ["x", None, None], "id": [1, None, 3]}
    frame = daft.from_pydict(given)
    made = frame.select(front.key_of("text", daft.col("id"))).to_pydict()["key"]
    assert made == right.key_of(*map(pa.array, given.values())).to_pylist()
    with pytest.raises(Exception, match="the id in row 1 of the batch is null"):
        frame.select(front.key_of("text", nulls="error")).to_pydict()
    for call in (
        lambda: front.normal("id", KEY, daft.col("id")),
        lambda: other.normal("id", KEY, datafusion.col("id")),
    ):
        with pytest.raises(TypeError, match=r"numbers, and no column such as this Expr.*pyarrow"):
            call()
    with pytest.raises(AttributeError, match="headwater's arrow, pyarrow, pandas, polars, daft"):
        other.key_of  # noqa: B018


RAY = """
import numpy as np, pyarrow as pa, ray, headwater.ray as front, test_one_array as one
ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, object_store_memory=10**8)
ray.data.DataContext.get_current().enable_progress_bars = False
for parts in one.PARTS:
    rows = ray.data.from_arrow(pa.table({"id": one.ORDER})).repartition(parts)
    for made in one.columns(front, "id"):
        rows = rows.map_batches(made, batch_format="pyarrow", batch_size=4096)
    made = pa.concat_tables(ray.get(rows.to_arrow_refs()))
    print(one.by_id(made["id"], *(made[name].to_numpy() for name in ("z", "u", "sample", "split"))))
few = ray.data.range(1000).map_batches(front.keep("id", one.KEY, 0.01), batch_format="pyarrow")
assert few.count() == 12
# Functions of batches have names in Ray's plans, and are no expressions.
rows = ray.data.range(300).map_batches(front.split("id", one.KEY, 2), batch_format="pyarrow")
added = front.uniform("id", one.KEY, name="u")
made = rows.groupby("split").map_groups(added, batch_format="pyarrow").sort("id").take_all()
assert [row["u"] for row in made] == one.KEY.child("u").stream(0).random(300).tolist()
for call, words in [
    (lambda: rows.with_column("u", added), "pass it to map_batches"),
    (lambda: front.normal("id", one.KEY, ray.data.expressions.col("id")), "are numbers, and no column"),
]:
    try:
        call()
    except TypeError as error:
        assert words in str(error), error
    else:
        raise AssertionError(words)
assert "u" in repr(added)
ray.shutdown()
"""


def test_ray(expected: str) -> None:
    pytest.importorskip("ray", reason=REASON.format("Ray"))
    alone = ["unshare", "--net", "--map-root-user", "sh", "-c"]
    if subprocess.run([*alone, "ip link set lo up"], capture_output=True).returncode != 0:
        pytest.skip("no network namespace can be made here: Ray was not started")
    code = [*alone, 'ip link set lo up && exec "$0" -c "$1"', sys.executable, RAY]
    ran = subprocess.run(code, capture_output=True, text=True, cwd=Path(__file__).parent)
    assert ran.returncode == 0, ran.stderr[-3000:]
    assert ran.stdout.split() == [expected] * len(PARTS)


RAY_KILLED = """
import os, signal, sys, threading, time
import numpy as np, pyarrow as pa, ray, headwater.ray as front, test_one_array as one
# Each worker process writes its number here, so that the test knows which one to kill.
folder = sys.argv[1]
ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, object_store_memory=10**8)
ray.data.DataContext.get_current().enable_progress_bars = False
def mark(table):
    place = os.path.join(folder, f"{os.getpid()}")
    with open(place, "a") as file:
        file.write(f"{table['id'][0].as_py()}\\n")
    time.sleep(0.03)
    return table
made = []
def work():
    rows = ray.data.from_arrow(pa.table({"id": one.ORDER})).repartition(64)
    for column in one.columns(front, "id"):
        rows = rows.map_batches(column, batch_format="pyarrow", batch_size=500)
    rows = rows.map_batches(mark, batch_format="pyarrow", batch_size=500)
    table = pa.concat_tables(ray.get(rows.to_arrow_refs()))
    made.append(one.by_id(table["id"], *(table[name].to_numpy() for name in ("z", "u", "sample", "split"))))
worker = threading.Thread(target=work)
worker.start()
def done():
    return {pid: len(open(os.path.join(folder, pid)).readlines()) for pid in os.listdir(folder)}
deadline = time.time() + 120
while sum(done().values()) < 20 and time.time() < deadline:
    time.sleep(0.01)
pids = done()
# The busiest one. It is a worker of this Ray, which wrote its own number.
killed = max(pids, key=pids.get)
os.kill(int(killed), signal.SIGKILL)
worker.join()
after = done()
# It came in the middle: Ray started another worker for the tasks that were left.
assert pids[killed] <= after[killed] < one.N / 1000, (pids, after)
assert set(after) - set(pids), (pids, after)
print(*made)
ray.shutdown()
"""


def test_ray_after_a_worker_was_killed(expected: str, tmp_path: Path) -> None:
    pytest.importorskip("ray", reason=REASON.format("Ray"))
    alone = ["unshare", "--net", "--map-root-user", "sh", "-c"]
    if subprocess.run([*alone, "ip link set lo up"], capture_output=True).returncode != 0:
        pytest.skip("no network namespace can be made here: Ray was not started")
    start = 'ip link set lo up && exec "$0" -c "$1" "$2"'
    code = [*alone, start, sys.executable, RAY_KILLED, str(tmp_path)]
    ran = subprocess.run(code, capture_output=True, text=True, cwd=Path(__file__).parent)
    assert ran.returncode == 0, ran.stderr[-3000:]
    # Before the hash Ray says that a worker died.
    assert ran.stdout.split()[-1] == expected


DASK_KILLED = """
import os, signal, threading, time
import dask, dask.dataframe as dd, pandas as pd
from distributed import Client, LocalCluster
import headwater.pandas as front, test_one_array as one

def slow(frame):
    time.sleep(0.05)
    return frame

if __name__ == "__main__":
    cluster = LocalCluster(n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address=None)
    client = Client(cluster)
    frame = dd.from_pandas(pd.DataFrame({"id": one.ORDER}), npartitions=64, sort=False)
    for name, column in zip(("z", "u", "sample", "split"), one.columns(front, frame["id"]), strict=True):
        frame[name] = column
    made = []
    frame = frame.map_partitions(slow, meta=frame._meta)
    parts = client.compute(frame.to_delayed())
    deadline = time.time() + 120
    done = lambda: sum(part.done() for part in parts)
    while done() < 10 and time.time() < deadline:
        time.sleep(0.01)
    pids = client.run(os.getpid)
    assert len(pids) == 2, pids
    assert 10 <= done() < 64, done()
    killed = list(pids.values())[0]
    # A worker that this program's cluster started.
    os.kill(killed, signal.SIGKILL)
    table = pd.concat(client.gather(parts))
    assert killed not in client.run(os.getpid).values()
    print(one.by_id(table["id"], *(table[name] for name in ("z", "u", "sample", "split"))))
    client.close()
    cluster.close()
"""


def test_dask_after_a_worker_was_killed(expected: str, tmp_path: Path) -> None:
    pytest.importorskip("distributed", reason=REASON.format("Dask's cluster"))
    # A file, because its workers are processes that import the main program.
    program = tmp_path / "killed.py"
    program.write_text(DASK_KILLED)
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).parent)}
    ran = subprocess.run([sys.executable, program], capture_output=True, text=True, env=env, cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr[-3000:]
    assert ran.stdout.split() == [expected]
