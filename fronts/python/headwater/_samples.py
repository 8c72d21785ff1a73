"""What the samples of all engines share: the stream of weighted ones, and the checks.

A weighted sample without replacement has the k smallest of x / weight, where x is an exponential
number of the row (Efraimidis and Spirakis, Information Processing Letters 97, 2006). The division is
IEEE's, so the order is the same to the bit in every engine.
"""

from __future__ import annotations

import math
from operator import index
from typing import Any

from headwater import _kinds
from headwater._native import Key, Plan, Stream

NEED = "weights must be finite numbers from 0, and none may be missing"
# The smallest weight above 0. An exponential number is at most 45, so over a weight from here on
# it is finite. Over a smaller one it may be infinity, which is what the weight 0 has, and a row
# that may be drawn would never be.
LEAST = 1e-306


def bad_weight(value: Any, row: int, of: str = "") -> ValueError:
    """Returns the error of a weight: of a row, or of a row `of` a batch."""
    if value is not None and 0 < value < LEAST:
        return ValueError(
            f"weights above 0 must be from 1e-306 on, but row {row}{of} has {value!r}: multiply "
            "all of them by the same power of 2, such as 2^100, which changes no order"
        )
    shown = "no number" if value is None or math.isnan(value) else repr(value)
    return ValueError(f"{NEED}: row {row}{of} has {shown}")


def whole(name: str, value: Any) -> int:
    """Returns an argument as an integer. A float that has no digits after the point is none."""
    try:
        return index(value)
    except TypeError:
        raise TypeError(f"{name} must be an integer, not {value!r}") from None


def count(n: Any) -> int:
    """Returns the number of rows that a sample should have."""
    rows = whole("n", n)
    if rows < 0:
        raise ValueError(f"n must be a number of rows from 0, not {rows}")
    return rows


def exponential(key: Key | Stream, name: str | None, nulls: str = "null") -> Plan:
    """Returns the plan of the exponential numbers that weights divide."""
    if isinstance(key, Key):
        child = key.child(b"weighted")
        key = (child if name is None else child.child(name)).stream(0)
        name = None
    kind = _kinds.KINDS["standard_exponential"]
    return _kinds.plan(kind, key, (), {}, None, name, nulls)


def folds_of(k: Any) -> int:
    """Returns the number of folds."""
    folds = whole("k", k)
    if not 2 <= folds <= 256:
        raise ValueError(f"k must be a number of folds from 2 to 256, not {folds}")
    return folds
