"""Random columns by row id in Ray Data: the functions of `headwater.arrow`, for `map_batches`.

    >>> import ray, headwater, headwater.ray as hr
    >>> key = headwater.Key(42)
    >>> dataset.map_batches(hr.normal("id", key, name="noise"), batch_format="pyarrow")
    >>> dataset.map_batches(hr.keep("id", key, 0.01), batch_format="pyarrow")

Each function returns a callable that adds a column to a pyarrow Table, or replaces the one of its
name, and `keep` one that leaves the rows of a sample. They pickle, and a task that Ray repeats
makes the same rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from headwater import _kinds
from headwater._native import Key, Plan, Stream, arrow_key_of
from headwater.pyarrow import _taken

__all__: list[str] = []


class _OfBatches:
    """What Ray expects of a function of batches, besides a call."""

    name: str

    @property
    def __name__(self) -> str:
        """The name in Ray's plans."""
        return f"headwater.{self.name}"

    def __repr__(self) -> str:
        return f"<headwater's {self.name}, a function of batches>"

    def alias(self, name: str) -> None:
        """Raises the error of `with_column`, which takes Ray's own expressions."""
        raise TypeError(
            f"headwater's {self.name} is a function of batches and no expression: pass it to "
            'map_batches(..., batch_format="pyarrow") in place of with_column(), and name=... to it'
        )


@dataclass(frozen=True, repr=False)
class _Added(_OfBatches):
    """Adds the column of a plan to a table, or leaves the rows for which it is true."""

    ids: str
    plan: Plan
    name: str
    keeps: bool = False

    def __call__(self, table: Any) -> Any:
        _is_table(table)
        column = _taken(self.plan.run(table[self.ids], self.name))
        if self.keeps:
            return table.filter(column)
        return _with(table, self.name, column)


@dataclass(frozen=True, repr=False)
class _Keyed(_OfBatches):
    """Adds the ids that are made of columns of a table."""

    columns: tuple[str, ...]
    name: str
    nulls: str

    def __call__(self, table: Any) -> Any:
        _is_table(table)
        parts = tuple(table[column].combine_chunks() for column in self.columns)
        return _with(table, self.name, _taken(arrow_key_of(parts, self.nulls)))


def _is_table(table: Any) -> None:
    if not hasattr(table, "append_column"):
        raise TypeError(
            f'the batch is a {type(table).__name__}: pass batch_format="pyarrow" to map_batches'
        )


def _with(table: Any, name: str, column: Any) -> Any:
    """Returns a table with a column, in place of one of its name, as in all other engines."""
    if name not in table.column_names:
        return table.append_column(name, column)
    return table.set_column(table.column_names.index(name), name, column)


def _evaluate(ids: Any, plan: Plan, name: str) -> _Added:
    if not isinstance(ids, str):
        raise TypeError(f"ids must be a column's name, not {type(ids).__name__}")
    return _Added(ids, plan, name)


def keep(
    ids: str, key: Key | Stream, p: float, *, name: str | None = None, nulls: str = "null"
) -> _Added:
    """Returns a callable that leaves the rows of `sample(ids, key, p)`."""
    return _Added(ids, Plan.sample(key, p, name, nulls), name or "sample", True)


def key_of(*columns: str, name: str = "key", nulls: str = "null") -> _Keyed:
    """Returns a callable that adds ids, made of columns of text, integers, dates and others.

    See `headwater.arrow.key_of`.
    """
    if not columns or not all(isinstance(column, str) for column in columns):
        raise TypeError("key_of() needs names of columns")
    return _Keyed(columns, name, nulls)


_functions = _kinds.functions(_evaluate, __name__)
__all__ += _kinds.names(_functions, ["keep", "key_of"])
globals().update(_functions)


def __getattr__(name: str) -> Any:
    raise _kinds.missing(__name__, name)
