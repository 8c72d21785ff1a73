"""Random columns by row id in Polars: expressions, evaluated by Polars' own threads.

    >>> import headwater, headwater.polars as hp
    >>> key = headwater.Key(42)
    >>> frame.with_columns(hp.normal("id", key, name="noise"))
    >>> frame.filter(hp.sample("id", key, 0.01))

The functions are those of `headwater.arrow`, with a column's name or an expression for the ids, and
expressions for parameters that are columns. The values are computed by four C functions in this
package's own library, which Polars calls without Python, also in streaming and in the scan of a
file. Where a Polars refuses plugins, for kinds whose rows are lists, and for parameters that are
columns, `map_batches` calls this package instead: the same values, slower with several threads.
`engine()` says which.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

import polars as pl

from headwater import _engines, _kinds, _native, _samples
from headwater._native import Key, Plan, Stream, arrow_key_of

# The first whose Series speak Arrow, by `__arrow_c_stream__`, to a caller that wants no type.
_engines.need(pl, "polars", (1, 4))

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


# The most rows of a frame. Polars takes no larger number of them.
_MOST = 2**32 - 1 if pl.get_index_type() == pl.UInt32 else 2**62
# Columns that live while a sample is made.
_ORDER = "__headwater_order"
_GROUP = "__headwater_group"


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


def _evaluate(ids: Any, plan: Plan, name: str, columns: Sequence[pl.Expr] = ()) -> pl.Expr:
    column = _expression(ids)
    format, width = plan.format
    function, dtype = _TYPES.get(format, (None, None))
    if columns and dtype is not None:
        return _by_row(column, plan, name, columns, dtype)
    if function is not None and width is None and engine() == "plugin":
        return _plugin(column, plan, function).alias(name)
    if dtype is None:
        raise TypeError(f"Polars has no type for this column ({format}): pass another dtype")
    if width is not None:
        dtype = pl.Array(dtype, width)

    def run(series: pl.Series) -> pl.Series:
        return pl.Series(series.name, plan.run(series, series.name), dtype=dtype)

    return column.map_batches(run, return_dtype=dtype, is_elementwise=True).alias(name)


def _by_row(
    ids: pl.Expr, plan: Plan, name: str, columns: Sequence[pl.Expr], dtype: Any
) -> pl.Expr:
    """Returns numbers whose parameters are columns, by a call of Python for each batch.

    The plugin has one column. With several, their chunks could differ, and Polars does not promise
    that they are those of one batch.
    """

    def run(series: Any) -> pl.Series:
        first, *rest = (series.struct.field(field).rechunk() for field in series.struct.fields)
        return pl.Series(name, plan.run(first, name, rest), dtype=dtype)

    named = [ids.alias("ids"), *(one.alias(f"c{place}") for place, one in enumerate(columns))]
    return pl.struct(named).map_batches(run, return_dtype=dtype, is_elementwise=True).alias(name)


def _is_column(value: Any) -> bool:
    if isinstance(value, str):  # it names a column where ids do
        raise TypeError(
            f"a parameter must be a number or an expression, not the text {value!r}: a column is "
            f"pl.col({value!r})"
        )
    return isinstance(value, pl.Expr | pl.Series)


_functions = _kinds.functions(
    lambda ids, plan, name, columns=(): _evaluate(ids, plan, name, [*map(_expression, columns)]),
    __name__,
    _is_column,
)
__all__ = _kinds.names(_functions, ["engine", "folds", "key_of", "sample_n", "weighted_order"])
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


def _checked(given: pl.Series) -> pl.Series:
    # A cast would read a text as a number, and take a date for its days.
    if not (given.dtype.is_numeric() or given.dtype in (pl.Boolean, pl.Null)):
        raise TypeError(f"weights must be numbers, not of {given.dtype}: cast them")
    weights = given.cast(pl.Float64)
    is_weight = weights.is_finite() & ((weights == 0) | (weights >= _samples.LEAST))
    wrong = (~is_weight.fill_null(False)).arg_true()
    if len(wrong):
        raise _samples.bad_weight(weights[wrong[0]], wrong[0], " of the batch")
    return weights


def weighted_order(
    ids: Any,
    key: Key | Stream,
    weights: Any,
    *,
    name: str | None = None,
    nulls: str = "null",
) -> pl.Expr:
    """Returns in each row a number to sort by: the first k rows are a weighted sample of k.

    No row is in it twice, and one of weight 0 only after all others, where the number is infinite.
    """
    plan = _samples.exponential(key, name, nulls)
    given = _expression(weights)
    column = given.cast(pl.Float64)
    # Checked in the first condition alone. Elsewhere Polars makes rows null that the conditions
    # before have decided, and these would fail the check.
    checked = given.map_batches(_checked, return_dtype=pl.Float64, is_elementwise=True)
    numbers = _evaluate(ids, plan, "number")
    infinite = pl.when(_expression(ids).is_not_null()).then(float("inf"))
    known = pl.when(checked > 0).then(numbers / column).otherwise(infinite)
    return known.alias(name or "weighted_order")


def sample_n(
    frame: Any,
    ids: Any,
    n: int,
    key: Key | Stream,
    *,
    by: Any = None,
    weights: Any = None,
    name: str | None = None,
) -> Any:
    """Returns exactly `n` rows of a frame (of each group of `by`), or all if there are fewer.

    They are the first in the order of `order(ids, key, name=name)`, so a larger sample contains the
    smaller one. With `weights`, a column, a row is as likely to be the first as its share in their
    sum, then the next among the others, and so on; rows of weight 0 are never in it. Rows whose id
    is null are never in it.
    """
    rows = min(_samples.count(n), _MOST)
    column = _expression(ids)
    names = frame.lazy().collect_schema().names()
    # Columns of these names would be the user's.
    order, group = _ORDER, _GROUP
    while order in names or group in names:
        order, group = order + "_", group + "_"
    word = pl.col(order)
    if by is not None:
        # Before any row moves: a Series has the groups in the places of the frame's rows. In a
        # column of its own: a group that is computed of a column would take its name.
        keys = by if isinstance(by, list | tuple) else [by]
        named = [pl.struct(_expression(key)).alias(f"k{place}") for place, key in enumerate(keys)]
        frame = frame.with_columns(pl.struct(named).alias(group))
    known = frame.filter(column.is_not_null())
    if weights is None:
        number = _functions["order"](column, key, name=name)
    else:
        number = weighted_order(column, key, weights, name=name)
    known = known.with_columns(number.alias(order))
    if weights is not None:
        known = known.filter(word.is_finite())
    # Rows of one id have one word. They stay in the frame's order, as in pandas; a sort that may
    # exchange them would leave it to the engine and its threads which of them is in the sample.
    ordered = known.sort(word, column, maintain_order=True)
    if by is None:
        return ordered.head(rows).select(names)
    # Not the first rows of each group in turn, which would stand group by group: the order is that
    # of the words, as in pandas and without groups.
    return ordered.filter(word.cum_count().over(group) <= rows).select(names)


def folds(
    frame: Any, ids: Any, k: int, key: Key | Stream, *, name: str | None = None
) -> Iterator[tuple[Any, Any]]:
    """Returns `k` pairs of frames: all rows but those of a fold, and the fold.

    A row's fold is `split(ids, key, k, name=name)`, so it stays when rows are added. A null id is an
    error, because its row would be in no fold.
    """
    many = _samples.folds_of(k)
    part = _functions["split"](ids, key, many, name=name, nulls="error")
    # Not by `yield`, which would leave errors to the first pair.
    return ((frame.filter(part != fold), frame.filter(part == fold)) for fold in range(many))


def __getattr__(name: str) -> Any:
    raise _kinds.missing(__name__, name)
