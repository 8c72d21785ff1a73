"""Answers of NumPy, SciPy and textbooks, written down before the first run: tests/outside.md."""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from headwater import Key

S: Any = Key(2026).child("outside").stream(0)
MANY = 200_000
#: Standard deviations that a share may be off: less than one in a million.
SIGMAS = 5.0
#: Places in the distribution, both tails included.
SHARES = (1e-4, 0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99, 0.9999)


def stats() -> Any:
    """Returns SciPy's module, or skips the test: all of them at this line."""
    if importlib.util.find_spec("scipy") is None:
        pytest.skip("SciPy is not installed: distributions were not compared with its functions")
    return importlib.import_module("scipy.stats")


#: The numbers, and SciPy's name and parameters of the same distribution.
CONTINUOUS: dict[str, tuple[Callable[[], Any], str, dict[str, float]]] = {
    "1 beta": (lambda: S.beta(0.5, 3, MANY), "beta", {"a": 0.5, "b": 3}),
    "2 beta, small shapes": (lambda: S.beta(0.2, 0.3, MANY), "beta", {"a": 0.2, "b": 0.3}),
    "3 beta, large shapes": (lambda: S.beta(40, 90, MANY), "beta", {"a": 40, "b": 90}),
    "4 chisquare": (lambda: S.chisquare(3, MANY), "chi2", {"df": 3}),
    "5 chisquare, one": (lambda: S.chisquare(1, MANY), "chi2", {"df": 1}),
    "6 gamma, scale second": (lambda: S.gamma(2.5, 4, MANY), "gamma", {"a": 2.5, "scale": 4}),
    "7 gamma, small": (lambda: S.gamma(0.1, size=MANY), "gamma", {"a": 0.1}),
    "8 gamma is exponential": (lambda: S.standard_gamma(1, MANY), "expon", {}),
    "9 lognormal, of the logarithm": (
        lambda: S.lognormal(0.5, 2, MANY),
        "lognorm",
        {"s": 2, "scale": math.exp(0.5)},
    ),
    "10 lognormal, defaults": (lambda: S.lognormal(size=MANY), "lognorm", {"s": 1}),
    "11 standard_t": (lambda: S.standard_t(3, MANY), "t", {"df": 3}),
    "12 standard_t is Cauchy": (lambda: S.standard_t(1, MANY), "cauchy", {}),
    "13 truncated_normal": (
        lambda: S.truncated_normal(-1, 2, 0.5, 3, MANY),
        "truncnorm",
        {"a": -0.5, "b": 0.5, "loc": 0.5, "scale": 3},
    ),
    "14 truncated_normal, a tail": (
        lambda: S.truncated_normal(4, np.inf, size=MANY),
        "truncnorm",
        {"a": 4, "b": math.inf},
    ),
    "15 vonmises": (lambda: S.vonmises(0, 4, MANY), "vonmises", {"kappa": 4}),
    "16 vonmises is uniform": (
        lambda: S.vonmises(1, 0, MANY),
        "uniform",
        {"loc": -math.pi, "scale": 2 * math.pi},
    ),
    "17 dirichlet's parts are beta": (
        lambda: S.dirichlet([1, 2, 4], MANY)[:, 1],
        "beta",
        {"a": 2, "b": 5},
    ),
    "18 normal vectors, a component": (
        lambda: S.multivariate_normal([1, 2], [[4, 1], [1, 9]], MANY)[:, 1],
        "norm",
        {"loc": 2, "scale": 3},
    ),
    "19 normal vectors, a difference": (
        lambda: np.subtract(*S.multivariate_normal([1, 2], [[4, 1], [1, 9]], MANY).T),
        "norm",
        {"loc": -1, "scale": math.sqrt(11)},
    ),
    "20 complex sizes": (lambda: abs(S.complex_normal(MANY)) ** 2, "expon", {}),
    "21 complex parts": (lambda: S.complex_normal(MANY).imag, "norm", {"scale": 0.5**0.5}),
    "22 scrambled Sobol": (lambda: S.sobol(3, MANY)[:, 2], "uniform", {}),
}

COUNTS: dict[str, tuple[Callable[[], Any], str, dict[str, float]]] = {
    "23 binomial": (lambda: S.binomial(20, 0.3, MANY), "binom", {"n": 20, "p": 0.3}),
    "24 binomial, many": (lambda: S.binomial(10**6, 0.25, MANY), "binom", {"n": 10**6, "p": 0.25}),
    "25 poisson": (lambda: S.poisson(3.5, MANY), "poisson", {"mu": 3.5}),
    "26 poisson, default": (lambda: S.poisson(size=MANY), "poisson", {"mu": 1}),
    "27 poisson, large": (lambda: S.poisson(1e6, MANY), "poisson", {"mu": 1e6}),
    "28 geometric, from 1": (lambda: S.geometric(0.2, MANY), "geom", {"p": 0.2}),
    "29 multinomial's parts": (
        lambda: S.multinomial(30, [1, 2, 5], MANY)[:, 1],
        "binom",
        {"n": 30, "p": 0.25},
    ),
    "30 categorical of two": (lambda: S.categorical([3, 1], MANY), "bernoulli", {"p": 0.25}),
    "31 choice with p": (lambda: S.choice(2, MANY, p=[0.9, 0.1]), "bernoulli", {"p": 0.1}),
}


def agree(numbers: Any, edges: Any, expected: Any) -> None:
    """Compares the share of numbers up to each edge with the expected one."""
    for edge, share in zip(edges, expected, strict=True):
        found = np.count_nonzero(numbers <= edge) / len(numbers)
        deviation = math.sqrt(max(share * (1 - share), 1e-12) / len(numbers))
        assert abs(found - share) <= SIGMAS * deviation + 1e-9, (edge, share, found)


@pytest.mark.parametrize("name", CONTINUOUS)
def test_real_numbers_have_scipys_distribution(name: str) -> None:
    make, distribution, parameters = CONTINUOUS[name]
    frozen = getattr(stats(), distribution)(**parameters)
    agree(make(), frozen.ppf(SHARES), SHARES)


@pytest.mark.parametrize("name", COUNTS)
def test_counts_have_scipys_distribution(name: str) -> None:
    make, distribution, parameters = COUNTS[name]
    frozen = getattr(stats(), distribution)(**parameters)
    edges = np.unique(frozen.ppf(SHARES))
    agree(make(), edges, frozen.cdf(edges))


@pytest.mark.parametrize("d", [1, 2, 21, 1111])
def test_32_plain_sobol_points_are_scipys(d: int) -> None:
    theirs = stats().qmc.Sobol(d, scramble=False).random(64)
    # SciPy's points have 30 bits, and both sequences begin with 0 and in the order of Gray's code.
    assert (S.sobol(d, 64, scramble=False) == theirs).all()


#: The arguments of NumPy's methods, from its documentation, and of SciPy's Sobol.
SIGNATURES = {
    "33 beta": ("beta", ["a", "b", "size"]),
    "34 binomial": ("binomial", ["n", "p", "size"]),
    "35 chisquare": ("chisquare", ["df", "size"]),
    "36 dirichlet": ("dirichlet", ["alpha", "size"]),
    "37 gamma": ("gamma", ["shape", "scale", "size"]),
    "38 geometric": ("geometric", ["p", "size"]),
    "39 lognormal": ("lognormal", ["mean", "sigma", "size"]),
    "40 multinomial": ("multinomial", ["n", "pvals", "size"]),
    "41 multivariate_normal": ("multivariate_normal", ["mean", "cov", "size"]),
    "42 poisson": ("poisson", ["lam", "size"]),
    "43 standard_gamma": ("standard_gamma", ["shape", "size"]),
    "44 standard_t": ("standard_t", ["df", "size"]),
    "45 vonmises": ("vonmises", ["mu", "kappa", "size"]),
}


@pytest.mark.parametrize("name", SIGNATURES)
def test_arguments_are_numpys(name: str) -> None:
    import inspect

    method, expected = SIGNATURES[name]
    ours = list(inspect.signature(getattr(S, method)).parameters.values())
    positional = [p for p in ours if p.kind is p.POSITIONAL_OR_KEYWORD]
    assert [p.name for p in positional] == expected
    documented = (getattr(np.random.Generator, method).__doc__ or "").strip().splitlines()[0]
    names = [part.split("=")[0].strip() for part in documented.partition("(")[2].split(",")]
    assert [name.rstrip(")") for name in names][: len(expected)] == expected
    arguments = {"n": 3, "p": 0.5, "pvals": [0.25, 0.75], "alpha": [1]}
    arguments |= {"mean": [1, 2], "cov": np.eye(2)}
    if method == "lognormal":
        arguments["mean"] = 1.0
    values = [arguments.get(name, 1.0) for name in expected[:-1]]
    theirs: Any = getattr(np.random.default_rng(1), method)
    ours_made, made = getattr(S, method)(*values, (2, 3)), theirs(*values, (2, 3))
    assert ours_made.shape == made.shape and ours_made.dtype == made.dtype
    assert np.shape(getattr(S, method)(*values)) == np.shape(theirs(*values))


#: Results that are the same whatever the random numbers.
CERTAIN: dict[str, Callable[[], bool]] = {
    "46 binomial p = 0": lambda: not S.binomial(10, 0.0, 99).any(),
    "47 binomial p = 1": lambda: (S.binomial(10, 1.0, 99) == 10).all(),
    "48 binomial n = 0": lambda: not S.binomial(0, 0.5, 99).any(),
    "49 poisson 0": lambda: not S.poisson(0, 99).any(),
    "50 geometric p = 1": lambda: (S.geometric(1, 99) == 1).all(),
    "51 lognormal sigma = 0": lambda: (S.lognormal(0, 0, 99) == 1).all(),
    "52 multinomial sums": lambda: (S.multinomial(20, [1 / 6] * 6, 99).sum(1) == 20).all(),
    "53 multinomial no trials": lambda: not S.multinomial(0, [1, 2], 9).any(),
    "54 dirichlet sums": lambda: np.allclose(S.dirichlet([1, 2, 3], 99).sum(1), 1, atol=1e-15),
    "55 cov of zeros": lambda: (
        (S.multivariate_normal([1, 2], np.zeros((2, 2)), 9) == [1, 2]).all()
    ),
    "56 vonmises inside": lambda: (abs(S.vonmises(3, 0.5, 9999)) <= np.pi).all(),
    "57 truncated inside": lambda: (
        ((t := S.truncated_normal(10, 11, size=9999)) >= 10).all() and (t <= 11).all()
    ),
    "58 weight 0 is never chosen": lambda: 1 not in S.choice(3, 9999, p=[0.3, 0, 0.7]),
    "59 a size of no dimensions": lambda: S.poisson(3, ()).shape == (),
}


@pytest.mark.parametrize("name", CERTAIN)
def test_certain_results(name: str) -> None:
    assert CERTAIN[name]()
