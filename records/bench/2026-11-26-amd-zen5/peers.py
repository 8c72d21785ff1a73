"""Times headwater.Generator beside NumPy, randomgen's fastest engine and JAX on one CPU.

Rivals take turns, round by round, because the machine has other users. A ratio is the median over
the rounds of the rival's time / headwater's. JAX's functions are compiled before, and run to their
end, with numbers of 64 bits as the others have.

Run with numpy, randomgen, jax and headwater installed:
taskset -c 0 python peers.py > peers.txt
"""

import os
import statistics
import time
from importlib.metadata import version

os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"

import jax
import numpy as np
import randomgen

import headwater

jax.config.update("jax_enable_x64", True)

N, ROUNDS = 1_000_000, 15

OURS = headwater.Generator(42)
NUMPY = np.random.Generator(np.random.PCG64(42))
RANDOMGEN = np.random.Generator(randomgen.SFC64(42))
THREEFRY, RBG = jax.random.key(42), jax.random.key(42, impl="rbg")

#: A kind: the call of a generator, and JAX's function of a key.
KINDS = {
    "uniform": (lambda g: g.random(N), lambda key: jax.random.uniform(key, (N,), "float64")),
    "normal": (lambda g: g.standard_normal(N), lambda key: jax.random.normal(key, (N,), "float64")),
    "exponential": (
        lambda g: g.standard_exponential(N),
        lambda key: jax.random.exponential(key, (N,), "float64"),
    ),
    "gamma(2.5)": (
        lambda g: g.standard_gamma(2.5, N),
        lambda key: jax.random.gamma(key, 2.5, (N,), "float64"),
    ),
    "integers below 1000": (
        lambda g: g.integers(0, 1000, N),
        lambda key: jax.random.randint(key, (N,), 0, 1000, "int64"),
    ),
    "Poisson(3)": (lambda g: g.poisson(3, N), lambda key: jax.random.poisson(key, 3, (N,), "int64")),
    "binomial(10, 0.3)": (
        lambda g: g.binomial(10, 0.3, N),
        lambda key: jax.random.binomial(key, 10, 0.3, (N,), "float64"),
    ),
}
RIVALS = ["NumPy", "randomgen", "JAX", "JAX rbg"]


def seconds(call):
    begin = time.perf_counter()
    call()
    return time.perf_counter() - begin


def main():
    print(
        f"numpy {version('numpy')} (PCG64), randomgen {version('randomgen')} (SFC64), "
        f"jax {version('jax')} (threefry, rbg), headwater {version('headwater')}; "
        f"{N:,} numbers of 64 bits, one CPU, load {os.getloadavg()[0]:.1f}, "
        f"medians of {ROUNDS} rounds"
    )
    print("| kind | headwater, ns | " + " | ".join(RIVALS) + " |")
    print("| --- " * (len(RIVALS) + 2) + "|")
    for kind, (draw, function) in KINDS.items():
        compiled = jax.jit(function)
        calls = [
            lambda: draw(OURS),
            lambda: draw(NUMPY),
            lambda: draw(RANDOMGEN),
            lambda: compiled(THREEFRY).block_until_ready(),
            lambda: compiled(RBG).block_until_ready(),
        ]
        try:
            calls[-1]()
        except NotImplementedError:  # Poisson numbers are threefry's alone
            calls.pop()
        for call in calls:
            call()
        rounds = [[seconds(call) for call in calls] for _ in range(ROUNDS)]
        ours = statistics.median(times[0] for times in rounds)
        ratios = [
            statistics.median(times[i] / times[0] for times in rounds)
            for i in range(1, len(calls))
        ]
        cells = [f"{ratio:.1f}" for ratio in ratios] + ["-"] * (len(RIVALS) - len(ratios))
        print(f"| {kind} | {ours * 1e9 / N:.2f} | " + " | ".join(cells) + " |", flush=True)


main()
