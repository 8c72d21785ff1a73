"""The functions of SQL as Arrow functions in Python, for engines that take no native ones.

Errors and values are those of DuckDB's extension, `fronts/duckdb`; tests run over both.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from functools import cache
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from headwater import _engines, _kinds, _samples
from headwater._native import ArrowChunkedArray, Key, Plan, arrow_key_of

_engines.need(pa, "pyarrow", (16,))


def _constant(column: Any, what: str) -> Any:
    """Returns the one value that all rows have."""
    if pa.types.is_fixed_size_list(column.type):  # as the extension, which cannot read them
        raise TypeError(f"{what} must not be an ARRAY: cast it to a list, DOUBLE[]")
    if pa.types.is_interval(column.type):  # its value is a list of three numbers
        raise TypeError(f"{what} must not be an INTERVAL")
    _not_as_bytes(column.type, what)
    if pa.types.is_nested(column.type):
        listed = column.to_pylist()
        if None not in listed and all(value == listed[0] for value in listed):
            return listed[0]
        raise ValueError(f"{what} must be one value for all rows, and not null: write a constant")
    # `unique`, and not the smallest and largest value, which leave NaN out.
    values = _distinct(column)
    if values is None:
        raise TypeError(f"{what} must be a number or a text, not of type {column.type}: cast it")
    if column.null_count or len(values) != 1:
        raise ValueError(f"{what} must be one value for all rows, and not null: write a constant")
    value = values[0].as_py()
    # A HUGEINT comes as a decimal, and is an integer.
    if isinstance(value, Decimal) and pa.types.is_decimal(column.type) and column.type.scale == 0:
        return int(value)
    return value


def _not_as_bytes(kind: Any, what: str) -> None:
    """Raises an error for a UHUGEINT as DuckDB before 1.3 hands it over: its bytes, which would be
    another seed and another key.
    """
    if pa.types.is_fixed_size_binary(kind):
        raise TypeError(f"{what} must not be a UHUGEINT in this DuckDB: cast it to HUGEINT")


def _distinct(column: Any) -> Any:
    """Returns the values that a column has, each once. None if Arrow compares no values of its type:
    DuckDB before 1.5 hands a UHUGEINT over as bytes, in a type of its own.
    """
    try:
        return pc.unique(column)
    except pa.ArrowNotImplementedError:
        return None


def _is_one(column: Any) -> bool:
    """Returns whether a parameter is a constant: one number in all rows. A list never is a column."""
    if pa.types.is_nested(column.type):
        return not column.null_count
    # `unique` compares floats by their bits: 0 and -0 are equal, and make other numbers.
    values = _distinct(column)
    return values is not None and len(values) == 1 and not column.null_count


def _whole(column: Any) -> Any:
    """Returns a column without chunks, as all that a plan takes must have the same."""
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column


def _numbers(column: Any) -> Any:
    """Returns a parameter's column. Numbers of types that no id has become floats, as constants of
    theirs do; the kernel refuses what is no number.
    """
    if pa.types.is_boolean(column.type):
        return pc.cast(column, pa.uint8())
    if pa.types.is_decimal(column.type) and column.type.scale > 0:
        # By Python, which rounds once. Arrow's cast multiplies by a power that was rounded before.
        values = (None if value is None else float(value) for value in column.to_pylist())
        return pa.array(values, pa.float64())
    return column


def _text(name: Any, usage: str) -> str:
    """Returns a name, or raises an error if it is none: bytes and numbers make other keys."""
    if not isinstance(name, str):
        raise TypeError(f"name in {usage} must be a text, not {name!r}")
    return name


def _taken(column: Any) -> Any:
    return pa.chunked_array(column) if isinstance(column, ArrowChunkedArray) else pa.array(column)


def _function(
    sql: str,
    names: tuple[str, ...],
    optional: int,
    plan: Callable[..., Plan],
    format: str,
    id: str = "id",
    columns: tuple[str, ...] = (),
) -> Callable[..., Any]:
    """Returns a function of the ids and of constants, the last of which are optional. `plan` gets
    the key of the one that is called seed, and then the others. Those in `columns` may have other
    values in each row; `plan` gets `...` in their place, and takes the values in this order.
    """
    usage = f"{sql}({', '.join((id, *names))})"

    def run(*given: Any) -> Any:
        least, most = 1 + len(names) - optional, 1 + len(names)
        if not least <= len(given) <= most:
            raise ValueError(f"{usage} takes {least} to {most} arguments, not {len(given)}")
        ids, *others = given
        if len(ids) == 0:
            return pa.array(
                [], {"g": "f8", "l": "i8", "L": "u8", "b": pa.bool_(), "C": "u1"}[format]
            )
        values: dict[str, Any] = {}
        by_row: dict[str, Any] = {}
        for name, column in zip(names, others, strict=False):
            if name in columns and not _is_one(column):
                values[name], by_row[name] = ..., _numbers(_whole(column))
            else:
                values[name] = _constant(column, f"{name} in {usage}")
        _text(values.get("name", ""), usage)
        key = Key(values.pop("seed"))

        def drawn() -> Any:
            made = plan(key, *values.values())
            if not by_row:
                return _taken(made.run(ids, ""))
            some = [by_row[name] for name in columns if name in by_row]
            return _taken(made.run(_whole(ids), "", some))

        try:
            return drawn()
        except (TypeError, ValueError) as error:
            # A value that all rows of this batch have counts as a constant, also if it is wrong.
            # But in a row without an id, or with a null beside it, it is no error, so a batch of
            # such rows would fail, and pass beside any other row. So the rows decide, and the sentence stays that of the
            # constant.
            for name, column in zip(names, others, strict=False):
                if name in columns and name not in by_row:
                    values[name], by_row[name] = ..., _numbers(_whole(column))
            try:
                return drawn()
            except (TypeError, ValueError):
                raise error from None

    return run


def _drawn(kind: dict[str, Any]) -> Callable[..., Plan]:
    def plan(key: Key, name: str, *values: Any) -> Plan:
        return _kinds.plan(kind, key, tuple(values), {}, None, name)

    return plan


def _sample(key: Key, p: Any, name: str | None = None) -> Plan:
    return Plan.sample(key, p, name, "null")


def _split(key: Key, parts: Any, name: str | None = None) -> Plan:
    if isinstance(parts, list) and None in parts:
        raise ValueError("parts must be an integer or a list of shares, with no null in the list")
    return Plan.split(key, parts, name, "null")


def _permute(key: Key, n: int, name: str | None = None) -> Plan:
    return _kinds.plan(_kinds.KINDS["permutation"], key, (n,), {}, None, name)


def _order(key: Key, name: str | None = None) -> Plan:
    return Plan.order(key, name, "null")


def _weighted(*columns: Any) -> Any:
    usage = "hw_weighted_order(id, seed, weight, name)"
    if not 3 <= len(columns) <= 4:
        raise ValueError(f"{usage} takes 3 to 4 arguments, not {len(columns)}")
    ids, seed, weights, *names = columns
    if len(ids) == 0:
        return pa.array([], pa.float64())
    kind = weights.type
    are = pa.types
    if not (are.is_integer(kind) or are.is_floating(kind) or are.is_decimal(kind) or are.is_boolean(kind)):
        raise ValueError(_samples.NEED)
    weights = pc.cast(_numbers(weights), pa.float64())
    large = pc.or_(pc.equal(weights, 0.0), pc.greater_equal(weights, _samples.LEAST))
    is_weight = pc.fill_null(pc.and_(pc.is_finite(weights), large), False)
    row = pc.index(is_weight, False).as_py()
    if row >= 0:
        raise _samples.bad_weight(weights[row].as_py(), row, " of the batch")
    name = _text(_constant(names[0], f"name in {usage}"), usage) if names else None
    plan = _samples.exponential(Key(_constant(seed, f"seed in {usage}")), name)
    numbers = _taken(plan.run(ids, ""))
    positive = pc.if_else(pc.equal(weights, 0.0), 1.0, weights)
    divided = pc.if_else(pc.equal(weights, 0.0), float("inf"), pc.divide(numbers, positive))
    return pc.if_else(pc.is_valid(numbers), divided, pa.scalar(None, pa.float64()))


def _key(*columns: Any) -> Any:
    for column in columns:
        _not_as_bytes(column.type, "a value of key_of()")
        # Numbers of any length and others for which Arrow has no type: bytes in DuckDB's own form.
        if getattr(column.type, "extension_name", "") == "arrow.opaque":
            raise TypeError(
                f"key_of() takes no {column.type.type_name}: give integers, text, binary, "
                "booleans, dates or timestamps, or cast the column to one of them"
            )
    return _taken(arrow_key_of(columns, "null"))


def _of_sql(function: Callable[..., Any]) -> Callable[..., Any]:
    """Returns a function whose errors name the functions of SQL."""

    def call(*columns: Any) -> Any:
        try:
            return function(*columns)
        except (TypeError, ValueError) as error:
            error.args = (str(error).replace("key_of()", "hw_key()"),)
            raise

    return call


@cache
def functions() -> dict[str, tuple[Callable[..., Any], str]]:
    """Returns all functions by their names, each with the letter of its type in Arrow's formats.

    They are the same in each call and live as long as the process. DuckDB keeps no reference to the
    functions of a database, but the connection does on which they were made. If it was a cursor that
    is gone, another connection would call what was freed.
    """
    formats = {"float64": "g", "int64": "l", "uint64": "L"}
    made = {}
    for kind in _kinds.KINDS.values():
        format = formats.get(kind["dtypes"][0])
        if kind["is_plain"] and format is not None:
            names = tuple(name for name, _ in kind["parameters"])
            optional = sum(default is not None for _, default in kind["parameters"])
            sql = f"hw_{kind['name']}"
            columns = tuple(kind["columns"])
            made[sql] = (
                _function(
                    sql, ("seed", "name", *names), optional, _drawn(kind), format, columns=columns
                ),
                format,
            )
    for sql, names, plan, format in (
        ("hw_sample", ("seed", "p", "name"), _sample, "b"),
        ("hw_split", ("seed", "parts", "name"), _split, "C"),
        ("hw_order", ("seed", "name"), _order, "L"),
        ("hw_permute", ("n", "seed", "name"), _permute, "L"),
    ):
        id = "i" if sql == "hw_permute" else "id"
        made[sql] = (_function(sql, names, 1, plan, format, id), format)
    made["hw_weighted_order"] = (_weighted, "g")
    made["hw_key"] = (_key, "l")
    return {name: (_of_sql(function), format) for name, (function, format) in made.items()}
