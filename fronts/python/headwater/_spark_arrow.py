"""Spark's functions of SQL as Arrow functions in Python, where headwater's jar is not loaded."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import SparkSession

from headwater import _sql_arrow
from headwater.spark import _arrow_udf

# The types of Spark by the formats of Arrow: it has no integers without a sign.
_TYPES = {"g": "double", "l": "bigint", "L": "bigint", "b": "boolean", "C": "smallint"}
_SIGNED = {"L": pa.int64(), "C": pa.int16()}


def _signed(name: str, format: str) -> tuple[str, Callable[[Any], Any]]:
    """Returns the type of a function in Spark, and what makes a column of that type."""
    if name == "hw_words":
        return "decimal(20, 0)", lambda column: column.cast(pa.decimal128(20, 0))
    if name == "hw_order":
        # The words less 2^63, which keeps their order.
        bit = pa.scalar(2**63, pa.uint64())
        return "bigint", lambda column: pc.bit_wise_xor(column, bit).view(pa.int64())
    if format in _SIGNED:
        return _TYPES[format], lambda column: column.cast(_SIGNED[format])
    return _TYPES[format], lambda column: column


def _wrapped(function: Callable[..., Any], cast: Callable[[Any], Any]) -> Callable[..., Any]:
    def draw(*columns: pa.Array) -> pa.Array:
        made = cast(function(*columns))
        return made.combine_chunks() if isinstance(made, pa.ChunkedArray) else made

    return draw


def _places(function: Callable[..., Any]) -> Callable[..., Any]:
    """Returns the permutation, whose places are bigints: the last one has to fit."""

    def permute(*columns: pa.Array) -> pa.Array:
        n = columns[1][0].as_py() if len(columns) > 1 and len(columns[1]) else 0
        if isinstance(n, int | Decimal) and n > 2**63:
            raise ValueError(f"n must be from 0 to 2^63, not {n}: places are of bigint in Spark")
        return function(*columns)

    return permute


def register(spark: SparkSession) -> None:
    """Makes the functions known to a session."""
    arrow_udf = _arrow_udf()
    for name, (function, format) in _sql_arrow.functions().items():
        type, cast = _signed(name, format)
        if name == "hw_permute":
            function = _places(function)
        spark.udf.register(name, arrow_udf(_wrapped(function, cast), type))
