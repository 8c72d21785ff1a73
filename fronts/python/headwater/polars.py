"""Random columns by row id in Polars: expressions, evaluated by Polars' own threads.

    >>> import headwater, headwater.polars as hp
    >>> key = headwater.Key(42)
    >>> frame.with_columns(hp.normal("id", key, name="noise"))
    >>> frame.filter(hp.sample("id", key, 0.01))

The functions are those of `headwater.arrow`, with a column's name or an expression for the ids. The
values are computed by four C functions in this package's own library, which Polars calls without
Python, also in streaming and in the scan of a file. Where a Polars refuses plugins, and for kinds
whose rows are lists, `map_batches` calls this package instead: the same values, slower with several
threads. `engine()` says which.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import polars as pl

from headwater import _kinds, _native
from headwater._native import Key, Plan, Stream, arrow_key_of

# Arrow's format of the values, the plugin's function, and Polars' type.
_TYPES: dict[str, tuple[str, Any]] = {
    "g": ("hw_g", pl.Float64),
    "f": ("hw_f", pl.Float32),
    "b": ("hw_b", pl.Boolean),
    "c": ("hw_i8", pl.Int8),
    "C": ("hw_u8", pl.UInt8),
    "s": ("hw_i16", pl.Int16),
    "S": ("hw_u16", pl.UInt16),
    "i": ("hw_i32", pl.Int32),
    "I": ("hw_u32", pl.UInt32),
    "l": ("hw_i64", pl.Int64),
    "L": ("hw_u64", pl.UInt64),
}


def _expression(ids: Any) -> pl.Expr:
    if isinstance(ids, str):
        return pl.col(ids)
    if isinstance(ids, pl.Expr):
        return ids
    if isinstance(ids, pl.Series):
        return pl.lit(ids)
    raise TypeError(
        f"ids must be a column's name, an expression or a Series, not {type(ids).__name__}"
    )


def _plugin(ids: pl.Expr, plan: Plan, function: str) -> pl.Expr:
    from polars.plugins import register_plugin_function

    return register_plugin_function(
        plugin_path=_native.__file__,
        function_name=function,
        args=[ids, pl.lit(plan.to_bytes())],
        is_elementwise=True,
    )


@cache
def engine() -> str:
    """Returns "plugin", or "map_batches" where this Polars takes no plugins of ours."""
    plan = Plan.order(Key(0).stream(0), None, "null")
    try:
        words = pl.select(
            _plugin(pl.lit(pl.Series("id", [3, None, 5])), plan, "hw_u64")
        ).to_series()
        right = [*Key(0).stream(0).at([3, 5]).integers(0, 2**64, dtype="uint64")]
        return (
            "plugin"
            if [words[0], words[1], words[2]] == [right[0], None, right[1]]
            else "map_batches"
        )
    except Exception:  # the library, the symbols or the versions do not suit this Polars
        return "map_batches"


def _evaluate(ids: Any, plan: Plan, name: str) -> pl.Expr:
    column = _expression(ids)
    format, width = plan.format
    function, dtype = _TYPES.get(format, (None, None))
    if function is not None and width is None and engine() == "plugin":
        return _plugin(column, plan, function).alias(name)
    if dtype is None:
        raise TypeError(f"Polars has no type for this column ({format}): pass another dtype")
    if width is not None:
        dtype = pl.Array(dtype, width)

    def run(series: pl.Series) -> pl.Series:
        return pl.Series(series.name, plan.run(series, series.name), dtype=dtype)

    return column.map_batches(run, return_dtype=dtype, is_elementwise=True).alias(name)


_functions = _kinds.functions(_evaluate, __name__)
__all__ = _kinds.names(_functions, ["engine", "key_of", "sample_n"])
globals().update(_functions)


def key_of(*columns: Any, nulls: str = "null") -> pl.Expr:
    """Returns ids of rows, made of columns of text, integers, dates, timestamps and others.

    See `headwater.arrow.key_of`.
    """

    def run(series: Any) -> pl.Series:
        fields = series.struct.fields
        parts = tuple(series.struct.field(field).rechunk() for field in fields)
        return pl.Series("key", arrow_key_of(parts, nulls), dtype=pl.Int64)

    named = [_expression(column).alias(f"c{place}") for place, column in enumerate(columns)]
    if not named:
        raise TypeError("key_of() needs a column")
    return (
        pl.struct(named).map_batches(run, return_dtype=pl.Int64, is_elementwise=True).alias("key")
    )


def sample_n(
    frame: Any, ids: Any, n: int, key: Key | Stream, *, by: Any = None, name: str | None = None
) -> Any:
    """Returns exactly `n` rows of a frame (of each group of `by`), or all if there are fewer.

    They are the first in the order of `order(ids, key, name=name)`, so a larger sample contains the
    smaller one. Rows whose id is null are never in it.
    """
    column = _expression(ids)
    word = _functions["order"](column, key, name=name).alias("__headwater_order")
    ordered = frame.filter(column.is_not_null()).sort(word, column)
    if by is None:
        return ordered.head(n)
    return (
        ordered.group_by(by, maintain_order=True)
        .head(n)
        .select(frame.lazy().collect_schema().names())
    )


def __getattr__(name: str) -> Any:
    raise _kinds.missing(__name__, name)
