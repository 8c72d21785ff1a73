"""Times Ray's map of the identity beside maps that add a column: medians of rounds, by turns.

    unshare --net --map-root-user sh -c 'ip link set lo up && python ratios.py' > ratios.txt

Ray listens on every interface, so it has a network namespace of its own. A ratio is (time of the
identity) / (time of the map), each over `ray.data.range`. Two maps add a column that costs nothing,
which is what any column pays for its way through Ray, and one NumPy's normal numbers.
"""

import logging
import os
import statistics
import sys
import time

import numpy as np
import pyarrow as pa
import ray

import headwater
import headwater.ray as front

N, BLOCKS, ROUNDS = 10_000_000, 10, 31
KEY = headwater.Key(42)


def identity(table):
    return table


def copy(table):
    return table.append_column("n", table["id"])


def half(table):
    return table.append_column("n", pa.array(np.full(len(table), 0.5)))


def numpy(table):
    return table.append_column("n", pa.array(np.random.default_rng(1).standard_normal(len(table))))


def timed(function):
    began = time.perf_counter()
    rows = ray.data.range(N, override_num_blocks=BLOCKS)
    rows.map_batches(function, batch_format="pyarrow", batch_size=None).materialize()
    return time.perf_counter() - began


def main():
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, object_store_memory=2 * 10**9)
    ray.data.DataContext.get_current().enable_progress_bars = False
    logging.getLogger("ray.data").setLevel(logging.ERROR)
    ways = {
        "identity": identity,
        "copy": copy,
        "half": half,
        "numpy": numpy,
        "uniform": front.uniform("id", KEY, name="n"),
        "normal": front.normal("id", KEY, name="n"),
        "keep": front.keep("id", KEY, 0.01),
    }
    times = {name: [] for name in ways}
    for function in ways.values():
        timed(function)
    for _ in range(ROUNDS):
        for name, function in ways.items():
            times[name].append(timed(function))
    versions = f"ray {ray.__version__}, pyarrow {pa.__version__}, Python {sys.version.split()[0]}"
    load = os.getloadavg()[0]
    print(f"{versions}, {N:,} rows in {BLOCKS} blocks, {ROUNDS} rounds by turns, load {load:.1f}")
    base = statistics.median(times["identity"])
    for name, one in times.items():
        ratios = sorted(a / b for a, b in zip(times["identity"], one, strict=True))
        middle = statistics.median(one)
        print(
            f"{name}: median {middle:.3f} s, {N / middle / 1e6:.0f} M rows/s, ratio of medians"
            f" {base / middle:.2f}, median of ratios {statistics.median(ratios):.2f}, least"
            f" {ratios[0]:.2f}, most {ratios[-1]:.2f}"
        )


if __name__ == "__main__":
    main()
