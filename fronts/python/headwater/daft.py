"""Random columns by row id in Daft: the functions of `headwater.arrow`, as expressions.

    >>> import daft, headwater, headwater.daft as hd
    >>> frame.with_column("noise", hd.normal("id", headwater.Key(42), name="noise"))
    >>> frame.where(hd.sample("id", headwater.Key(42), 0.01))

They are Python functions that Daft calls for each batch of rows.
"""

from __future__ import annotations

from typing import Any

import daft

from headwater import _engines, _kinds
from headwater._native import Plan, arrow_key_of
from headwater.pyarrow import _taken, _type

# Its functions of batches, `daft.func.batch`.
_engines.need(daft, "daft", (0, 7))

__all__: list[str] = []


def _column(given: Any, what: str) -> daft.Expression:
    column = daft.col(given) if isinstance(given, str) else given
    if not isinstance(column, daft.Expression):
        found = type(given).__name__
        raise TypeError(f"{what} must be a column's name or an Expression, not {found}")
    return column


def _evaluate(ids: Any, plan: Plan, name: str) -> Any:
    column = _column(ids, "ids")

    def draw(batch: daft.Series) -> daft.Series:
        return daft.Series.from_arrow(_taken(plan.run(batch.to_arrow(), name)))

    dtype = daft.DataType.from_arrow_type(_type(plan))
    return daft.func.batch(return_dtype=dtype)(draw)(column).alias(name)


_functions = _kinds.functions(_evaluate, __name__)
__all__ += _kinds.names(_functions, ["key_of"])
globals().update(_functions)


def key_of(*columns: Any, nulls: str = "null") -> Any:
    """Returns ids of rows, made of columns of text, integers, dates, timestamps and others.

    See `headwater.arrow.key_of`.
    """
    if not columns:
        raise TypeError("key_of() needs a column")
    given = [_column(column, "a column of key_of()") for column in columns]

    def draw(*batches: daft.Series) -> daft.Series:
        parts = tuple(_whole(batch.to_arrow()) for batch in batches)
        return daft.Series.from_arrow(_taken(arrow_key_of(parts, nulls)))

    return daft.func.batch(return_dtype=daft.DataType.int64())(draw)(*given).alias("key")


def _whole(column: Any) -> Any:
    """Returns a column without chunks, as all that make one key must have the same."""
    return column.combine_chunks() if hasattr(column, "combine_chunks") else column


def __getattr__(name: str) -> Any:
    raise _kinds.missing(__name__, name)
