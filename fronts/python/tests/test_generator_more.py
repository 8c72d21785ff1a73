"""JAX's and randomgen's methods of `headwater.Generator`, and JAX's names of a key."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from headwater import Generator, Key
from secure_support import python

N = 40_000


def rng() -> Any:
    return Generator(Key(11))


def is_near(made: Any, expected: Any, deviation: Any) -> None:
    """A mean of N numbers, to five of its standard deviations."""
    difference = np.abs(np.asarray(made) - expected)
    assert np.all(difference <= 5 * np.asarray(deviation) / math.sqrt(N)), (made, expected)


def is_uniform(x: Any) -> None:
    """Kolmogorov's distance from the uniform distribution on [0, 1]."""
    x = np.sort(np.asarray(x).ravel())
    places = np.arange(len(x) + 1) / len(x)
    distance = max(np.max(places[1:] - x), np.max(x - places[:-1]))
    assert distance * math.sqrt(len(x)) < 2.2  # once in 8,000 cases


def test_keys_by_jaxs_names() -> None:
    key = Key(5)
    first, second = key.split()
    assert [first, second] == key.split(2) == key.split(9)[:2]
    assert key.split(0) == []
    assert first == key.child("split").child(0)
    assert key.fold_in(3) == key.child(3) and key.fold_in("a") == key.child("a")
    # A number that is folded in is none of the keys that a split makes.
    assert not set(key.split(100)) & {key.fold_in(i) for i in range(100)}
    with pytest.raises(ValueError, match="num must be a number of keys .*, not -1"):
        key.split(-1)
    with pytest.raises(MemoryError):
        key.split(2**62)


def test_bits() -> None:
    assert rng().bits(3).dtype == np.uint32
    for dtype in (np.uint8, np.uint16, np.uint32, np.uint64):
        made = rng().bits(N, dtype)
        width = 8 * made.itemsize
        ones = [np.count_nonzero(made >> dtype(i) & dtype(1)) / N for i in range(width)]
        is_near(ones, 0.5, 0.5)
    with pytest.raises(TypeError, match="unsigned"):
        rng().bits(3, np.int32)


def test_bernoulli_and_rademacher() -> None:
    made = rng().bernoulli(0.25, N)
    assert made.dtype == bool
    is_near(made.mean(), 0.25, 0.44)
    assert isinstance(rng().bernoulli(), bool)
    assert rng().bernoulli([0.0, 1.0]).tolist() == [False, True]
    assert rng().bernoulli([0.0, 1.0], (3, 2)).tolist() == [[False, True]] * 3
    for wrong in (-0.1, 1.1, math.nan, [0.5, 2]):
        with pytest.raises(ValueError, match="p < 0, p > 1 or p is NaN"):
            rng().bernoulli(wrong)
    with pytest.raises(ValueError, match="not compatible with broadcast"):
        rng().bernoulli([0.5, 0.5], 3)
    sides = rng().rademacher(N)
    assert sides.dtype == np.int64 and set(sides.tolist()) == {-1, 1}
    is_near(sides.mean(), 0, 1)
    assert rng().rademacher((2, 3), np.float32).dtype == np.float32
    assert rng().rademacher() in (-1, 1)
    with pytest.raises(TypeError, match="sign"):
        rng().rademacher(3, np.uint8)


def test_maxwell_and_loggamma() -> None:
    x = rng().maxwell(2.0, N)
    is_near(x.mean(), 4 * math.sqrt(2 / math.pi), 2 * math.sqrt(3 - 8 / math.pi))
    assert rng().maxwell([0.0, 0.0]).tolist() == [0.0, 0.0]
    small = rng().loggamma(1e-300, N)
    assert np.all(np.isfinite(small))
    # x * a is minus an exponential number for a small shape a.
    is_uniform(np.exp(1e-300 * small))
    is_near(rng().loggamma(1.0, N).mean(), -0.5772156649015329, math.pi / math.sqrt(6))
    same = np.log(Key(1).stream(0).child("x").standard_gamma(2.5, 9))
    assert not np.array_equal(same, Key(1).stream(0).child("x").loggamma(2.5, 9))
    for wrong in (0, -1, math.nan, [1.0, -1.0]):
        with pytest.raises(ValueError, match="a must be a finite number above 0"):
            rng().loggamma(wrong)
    with pytest.raises(ValueError, match="scale must be a finite number from 0"):
        rng().maxwell(-1)


@pytest.mark.parametrize("p", [0.01, 0.5, 1.0, 2.0, 7.5, 1e6, math.inf])
@pytest.mark.parametrize("d", [1, 2, 5])
def test_points_of_balls(d: int, p: float) -> None:
    """The norm to the power of d is uniform for a uniform point, and signs are even."""
    x = rng().ball(d, p, N)
    assert x.shape == (N, d) and np.all(np.isfinite(x))
    largest = np.abs(x).max(axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = np.abs(x) / largest[:, None]
        norm = largest * np.sum(ratios**p, axis=-1) ** (1 / p) if p < math.inf else largest
    assert np.all(norm <= 1 + 1e-9)
    is_uniform(norm**d)
    is_near((x > 0).mean(axis=0), 0.5, 0.5)


def test_a_ball_of_a_tiny_norm_is_no_floating_point_error() -> None:
    with np.errstate(all="raise"):
        points = rng().ball(3, 1e-3, 100)
    assert np.array_equal(points, rng().ball(3, 1e-3, 100)) and (np.abs(points) <= 1).all()


def test_balls_of_no_dimension_or_norm() -> None:
    assert rng().ball(3).shape == (3,) and rng().ball(3, size=(2, 4)).shape == (2, 4, 3)
    for d, p in ((0, 2), (-1, 2), (3, 0), (3, -1), (3, math.nan)):
        with pytest.raises(ValueError, match="must be"):
            rng().ball(d, p)
    for call, name in ((rng().ball, "d"), (rng().orthogonal, "n")):
        with pytest.raises(TypeError, match=f"{name} must be an integer, not float"):
            call(2.5)


def test_orthogonal_matrices() -> None:
    q = rng().orthogonal(3, 4000)
    assert np.allclose(q @ np.swapaxes(q, -1, -2), np.eye(3))
    # Haar's measure: a column is a point of the sphere, whose coordinates are uniform in 3-d, and
    # the square of the trace has mean 1. Without the signs of QR neither holds.
    is_uniform((q[:, 0, 0] + 1) / 2)
    is_uniform((q[:, 2, 2] + 1) / 2)
    trace = np.trace(q, axis1=1, axis2=2)
    assert abs((trace**2).mean() - 1) < 0.12 and abs(trace.mean()) < 0.08
    assert abs((np.linalg.det(q) > 0).mean() - 0.5) < 0.04
    assert rng().orthogonal(0).shape == (0, 0)
    with pytest.raises(ValueError, match="n must be"):
        rng().orthogonal(-1)


SCALE = np.array([[2.0, 0.6, -1.0], [0.6, 5.0, 1.5], [-1.0, 1.5, 3.0]])


@pytest.mark.parametrize("df", [2.5, 3, 7, 40.25, 1, 2])
def test_wishart(df: float) -> None:
    made = rng().wishart(df, SCALE, N)
    assert made.shape == (N, 3, 3) and np.array_equal(made, np.swapaxes(made, -1, -2))
    diagonal = np.diag(SCALE)
    variance = df * (SCALE**2 + np.outer(diagonal, diagonal))
    is_near(made.mean(axis=0), df * SCALE, np.sqrt(variance))
    spread = (made - df * SCALE) ** 2
    is_near(spread.mean(axis=0), variance, spread.std(axis=0))
    assert np.linalg.matrix_rank(made[0], tol=1e-6) == min(3, math.ceil(df))


def test_wisharts_parameters() -> None:
    assert rng().wishart(4, np.eye(2)).shape == (2, 2)
    for df in (0, -1, 1.5, math.nan, math.inf):
        with pytest.raises(ValueError, match="df must be"):
            rng().wishart(df, SCALE)
    for scale in (np.ones(3), np.ones((2, 3)), [[1, 2], [0, 1]], [[np.nan]], np.empty((0, 0))):
        with pytest.raises(ValueError, match="scale must be"):
            rng().wishart(5, scale)
    with pytest.raises(ValueError, match="semidefinite"):
        rng().wishart(5, [[1, 2], [2, 1]])


def test_complex_normals() -> None:
    for loc, gamma, relation in ((0, 1, 0), (1 - 2j, 3.0, 1 + 1j), (2j, 2.0, -2.0), (0, 2.0, 2.0)):
        z = rng().complex_normal(loc, gamma, relation, N) - loc
        assert z.dtype == np.complex128
        is_near(z.mean(), 0, math.sqrt(gamma) * 2)
        is_near((np.abs(z) ** 2).mean(), gamma, 2 * gamma)
        is_near((z**2).mean(), relation, 3 * gamma)
    assert rng().complex_normal([1, 2], 1.0).shape == (2,)
    assert np.ndim(rng().complex_normal()) == 0
    with pytest.raises(ValueError, match="gamma"):
        rng().complex_normal(0, 1, 2)
    with pytest.raises(ValueError, match="size"):
        rng().complex_normal([0, 0], size=3)


def test_complex_normal_vectors() -> None:
    gamma = np.array([[2, 0.5 + 1j], [0.5 - 1j, 3]])
    relation = np.array([[0.5j, 0.25], [0.25, 1 - 0.5j]])
    z = rng().multivariate_complex_normal([1, 2j], gamma, relation, N) - np.array([1, 2j])
    is_near(z.mean(axis=0), 0, 4)
    is_near(np.einsum("ni,nj->ij", z, z.conj()) / N, gamma, 8)
    is_near(np.einsum("ni,nj->ij", z, z) / N, relation, 8)
    plain = rng().multivariate_complex_normal([0, 0], size=(2, 3))
    assert plain.shape == (2, 3, 2) and plain.dtype == np.complex128
    for wrong in (
        {"loc": 1.0},
        {"loc": [0, 0], "gamma": np.eye(3)},
        {"loc": [0, 0], "gamma": [[1, 1j], [1j, 1]]},
        {"loc": [0], "gamma": [[-1]]},
        {"loc": [0], "gamma": [[1]], "relation": [[2]]},
        {"loc": [0, 0], "relation": [[0, 1], [0, 0]]},
    ):
        with pytest.raises(ValueError, match=r"loc|gamma|relation"):
            rng().multivariate_complex_normal(**wrong)


def test_calls_are_reproducible_and_pieces_of_one_cursor() -> None:
    calls: list[Callable[[Any], Any]] = [
        lambda r: r.bits(5),
        lambda r: r.bernoulli(0.3, 5),
        lambda r: r.rademacher(5),
        lambda r: r.ball(3, size=5),
        lambda r: r.orthogonal(3),
        lambda r: r.wishart(4, SCALE),
        lambda r: r.complex_normal(size=5),
        lambda r: r.multivariate_complex_normal([0, 1], size=5),
    ]
    one, other = rng(), rng()
    for call in calls:
        before = one.word
        first = call(one)
        assert np.array_equal(first, call(other)) and one.word > before
        assert not np.array_equal(first, call(one)) or first.size < 6
        call(other)


def test_gumbel_noise_by_request_position_and_token_is_finite() -> None:
    """The noise of a sampler of language models: sglang's of 32 bits was infinite now and then."""
    key = Key(42)
    vocabulary = 1000
    noise = [
        [key.child(request).stream(position).gumbel(size=vocabulary) for position in range(4)]
        for request in ("a", "b")
    ]
    assert np.all(np.isfinite(noise))
    # A batch of other requests, or one token alone, has the same noise.
    one = key.child("b").stream(2).at(999).gumbel()
    assert one == noise[1][2][999]
    single = key.child("a").stream(0).gumbel(size=vocabulary, dtype="float32")
    assert np.all(np.isfinite(single))
    # The ends: -ln of the exponential numbers of the largest and of the smallest word.
    assert -3.8 < np.min(noise) and np.max(noise) < 45.0


def test_development_mode_warns_of_shared_words() -> None:
    code = """
import warnings
import headwater
from headwater import Key
warnings.simplefilter("error")
stream = Key(1).stream(0)
stream.random(3); stream.random(3); stream.standard_gamma(2.0, 3); stream.poisson(3.0, 3)
stream.child("other").integers(0, 5, 3)
for draw in (lambda: stream.integers(0, 5, 3), lambda: stream.chisquare(2.0, 3)):
    try:
        draw()
    except RuntimeWarning as warning:
        assert "made of the same words" in str(warning) and "stream.child" in str(warning)
    else:
        raise SystemExit("no warning")
rng = headwater.Generator(1)
rng.random(3); rng.integers(0, 5, 3)
"""
    python(code, "-X", "dev")
    python(code.replace("raise SystemExit", "print"))
