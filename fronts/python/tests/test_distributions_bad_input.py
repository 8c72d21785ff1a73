"""Bad parameters raise what a Python user expects, with the argument's name in the message."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from headwater import Key

S: Any = Key(42).stream(0)
NAN, INF = float("nan"), float("inf")
TWO = [[2.0, 1.0], [1.0, 2.0]]
MASKED = np.ma.array([0.5, 0.5], mask=[0, 1])

#: Each call with its exception and a part of the message.
TABLE: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    # Outside the domain.
    "beta a": (lambda: S.beta(0, 1), ValueError, "a must be .* above 0, not 0.0"),
    "beta b": (lambda: S.beta(1, -1), ValueError, "b must be .* above 0, not -1.0"),
    "binomial n": (lambda: S.binomial(-1, 0.5), ValueError, "n must be .* not -1"),
    "binomial n 2^64": (lambda: S.binomial(1 << 64, 0.5), ValueError, "n must be"),
    "binomial n int64": (lambda: S.binomial(1 << 63, 0.5), ValueError, "n must .* uint64 holds"),
    "binomial p": (lambda: S.binomial(1, 1.5), ValueError, "p must be .* not 1.5"),
    "binomial nan": (lambda: S.binomial(1, NAN), ValueError, "p must be .* not nan"),
    "categorical empty": (lambda: S.categorical([]), ValueError, "weights must be"),
    "categorical -1": (lambda: S.categorical([1, -1]), ValueError, "weights must be"),
    "categorical 0": (lambda: S.categorical([0, 0]), ValueError, "weights must be"),
    "categorical masked": (lambda: S.categorical(MASKED), TypeError, "weights .* masked array"),
    "choice masked": (lambda: S.choice("ab", 5, p=MASKED), TypeError, "p .* masked array"),
    "dirichlet masked": (lambda: S.dirichlet(MASKED), TypeError, "alpha .* masked array"),
    "multinomial masked": (lambda: S.multinomial(9, MASKED), TypeError, "pvals .* masked array"),
    "colors masked": (
        lambda: S.multivariate_hypergeometric(np.ma.array([1, 2], mask=[0, 1]), 1),
        TypeError,
        "colors .* masked array",
    ),
    "normal mean masked": (
        lambda: S.multivariate_normal(MASKED, TWO),
        TypeError,
        "mean .* masked array",
    ),
    "categorical nan": (lambda: S.categorical([NAN]), ValueError, "weights must be"),
    "chisquare": (lambda: S.chisquare(0), ValueError, "df must be .* not 0.0"),
    "dirichlet": (lambda: S.dirichlet([1, 0]), ValueError, "alpha must be"),
    "dirichlet empty": (lambda: S.dirichlet([]), ValueError, "alpha must be"),
    "gamma shape": (lambda: S.gamma(-1), ValueError, "shape must be .* not -1.0"),
    "gamma scale": (lambda: S.gamma(1, -1), ValueError, "scale must be .* not -1.0"),
    "gamma scale inf": (lambda: S.gamma(1, INF), ValueError, "scale must be .* not inf"),
    "standard_gamma": (lambda: S.standard_gamma(INF), ValueError, "shape must be .* not inf"),
    "geometric 0": (lambda: S.geometric(0), ValueError, "p must be .* not 0.0"),
    "geometric 1.1": (lambda: S.geometric(1.1), ValueError, "p must be"),
    "lognormal mean": (lambda: S.lognormal(INF), ValueError, "mean must be .* not inf"),
    "lognormal sigma": (lambda: S.lognormal(0, -1), ValueError, "sigma must be .* not -1.0"),
    "multinomial n": (lambda: S.multinomial(-1, [1]), ValueError, "n must be"),
    "multinomial int64": (lambda: S.multinomial(1 << 63, [1]), ValueError, "n must be at most"),
    "multinomial pvals": (lambda: S.multinomial(1, [-1, 2]), ValueError, "pvals must be"),
    "multinomial empty": (lambda: S.multinomial(1, []), ValueError, "pvals must be"),
    "normal mean": (lambda: S.multivariate_normal([], []), ValueError, "mean must be|cov must"),
    "normal mean nan": (lambda: S.multivariate_normal([NAN, 0], TWO), ValueError, "mean must be"),
    "normal cov": (
        lambda: S.multivariate_normal([0, 0], [[1, 2], [2, 1]]),
        ValueError,
        "cov must be positive semidefinite",
    ),
    "normal cov nan": (
        lambda: S.multivariate_normal([0, 0], [[1, NAN], [NAN, 1]]),
        ValueError,
        "cov must be",
    ),
    "normal cov shape": (
        lambda: S.multivariate_normal([0, 0, 0], TWO),
        ValueError,
        r"cov must have shape \(3, 3\)",
    ),
    "normal cov flat": (
        lambda: S.multivariate_normal([0, 0], np.ones(4)),
        ValueError,
        r"cov must have shape \(2, 2\)",
    ),
    "normal cov ragged": (
        lambda: S.multivariate_normal([0, 0], [[1], [1, 2, 3]]),
        ValueError,
        "cov must have rows of one length",
    ),
    "poisson": (lambda: S.poisson(-1), ValueError, "lam must be .* not -1.0"),
    "poisson int64": (lambda: S.poisson(2.0**63), ValueError, "lam must be at most .* uint64"),
    "poisson 1e19": (lambda: S.poisson(1e19), ValueError, "lam must be"),
    "sobol 0": (lambda: S.sobol(0), ValueError, "d must be from 1 to 1111, not 0"),
    "sobol 1112": (lambda: S.sobol(1112), ValueError, "d must be .* not 1112"),
    "sobol end": (lambda: S.sobol(2, 2, start=(1 << 53) - 1), ValueError, "start"),
    "standard_t": (lambda: S.standard_t(0), ValueError, "df must be .* not 0.0"),
    "truncated ends": (lambda: S.truncated_normal(1, 1), ValueError, "low must be .* below high"),
    "truncated nan": (lambda: S.truncated_normal(NAN, 1), ValueError, "low must be .* not nan"),
    "truncated scale": (lambda: S.truncated_normal(0, 1, 0, 0), ValueError, "scale must be"),
    "truncated loc": (lambda: S.truncated_normal(0, 1, INF), ValueError, "loc must be"),
    "vonmises mu": (lambda: S.vonmises(4, 1), ValueError, "mu must be .* not 4.0"),
    "vonmises kappa": (lambda: S.vonmises(0, -1), ValueError, "kappa must be .* not -1.0"),
    # Of another type.
    "array": (lambda: S.poisson(np.array([1.0, 2])), TypeError, "lam must be one number .* arrays"),
    "list": (lambda: S.gamma([1, 2]), TypeError, "shape must be one number .* arrays"),
    "tuple": (lambda: S.binomial((1, 2), 0.5), TypeError, "n must be one number .* arrays"),
    "array of one": (lambda: S.beta(np.ones(1), 1), TypeError, "a must be one number"),
    "text": (lambda: S.poisson("1"), TypeError, "lam must be a number, not str"),
    "None": (lambda: S.poisson(None), TypeError, "lam must be a number, not NoneType"),
    "complex": (lambda: S.poisson(1j), TypeError, "lam must be a number, not complex"),
    "float n": (lambda: S.binomial(2.0, 0.5), TypeError, "n must be an integer, not float"),
    "float d": (lambda: S.sobol(2.0), TypeError, "d must be an integer, not float"),
    "huge": (lambda: S.gamma(10**400), ValueError, "shape must be at most"),
    "weights number": (lambda: S.categorical(3), TypeError, "weights must be a sequence"),
    "weights text": (lambda: S.categorical("123"), TypeError, "weights must be a sequence"),
    "weights bytes": (lambda: S.categorical(b"123"), TypeError, "weights must hold numbers"),
    "weights nested": (lambda: S.categorical([[1], [2]]), TypeError, "weights must be one number"),
    "weights 2-d": (lambda: S.categorical(np.ones((2, 2))), ValueError, "weights must have one"),
    "weights objects": (lambda: S.dirichlet(np.ones(2, object)), TypeError, "alpha must hold"),
    "cov number": (lambda: S.multivariate_normal([0], 1), TypeError, "cov must be a sequence"),
    "missing": (lambda: S.binomial(3), TypeError, "p"),
    # Sizes, types and places.
    "size -1": (lambda: S.poisson(1, -1), ValueError, "size must .* not -1"),
    "size float": (lambda: S.poisson(1, 2.0), TypeError, "size must"),
    "size huge": (lambda: S.sobol(1000, 1 << 60), MemoryError, "shape"),
    "dtype of counts": (lambda: S.poisson(1, 2, dtype="float64"), TypeError, "dtype must be of"),
    "dtype of reals": (lambda: S.beta(1, 1, 2, dtype="float16"), TypeError, "dtype must be of"),
    "dtype of vectors": (lambda: S.dirichlet([1], dtype="float32"), TypeError, "dtype must be of"),
    "dtype positional": (lambda: S.poisson(1, 2, "int64"), TypeError, "positional"),
    "out type": (lambda: S.poisson(1, out=np.zeros(3)), TypeError, "out must be of type int64"),
    "out vectors": (
        lambda: S.dirichlet([1, 2], out=np.zeros((2, 3))),
        ValueError,
        r"out must have vectors of 2 components in its last dimension, not shape \(2, 3\)",
    ),
    "out flat": (lambda: S.dirichlet([1, 2], out=np.zeros(4)), ValueError, "out must have vectors"),
    "out 0-d": (lambda: S.dirichlet([1], out=np.zeros(())), ValueError, "out must have vectors"),
    "out and size": (
        lambda: S.dirichlet([1, 2], 3, out=np.zeros((2, 2))),
        ValueError,
        r"out must have shape \(3, 2\), not \(2, 2\)",
    ),
    "start": (lambda: S.poisson(1, start=-1), ValueError, "start must"),
    "past the end": (lambda: S.poisson(1, 2, start=(1 << 64) - 2), ValueError, "start"),
    "rows past the end": (lambda: S.dirichlet([1] * 4, start=1 << 62), ValueError, "start"),
    "threads": (lambda: S.poisson(1, 2, threads=-1), ValueError, "threads must"),
    "choice p": (lambda: S.choice(3, p=[1, 2]), ValueError, "p must have a weight for each of the"),
    "choice p -1": (lambda: S.choice(2, p=[1, -2]), ValueError, "p must be finite numbers"),
    "choice p order": (lambda: S.choice(2, 2, replace=False, p=[1, 2]), ValueError, "p needs"),
    "choice nothing": (lambda: S.choice([], p=[]), ValueError, "p must be"),
    "at": (lambda: S.at([1]).poisson(-1), ValueError, "lam must be"),
    "at out": (lambda: S.at([1]).poisson(1, out=np.zeros(2, int)), ValueError, "out must have"),
    "at the end": (lambda: S.at([1 << 53]).sobol(1), ValueError, "start and indices"),
    "bfloat16 in NumPy": (
        lambda: S.random(out=np.zeros(3, "u2"), dtype="bfloat16"),
        TypeError,
        "out must be of type float64 or float32 or float16 or bfloat16, not uint16",
    ),
    "complex dtype": (lambda: S.complex_normal(2, "float64"), TypeError, "dtype must be of"),
    "complex end": (lambda: S.complex_normal(2, start=1 << 63), ValueError, "start"),
}


@pytest.mark.parametrize("name", TABLE)
def test_bad_parameters(name: str) -> None:
    call, exception, message = TABLE[name]
    with pytest.raises(exception, match=message) as raised:
        call()
    assert type(raised.value) is exception
    # Every argument keeps its meaning after a refusal.
    assert 0 <= S.random() < 1


def test_an_error_writes_nothing() -> None:
    out = np.full((3, 2), 7.0)
    for call in (
        lambda: S.dirichlet([1, -1], out=out),
        lambda: S.dirichlet([1, 1], out=out, start=(1 << 63)),
        lambda: S.multivariate_normal([0, 0], [[1, 2], [2, 1]], out=out),
    ):
        with pytest.raises(ValueError):
            call()
    assert (out == 7).all()


def test_a_frame_is_its_values_and_not_its_labels() -> None:
    """The weights of a frame of one row were its labels, 0 and 1."""
    pd = pytest.importorskip("pandas", reason="pandas is not installed: its frames were not drawn")
    frame = pd.DataFrame(TWO)
    made = S.multivariate_normal([0, 0], frame, 100)
    assert np.array_equal(made, S.multivariate_normal([0, 0], TWO, 100))
    with pytest.raises(ValueError, match="weights must have one dimension, not 2"):
        S.categorical(frame[:1], 5)
    with pytest.raises(ValueError, match="alpha must have one dimension, not 2"):
        S.dirichlet(frame + 1)
