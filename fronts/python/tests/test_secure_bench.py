"""The rows of the benchmark run, and each compares like with like."""

from __future__ import annotations

import pytest

from headwater.bench import secrets as group
from headwater.bench._measure import Row


@pytest.mark.parametrize("row", group.rows(), ids=lambda row: row.name)
def test_both_sides_of_a_row_return_the_same_kind(row: Row) -> None:
    names: dict[str, object] = {}
    exec(row.setup, names)
    if "fill" in row.name:
        assert eval(row.ours, names) is None
        assert len(eval(row.peer, names)) == len(eval("buffer", names))
        return
    ours, theirs = eval(row.ours, names), eval(row.peer, names)
    assert type(ours) is type(theirs)
    if isinstance(ours, (bytes, str, list)):
        assert len(ours) == len(theirs)
