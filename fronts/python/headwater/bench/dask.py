"""Rows against `dask.array.random`."""

from __future__ import annotations

import importlib

from headwater.bench._measure import Row

VALUES = 16_000_000

SETUP = """
import pickle
import dask.array as da, headwater, headwater.dask as hd
rng, key = da.random.default_rng(1), headwater.Key(1)
options = dict(scheduler="threads", num_workers=2)
"""


def rows() -> list[Row]:
    """Returns the rows: normal numbers by two threads, and the graph of 16,384 regular chunks."""
    importlib.import_module("dask.array")  # an ImportError skips the rows
    size = f"size={VALUES}, chunks={1_000_000}"
    grid = "(128_000, 128_000), chunks=(1_000, 1_000)"
    return [
        Row(
            name="Dask: 16 M normals by 2 threads, summed",
            peer=f"rng.standard_normal({size}).sum().compute(**options)",
            ours=f"hd.normal(key, {VALUES}, chunks=1_000_000).sum().compute(**options)",
            setup=SETUP,
            target=3.5,
            values=VALUES,
            windows=20,
        ),
        Row(
            name="Dask: graph of 16,384 chunks, built",
            peer=f"rng.standard_normal({grid})",
            ours=f"hd.normal(key, {grid})",
            setup=SETUP,
            target=100,
            windows=2,
        ),
    ]
