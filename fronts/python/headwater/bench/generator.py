"""Rows of `headwater.Generator` against `numpy.random.Generator(PCG64)`, the same calls of both."""

from __future__ import annotations

from headwater.bench._measure import Row

SETUP = """
import numpy as np, headwater
from numpy.random import Generator, PCG64
ours, theirs = headwater.Generator(1), Generator(PCG64(1))
shapes, chances = np.linspace(1, 5, 100_000), np.linspace(0.1, 0.9, 100_000)
small, angles = np.linspace(0.2, 0.9, 100_000), np.linspace(-2, 2, 100_000)
counts = np.arange(100_000) % 100 + 1
many = counts * 1000
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
#: The arguments of each method that are arrays.
ARRAYS = {
    "uniform": "0, shapes",
    "normal": "shapes, shapes",
    "exponential": "shapes",
    "laplace": "shapes, shapes",
    "logistic": "shapes, shapes",
    "gumbel": "shapes, shapes",
    "lognormal": "shapes, chances",
    "standard_gamma": "shapes",
    "gamma": "shapes, shapes",
    "chisquare": "shapes",
    "beta": "shapes, shapes",
    "beta, shapes below 1": "small, chances",
    "f": "shapes, shapes",
    "standard_t": "shapes",
    "vonmises": "angles, shapes",
    "pareto": "shapes",
    "weibull": "shapes",
    "power": "shapes",
    "rayleigh": "shapes",
    "triangular": "0, chances, 1",
    "wald": "shapes, shapes",
    "geometric": "chances",
    "poisson": "shapes",
    "poisson, means from 20 on": "20 * shapes",
    "binomial": "counts, chances",
    "binomial, many trials": "many, chances",
    "zipf": "shapes + 0.5",
    "logseries": "chances",
    "negative_binomial": "shapes, chances",
    "noncentral_chisquare": "shapes, shapes",
    "noncentral_chisquare, degrees below 1": "small, shapes",
    "noncentral_f": "shapes, shapes, shapes",
    "hypergeometric": "counts, counts, counts",
    "hypergeometric, many items": "many, many, many",
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
    for name, arguments in ARRAYS.items():
        method, _, which = name.partition(", ")
        of = f"{method} of arrays" + (f", {which}" if which else "")
        all_rows.append(_row(of, f"{{}}.{method}({arguments})", 2.5, 100_000))
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
