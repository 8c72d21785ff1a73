"""The same array from a cluster of processes, one of which is killed in the middle."""

from __future__ import annotations

import os
import signal
import time

import pytest

np = pytest.importorskip("numpy", reason="numpy is missing: no cluster computes")
da = pytest.importorskip("dask.array", reason="dask is missing: no cluster computes")
distributed = pytest.importorskip(
    "distributed", reason="dask.distributed is missing: no array is computed by a cluster"
)

import headwater  # noqa: E402
import headwater.dask as hd  # noqa: E402
from headwater.numpy import ARS7  # noqa: E402

STREAM = headwater.Key(42).child("noise").stream(3)


@pytest.fixture(scope="module")
def client():
    with (
        distributed.LocalCluster(
            n_workers=3,
            threads_per_worker=1,
            processes=True,
            host="127.0.0.1",
            dashboard_address=None,
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def slow(block):
    """Keeps a worker busy, so that it is killed with blocks begun and blocks left."""
    time.sleep(0.05)
    return block


def test_a_killed_worker_changes_nothing(client):
    shape = (600, 300)
    expected = np.asarray(STREAM.standard_normal(shape))
    array = hd.normal(STREAM, shape, chunks=(37, 100)).map_blocks(slow)
    pids = client.run(os.getpid)
    assert len(set(pids.values())) == 3
    future = client.compute(array)
    time.sleep(0.4)
    assert not future.done()
    os.kill(next(iter(pids.values())), signal.SIGKILL)
    assert (future.result(timeout=60) == expected).all()
    # Other chunks, and the workers that are there now.
    assert (hd.normal(STREAM, shape, chunks=(100, 41)).compute() == expected).all()
    assert set(client.run(os.getpid).values()) != set(pids.values())


def test_workers_compute_each_kind(client):
    uniform = hd.random(STREAM, (50, 50), chunks=(20, 7))
    bounded = hd.integers(STREAM, 1000, -3, 9, dtype="int16", chunks=300)
    order = hd.permutation(STREAM, 1000, chunks=300)
    dasks = da.random.default_rng(ARS7(1)).normal(size=(40, 40), chunks=20)
    for lazy in (uniform, bounded, order, dasks):
        assert (client.compute(lazy).result() == lazy.compute(scheduler="sync")).all()
    total = client.compute(hd.exponential(STREAM, 10**6, chunks=10**5).sum()).result()
    assert total == pytest.approx(np.asarray(STREAM.standard_exponential(10**6)).sum())
