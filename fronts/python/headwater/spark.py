"""Random columns by row id in Spark: in SQL, and as columns.

    >>> import headwater, headwater.spark as hs
    >>> hs.register(spark)
    >>> spark.sql("select id, hw_normal(id, 42, 'noise') as noise from range(10)")
    >>> frame.withColumn("noise", hs.normal("id", headwater.Key(42), name="noise"))
    >>> frame.where(hs.sample("id", headwater.Key(42), 0.01))

`register` makes the functions of SQL known to a session: those of `headwater.duckdb`, with the same
arguments. With headwater's jar on Spark's class path they run in the JVM, without Python:
`SparkSession.builder.config("spark.jars", "headwater-spark-0.2.0.jar")`. Otherwise they are Arrow
functions, and `register` warns; `engine(spark)` says which.

`normal("id", key)` and the other functions of `headwater.arrow` take a key, and are Arrow functions
in Spark's Python workers (`arrow_udf`, Spark 4.1 or later), so headwater and pyarrow have to be
installed there. Spark has no integers without a sign: parts are of 16 bits, and the words of
`order` are lowered by 2^63, so that they sort as elsewhere. Ids of rows that have none are
`key_of(...)`, which Spark computes itself. `monotonically_increasing_id()` is no id: it depends on
the partitions.
"""

from __future__ import annotations

import warnings
from functools import reduce
from operator import or_
from typing import Any

import pyarrow as pa
import pyspark
import pyspark.sql.functions as sf
from pyspark.sql import Column, SparkSession

from headwater import _kinds
from headwater._native import Key, Plan, Stream
from headwater.pyarrow import _taken, _type

__all__: list[str] = []


def _arrow_udf() -> Any:
    found = getattr(sf, "arrow_udf", None)
    if found is None:
        raise ImportError(
            "headwater's functions in Python need the arrow_udf of Spark 4.1 or later, and this is "
            f"{pyspark.__version__}: update it, put headwater's jar on its class path, or call "
            "headwater.pyarrow in mapInArrow"
        )
    return found


def _evaluate(ids: Any, plan: Plan, name: str, is_order: bool = False) -> Column:
    from pyspark.sql.pandas.types import from_arrow_type

    if not isinstance(ids, str | Column):
        raise TypeError(f"ids must be a column's name or a Column, not {type(ids).__name__}")
    arrow_udf = _arrow_udf()
    raw, made = plan.to_bytes(), _signed(_type(plan), is_order)

    # Spark reads from these types that the function is one from a column to a column.
    def draw(batch: pa.Array) -> pa.Array:
        column = _taken(Plan.from_bytes(raw).run(batch, name))
        return column if column.type == made else _cast(column, made)

    column: Column = arrow_udf(draw, from_arrow_type(made))(ids).alias(name)
    return column


def _signed(type: Any, is_order: bool) -> Any:
    """Returns the type of Spark's that holds a column: it has no integers without a sign."""
    if type == pa.uint64() and not is_order:
        raise TypeError(
            "Spark has no type for uint64: pass another dtype of the kind, such as 'int64' or "
            "'uint32'"
        )
    if type == pa.float16():
        raise TypeError("Spark has no type for float16: pass dtype='float32'")
    wider = {"uint8": pa.int16(), "uint16": pa.int32(), "uint32": pa.int64(), "uint64": pa.int64()}
    return wider.get(str(type), type)


def _cast(column: Any, type: Any) -> Any:
    """Casts to a signed type. Words of 64 bits are lowered by 2^63, which keeps their order."""
    import pyarrow.compute as pc

    if column.type != pa.uint64():
        return column.cast(type)
    return pc.bit_wise_xor(column, pa.scalar(2**63, pa.uint64())).view(type)


_functions = _kinds.functions(_evaluate, __name__)


def order(ids: Any, key: Key | Stream, *, name: str | None = None, nulls: str = "null") -> Column:
    """Returns in each row a number to sort by, then by id: the word of other engines less 2^63."""
    return _evaluate(ids, Plan.order(key, name, nulls), name or "order", True)


_functions["order"] = order


_permutation = _functions["permutation"]


def permutation(
    ids: Any,
    key: Key | Stream,
    n: int,
    *,
    dtype: Any = "int64",
    name: str | None = None,
    nulls: str = "null",
) -> Column:
    """Returns the places of a permutation of `n` rows, as int64, which holds those below 2^63."""
    column: Column = _permutation(ids, key, n, dtype=dtype, name=name, nulls=nulls)
    return column


_functions["permutation"] = permutation

# The types whose hash in Spark is that of `headwater.arrow.key_of`. An int has another hash than the
# same number as a bigint; a double, a list, and a text with a collation have one in Spark alone.
_HASHED = r"^(void|bigint|string|(var)?char\(\d+\)|binary|boolean|date|timestamp|timestamp_ntz|decimal\(([1-9]|1[0-8]),0\))$"


def key_of(*columns: Any) -> Column:
    """Returns ids of rows, from Spark's own `xxhash64`: the same as `headwater.arrow.key_of`.

    Other integers than `bigint`, and decimals of more than 18 digits, are to be cast to `bigint`:
    Spark hashes them in another form, and a query of them is an error. So is one of floats, lists
    and structs. A row of nulls is null.
    """
    if not columns:
        raise TypeError("key_of() needs a column")
    for column in columns:
        if not isinstance(column, str | Column):
            raise TypeError(
                f"key_of() takes names of columns and Columns, not {type(column).__name__}"
            )
    taken = [sf.col(column) if isinstance(column, str) else column for column in columns]
    # Spark's hash of nothing but nulls is its seed: one id for all such rows.
    is_known = reduce(or_, (column.isNotNull() for column in taken))
    made = sf.when(is_known, sf.shiftrightunsigned(sf.xxhash64(*taken), 1))
    for column in taken:
        # A column knows its type when Spark has its plan, which then has the one branch alone.
        kind = sf.typeof(column)
        text = (
            ": cast an integer to bigint, and others to text, binary, boolean, date or timestamp"
        )
        refused = sf.raise_error(sf.concat(sf.lit("key_of() takes no "), kind, sf.lit(text)))
        made = sf.when(~kind.rlike(_HASHED), refused).otherwise(made)
    return made.alias("key")


def register(spark: SparkSession) -> None:
    """Makes the functions of SQL known to a session. A second call changes nothing.

    They are the jar's if it is on Spark's class path. Otherwise they are Arrow functions in
    Python's workers, which a RuntimeWarning says.
    """
    if engine(spark) != "not registered":
        return
    jvm = getattr(spark, "_jvm", None)
    functions: Any = jvm.headwater.spark.Functions if jvm is not None else None
    # A name that the JVM does not know is a package, which has no methods.
    if type(functions).__name__ == "JavaClass":
        functions.register(spark._jsparkSession)
        return
    message = (
        "headwater's functions are in Python's workers, because its jar is not on Spark's class "
        "path: start the session with spark.jars=headwater-spark-VERSION.jar for those of the JVM"
    )
    warnings.warn(message, RuntimeWarning, stacklevel=2)
    from headwater import _spark_arrow

    _spark_arrow.register(spark)


def engine(spark: SparkSession) -> str:
    """Returns how a session computes the functions: "jvm", "arrow functions" or "not registered"."""
    # Two, because a user may have a function of one of the names.
    if not all(map(spark.catalog.functionExists, ("hw_sample", "hw_normal"))):
        return "not registered"
    described = spark.sql("describe function hw_sample").collect()
    is_ours = any(row[0].startswith("Class: headwater.spark.") for row in described)
    return "jvm" if is_ours else "arrow functions"


__all__ += _kinds.names(_functions, ["engine", "key_of", "register"])
globals().update(_functions)


def __getattr__(name: str) -> Any:
    raise _kinds.missing(__name__, name)
