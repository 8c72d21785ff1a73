"""Random columns by row id in pyarrow: the functions of `headwater.arrow`, as pyarrow's arrays.

    >>> import headwater, headwater.pyarrow
    >>> headwater.pyarrow.normal(table["id"], headwater.Key(42), name="noise")

A ChunkedArray makes a ChunkedArray with the same chunks, and an Array an Array.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from headwater import _engines, _kinds
from headwater._native import ArrowChunkedArray, Plan, arrow_key_of

# The first whose chunked arrays speak Arrow, by `__arrow_c_stream__`.
_engines.need(pa, "pyarrow", (16,))


def _taken(column: Any) -> Any:
    return pa.chunked_array(column) if isinstance(column, ArrowChunkedArray) else pa.array(column)


def _type(plan: Plan) -> Any:
    """Returns the type of a plan's column."""
    return _taken(plan.run(pa.array([], pa.int64()), "")).type


def _evaluate(ids: Any, plan: Plan, name: str, columns: Sequence[Any] = ()) -> Any:
    return _taken(plan.run(ids, name, [*columns]))


_functions = _kinds.functions(_evaluate, __name__, _kinds.is_arrow)
__all__ = _kinds.names(_functions, ["key_of"])
globals().update(_functions)


def key_of(*columns: Any, nulls: str = "null") -> Any:
    """Returns ids of rows. See `headwater.arrow.key_of`."""
    return _taken(arrow_key_of(columns, nulls))


def __getattr__(name: str) -> Any:
    raise _kinds.missing(__name__, name)
