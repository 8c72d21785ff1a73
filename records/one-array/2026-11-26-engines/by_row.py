"""Times columns whose parameters are columns beside NumPy's generator with arrays, as ratios.

Rivals take turns, round by round, because the machine has other users. A ratio is the median over
the rounds of NumPy's time / headwater's.

Run with the package installed: python by_row.py > by_row.txt
"""

import os
import statistics
import time
from importlib.metadata import version

import numpy as np

import headwater
import headwater.arrow as ha

N, ROUNDS = 1_000_000, 15
KEY = headwater.Key(42)


def seconds(call):
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def main():
    generator = np.random.default_rng(1)
    one, two = generator.random(N) + 1, generator.random(N) + 1
    parameters = {
        "normal": (one, two), "exponential": (one,), "laplace": (one, two), "gamma": (one, two),
        "gumbel": (one, two), "logistic": (one, two), "rayleigh": (one,), "beta": (one, two),
        "chisquare": (one * 5,), "lognormal": (one, two / 4), "weibull": (one,), "pareto": (one,), "power": (one,),
        "triangular": (one, one + 1, one + 2), "poisson": (one * 5,), "uniform": (one, two + 1),
        "standard_t": (one * 5,), "binomial": ((one * 20).astype("i8"), two / 4),
        "f": (one * 5, two * 5), "vonmises": (one - 1.5, two), "wald": (one, two),
        "geometric": (one / 2,), "zipf": (one + 1,), "logseries": (two / 4,),
        "negative_binomial": (one * 5, two / 4), "noncentral_chisquare": (one * 3, two),
        "noncentral_f": (one * 3, two * 3, one),
        "hypergeometric": tuple((x * 50).astype("i8") for x in (one, two, one / 2)),
    }  # fmt: skip
    print(f"numpy {version('numpy')}, {os.cpu_count()} CPUs, load {os.getloadavg()[0]:.1f}, {N:,} rows")
    print("| kind | ids | ns a row | NumPy's | ratio |\n| --- | --- | --- | --- | --- |")
    for order, ids in (("in order", np.arange(N)), ("in no order", generator.permutation(N))):
        for kind, given in parameters.items():
            ours = lambda: getattr(ha, kind)(ids, KEY, *given)  # noqa: B023, E731
            theirs = lambda: getattr(generator, kind)(*given)  # noqa: B023, E731
            ours(), theirs()
            times = [(seconds(ours), seconds(theirs)) for _ in range(ROUNDS)]
            mine, other = (statistics.median(t) / N * 1e9 for t in zip(*times, strict=True))
            ratio = statistics.median(b / a for a, b in times)
            print(f"| {kind} | {order} | {mine:.1f} | {other:.1f} | {ratio:.2f} |", flush=True)


main()
