"""Random columns by row id in DuckDB's SQL.

    >>> import duckdb, headwater.duckdb
    >>> con = duckdb.connect()
    >>> headwater.duckdb.load(con)
    >>> con.sql("select id, hw_normal(id, 42, 'noise') from range(10) t(id)")
    >>> con.sql("select id from range(1000) t(id) where hw_sample(id, 42, 0.01)")

| function | value |
| --- | --- |
| `hw_normal(id, seed, name[, loc, scale])` | a DOUBLE of mean `loc` and deviation `scale` |
| `hw_uniform(id, seed, name[, low, high])` | a DOUBLE from `low` to `high` |
| `hw_gamma(id, seed, name, shape[, scale])` and every other kind of numbers | its first type |
| `hw_sample(id, seed, p)` | whether the row is in a sample of this share |
| `hw_split(id, seed, parts)` | the number of its part, from 0 |
| `hw_order(id, seed)` | a UBIGINT to sort by, then by id |
| `hw_weighted_order(id, seed, weight)` | a DOUBLE to sort by, whose first k rows are a weighted sample |
| `hw_key(value, ...)` | an id, of texts, integers, dates, timestamps, booleans, BLOBs |

`seed`, `name` and parameters are one value for all rows: a seed is what `headwater.Key` takes, and
a name is the label of the column. `hw_sample`, `hw_split` and the orders take a name as their last
argument, or none. Values are those of `headwater.arrow`. A null id makes a null.

The functions are Arrow functions in Python: DuckDB calls them for 2,048 rows at a time, and its
threads take turns. `engine(con)` says so.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.compute as pc

from headwater import _engines, _kinds, _samples
from headwater._native import ArrowChunkedArray, Key, Plan, arrow_key_of

_engines.need(duckdb, "duckdb", (1, 2))
_engines.need(pa, "pyarrow", (14,))

# The types of DuckDB by the formats of Arrow.
_TYPES = {"g": "DOUBLE", "l": "BIGINT", "L": "UBIGINT", "b": "BOOLEAN", "C": "UTINYINT"}


def _constant(column: Any, what: str) -> Any:
    """Returns the one value that all rows have."""
    # `unique`, and not the smallest and largest value, which leave NaN out.
    values = pc.unique(column)
    if column.null_count or len(values) != 1:
        raise ValueError(f"{what} must be one value for all rows, and not null: write a constant")
    return values[0].as_py()


def _taken(column: Any) -> Any:
    return pa.chunked_array(column) if isinstance(column, ArrowChunkedArray) else pa.array(column)


def _function(
    sql: str, names: tuple[str, ...], optional: int, plan: Callable[..., Plan], format: str
) -> Callable[..., Any]:
    """Returns a function of the ids, the seed and other constants, the last of which are optional."""
    usage = f"{sql}({', '.join(('id', 'seed', *names))})"

    def run(*columns: Any) -> Any:
        least, most = 2 + len(names) - optional, 2 + len(names)
        if not least <= len(columns) <= most:
            raise ValueError(f"{usage} takes {least} to {most} arguments, not {len(columns)}")
        ids, *constants = columns
        if len(ids) == 0:
            return pa.array(
                [], {"g": "f8", "l": "i8", "L": "u8", "b": pa.bool_(), "C": "u1"}[format]
            )
        what = ("seed", *names)
        seed, *values = [
            _constant(column, f"{name} in {usage}")
            for name, column in zip(what, constants, strict=False)
        ]
        if "name" in names[: len(values)]:
            name = values[names.index("name")]
            if not isinstance(name, str):
                raise TypeError(f"name in {usage} must be a text, not {name!r}")
        return _taken(plan(Key(seed), *values).run(ids, ""))

    return run


def _drawn(kind: dict[str, Any]) -> Callable[..., Plan]:
    def plan(key: Key, name: str, *values: Any) -> Plan:
        return _kinds.plan(kind, key, tuple(values), {}, None, name)

    return plan


def _sample(key: Key, p: Any, name: str | None = None) -> Plan:
    return Plan.sample(key, float(p), name, "null")


def _split(key: Key, parts: int, name: str | None = None) -> Plan:
    return Plan.split(key, parts, name, "null")


def _order(key: Key, name: str | None = None) -> Plan:
    return Plan.order(key, name, "null")


def _weighted(*columns: Any) -> Any:
    usage = "hw_weighted_order(id, seed, weight, name)"
    if not 3 <= len(columns) <= 4:
        raise ValueError(f"{usage} takes 3 to 4 arguments, not {len(columns)}")
    ids, seed, weights, *names = columns
    if len(ids) == 0:
        return pa.array([], pa.float64())
    weights = pc.cast(weights, pa.float64())
    good = pc.and_(pc.is_finite(weights), pc.greater_equal(weights, 0.0))
    if weights.null_count or not pc.all(good).as_py():
        raise ValueError(_samples.NEED)
    name = _constant(names[0], f"name in {usage}") if names else None
    plan = _samples.exponential(Key(_constant(seed, f"seed in {usage}")), name)
    numbers = _taken(plan.run(ids, ""))
    positive = pc.if_else(pc.equal(weights, 0.0), 1.0, weights)
    divided = pc.if_else(pc.equal(weights, 0.0), float("inf"), pc.divide(numbers, positive))
    return pc.if_else(pc.is_valid(numbers), divided, pa.scalar(None, pa.float64()))


def _functions() -> dict[str, tuple[Callable[..., Any], str]]:
    formats = {"float64": "g", "int64": "l", "uint64": "L"}
    made = {}
    for kind in _kinds.KINDS.values():
        format = formats.get(kind["dtypes"][0])
        if kind["is_plain"] and format is not None:
            names = tuple(name for name, _ in kind["parameters"])
            optional = sum(default is not None for _, default in kind["parameters"])
            sql = f"hw_{kind['name']}"
            made[sql] = (
                _function(sql, ("name", *names), optional, _drawn(kind), format),
                _TYPES[format],
            )
    made["hw_sample"] = (_function("hw_sample", ("p", "name"), 1, _sample, "b"), "BOOLEAN")
    made["hw_split"] = (_function("hw_split", ("parts", "name"), 1, _split, "C"), "UTINYINT")
    made["hw_order"] = (_function("hw_order", ("name",), 1, _order, "L"), "UBIGINT")
    made["hw_weighted_order"] = (_weighted, "DOUBLE")
    made["hw_key"] = (lambda *columns: _taken(arrow_key_of(columns, "null")), "BIGINT")
    return made


def load(con: duckdb.DuckDBPyConnection) -> None:
    """Makes the functions known to a connection. A second call changes nothing."""
    known = "select count(*) from duckdb_functions() where function_name = 'hw_sample'"
    if con.execute(known).fetchall() != [(0,)]:
        return
    # Texts for the options, because the enums of DuckDB's stubs have moved between its versions.
    create: Any = con.create_function
    for name, (function, type) in _functions().items():
        # `special`: a null id is seen here, because DuckDB would otherwise leave out its row, and
        # runs of ids with it.
        create(name, function, None, type, type="arrow", null_handling="special")


def engine(con: duckdb.DuckDBPyConnection) -> str:
    """Returns how a connection computes the functions: "arrow functions", or "not loaded"."""
    known = "select count(*) from duckdb_functions() where function_name = 'hw_sample'"
    return "arrow functions" if con.execute(known).fetchall() != [(0,)] else "not loaded"
