"""Random columns by row id in pandas: the functions of `headwater.arrow`, as Series.

    >>> import headwater, headwater.pandas
    >>> frame["noise"] = headwater.pandas.normal(frame["id"], headwater.Key(42), name="noise")
    >>> frame[headwater.pandas.sample(frame["id"], headwater.Key(42), 0.01)]

`ids` is a Series or an Index of integers, also a Series of Dask's. The result has its index. Where
ids are missing (`Int64`), floats are NaN, and integers and booleans are of the nullable types. Dask
knows types before rows, so there ids that may be missing make the nullable types in any case.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from headwater import _engines, _kinds, _samples
from headwater._native import Key, Plan, Stream, arrow_key_of

_engines.need(pd, "pandas", (2, 2))


def _column(ids: Any) -> tuple[Any, Any]:
    """Returns the ids as the native half takes them, and an array that is true where one is missing."""
    if isinstance(ids, np.ndarray):
        return ids, None
    if not isinstance(ids, pd.Series | pd.Index):
        found = f"{type(ids).__module__.partition('.')[0]}.{type(ids).__name__}"
        raise TypeError(
            f"ids must be a Series, an Index or an array of NumPy's, not {found}: "
            "headwater.arrow takes every Arrow column"
        )
    if isinstance(ids, pd.MultiIndex):
        raise TypeError(
            "ids must be one integer a row, and a MultiIndex has several values: key_of() makes an "
            "id of several columns"
        )
    array = ids.array
    if isinstance(array.dtype, pd.SparseDtype):
        return np.ascontiguousarray(np.asarray(array)), None
    if isinstance(array.dtype, pd.CategoricalDtype):  # the value counts, and not its code
        if pd.api.types.infer_dtype(array.categories) != "integer":
            return np.ascontiguousarray(np.asarray(array)), None
        values = pd.Series(np.asarray(array.categories)).infer_objects().to_numpy()
        codes = np.asarray(array.codes)
        return values.take(codes.clip(0)), codes < 0
    if pd.api.types.is_integer_dtype(array.dtype) and pd.api.types.is_extension_array_dtype(
        array.dtype
    ):
        missing = np.asarray(array.isna())
        return np.ascontiguousarray(
            array.to_numpy(dtype=array.dtype.numpy_dtype, na_value=0)
        ), missing
    return np.ascontiguousarray(np.asarray(array)), None


def _index(column: Any) -> Any:
    """Returns the index of a Series, or an Index itself: it is the one of the rows it stands in."""
    if isinstance(column, pd.Index):
        return column
    return column.index if isinstance(column, pd.Series) else None


def _same_rows(ids: Any, column: Any, what: str) -> None:
    """Raises an error for a Series with another index, whose rows would not be those of the ids."""
    index = _index(ids)
    if index is not None and isinstance(column, pd.Series) and not column.index.equals(index):
        raise ValueError(f"{what} must have the same index: rows are taken by their places")


def _numbers(ids: Any, column: Any, name: str, unknown: Any) -> Any:
    """Returns a parameter that is a column, as an array of numbers, none of which is missing but
    in the rows that `unknown` is true for: those without an id, which have no number in any case.
    """
    _same_rows(ids, column, f"ids and {name}")
    column = _unmasked(column, "parameters")
    if isinstance(column, pd.Series):
        if pd.api.types.is_extension_array_dtype(column.dtype):
            missing = np.asarray(column.isna())
            wrong = missing if unknown is None else missing & ~unknown
            if wrong.any():
                raise ValueError(
                    f"{name} in row {int(wrong.argmax())} is missing: leave such rows out"
                )
            if missing.all():  # in rows without an id, where any number may stand
                return np.zeros(len(column), np.int64)
            if missing.any():
                # A value of its own, because not each category and type has a 0.
                column = column.where(~missing, column[~missing].iloc[0])
            # Those that have no such type are categories and sparse columns, whose values count.
            column = np.asarray(column, getattr(column.dtype, "numpy_dtype", None))
        column = np.asarray(column)
        if column.dtype.kind not in "iufb":
            what = "Python's objects" if column.dtype.kind == "O" else column.dtype
            raise TypeError(
                f"{name} must be a column of numbers, not of {what}: cast it, decimals to 'float64'"
            )
    return np.ascontiguousarray(column)


def _evaluate(ids: Any, plan: Plan, name: str, columns: Sequence[Any] = ()) -> Any:
    are_dasks = [hasattr(one, "map_partitions") for one in (ids, *columns)]
    if any(are_dasks):  # Dask's Series: each partition by itself, when it is computed
        if not all(are_dasks):
            raise TypeError("ids and parameters that are columns must be Dask's, all or none")
        return _mapped(_of_partition, ids, plan, name, *columns)
    column, missing = _column(ids)
    valid = None
    if missing is not None and missing.any():
        # Under a missing id lies a 0. The native half makes no number of such a row, and looks at
        # none of its parameters.
        valid = np.packbits(~missing, bitorder="little").tobytes()
        if not plan.keeps_nulls:
            raise ValueError(
                f"the id in row {int(missing.argmax())} is missing: leave such rows out, or let "
                "nulls be null"
            )
    else:
        missing = None
    given = zip(columns, plan.parameters, strict=True)
    numbers = [_numbers(ids, one, parameter, missing) for one, parameter in given]
    values, _ = plan.run(column, name, numbers, valid).to_numpy()
    index = _index(ids)
    if values.ndim == 2:
        series = pd.Series(list(values), index=index, name=name)
        return series if missing is None else series.mask(missing)
    series = pd.Series(values, index=index, name=name)
    if missing is None:
        return series
    if values.dtype.kind == "f":
        return series.mask(missing)
    return series.astype(_nullable(values.dtype)).mask(missing)


def _mapped(function: Any, first: Any, *others: Any) -> Any:
    """Returns what a function makes of each partition of Dask, whose type Dask knows before."""
    for other in others:
        kind = type(other)
        if kind.__module__.startswith("dask.") and kind.__name__.startswith(("Delayed", "Scalar")):
            raise TypeError(
                "an argument is one value that Dask has not computed yet: pass what its compute() "
                "returns, or a column"
            )
        # Dask would pair the first partitions, and look for the others in vain. Partitions of other
        # rows have other indexes, which each of them compares.
        if getattr(other, "npartitions", first.npartitions) != first.npartitions:
            raise ValueError(
                f"columns must have the same partitions, not {first.npartitions} and "
                f"{other.npartitions}: take them from one frame, as assign() makes it"
            )
    metas = [_meta(one) for one in (first, *others)]
    return first.map_partitions(function, *others, meta=function(*metas))


def _meta(column: Any) -> Any:
    """Returns the column of no rows by which Dask knows a type, and other values as they are."""
    meta = getattr(column, "_meta", column)
    if isinstance(getattr(meta, "dtype", None), pd.CategoricalDtype):
        # Dask has a text in place of categories that it does not know.
        return pd.Series(pd.Categorical([], [0]), name=meta.name)
    return meta


def _of_partition(ids: pd.Series, plan: Plan, name: str, *columns: Any) -> pd.Series:
    """Returns the column of a partition, of a type that the ids' type decides, not the rows."""
    made: pd.Series = _evaluate(ids, plan, name, columns)
    if isinstance(ids.dtype, np.dtype) or not isinstance(made.dtype, np.dtype):
        return made
    return made.astype(_nullable(made.dtype)) if made.dtype.kind in "biu" else made


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


def _is_column(value: Any) -> bool:
    return isinstance(value, pd.Series | pd.Index | np.ndarray) or hasattr(value, "map_partitions")


_functions = _kinds.functions(_evaluate, __name__, _is_column)
__all__ = _kinds.names(_functions, ["folds", "key_of", "sample_n", "weighted_order"])
globals().update(_functions)


def weighted_order(
    ids: Any,
    key: Key | Stream,
    weights: Any,
    *,
    name: str | None = None,
    nulls: str = "null",
) -> pd.Series:
    """Returns in each row a number to sort by: the first k rows are a weighted sample of k.

    No row is in it twice, and one of weight 0 only after all others, where the number is infinite.
    """
    if hasattr(ids, "map_partitions"):
        return _mapped(_weighted, ids, weights, key, name, nulls)
    return _weighted(ids, weights, key, name, nulls)


# What pandas calls objects that are numbers.
_NUMBERS = {
    "boolean", "decimal", "empty", "floating", "integer", "integer-na", "mixed-integer-float",
}


def _type_of(column: Any, array: Any) -> Any:
    return getattr(column, "dtype", array.dtype)


def _weighted(
    ids: Any, weights: Any, key: Key | Stream, name: str | None, nulls: str
) -> pd.Series:
    _same_rows(ids, weights, "ids and weights")
    given = np.asarray(_unmasked(weights, "weights"))
    # Python's objects are numbers of all sorts, among them decimals. But NumPy would read a text as
    # a number, a date as its nanoseconds, and leave the imaginary half of a complex number out.
    are_numbers = given.dtype.kind in "iufb" or pd.api.types.infer_dtype(given) in _NUMBERS
    if not are_numbers:
        raise TypeError(f"weights must be numbers, not of {_type_of(weights, given)}: cast them")
    if given.dtype == object:  # pandas' missing value is no float
        given = np.where(pd.isna(given), np.nan, given)
    column = given.astype(float)
    if column.shape != (len(ids),):
        raise ValueError(f"weights must be one number a row, {len(ids)} in all, not {column.shape}")
    is_weight = np.isfinite(column) & ((column == 0) | (column >= _samples.LEAST))
    if not is_weight.all():
        row = int(is_weight.argmin())
        raise _samples.bad_weight(float(column[row]), row)
    numbers: pd.Series = _evaluate(ids, _samples.exponential(key, name, nulls), name or "weighted_order")
    with np.errstate(divide="ignore", invalid="ignore"):
        divided = np.where(column > 0, numbers.to_numpy() / column, np.inf)
    missing = numbers.isna()
    return pd.Series(divided, index=numbers.index, name=numbers.name).mask(missing)


def sample_n(
    frame: pd.DataFrame,
    ids: str,
    n: int,
    key: Key | Stream,
    *,
    by: Any = None,
    weights: str | None = None,
    name: str | None = None,
) -> pd.DataFrame:
    """Returns exactly `n` rows of a frame (of each group of `by`), or all if there are fewer.

    They are the first in the order of `order(frame[ids], key, name=name)`, so a larger sample
    contains the smaller one. With `weights`, the name of a column, a row is as likely to be the
    first as its share in their sum, then the next among the others, and so on; rows of weight 0 are
    never in it. Rows whose id is missing are never in it.

    A frame of Dask's makes one of one partition, which has the sample.
    """
    rows = _samples.count(n)
    if hasattr(frame, "map_partitions"):
        # A row of the sample is in that of its partition, because no row of another one comes
        # before those that are there before it.
        labels = by if isinstance(by, list) else [by]
        are_names = all(pd.api.types.is_hashable(x) and x in frame.columns for x in labels)
        if by is not None and not are_names:
            raise TypeError("by must be names of columns, where the frame is Dask's")

        def part(partition: pd.DataFrame) -> pd.DataFrame:
            return sample_n(partition, ids, rows, key, by=by, weights=weights, name=name)

        parts = _mapped(part, frame).repartition(npartitions=1)
        return _mapped(part, parts)
    is_known = _only(frame, ids).notna().to_numpy()
    groups = None
    if by is not None:
        # Before any row moves: an array of groups has them in the places of the frame's rows.
        # `dropna`: rows without a group are a group, as in SQL and Polars.
        numbered = frame.groupby(by, sort=False, dropna=False, observed=True).ngroup()
        groups = numbered.to_numpy()[is_known]
    known = frame[is_known]
    if weights is None:
        words = _functions["order"](known[ids], key, name=name).to_numpy()
    else:
        given = _only(known, weights, "weights")
        words = weighted_order(known[ids], key, given, name=name).to_numpy()
        is_finite = words < np.inf
        groups = None if groups is None else groups[is_finite]
        known, words = known[is_finite], words[is_finite]
    if groups is None and rows < len(words):
        # All rows up to the n-th smallest word: to sort the others would be most of the time.
        within = words <= np.partition(words, rows)[rows]
        known, words = known[within], words[within]
    order = np.lexsort((known[ids].to_numpy(), words))
    ordered = known.iloc[order]
    return ordered.head(rows) if groups is None else ordered.groupby(groups[order]).head(rows)


def folds(
    frame: pd.DataFrame, ids: str, k: int, key: Key | Stream, *, name: str | None = None
) -> Iterator[tuple[pd.DataFrame, pd.DataFrame]]:
    """Returns `k` pairs of frames: all rows but those of a fold, and the fold.

    A row's fold is `split(frame[ids], key, k, name=name)`, so it stays when rows are added. A
    missing id is an error, because its row would be in no fold.
    """
    many = _samples.folds_of(k)
    parts = _functions["split"](_only(frame, ids), key, many, name=name, nulls="error")
    # Not by `yield`, which would leave errors to the first pair.
    return ((frame[parts != fold], frame[parts == fold]) for fold in range(many))


def _only(frame: Any, label: Any, what: str = "ids") -> Any:
    """Returns a frame's column, or raises an error if it has several of this name."""
    if isinstance(label, pd.Series | pd.Index | np.ndarray | list):
        raise TypeError(f"{what} must be the name of a column, not {type(label).__name__}")
    column = frame[label]
    if column.ndim != 1:
        raise ValueError(f"the frame has several columns called {label!r}: rename one")
    return column


def key_of(*columns: Any, nulls: str = "null") -> pd.Series:
    """Returns ids of rows. See `headwater.arrow.key_of`. Texts need pyarrow."""
    are_dasks = [hasattr(column, "map_partitions") for column in columns]
    if any(are_dasks):
        if not all(are_dasks):
            raise TypeError("columns must be Dask's, all or none")

        def keys(*parts: Any) -> pd.Series:
            # A partition without a missing value would have another type than one with them.
            return key_of(*parts, nulls=nulls).astype("int64" if nulls == "error" else "Int64")

        return _mapped(keys, *columns)
    parts = tuple(_values(column) for column in columns)
    values, mask = arrow_key_of(parts, nulls).to_numpy()
    indexed = [column for column in columns if _index(column) is not None]
    for column in indexed:
        _same_rows(indexed[0], column, "columns")
    index = _index(indexed[0]) if indexed else None
    series = pd.Series(values, index=index, name="key")
    return series if mask is None else series.astype("Int64").mask(mask)


def _unmasked(column: Any, what: str) -> Any:
    """Returns the column, or raises an error for an array whose mask would not be seen."""
    if isinstance(column, np.ma.MaskedArray):
        raise TypeError(f"{what} are a masked array, whose mask is not part of it: pass its filled()")
    return column


def _values(column: Any) -> Any:
    # Of a text pyarrow would take each letter for a row, and of a frame each name.
    no_column = str | bytes | pd.DataFrame | pd.MultiIndex
    if isinstance(column, no_column) or not hasattr(column, "__len__"):
        raise TypeError(
            f"columns must be Series, Indexes or arrays, not {type(column).__name__}: pass each "
            "column by itself, as frame['user']"
        )
    array = column.array if isinstance(column, pd.Series | pd.Index) else _unmasked(column, "columns")
    dtype = getattr(array, "dtype", None)
    if isinstance(dtype, pd.PeriodDtype):  # Arrow would have their numbers, without the frequency
        raise TypeError("key_of() takes no periods: dt.to_timestamp() makes timestamps of them")
    if isinstance(dtype, pd.SparseDtype):
        array = np.asarray(array)
    if isinstance(array, np.ndarray) and array.dtype.kind in "iu":
        return np.ascontiguousarray(array)
    import pyarrow as pa

    return pa.array(array, from_pandas=True)


def __getattr__(name: str) -> Any:
    raise _kinds.missing(__name__, name)
