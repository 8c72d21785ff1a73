"""Random columns by row id, for every library that speaks Arrow. pyarrow is not needed.

    >>> import headwater, headwater.arrow
    >>> key = headwater.Key(42)
    >>> column = headwater.arrow.normal(ids, key, name="noise")

`ids` is a column of integers from 0: an object with `__arrow_c_array__` or `__arrow_c_stream__`
(pyarrow, Polars, DuckDB, pandas 3), or a NumPy array. Row by row the result has the element of the
stream whose index is the id, so it does not depend on the order of the rows, on chunks or threads:
`key.child("noise").stream(0).at(ids).standard_normal()` has the same numbers.

`name` is the label of the column: columns of other names are unrelated. Without one, the function's
own name is the label, as bytes: `key.child(b"normal")`. `sample`, `split` and `order` have children
of their own (`key.child(b"sample")`), and a name makes a child of that. A `Stream` in place of the
key means exactly its words.

There is a function for each kind of numbers (docs/python/distributions.md), with the ids and the
key before its parameters. A parameter may be a column, too, with a value for each row: the row's
number is the one that these values make alone. Not for secrets.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from headwater import _kinds
from headwater._native import ArrowArray as Array
from headwater._native import ArrowChunkedArray as ChunkedArray
from headwater._native import Plan, arrow_key_of


def _evaluate(ids: Any, plan: Plan, name: str, columns: Sequence[Any] = ()) -> Any:
    return plan.run(ids, name, [*columns])


_functions = _kinds.functions(_evaluate, __name__, _kinds.is_arrow)
__all__ = _kinds.names(_functions, ["Array", "ChunkedArray", "key_of"])
globals().update(_functions)


def key_of(*columns: Any, nulls: str = "null") -> Any:
    """Returns in each row an id from 0 to 2^63 - 1, made of the row's values in all columns.

    Columns are of text, binary values, integers, booleans, dates or timestamps. The id is half of
    `xxhash64` as Spark has it, so Spark computes it without headwater. Nulls are left out; a row of
    nulls is null. Two of n rows share an id with a chance of n^2 / 2^64; an adversary who chooses
    the values can find such rows.
    """
    return arrow_key_of(columns, nulls)


def __getattr__(name: str) -> Any:
    raise _kinds.missing(__name__, name)
