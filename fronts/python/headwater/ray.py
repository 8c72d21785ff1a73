"""Random columns by row id in Ray Data: the functions of `headwater.arrow`, for `map_batches`.

    >>> import ray, headwater, headwater.ray as hr
    >>> key = headwater.Key(42)
    >>> dataset.map_batches(hr.normal("id", key, name="noise"), batch_format="pyarrow")
    >>> dataset.map_batches(hr.keep("id", key, 0.01), batch_format="pyarrow")

Each function returns a callable that adds a column to a pyarrow Table, and `keep` one that leaves
the rows of a sample. They pickle, and a task that Ray repeats makes the same rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from headwater import _kinds
from headwater._native import Key, Plan, Stream
from headwater.pyarrow import _taken

__all__: list[str] = []


@dataclass(frozen=True)
class _Added:
    """Adds the column of a plan to a table, or leaves the rows for which it is true."""

    ids: str
    plan: Plan
    name: str
    keeps: bool = False

    def __call__(self, table: Any) -> Any:
        if not hasattr(table, "append_column"):
            raise TypeError(
                f'the batch is a {type(table).__name__}: pass batch_format="pyarrow" to map_batches'
            )
        column = _taken(self.plan.run(table[self.ids], self.name))
        return table.filter(column) if self.keeps else table.append_column(self.name, column)


def _evaluate(ids: Any, plan: Plan, name: str) -> _Added:
    if not isinstance(ids, str):
        raise TypeError(f"ids must be a column's name, not {type(ids).__name__}")
    return _Added(ids, plan, name)


def keep(
    ids: str, key: Key | Stream, p: float, *, name: str | None = None, nulls: str = "null"
) -> _Added:
    """Returns a callable that leaves the rows of `sample(ids, key, p)`."""
    return _Added(ids, Plan.sample(key, p, name, nulls), name or "sample", True)


_functions = _kinds.functions(_evaluate, __name__)
__all__ += _kinds.names(_functions, ["keep"])
globals().update(_functions)


def __getattr__(name: str) -> Any:
    raise _kinds.missing(__name__, name)
