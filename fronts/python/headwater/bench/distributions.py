"""Distributions with parameters against NumPy's default generator, PCG64, on one thread."""

from __future__ import annotations

import importlib.util

from headwater.bench._measure import Row

#: Values in a call: the array stays in the second-level cache.
VALUES = 20_480

SETUP = f"""
import numpy as np
from headwater import Key
numpys = np.random.Generator(np.random.PCG64(42))
stream = Key(42).stream(0)
n = {VALUES}
weights = np.arange(1.0, 65)
shares = weights / weights.sum()
mean, cov = np.zeros(3), np.array([[2, 0.5, 0], [0.5, 1, 0.25], [0, 0.25, 3]])
"""

#: The name of a row, the call of NumPy, and ours where its arguments differ. Both return new
#: arrays, since most of NumPy's methods take no `out`.
CALLS: dict[str, tuple[str, str | None]] = {
    "gamma, shape 2.5": ("standard_gamma(2.5, n)", None),
    "gamma, shape 0.5": ("standard_gamma(0.5, n)", None),
    "chisquare, 3": ("chisquare(3, n)", None),
    "beta, 0.5 and 0.5": ("beta(0.5, 0.5, n)", None),
    "beta, 2 and 5": ("beta(2, 5, n)", None),
    "standard_t, 3": ("standard_t(3, n)", None),
    "lognormal": ("lognormal(0, 1, n)", None),
    "geometric, 0.2": ("geometric(0.2, n)", None),
    "poisson, 3.5": ("poisson(3.5, n)", None),
    "poisson, 100": ("poisson(100, n)", None),
    "binomial, 20 and 0.3": ("binomial(20, 0.3, n)", None),
    "binomial, 1000 and 0.3": ("binomial(1000, 0.3, n)", None),
    "vonmises, 0 and 4": ("vonmises(0, 4, n)", None),
    "choice of 64 with p": ("choice(64, n, p=shares)", None),
    "dirichlet, 3 shapes": ("dirichlet([1, 2, 5], n)", None),
    "multinomial, 100 trials, 4 parts": ("multinomial(100, [0.1, 0.2, 0.3, 0.4], n)", None),
    "multivariate_normal, 3 parts": (
        "multivariate_normal(mean, cov, n, method='cholesky')",
        "multivariate_normal(mean, cov, n)",
    ),
    "normal float16": (
        "standard_normal(n, 'float32').astype('float16')",
        "standard_normal(n, 'float16')",
    ),
    "complex_normal": (
        "standard_normal(2 * n).view(complex)",
        "complex_normal(n)",
    ),
}

#: NumPy has neither, so SciPy is the peer.
SCIPYS = {
    "truncated_normal, -1 to 2": (
        "stats.truncnorm.rvs(-1, 2, size=n, random_state=numpys)",
        "stream.truncated_normal(-1, 2, size=n)",
    ),
    "sobol, scrambled, 8 dimensions": (
        "stats.qmc.Sobol(8, rng=numpys).random(16384)",
        "stream.sobol(8, 16384)",
    ),
}

#: The ratio to reach, on one thread.
TARGET = 3.0
#: SciPy scrambles by a linear map and a shift, which costs nothing for each point. Ours is Owen's
#: whole scrambling, which takes blocks of the stream for each coordinate.
SOBOL_TARGET = 0.2


def rows() -> list[Row]:
    """Returns the rows, two of them with SciPy as the peer where it is installed."""
    if importlib.util.find_spec("numpy") is None:
        raise ImportError("NumPy is not installed: distributions were not compared with PCG64")
    made = [
        Row(name, f"numpys.{peer}", f"stream.{ours or peer}", SETUP, TARGET, VALUES)
        for name, (peer, ours) in CALLS.items()
    ]
    if importlib.util.find_spec("scipy") is not None:
        setup = SETUP + "from scipy import stats\n"
        for name, (peer, ours) in SCIPYS.items():
            values = 16384 if "sobol" in name else VALUES
            target = SOBOL_TARGET if "sobol" in name else TARGET
            made.append(Row(name, peer, ours, setup, target, values))
    return made
