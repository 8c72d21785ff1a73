"""Libraries that take a bit generator or a `Generator` take those of headwater."""

from __future__ import annotations

import functools
import subprocess
import sys

import pytest

np = pytest.importorskip("numpy", reason="numpy is missing: no library's door is tested")

from headwater.numpy import ARS7, Philox4x32, Xoshiro256pp  # noqa: E402

ALL = pytest.mark.parametrize("cls", (ARS7, Philox4x32, Xoshiro256pp))


@ALL
def test_pandas_samples(cls):
    pandas = pytest.importorskip("pandas", reason="pandas is missing: sample() is not tested")
    frame = pandas.DataFrame({"x": range(100)})
    # pandas documents bit generators and Generators; both are taken as they are.
    first = frame.sample(10, random_state=cls(1)).x.tolist()
    assert first == frame.sample(10, random_state=cls(1)).x.tolist()
    assert first != frame.sample(10, random_state=cls(2)).x.tolist()
    of_generator = frame.sample(10, random_state=np.random.Generator(cls(1)))
    assert len(set(of_generator.x)) == 10
    assert frame.groupby("x").sample(1, random_state=cls(1)).shape == (100, 1)
    assert len(pandas.Series(range(9)).sample(frac=1, random_state=cls(1))) == 9


@ALL
def test_scipys_distributions_draw(cls):
    stats = pytest.importorskip("scipy.stats", reason="scipy is missing: rvs() is not tested")
    draw = stats.norm.rvs(size=2000, random_state=np.random.Generator(cls(1)))
    assert (draw == np.random.Generator(cls(1)).normal(size=2000)).all()
    assert stats.kstest(draw, "norm").pvalue > 1e-9
    frozen = stats.gamma(2.5)
    frozen.random_state = np.random.Generator(cls(1))
    assert frozen.rvs(3).shape == (3,)
    assert stats.multivariate_normal.rvs(size=4, random_state=np.random.Generator(cls(1))).size
    assert stats.special_ortho_group.rvs(3, random_state=np.random.Generator(cls(1))).shape
    result = stats.bootstrap((draw[:50],), np.mean, n_resamples=99, rng=np.random.Generator(cls(1)))
    assert result.confidence_interval.low < draw[:50].mean() < result.confidence_interval.high
    permuted = stats.permutation_test(
        (draw[:20], draw[20:40] + 9), lambda a, b: a.mean() - b.mean(), n_resamples=99,
        rng=np.random.Generator(cls(1)),
    )  # fmt: skip
    assert permuted.pvalue < 0.05
    sobol = stats.qmc.Sobol(2, rng=np.random.Generator(cls(1))).random(8)
    assert ((sobol >= 0) & (sobol < 1)).all()


@ALL
def test_scipys_optimizer_and_sparse_matrices(cls):
    optimize = pytest.importorskip("scipy.optimize", reason="scipy is missing")
    sparse = pytest.importorskip("scipy.sparse", reason="scipy is missing")
    found = optimize.differential_evolution(
        lambda x: (x**2).sum(), [(-5, 5)] * 2, rng=np.random.Generator(cls(1)), maxiter=50
    )
    assert found.fun < 1e-3
    matrix = sparse.random_array((30, 30), density=0.1, rng=np.random.Generator(cls(1)))
    assert matrix.nnz == 90


@ALL
def test_sklearn_takes_a_random_state_over_ours(cls):
    sklearn = pytest.importorskip("sklearn", reason="scikit-learn is missing")
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.model_selection import train_test_split
    from sklearn.utils import check_random_state

    assert sklearn
    with pytest.raises(ValueError):
        check_random_state(np.random.Generator(cls(1)))  # it takes no Generator at all
    rows = np.arange(200).reshape(100, 2)
    one, two = (
        train_test_split(rows, random_state=np.random.RandomState(cls(1)))[0] for _ in range(2)
    )
    assert (one == two).all()
    labels = rows[:, 0] > 100
    forest = RandomForestClassifier(5, random_state=np.random.RandomState(cls(1)))
    assert forest.fit(rows, labels).score(rows, labels) > 0.9


@ALL
def test_random_state_draws(cls):
    # The legacy interface over our words, its own buffer of gaussians included.
    ours, twin = np.random.RandomState(cls(1)), np.random.RandomState(cls(1))
    assert (ours.standard_normal(7) == twin.standard_normal(7)).all()
    state = ours.get_state(legacy=False)
    expected = ours.standard_normal(3)
    ours.set_state(state)
    assert (ours.standard_normal(3) == expected).all()


def test_the_global_generator_of_numpy():
    code = """
import numpy as np
from headwater.numpy import ARS7
old = np.random.get_bit_generator()
np.random.set_bit_generator(ARS7(1))
assert type(np.random.get_bit_generator()) is ARS7
drawn = np.random.random_sample(5)
assert (drawn == np.random.RandomState(ARS7(1)).random_sample(5)).all()
np.random.shuffle(np.arange(9)); np.random.choice(5, 3); np.random.randn(2)
np.random.set_bit_generator(old)
assert type(np.random.get_bit_generator()).__name__ == "MT19937"
"""
    subprocess.run([sys.executable, "-c", code], check=True)


@ALL
def test_numpys_own_consumers(cls):
    rng = np.random.default_rng(cls(1))
    assert type(rng.bit_generator) is cls
    assert np.random.Generator(cls(1)).spawn(2)[0].random() != rng.random()
    assert np.random.default_rng(np.random.Generator(cls(1))).random() >= 0


@functools.cache
def compiled():
    """Returns a function that Numba compiles once for all classes."""
    numba = pytest.importorskip("numba", reason="numba is missing: compiled draws are not tested")
    return numba.njit(lambda rng: (rng.random(500), rng.standard_normal(500)))


@ALL
def test_numba_draws(cls):
    rng = np.random.Generator(cls(1))
    expected = rng.random(500), rng.standard_normal(500)
    for ours, numpys in zip(compiled()(np.random.Generator(cls(1))), expected, strict=True):
        assert (ours == numpys).all()


@ALL
def test_networkx_takes_a_generator(cls):
    networkx = pytest.importorskip("networkx", reason="networkx is missing")
    graph = networkx.gnp_random_graph(30, 0.2, seed=np.random.Generator(cls(1)))
    again = networkx.gnp_random_graph(30, 0.2, seed=np.random.Generator(cls(1)))
    assert list(graph.edges) == list(again.edges) and graph.size() > 0


@ALL
def test_joblib_passes_it_to_processes(cls):
    joblib = pytest.importorskip("joblib", reason="joblib is missing")
    rngs = np.random.Generator(cls(1)).spawn(3)
    expected = [rng.random() for rng in np.random.Generator(cls(1)).spawn(3)]
    with joblib.parallel_config("multiprocessing", n_jobs=2):
        drawn = joblib.Parallel()(joblib.delayed(draw_one)(rng) for rng in rngs)
    assert drawn == expected


def draw_one(rng):
    return rng.random()
