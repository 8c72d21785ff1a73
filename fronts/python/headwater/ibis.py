"""Random columns by row id in ibis: the functions of `headwater.arrow`, as expressions.

    >>> import ibis, headwater, headwater.ibis as hi
    >>> table.mutate(noise=hi.normal(table.id, headwater.Key(42), name="noise"))
    >>> table.filter(hi.sample(table.id, headwater.Key(42), 0.01))

They are ibis' functions over Arrow (`ibis.udf.scalar.pyarrow`), which its backends DuckDB and
Polars have, and DataFusion's in the versions that ibis knows. `ibis._.id` stands for a column, too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ibis
import ibis.expr.types as ir
import pyarrow as pa
from ibis.common.deferred import Deferred, deferrable
from ibis.formats.pyarrow import PyArrowType

from headwater import _engines, _kinds
from headwater._native import Plan, arrow_key_of
from headwater.pyarrow import _taken, _type

_engines.need(ibis, "ibis", (9,))

__all__: list[str] = []


def _evaluate(ids: Any, plan: Plan, name: str) -> Any:
    if isinstance(ids, Deferred):  # `ibis._.id`, whose table is not known yet
        return deferrable(_evaluate)(ids, plan, name)
    if not isinstance(ids, ir.IntegerValue):
        raise TypeError(
            "ids must be an integer column of ibis, such as table.id or ibis._.id, not "
            f"{type(ids).__name__}"
        )
    made = _type(plan)
    if pa.types.is_fixed_size_list(made):  # ibis knows lists of any length
        made = pa.list_(made.value_type)

    def draw(batch: Any) -> Any:
        column = _taken(plan.run(batch, name))
        return column if column.type == made else column.cast(made)

    if plan.keeps_nulls:
        return _called(draw, plan.to_bytes(), ids, made).name(name)
    # A null id is to be an error, so it has to arrive.
    rows = ibis.struct({"id": ids})
    return _called(lambda batch: draw(_fields(batch)[0]), plan.to_bytes(), rows, made).name(name)


def _called(function: Callable[[Any], Any], label: bytes, column: Any, made: Any) -> Any:
    """Returns a function's column. DuckDB hands a null row to no function of ibis', but makes it
    null; a struct is never null.
    """

    def draw(batch: Any) -> Any:
        return function(batch)

    # A name for each plan: backends keep functions by name, and would take an older one's numbers.
    draw.__name__ = f"hw_{label.hex()}_{str(column.type()).encode().hex()}"
    signature = ((column.type(),), PyArrowType.to_ibis(made))
    return ibis.udf.scalar.pyarrow(draw, name=draw.__name__, signature=signature)(column)


def _fields(batch: Any) -> list[Any]:
    """Returns the columns of a struct."""
    whole = batch.combine_chunks() if isinstance(batch, pa.ChunkedArray) else batch
    fields: list[Any] = whole.flatten()
    return fields


_functions = _kinds.functions(_evaluate, __name__)
__all__ += _kinds.names(_functions, ["key_of"])
globals().update(_functions)


def key_of(*columns: Any, nulls: str = "null") -> Any:
    """Returns ids of rows, made of columns of text, integers, dates, timestamps and others.

    See `headwater.arrow.key_of`.
    """
    if any(isinstance(column, Deferred) for column in columns):
        return deferrable(key_of)(*columns, nulls=nulls)
    if not columns or not all(isinstance(column, ir.Value) for column in columns):
        raise TypeError("key_of() needs columns of ibis, such as table.user")

    # As a struct, because a row has a key as long as one of its values is not null. And DuckDB
    # takes no null from a function of ibis', so that -1, which is no key, stands for it.
    rows = ibis.struct({f"c{place}": column for place, column in enumerate(columns)})

    def draw(batch: Any) -> Any:
        return _taken(arrow_key_of(tuple(_fields(batch)), nulls)).fill_null(-1)

    label = b"key_of" + nulls.encode()
    return _called(draw, label, rows, pa.int64()).nullif(-1).name("key")


def __getattr__(name: str) -> Any:
    raise _kinds.missing(__name__, name)
