"""Random columns by row id in pandas: the functions of `headwater.arrow`, as Series.

    >>> import headwater, headwater.pandas
    >>> frame["noise"] = headwater.pandas.normal(frame["id"], headwater.Key(42), name="noise")
    >>> frame[headwater.pandas.sample(frame["id"], headwater.Key(42), 0.01)]

`ids` is a Series or an Index of integers. The result has its index. Where ids are missing (`Int64`),
floats are NaN, and integers and booleans are of the nullable types.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from headwater import _kinds
from headwater._native import Key, Plan, Stream, arrow_key_of


def _column(ids: Any) -> tuple[Any, Any]:
    """Returns the ids as the native half takes them, and an array that is true where one is missing."""
    if isinstance(ids, np.ndarray):
        return ids, None
    if not isinstance(ids, pd.Series | pd.Index):
        raise TypeError(f"ids must be a Series, an Index or an array, not {type(ids).__name__}")
    array = ids.array
    if isinstance(array.dtype, pd.CategoricalDtype):  # the value counts, and not its code
        array = pd.Series(np.asarray(array, dtype=object)).convert_dtypes().array
    if pd.api.types.is_integer_dtype(array.dtype) and pd.api.types.is_extension_array_dtype(
        array.dtype
    ):
        missing = np.asarray(array.isna())
        return np.ascontiguousarray(
            array.to_numpy(dtype=array.dtype.numpy_dtype, na_value=0)
        ), missing
    return np.ascontiguousarray(np.asarray(array)), None


def _evaluate(ids: Any, plan: Plan, name: str) -> pd.Series:
    column, missing = _column(ids)
    if missing is not None and missing.any():
        # Under a missing id lies a 0, so that the row has an element; it is taken out below.
        if not plan.keeps_nulls:
            raise ValueError(
                f"the id in row {int(missing.argmax())} is missing: leave such rows out, or let "
                "nulls be null"
            )
    else:
        missing = None
    values, _ = plan.run(column, name).to_numpy()
    index = ids.index if isinstance(ids, pd.Series) else None
    if values.ndim == 2:
        series = pd.Series(list(values), index=index, name=name)
        return series if missing is None else series.mask(missing)
    series = pd.Series(values, index=index, name=name)
    if missing is None:
        return series
    if values.dtype.kind == "f":
        return series.mask(missing)
    return series.astype(_nullable(values.dtype)).mask(missing)


def _nullable(dtype: Any) -> str:
    """Returns pandas' type of integers or booleans that may be missing."""
    names = {
        "bool": "boolean",
        "uint8": "UInt8",
        "uint16": "UInt16",
        "uint32": "UInt32",
        "uint64": "UInt64",
    }
    name = str(np.dtype(dtype).name)
    return names.get(name, name.capitalize())


_functions = _kinds.functions(_evaluate, __name__)
__all__ = _kinds.names(_functions, ["key_of", "sample_n"])
globals().update(_functions)


def sample_n(
    frame: pd.DataFrame,
    ids: str,
    n: int,
    key: Key | Stream,
    *,
    by: Any = None,
    name: str | None = None,
) -> pd.DataFrame:
    """Returns exactly `n` rows of a frame (of each group of `by`), or all if there are fewer.

    They are the first in the order of `order(frame[ids], key, name=name)`, so a larger sample
    contains the smaller one. Rows whose id is missing are never in it.
    """
    known = frame[frame[ids].notna()]
    words = _functions["order"](known[ids], key, name=name).to_numpy()
    ordered = known.iloc[np.lexsort((known[ids].to_numpy(), words))]
    return ordered.head(n) if by is None else ordered.groupby(by, sort=False).head(n)


def key_of(*columns: Any, nulls: str = "null") -> pd.Series:
    """Returns ids of rows. See `headwater.arrow.key_of`. Texts need pyarrow."""
    parts = tuple(_values(column) for column in columns)
    values, mask = arrow_key_of(parts, nulls).to_numpy()
    index = columns[0].index if isinstance(columns[0], pd.Series) else None
    series = pd.Series(values, index=index, name="key")
    return series if mask is None else series.astype("Int64").mask(mask)


def _values(column: Any) -> Any:
    array = column.array if isinstance(column, pd.Series | pd.Index) else column
    if isinstance(array, np.ndarray) and array.dtype.kind in "iu":
        return np.ascontiguousarray(array)
    import pyarrow as pa

    return pa.array(array, from_pandas=True)


def __getattr__(name: str) -> Any:
    raise _kinds.missing(__name__, name)
