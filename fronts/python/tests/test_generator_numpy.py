"""Every method of NumPy's Generator, found by walking its class: shapes, types and kinds of ours."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from headwater import Generator, Key
from headwater._generator_draw import Draw

#: Parameters of each method that draws numbers or vectors, up to its size.
PARAMETERS: dict[str, tuple[Any, ...]] = {
    "beta": (2.0, 3.0),
    "binomial": (10, 0.3),
    "chisquare": (3.0,),
    "dirichlet": ([1.0, 2.0],),
    "exponential": (2.0,),
    "f": (5.0, 7.0),
    "gamma": (2.5, 2.0),
    "geometric": (0.3,),
    "gumbel": (1.0, 2.0),
    "hypergeometric": (20, 30, 10),
    "integers": (3, 90),
    "laplace": (1.0, 2.0),
    "logistic": (1.0, 2.0),
    "lognormal": (0.5, 0.25),
    "logseries": (0.7,),
    "multinomial": (20, [0.2, 0.3, 0.5]),
    "multivariate_hypergeometric": ([5, 6, 7], 9),
    "multivariate_normal": ([0.0, 1.0], [[2.0, 0.5], [0.5, 1.0]]),
    "negative_binomial": (3.0, 0.4),
    "noncentral_chisquare": (3.0, 2.0),
    "noncentral_f": (3.0, 5.0, 2.0),
    "normal": (1.0, 2.0),
    "pareto": (3.0,),
    "poisson": (4.0,),
    "power": (2.0,),
    "random": (),
    "rayleigh": (2.0,),
    "standard_cauchy": (),
    "standard_exponential": (),
    "standard_gamma": (2.5,),
    "standard_normal": (),
    "standard_t": (4.0,),
    "triangular": (0.0, 1.0, 3.0),
    "uniform": (-1.0, 2.0),
    "vonmises": (0.5, 2.0),
    "wald": (1.0, 2.0),
    "weibull": (2.0,),
    "zipf": (2.5,),
}
#: Methods without a size, each of which has tests of its own.
OTHERS = {"bytes", "choice", "permutation", "permuted", "shuffle", "spawn"}
VECTORS = {"dirichlet", "multinomial", "multivariate_hypergeometric", "multivariate_normal"}


def rng() -> Any:
    return Generator(Key(40))


def test_the_table_of_this_file_has_every_method() -> None:
    methods = {
        name
        for name in dir(np.random.Generator)
        if name[0] != "_" and callable(getattr(np.random.Generator, name))
    }
    assert methods == set(PARAMETERS) | OTHERS


@pytest.mark.parametrize("method", PARAMETERS)
@pytest.mark.parametrize("size", [None, 0, 3, (), (1,), (2, 3), (2, 0), [4], np.int64(5)])
def test_sizes_have_numpys_shapes_and_types(method: str, size: Any) -> None:
    given = PARAMETERS[method]
    ours = getattr(rng(), method)(*given, size=size)
    theirs = getattr(np.random.default_rng(1), method)(*given, size=size)
    assert np.shape(ours) == np.shape(theirs)
    assert np.asarray(ours).dtype == np.asarray(theirs).dtype
    assert isinstance(ours, np.ndarray) == isinstance(theirs, np.ndarray)


@pytest.mark.parametrize("method", sorted(set(PARAMETERS) - VECTORS))
def test_arrays_of_parameters_broadcast_as_numpys(method: str) -> None:
    """Each parameter as a list, an array, a column and one without a dimension, with each size."""
    given = PARAMETERS[method]
    forms = [
        lambda x: x,
        lambda x: [x, x],
        lambda x: np.array([x, x]),
        lambda x: np.array([[x], [x], [x]]),
        lambda x: np.array(x),
        lambda x: np.empty(0, np.asarray(x).dtype),
    ]
    for chosen in itertools.product(forms, repeat=len(given)):
        arrays = [form(x) for form, x in zip(chosen, given)]
        for size in (None, (3, 2), (4, 3, 2), 7):
            results: list[Any] = []
            for one in (rng(), np.random.default_rng(1)):
                try:
                    made = np.asarray(getattr(one, method)(*arrays, size=size))
                    results.append((made.shape, made.dtype))
                except (ValueError, TypeError) as error:
                    results.append((type(error), str(error)))
            assert results[0] == results[1], (arrays, size)


def _refusing(self: Any, method: Any, /, *arguments: Any, **named: Any) -> Any:
    raise AssertionError(f"{method} of NumPy's was asked for numbers")


@pytest.mark.parametrize("method", PARAMETERS)
def test_numbers_are_never_numpys(method: str, monkeypatch: Any) -> None:
    """Numbers that NumPy makes would change with its version, so every kind is the table's."""
    monkeypatch.setattr(Draw, "_numpy", _refusing)
    given = PARAMETERS[method]
    getattr(rng(), method)(*given)
    getattr(rng(), method)(*given, size=(2, 3))
    if method in VECTORS | {"integers"}:
        return
    arrays = [np.full((2, 1), x) for x in given]
    made = getattr(rng(), method)(*arrays, size=(2, 3))
    if given and method not in ("normal", "laplace", "logistic", "gumbel"):
        # Elements with parameters of their own are those of the same numbers for all.
        assert np.array_equal(made, getattr(rng(), method)(*given, size=(2, 3)))


#: Parameters at the ends of what NumPy takes. The values must be in the range, whatever they are.
ENDS: dict[str, tuple[str, tuple[Any, ...], float, float]] = {
    "nothing to draw": ("hypergeometric", (0, 0, 0), 0, 0),
    "nothing good": ("hypergeometric", (0, 9, 5), 0, 0),
    "nothing bad": ("hypergeometric", (9, 0, 5), 5, 5),
    "all of them": ("hypergeometric", (9, 7, 16), 9, 9),
    "all but one": ("hypergeometric", (9, 7, 15), 8, 9),
    "one": ("hypergeometric", (1, 10**9 - 1, 1), 0, 1),
    "a billion": ("hypergeometric", (10**9 - 1, 10**9 - 1, 10**9), 499_000_000, 501_000_000),
    "colors without items": ("multivariate_hypergeometric", ([0, 0, 0], 0), 0, 0),
    "one color": ("multivariate_hypergeometric", ([7], 3), 3, 3),
    "sure successes": ("negative_binomial", (5, 1.0), 0, 0),
    "hardly any": ("negative_binomial", (1e-300, 0.5), 0, 0),
    "many failures": ("negative_binomial", (1e10, 1e-5), 9e14, 1.1e15),
    "central": ("noncentral_chisquare", (3, 0), 0, 1000),
    "tiny degrees": ("noncentral_chisquare", (5e-324, 0), 0, 0),
    "tiny degrees apart": ("noncentral_chisquare", (1e-300, 1e6), 9e5, 1.1e6),
    "huge": ("noncentral_chisquare", (1e300, 1e300), 1.9e300, 2.1e300),
    "one degree": ("noncentral_chisquare", (1, 1e12), 9e11, 1.1e12),
    "central F": ("noncentral_f", (3, 1e300, 0), 0, 1000),
    "huge F": ("noncentral_f", (1e10, 1e10, 1e10), 1.9, 2.1),
    "binomial of none": ("binomial", (0, 0.5), 0, 0),
    "normal of no width": ("normal", (5, 0), 5, 5),
    "gamma of no scale": ("gamma", (3, 0), 0, 0),
    "gamma of shape 0": ("gamma", (0, 1), 0, 0),
    "standard gamma of 0": ("standard_gamma", (0,), 0, 0),
    "poisson of 0": ("poisson", (0,), 0, 0),
    "geometric of 1": ("geometric", (1,), 1, 1),
    "logseries of 0": ("logseries", (0,), 1, 1),
    "uniform of one": ("uniform", (3, 3), 3, 3),
    "von Mises of 0": ("vonmises", (0, 0), -np.pi, np.pi),
}


@pytest.mark.parametrize("name", ENDS)
def test_ends_of_parameters(name: str) -> None:
    method, given, low, high = ENDS[name]
    for size in (1000, 1):
        made = np.asarray(getattr(rng(), method)(*given, size=size))
        theirs = np.asarray(getattr(np.random.default_rng(1), method)(*given, size=size))
        assert made.shape == theirs.shape and made.dtype == theirs.dtype
        assert low <= made.min() and made.max() <= high, (made.min(), made.max())


#: Arrays that a cast would take for other numbers: dates for their days, and so on.
NO_FLOATS = {
    "dates": np.array(["1970-01-02", "1970-01-03"], "M8[D]"),
    "complex": np.array([0.5 + 3j, 0.5]),
    "objects": np.array([0.5, 0.5], dtype=object),
    "texts": np.array(["0.5", "0.5"]),
}
WITH_FLOATS: dict[str, Any] = {
    "exponential": lambda rng, a: rng.exponential(a),
    "rayleigh": lambda rng, a: rng.rayleigh(a),
    "normal": lambda rng, a: rng.normal(a, 1),
    "deviation": lambda rng, a: rng.normal(0, a, size=2),
    "laplace": lambda rng, a: rng.laplace(0, a),
    "gumbel": lambda rng, a: rng.gumbel(a, 2),
    "gamma": lambda rng, a: rng.gamma(2.0, a),
    "beta": lambda rng, a: rng.beta(a, 2),
    "multinomial": lambda rng, a: rng.multinomial(5, a),
    "choice": lambda rng, a: rng.choice(2, p=a),
}


@pytest.mark.parametrize("kind", NO_FLOATS)
@pytest.mark.parametrize("name", WITH_FLOATS)
def test_arrays_that_are_no_floats_are_refused_as_numpy_refuses_them(name: str, kind: str) -> None:
    ours = rng()
    for one in (ours, np.random.default_rng(1)):
        with pytest.raises(TypeError, match="Cannot cast array data"):
            WITH_FLOATS[name](one, NO_FLOATS[kind])
    assert ours.word == 0


@pytest.mark.parametrize("kind", NO_FLOATS)
def test_the_methods_that_numpy_lacks_refuse_them_too(kind: str) -> None:
    given = NO_FLOATS[kind]
    calls = [
        lambda: rng().bernoulli(given),
        lambda: rng().complex_normal(0, given),
        lambda: rng().wishart(3, np.array([given, given])),
    ]
    for call in calls:
        with pytest.raises(TypeError, match="Cannot cast array data"):
            call()
    if kind != "complex":
        with pytest.raises(TypeError, match="Cannot cast array data"):
            rng().complex_normal(given)


@pytest.mark.parametrize("size", [2.5, 2.0, "2", (2.0,), [[2]], None, 2, (3, 2), np.int8(2)])
@pytest.mark.parametrize("method", ["normal", "exponential", "gamma", "beta", "poisson", "maxwell"])
def test_a_size_beside_arrays_is_made_of_integers(method: str, size: Any) -> None:
    """It was cut to one: 2.5 made two numbers, and the text as well."""
    given = [np.array([1.0, 2.0])] * (2 if method in ("normal", "beta") else 1)
    call = getattr(rng(), method)
    if size is None or np.ndim(size) < 2 and np.asarray(size).dtype.kind == "i":
        assert call(*given, size=size).shape == ((2,) if size is None else (*np.atleast_1d(size),))
        return
    with pytest.raises(TypeError):
        call(*given, size=size)


@pytest.mark.parametrize("method", ["random", "normal", "poisson", "gamma", "choice", "integers"])
def test_a_size_is_no_boolean(method: str) -> None:
    given = {"gamma": (2.0,), "choice": (5,), "integers": (5,)}.get(method, ())
    for one in (rng(), np.random.default_rng(1)):
        with pytest.raises(TypeError):
            getattr(one, method)(*given, size=True)
