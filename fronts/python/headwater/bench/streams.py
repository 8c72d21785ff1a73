"""Arrays of streams against NumPy's default generator, PCG64."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from headwater.bench._measure import Row

#: Doubles of 160 KiB: more than a first-level cache, and less than a second-level one.
IN_CACHE = 20_480
#: Doubles of 76 MiB: more than any cache.
IN_MEMORY = 10_000_000

SETUP = f"""
import numpy
from headwater import Key
numpys = numpy.random.Generator(numpy.random.PCG64(42))
stream = Key(42).stream(0)
small = numpy.empty({IN_CACHE})
large = numpy.empty({IN_MEMORY})
"""

#: Two threads that fill 160 KiB each. The threads live as long as the row, because starting one
#: takes longer than filling such an array.
THREADS = (
    SETUP
    + f"""
from concurrent.futures import ThreadPoolExecutor
pool = ThreadPoolExecutor(2)
outs = [numpy.empty({IN_CACHE}) for _ in range(2)]
def fills(out):
    for _ in range(500):
        stream.standard_normal(out=out)
def one():
    for out in outs:
        fills(out)
def two():
    list(pool.map(fills, outs))
two()
"""
)


def normals_target() -> float:
    """Returns the ratio to reach for normal numbers, which are arithmetic on vectors only.

    The vectors of AVX-512 hold twice as many numbers as those of AVX2, and NumPy uses none.
    """
    try:
        flags = Path("/proc/cpuinfo").read_text(errors="replace")
    except OSError:
        flags = ""
    return 5.5 if "avx512dq" in flags else 3.0


def rows() -> list[Row]:
    """Returns the rows of the streams."""
    if importlib.util.find_spec("numpy") is None:
        raise ImportError("NumPy is not installed: streams were not compared with PCG64")
    normals = normals_target()
    return [
        *pair("random", "uniform f64", 4.0, 2.2),
        *pair("standard_normal", "normal f64", normals, normals),
        Row("normal f64, two threads against one", "one()", "two()", THREADS, 1.8, 1000 * IN_CACHE),
    ]


def pair(method: str, name: str, in_cache: float, in_memory: float) -> list[Row]:
    """Returns the rows of a kind of number: in cache, into a new array, and in memory."""

    def row(place: str, arguments: str, target: float, values: int) -> Row:
        peer, ours = (f"{of}.{method}({arguments})" for of in ("numpys", "stream"))
        return Row(f"{name}, {place}", peer, ours, SETUP, target, values)

    return [
        row("160 KiB in cache", "out=small", in_cache, IN_CACHE),
        row("160 KiB, a new array", f"{IN_CACHE}", in_cache, IN_CACHE),
        row("10 M", "out=large", in_memory, IN_MEMORY),
        row("10 M, a new array", f"{IN_MEMORY}", in_memory, IN_MEMORY),
    ]
