"""The numbers of `headwater.Generator` do not depend on how an argument is written."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import headwater


def numbers(method: str, *arguments: Any, **named: Any) -> Any:
    """Returns what a fresh generator draws, and where its cursor is then."""
    rng = headwater.Generator(42)
    made = getattr(rng, method)(*arguments, **named)
    return np.asarray(made).tolist(), np.asarray(made).dtype, rng.word


@pytest.mark.parametrize("method", ["random", "standard_normal", "standard_exponential"])
@pytest.mark.parametrize(
    ("spelled", "dtype"),
    [(name, np.float32) for name in ("float32", "f", "f4", "<f4", "single", np.dtype("f4"))]
    + [(name, np.float64) for name in ("float64", "d", "f8", "<f8", "double", "float", float, None, np.dtype("f8"))],
)  # fmt: skip
def test_a_type_has_its_numbers_however_it_is_spelled(
    method: str, spelled: Any, dtype: Any
) -> None:
    assert numbers(method, 3, dtype=spelled) == numbers(method, 3, dtype=dtype)
    out = np.empty(3, dtype)
    assert numbers(method, dtype=spelled, out=out) == numbers(method, 3, dtype=dtype)


@pytest.mark.parametrize("spelled", ["f4", "f8", "float64"])
def test_shapes_and_types_are_as_for_a_class(spelled: str) -> None:
    dtype = np.dtype(spelled).type
    assert numbers("standard_gamma", 2.0, 3, dtype=spelled) == numbers("standard_gamma", 2.0, 3, dtype=dtype)
    two = [0.5, 2.0]
    assert numbers("standard_gamma", two, dtype=spelled) == numbers("standard_gamma", two, dtype=dtype)


def test_other_types_are_numpys_errors() -> None:
    rng = headwater.Generator(42)
    for dtype in ("int32", ">f4", "f2", "nonsense"):
        with pytest.raises(TypeError):
            rng.random(3, dtype=dtype)
    assert rng.word == 0


@pytest.mark.parametrize(
    ("method", "written", "counts"),
    [
        ("binomial", (10.0, 0.5, 5), (10, 0.5, 5)),
        ("binomial", (np.float64(10), 0.5, 5), (10, 0.5, 5)),
        ("binomial", (np.float32(10), 0.5, 5), (10, 0.5, 5)),
        ("binomial", (np.array(10.0), 0.5, 5), (10, 0.5, 5)),
        ("binomial", ([10.0] * 5, 0.5), ([10] * 5, 0.5)),
        ("binomial", (np.full(5, 10, np.float32), [0.5] * 5), ([10] * 5, [0.5] * 5)),
        ("hypergeometric", (10.0, 5.0, 7.0, 4), (10, 5, 7, 4)),
        ("hypergeometric", ([10.0, 20.0], 5, 7), ([10, 20], 5, 7)),
        ("integers", (0.0, 10.0, 5), (0, 10, 5)),
        ("integers", (10.0, None, 5), (10, None, 5)),
        ("multinomial", (10.0, [0.25, 0.75], 3), (10, [0.25, 0.75], 3)),
    ],
)
def test_counts_may_be_written_as_floats(method: str, written: Any, counts: Any) -> None:
    assert numbers(method, *written) == numbers(method, *counts)


@pytest.mark.parametrize("n", [-1.0, np.nan, np.inf, 1e300, "ten", [1, [2]]])
def test_counts_that_are_none_are_numpys_errors(n: Any) -> None:
    rng = headwater.Generator(42)
    with pytest.raises((ValueError, TypeError, OverflowError)):
        rng.binomial(n, 0.5)
    assert rng.word == 0


def test_axes_may_be_integers_of_numpys() -> None:
    x = np.arange(12).reshape(3, 4)
    for method in ("permutation", "permuted"):
        assert numbers(method, x, axis=np.int64(1)) == numbers(method, x, axis=1)
    mine, right = x.copy(), x.copy()
    headwater.Generator(42).shuffle(mine, axis=np.int8(1))
    headwater.Generator(42).shuffle(right, axis=1)
    assert mine.tolist() == right.tolist()


def test_arrays_in_the_order_of_columns_are_filled() -> None:
    out = np.zeros((2, 3), order="F")
    headwater.Generator(42).random(out=out)
    assert (out > 0).all()
