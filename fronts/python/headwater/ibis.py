"""Random columns by row id in ibis: the functions of `headwater.arrow`, as expressions.

    >>> import ibis, headwater, headwater.ibis as hi
    >>> table.mutate(noise=hi.normal(table.id, headwater.Key(42), name="noise"))
    >>> table.filter(hi.sample(table.id, headwater.Key(42), 0.01))

They are ibis' functions over Arrow (`ibis.udf.scalar.pyarrow`), which its backends DuckDB,
DataFusion and Polars have.
"""

from __future__ import annotations

from typing import Any

import ibis
import ibis.expr.types as ir

from headwater import _kinds
from headwater._native import Plan
from headwater.pyarrow import _taken, _type

__all__: list[str] = []


def _evaluate(ids: Any, plan: Plan, name: str) -> Any:
    if not isinstance(ids, ir.IntegerValue):
        raise TypeError(
            f"ids must be an integer column of ibis, such as table.id, not {type(ids).__name__}"
        )

    def draw(batch: Any) -> Any:
        return _taken(plan.run(batch, name))

    # A name for each plan: backends keep functions by name, and would take an older one's numbers.
    draw.__name__ = f"hw_{plan.to_bytes().hex()}"
    signature = ((ids.type(),), ibis.dtype(str(_type(plan)).replace("double", "float64")))
    made = ibis.udf.scalar.pyarrow(draw, name=draw.__name__, signature=signature)
    return made(ids).name(name)


_functions = _kinds.functions(_evaluate, __name__)
__all__ += _kinds.names(_functions, [])
globals().update(_functions)


def __getattr__(name: str) -> Any:
    raise _kinds.missing(__name__, name)
