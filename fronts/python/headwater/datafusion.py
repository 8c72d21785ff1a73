"""Random columns by row id in DataFusion: the functions of `headwater.arrow`, as expressions.

    >>> import datafusion, headwater, headwater.datafusion as hd
    >>> frame.with_column("noise", hd.normal("id", headwater.Key(42), name="noise"))
    >>> frame.filter(hd.sample("id", headwater.Key(42), 0.01))

They are Python functions over Arrow, which DataFusion calls for each batch, and its threads take
turns. Ids are integers of every type, and decimals without digits. Batches of 65,536 rows
(`datafusion.execution.batch_size`) are several times as fast as those of 8,192.
"""

from __future__ import annotations

from typing import Any

import datafusion
import pyarrow as pa

from headwater import _engines, _kinds
from headwater._native import Plan
from headwater.pyarrow import _taken, _type

_engines.need(datafusion, "datafusion", (53,))

from datafusion.functions import nvl2  # noqa: E402 - older versions have none

__all__: list[str] = []
# Holds integers of every type.
_ID = pa.decimal128(38, 0)


def _evaluate(ids: Any, plan: Plan, name: str) -> Any:
    column = datafusion.col(ids) if isinstance(ids, str) else ids
    if not isinstance(column, datafusion.Expr):
        raise TypeError(f"ids must be a column's name or an Expr, not {type(ids).__name__}")

    def draw(batch: Any) -> Any:
        return _taken(plan.run(batch, name))

    # A function of DataFusion's has one type of argument. A decimal alone holds integers of every
    # type, and the planner makes one of an integer where a function of its own has a decimal, too,
    # but not for ours. So `nvl2` returns the id, beside a null of that type. Texts and floats
    # become no such decimal, and fail in the plan.
    whole = nvl2(column, column, datafusion.lit(None).cast(_ID))
    # "immutable" lets DataFusion fold and move the call: the numbers depend on the ids alone.
    # Two functions of one name are one to the planner, which would take the numbers of the first for
    # both: so the name says all that the numbers depend on.
    full = f"hw_{plan.to_bytes().hex()}"
    made = datafusion.udf(draw, [_ID], _type(plan), "immutable", full)
    return made(whole).alias(name)


_functions = _kinds.functions(_evaluate, __name__)
__all__ += _kinds.names(_functions, [])
globals().update(_functions)


def __getattr__(name: str) -> Any:
    raise _kinds.missing(__name__, name)
