"""Rows of `headwater.Generator` against `numpy.random.Generator(PCG64)`, the same calls of both."""

from __future__ import annotations

from headwater.bench._measure import Row

SETUP = """
import numpy as np, headwater
from numpy.random import Generator, PCG64
ours, theirs = headwater.Generator(1), Generator(PCG64(1))
shapes = np.linspace(1, 5, 100_000)
"""

#: The arguments of each method, up to the size.
CALLS = {
    "random": "",
    "standard_normal": "",
    "integers": "0, 1000",
    "uniform": "2, 3",
    "normal": "5, 2",
    "exponential": "3",
    "laplace": "0, 1",
    "logistic": "0, 1",
    "gumbel": "0, 1",
    "lognormal": "0, 1",
    "gamma": "2.5, 2",
    "chisquare": "3",
    "beta": "2, 3",
    "f": "5, 7",
    "standard_t": "4",
    "vonmises": "0, 2",
    "pareto": "3",
    "weibull": "2",
    "power": "2",
    "rayleigh": "1",
    "triangular": "0, 1, 2",
    "wald": "1, 2",
    "standard_cauchy": "",
    "geometric": "0.3",
    "poisson": "3",
    "binomial": "10, 0.3",
    "zipf": "2",
    "logseries": "0.5",
    "negative_binomial": "5, 0.3",
    "noncentral_chisquare": "3, 2",
    "noncentral_f": "5, 7, 2",
    "hypergeometric": "500, 500, 300",
}
#: Values in a call, and the ratio to reach. 0 is one number, without an array.
SIZES = {0: 0.8, 10: 1.0, 1000: 1.0, 1_000_000: 3.0}
#: The ratios of a million values where another one was promised.
LARGE = {
    "random": 6.0,
    "uniform": 6.0,
    "normal": 7.0,
    "standard_normal": 7.0,
    "gamma": 4.5,
    "rayleigh": 2.0,
    "exponential": 3.0,
}
#: Calls whose parameters are arrays.
ARRAYS = {
    "normal of arrays": "{}.normal(shapes, shapes)",
    "gamma of arrays": "{}.standard_gamma(shapes)",
    "poisson of arrays": "{}.poisson(shapes)",
    "weibull of arrays": "{}.weibull(shapes)",
    "beta of arrays": "{}.beta(shapes, shapes)",
    "exponential of arrays": "{}.exponential(shapes)",
    "uniform of arrays": "{}.uniform(0, shapes)",
}


def rows() -> list[Row]:
    """Returns the rows: each method at each size, then the parameters that are arrays."""
    all_rows = []
    for method, arguments in CALLS.items():
        for size, target in SIZES.items():
            target = LARGE.get(method, target) if size == 1_000_000 else target
            given = ", ".join(part for part in (arguments, f"size={size}" if size else "") if part)
            all_rows.append(
                _row(f"{method}, {size or 'a number'}", f"{{}}.{method}({given})", target, size)
            )
    all_rows += [_row(name, call, 2.5, 100_000) for name, call in ARRAYS.items()]
    return all_rows


def _row(name: str, call: str, target: float, values: int) -> Row:
    return Row(
        name=f"Generator: {name}",
        peer=call.format("theirs"),
        ours=call.format("ours"),
        setup=SETUP,
        target=target,
        values=max(values, 1),
    )
