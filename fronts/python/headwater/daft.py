"""Random columns by row id in Daft: the functions of `headwater.arrow`, as expressions.

    >>> import daft, headwater, headwater.daft as hd
    >>> frame.with_column("noise", hd.normal("id", headwater.Key(42), name="noise"))
    >>> frame.where(hd.sample("id", headwater.Key(42), 0.01))

They are Python functions that Daft calls for each batch of rows.
"""

from __future__ import annotations

from typing import Any

import daft

from headwater import _kinds
from headwater._native import Plan
from headwater.pyarrow import _taken, _type

__all__: list[str] = []


def _evaluate(ids: Any, plan: Plan, name: str) -> Any:
    column = daft.col(ids) if isinstance(ids, str) else ids
    if not isinstance(column, daft.Expression):
        raise TypeError(f"ids must be a column's name or an Expression, not {type(ids).__name__}")

    def draw(batch: daft.Series) -> daft.Series:
        return daft.Series.from_arrow(_taken(plan.run(batch.to_arrow(), name)))

    dtype = daft.DataType.from_arrow_type(_type(plan))
    return daft.func.batch(return_dtype=dtype)(draw)(column).alias(name)


_functions = _kinds.functions(_evaluate, __name__)
__all__ += _kinds.names(_functions, [])
globals().update(_functions)


def __getattr__(name: str) -> Any:
    raise _kinds.missing(__name__, name)
