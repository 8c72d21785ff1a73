"""Sixty uses of NumPy's Generator by other programs: tests/generator-outside.md has their sources.

The expectation was written before the first run: shape, type, and ends of the values, or the
exception.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from headwater import Generator

INF = float("inf")
DECK = np.arange(52)
POINTS = np.arange(12.0).reshape(4, 3)

#: The call, and the shape, the type's letter, and both ends of the values. `()` is one number.
USES: dict[str, tuple[Callable[[Any], Any], tuple[int, ...], str, float, float]] = {
    "1": (lambda r: r.random(), (), "f", 0, 1),
    "2": (lambda r: r.standard_normal(10), (10,), "f", -10, 10),
    "3": (lambda r: r.integers(low=0, high=10, size=5), (5,), "i", 0, 9),
    "4": (lambda r: r.integers(2, size=10), (10,), "i", 0, 1),
    "5": (lambda r: r.integers(5, size=(2, 4)), (2, 4), "i", 0, 4),
    "6": (lambda r: r.integers(1, [3, 5, 10]), (3,), "i", 1, 9),
    "7": (lambda r: r.integers([1, 5, 7], 10), (3,), "i", 1, 9),
    "8": (lambda r: r.integers([1, 3, 5, 7], [[10], [20]], dtype=np.uint8), (2, 4), "u", 1, 19),
    "9": (lambda r: 5 * r.random((3, 2)) - 5, (3, 2), "f", -5, 0),
    "10": (lambda r: r.choice(5, 3), (3,), "i", 0, 4),
    "11": (lambda r: r.choice(5, 3, p=[0.1, 0, 0.3, 0.6, 0]), (3,), "i", 0, 3),
    "12": (lambda r: r.choice(5, 3, replace=False), (3,), "i", 0, 4),
    "13": (lambda r: r.choice([[0, 1, 2], [3, 4, 5], [6, 7, 8]], 2, replace=False), (2, 3), "i", 0, 8),
    "14": (lambda r: r.choice(5, 3, replace=False, p=[0.1, 0, 0.3, 0.6, 0]), (3,), "i", 0, 3),
    "15": (lambda r: r.choice(POINTS, 2, axis=1), (4, 2), "f", 0, 11),
    "16": (lambda r: len(r.choice(["pooh", "rabbit", "piglet", "Christopher"], 5, p=[0.5, 0.1, 0.1, 0.3])), (), "i", 5, 5),
    "17": (lambda r: len(r.bytes(10)), (), "i", 10, 10),
    "18": (lambda r: r.binomial(10, 0.5, 1000), (1000,), "i", 0, 10),
    "19": (lambda r: sum(r.binomial(9, 0.1, 20000) == 0) / 20000.0, (), "f", 0.35, 0.42),
    "20": (lambda r: r.chisquare(2, 4), (4,), "f", 0, INF),
    "21": (lambda r: r.dirichlet((10, 5, 3), 20).transpose(), (3, 20), "f", 0, 1),
    "22": (lambda r: r.exponential(scale=4, size=10000), (10000,), "f", 0, INF),
    "23": (lambda r: r.f(1.0, 48.0, 1000), (1000,), "f", 0, INF),
    "24": (lambda r: r.gamma(2.0, 2.0, 1000), (1000,), "f", 0, INF),
    "25": (lambda r: (r.geometric(p=0.35, size=10000) == 1).sum() / 10000, (), "f", 0.32, 0.38),
    "26": (lambda r: r.gumbel(0, 0.1, 1000), (1000,), "f", -5, 5),
    "27": (lambda r: sum(r.hypergeometric(15, 15, 15, 10000) >= 12) / 10000.0, (), "f", 0, 0.01),
    "28": (lambda r: r.laplace(0.0, 1.0, 1000), (1000,), "f", -50, 50),
    "29": (lambda r: r.logistic(10, 1, 10000), (10000,), "f", -40, 60),
    "30": (lambda r: np.prod(10 + r.standard_normal(100)), (), "f", 0, INF),
    "31": (lambda r: r.logseries(0.6, 10000), (10000,), "i", 1, 100),
    "32": (lambda r: r.multinomial(20, [1 / 6.0] * 6, size=2), (2, 6), "i", 0, 20),
    "33": (lambda r: r.multinomial([[10], [20]], [1 / 6.0] * 6, size=(2, 2)), (2, 2, 6), "i", 0, 20),
    "34": (lambda r: r.multivariate_hypergeometric([16, 8, 4], 6, size=3), (3, 3), "i", 0, 6),
    "35": (lambda r: r.multivariate_normal([0, 0], [[1, 0], [0, 100]], 5000).T, (2, 5000), "f", -100, 100),
    "36": (lambda r: r.multivariate_normal(np.array([0.5, 0.2]), np.array([[0.2, 0.1], [0.1, 0.2]]), (3, 3), method="cholesky"), (3, 3, 2), "f", -10, 10),
    "37": (lambda r: r.negative_binomial(1, 0.1, 1000), (1000,), "i", 0, INF),
    "38": (lambda r: r.noncentral_chisquare(3, 20, 1000), (1000,), "f", 0, INF),
    "39": (lambda r: r.noncentral_f(3, 20, 3.0, 1000), (1000,), "f", 0, INF),
    "40": (lambda r: abs(0 - np.mean(r.normal(0, 0.1, 1000))), (), "f", 0, 0.02),
    "41": (lambda r: r.normal(3, 2.5, size=(2, 4)), (2, 4), "f", -30, 30),
    "42": (lambda r: (r.pareto(3.0, 1000) + 1) * 2, (1000,), "f", 2, INF),
    "43": (lambda r: r.permutation(10), (10,), "i", 0, 9),
    "44": (lambda r: r.permutation(np.arange(9).reshape((3, 3)), axis=1), (3, 3), "i", 0, 8),
    "45": (lambda r: r.permuted(np.arange(24).reshape(3, 8), axis=1), (3, 8), "i", 0, 23),
    "46": (lambda r: r.poisson(lam=(100.0, 500.0), size=(100, 2)), (100, 2), "i", 20, 800),
    "47": (lambda r: r.power(5.0, 1000), (1000,), "f", 0, 1),
    "48": (lambda r: 100.0 * sum(r.rayleigh(np.sqrt(2 / np.pi) * 1, 10000) > 3) / 10000.0, (), "f", 0, 1),
    "49": (lambda r: r.standard_cauchy(1000), (1000,), "f", -INF, INF),
    "50": (lambda r: r.standard_gamma(2.0, 1000, dtype=np.float32), (1000,), "f", 0, 100),
    "51": (lambda r: r.triangular(-3, 0, 8, 1000), (1000,), "f", -3, 8),
    "52": (lambda r: r.uniform(-1, 0, 1000), (1000,), "f", -1, 0),
    "53": (lambda r: r.uniform(np.array([0.0, 10.0]), np.array([1.0, 20.0])), (2,), "f", 0, 20),
    "54": (lambda r: r.vonmises(0.0, 4.0, 1000), (1000,), "f", -np.pi, np.pi),
    "55": (lambda r: r.wald(3, 2, 1000), (1000,), "f", 0, INF),
    "56": (lambda r: r.weibull(5.0, 1000), (1000,), "f", 0, 10),
    "57": (lambda r: r.zipf(4.0, size=2000), (2000,), "i", 1, INF),
    "58": (lambda r: r.random(size=3, dtype=np.float32), (3,), "f", 0, 1),
    "59": (lambda r: np.cumsum(r.choice([-1, 1], size=(100, 50)), axis=0), (100, 50), "i", -100, 100),
    "60": (lambda r: r.choice(DECK, 5, replace=False), (5,), "i", 0, 51),
}  # fmt: skip


@pytest.mark.parametrize("number", USES)
def test_a_use_of_another_program(number: str) -> None:
    call, shape, letter, low, high = USES[number]
    made = np.asarray(call(Generator(int(number))))
    assert made.shape == shape and made.dtype.kind == letter
    assert (made >= low).all() and (made <= high).all()
    # The same call with NumPy's own generator: the same shape and type.
    theirs = np.asarray(call(np.random.default_rng(int(number))))
    assert (theirs.shape, theirs.dtype) == (made.shape, made.dtype)


def test_means_and_deviations() -> None:
    """Moments of the documentation's formulas, at 200,000 numbers each."""
    rng, n = Generator(60), 200_000
    for made, mean, deviation in (
        (rng.gumbel(1, 2, n), 1 + 2 * np.euler_gamma, 2 * np.pi / 6**0.5),
        (rng.logistic(1, 2, n), 1, 2 * np.pi / 3**0.5),
        (rng.rayleigh(3, n), 3 * (np.pi / 2) ** 0.5, 3 * (2 - np.pi / 2) ** 0.5),
        (rng.triangular(0, 1, 5, n), 2, (21 / 18) ** 0.5),
        (rng.wald(3, 2, n), 3, (27 / 2) ** 0.5),
        (rng.normal(np.array([3.0]), 2.0, n), 3, 2),
        (rng.gamma(np.full(n, 2.0), 3.0), 6, 18**0.5),
        (rng.poisson(np.full(n, 7.5)), 7.5, 7.5**0.5),
        (rng.hypergeometric(30, 20, 10, n), 6, (10 * 0.6 * 0.4 * 40 / 49) ** 0.5),
        (rng.negative_binomial(4, 0.25, n), 12, 48**0.5),
    ):
        assert abs(made.mean() - mean) < 6 * deviation / n**0.5
        assert abs(made.std() - deviation) < 0.03 * deviation


def have(*names: str) -> list[Any]:
    """Returns modules, or skips the test."""
    for name in names:
        if importlib.util.find_spec(name.partition(".")[0]) is None:
            pytest.skip(f"{name} is not installed: it was not tried with a headwater.Generator")
    return [importlib.import_module(name) for name in names]


def test_scipy_takes_it() -> None:
    (stats,) = have("scipy.stats")
    for argument in ("random_state",):
        made = stats.norm.rvs(size=50, **{argument: Generator(1)})
        assert np.array_equal(made, stats.norm.rvs(size=50, **{argument: Generator(1)}))
    data = (Generator(2).normal(5, 1, 60),)
    ends = stats.bootstrap(data, np.mean, n_resamples=200, rng=Generator(3)).confidence_interval
    again = stats.bootstrap(data, np.mean, n_resamples=200, rng=Generator(3)).confidence_interval
    assert ends == again and ends.low < 5.5 and ends.high > 4.5
    found = stats.permutation_test(
        (data[0], data[0] + 3), lambda x, y: x.mean() - y.mean(), n_resamples=99, rng=Generator(4)
    )
    assert found.pvalue < 0.05
    assert stats.qmc.LatinHypercube(3, rng=Generator(5)).random(4).shape == (4, 3)
    assert stats.qmc.Sobol(3, rng=Generator(5)).random(4).shape == (4, 3)
    for one in (stats.gamma(2), stats.poisson(4), stats.beta(2, 3), stats.hypergeom(20, 7, 12)):
        assert one.rvs(size=30, random_state=Generator(6)).shape == (30,)
    assert stats.ortho_group.rvs(3, random_state=Generator(7)).shape == (3, 3)
    assert stats.wishart.rvs(4, np.eye(2), random_state=Generator(8)).shape == (2, 2)


def test_pandas_takes_it() -> None:
    (pd,) = have("pandas")
    frame = pd.DataFrame({"x": range(20), "w": [1.0] * 10 + [0.0] * 10})
    one = frame.sample(5, random_state=Generator(1))
    assert one.equals(frame.sample(5, random_state=Generator(1))) and one.x.nunique() == 5
    assert frame.sample(30, replace=True, random_state=Generator(2)).shape == (30, 2)
    assert frame.sample(4, weights="w", random_state=Generator(3)).w.all()


def test_scikit_learn_takes_its_bits() -> None:
    """scikit-learn takes no Generator of any kind, and a RandomState over the bit generator."""
    selection, _ = have("sklearn.model_selection", "sklearn")
    x = np.arange(40).reshape(20, 2)
    with pytest.raises(ValueError, match="random_state"):
        selection.train_test_split(x, random_state=Generator(1))

    def split() -> Any:
        state = np.random.RandomState(Generator(1).bit_generator)
        return selection.train_test_split(x, random_state=state)

    first, second = split(), split()
    assert all(np.array_equal(a, b) for a, b in zip(first, second, strict=True))


def test_numpy_takes_it() -> None:
    rng = Generator(1)
    assert np.random.default_rng(rng) is rng
    assert isinstance(rng, np.random.Generator)
    plain = np.random.Generator(rng.bit_generator)
    assert 0 <= plain.random() < 1
