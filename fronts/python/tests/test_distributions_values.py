"""Distributions have the values of `streams/vectors/`, for every type and way of asking."""

from __future__ import annotations

import json
import pickle
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import headwater
import numpy as np
import pytest
from headwater import Categorical, Key

VECTORS = Path(__file__).parents[3] / "streams" / "vectors"


def cases() -> list[dict[str, Any]]:
    """Returns the cases of both files."""
    return [
        case
        for name in ("distributions", "samplers")
        for case in json.loads((VECTORS / f"{name}.json").read_text())["cases"]
    ]


def truncated(mean: float, deviation: float, low: float, high: float) -> tuple[float, ...]:
    return low, high, mean, deviation


def matrix(*numbers: float) -> tuple[Any, Any]:
    """Returns the mean and the covariance that a case has in one list."""
    dimension = next(d for d in range(1, 99) if d * d + d == len(numbers))
    return numbers[:dimension], np.array(numbers[dimension:]).reshape(dimension, dimension)


#: The method of a kind, and its arguments made of the parameters of a case. Other kinds have a
#: method of their name, with the parameters of the case in their order.
METHODS: dict[str, tuple[str, Callable[..., Any]]] = {
    "gamma": ("standard_gamma", lambda *p: p),
    "chi_square": ("chisquare", lambda *p: p),
    "student_t": ("standard_t", lambda *p: p),
    "categorical": ("categorical", lambda *p: (p,)),
    "truncated_normal": ("truncated_normal", truncated),
    "von_mises": ("vonmises", lambda *p: p),
    "dirichlet": ("dirichlet", lambda *p: (p,)),
    "scaled_uniform": ("uniform", lambda *p: p),
    "scaled_normal": ("normal", lambda *p: p),
    "scaled_exponential": ("exponential", lambda *p: p),
    "fisher_f": ("f", lambda *p: p),
    "log_series": ("logseries", lambda *p: p),
    "noncentral_chi_square": ("noncentral_chisquare", lambda *p: p),
    "log_gamma": ("loggamma", lambda *p: p),
    "hypergeometric": ("hypergeometric", lambda *p: tuple(int(n) for n in p)),
    "multivariate_hypergeometric": ("multivariate_hypergeometric", lambda n, *p: (p, n)),
    "multinomial": ("multinomial", lambda n, *p: (n, p)),
    "multivariate_normal": ("multivariate_normal", matrix),
    "sobol": ("sobol", lambda d, _: (int(d),)),
    "complex_normal_f64": ("complex_normal", lambda: ()),
    "complex_normal_f32": ("complex_normal", lambda: ()),
    "f16": ("random", lambda: ()),
    "bf16": ("random", lambda: ()),
    "normal_f16": ("standard_normal", lambda: ()),
    "normal_bf16": ("standard_normal", lambda: ()),
}

DTYPES = {
    "f16": "float16",
    "bf16": "bfloat16",
    "normal_f16": "float16",
    "normal_bf16": "bfloat16",
    "complex_normal_f64": "complex128",
    "complex_normal_f32": "complex64",
}


def digits(values: Any, case: dict[str, Any]) -> list[str]:
    """Returns values as the vectors have them: digits of bits, or integers."""
    width = {"f64": 8, "f32": 4, "u16": 2, "u64": 0}[case["value"]]
    if width == 0:
        return [str(value) for value in np.asarray(values).reshape(-1).tolist()]
    data = np.ascontiguousarray(values).tobytes()
    return [data[i : i + width][::-1].hex() for i in range(0, len(data), width)]


def test_every_method_has_the_values() -> None:
    seen = set()
    for case in cases():
        stream = Key(int(case["seed"]), engine=case["engine"]).stream(case["stream"])
        assert stream.key.raw.hex() == case["key"]
        kind = case["kind"]
        name, arguments = METHODS.get(kind, (kind, lambda *p: p))
        parameters = [struct.unpack(">d", bytes.fromhex(p))[0] for p in case["parameters"]]
        trials = [int(case["n"])] if "n" in case else []
        options: dict[str, Any] = {}
        if case["kind"] == "sobol":
            options["scramble"] = parameters[1] == 1.0
        float_type = {"f64": "float64", "f32": "float32", "u64": "uint64"}.get(case["value"])
        dtype = DTYPES.get(case["kind"], float_type)
        start, values = int(case["start"]), case["values"]
        size = case.get("vectors", len(values))
        arrays = arguments(*trials, *parameters)
        fill, at = getattr(stream, name), getattr(stream.at(range(start, start + size)), name)
        made = fill(*arrays, size, dtype=dtype, start=start, **options)
        assert digits(made, case) == values, case
        assert digits(at(*arrays, dtype=dtype, **options), case) == values, case
        one = fill(*arrays, dtype=dtype, start=start, **options)
        assert one == made[0] if np.ndim(one) == 0 else (one == made[0]).all(), case
        out = headwater.Array(np.shape(made), dtype)
        assert fill(*arrays, out=out, start=start, **options) is out
        assert digits(out, case) == values, case
        seen.add(case["kind"])
    assert seen >= set(METHODS)


def test_counts_are_int64_by_default_and_the_same() -> None:
    stream = Key(5).stream(1)
    calls: list[Callable[..., Any]] = [
        lambda **k: stream.binomial(1000, 0.3, 99, **k),
        lambda **k: stream.geometric(0.01, 99, **k),
        lambda **k: stream.poisson(1e15, 99, **k),
        lambda **k: stream.categorical([1, 2, 3], 99, **k),
        lambda **k: stream.multinomial(50, [1, 2, 3], 99, **k),
    ]
    for call in calls:
        assert call().dtype == np.int64
        assert (call() == call(dtype="uint64")).all() and (call() >= 0).all()
    narrow = stream.categorical([1, 2, 3], 99, dtype=np.uint32)
    assert narrow.dtype == np.uint32 and (narrow == calls[3]()).all()
    # NumPy ends geometric numbers at the largest int64 as well.
    assert stream.geometric(1e-300, 3).tolist() == [2**63 - 1] * 3
    assert stream.geometric(1e-300, 3, dtype="uint64").tolist() == [2**64 - 1] * 3


def test_scale_multiplies_gamma_numbers() -> None:
    stream = Key(5).stream(2)
    base = stream.standard_gamma(2.5, 100)
    assert (stream.gamma(2.5, 3.7, 100) == base * 3.7).all()
    assert (stream.gamma(2.5, size=100) == base).all()
    assert (stream.at(range(100)).gamma(2.5, 3.7) == base * 3.7).all()
    single = stream.standard_gamma(2.5, 100, dtype="float32")
    assert (single == base.astype("f4")).all()
    assert (stream.gamma(2.5, 3.7, 100, dtype="float32") == single * np.float32(3.7)).all()
    assert stream.gamma(2.5, 0.0, 3).tolist() == [0, 0, 0]


def test_weights_of_a_choice_are_those_of_categorical() -> None:
    stream = Key(5).stream(3)
    weights = [0.5, 0, 2, 1]
    places = stream.categorical(weights, 40, start=7)
    assert 1 not in places
    assert stream.choice("abcd", 40, p=weights, start=7) == ["abcd"[i] for i in places]
    assert (stream.choice(4, 40, p=np.array(weights, "f4"), start=7) == places).all()
    values = np.array([10.0, 20, 30, 40])
    assert (stream.choice(values, (4, 10), p=weights, start=7).reshape(-1) == values[places]).all()
    assert stream.at(range(7, 47)).choice("abcd", p=weights) == ["abcd"[i] for i in places]
    assert stream.choice("abcd", p=weights, start=7) == "abcd"[places[0]]


def test_parameters_may_be_any_numbers() -> None:
    from decimal import Decimal
    from fractions import Fraction

    stream = Key(5).stream(4)
    expected = stream.chisquare(2.5)
    halves: list[Any] = [np.float64(2.5), np.float32(2.5), Decimal("2.5"), Fraction(5, 2)]
    for number in [*halves, np.array(2.5)]:
        assert stream.chisquare(number) == expected
    assert stream.chisquare(3) == stream.chisquare(np.int8(3)) == stream.chisquare(3.0)
    shares: list[Any] = [[1, 2.0], (1, 2), np.array([1, 2], "i1"), memoryview(np.array([1.0, 2]))]
    for alpha in [*shares, iter([1, 2]), np.array([1, 9, 2, 9])[::2]]:
        assert (stream.dirichlet(alpha) == stream.dirichlet([1.0, 2.0])).all()
    cov = np.array([[2.0, 1], [1, 2]])
    expected_rows = stream.multivariate_normal([0, 0], cov, 3)
    rows: list[Any] = [cov.tolist(), list(cov), cov.astype("i4"), np.asfortranarray(cov)]
    for form in rows:
        assert (stream.multivariate_normal([0, 0], form, 3) == expected_rows).all()


def test_types_that_memoryviews_do_not_read() -> None:
    """An array of ours has the same numbers as NumPy's, and bfloat16 has one for its bits."""
    stream = Key(5).stream(5)
    for dtype in ("float16", "complex128", "complex64"):
        method = stream.complex_normal if dtype.startswith("c") else stream.standard_normal
        theirs: Any = method((3, 4), dtype)
        assert theirs.dtype == dtype
        ours = headwater.Array((3, 4), dtype)
        assert method(out=ours) is ours
        assert ours.tolist() == theirs.tolist() and (np.asarray(ours) == theirs).all()
        assert np.asarray(ours).dtype == dtype
        again: Any = headwater.Array
        assert ours == again._from_bytes(ours.tobytes(), (3, 4), dtype)
        assert ours[1] == theirs[1].tolist() and dtype in repr(ours)
        assert method(dtype=dtype) == theirs[0, 0].item()
    brain = stream.standard_normal((3, 4), "bfloat16")
    assert isinstance(brain, headwater.Array) and brain.dtype == "bfloat16"
    bits = np.asarray(brain)
    assert bits.dtype == np.uint16
    numbers = (bits.astype(np.uint32) << np.uint32(16)).view(np.float32)
    assert numbers.tolist() == brain.tolist()
    assert abs(numbers - stream.standard_normal((3, 4), "float32")).max() < 0.02
    wide = np.arange(65536, dtype="u2")
    every = headwater.Array(65536, "float16")
    np.asarray(every).view("u2")[:] = wide
    both = zip(every.tolist(), wide.view("f2").tolist(), strict=True)
    assert all(a == b or (a != a and b != b) for a, b in both)


def test_a_table_that_is_kept_makes_the_numbers_of_its_weights() -> None:
    stream = Key(42).stream(3)
    weights = [3.0, 0.0, 0.5, 1.0]
    table = Categorical(weights)
    expected = stream.categorical(weights, 999, start=7)
    assert (stream.categorical(table, 999, start=7) == expected).all()
    assert (stream.categorical(table, 999, start=7, threads=2) == expected).all()
    assert (stream.at([9, 7]).categorical(table) == expected[[2, 0]]).all()
    assert (stream.choice(4, 999, p=table, start=7) == expected).all()
    assert stream.at(range(7, 12)).choice("abcd", p=table) == ["abcd"[i] for i in expected[:5]]
    with pytest.raises(ValueError, match="p must have a weight for each of the 3 items"):
        stream.choice(3, 2, p=table)
    with pytest.raises(ValueError, match="weights must be"):
        Categorical([])
    with pytest.raises(TypeError, match="weights must be a sequence"):
        Categorical(3)  # type: ignore[arg-type]
    assert len(table) == 4 and repr(table) == "<headwater.Categorical of 4 outcomes>"
    # Equal weights are equal tables: in a set, in a pickle, and in the name of a Dask array.
    again = pickle.loads(pickle.dumps(table))
    assert again == table == Categorical(np.array(weights)) and len({again, table}) == 1
    assert table != Categorical(weights[:3]) and table != weights
    assert (stream.categorical(again, 999, start=7) == expected).all()
    # The table holds a copy: a list that changes later changes nothing.
    weights[0] = 0.0
    assert (stream.categorical(table, 999, start=7) == expected).all()
