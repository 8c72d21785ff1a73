"""Blocks of ids in every form, one after the other: where they lie, their order, and their nulls.

The kernel reads ids where they lie if it can, and otherwise widens them into room that it makes when
it first needs it. DuckDB's memory for results is unwritten. So each form meets each other one here,
and a value that was left over from another block would show.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from _duckdb_engines import ENGINES, connect

import headwater

pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed: its ids were not crossed")

import headwater.pyarrow as front  # noqa: E402

KEY = headwater.Key(42)
RNG = np.random.default_rng(1)
#: Around the ends of the kernel's blocks, of 1,024 rows, and of DuckDB's vectors, of 2,048.
LENGTHS = (0, 1, 1023, 1025, 2048, 2049, 5000)


def ids_of(length: int, order: str, nulls: str) -> tuple[Any, Any]:
    """Returns ids and which of them are null."""
    ids = np.arange(length) + 500
    if order == "mixed":
        RNG.shuffle(ids)
    if order == "a block turned round":
        ids[1024:1400] = ids[1024:1400][::-1]
    mask = np.zeros(length, bool)
    if nulls == "in the first block":
        mask[:1024] = RNG.random(min(length, 1024)) < 0.5
    elif nulls != "none":
        mask[:] = RNG.random(length) < (0.01 if nulls == "few" else 2)
    return ids, mask


def formed(ids: Any, mask: Any, type: str, form: str) -> Any:
    column = pa.array(ids.astype(type), mask=mask)
    if form == "a slice":
        return pa.concat_arrays([pa.array([3] * 5, column.type), column]).slice(5)
    return column.dictionary_encode() if form == "a dictionary" else column


def right(ids: Any, mask: Any) -> list[float | None]:
    made = iter(KEY.child("u").stream(0).at(ids[~mask]).random().tolist() if (~mask).any() else [])
    return [None if missing else next(made) for missing in mask]


@pytest.mark.parametrize("order", ["counting", "mixed", "a block turned round"])
@pytest.mark.parametrize("nulls", ["none", "few", "in the first block", "all"])
@pytest.mark.parametrize("type", ["int64", "uint64", "int32", "uint16"])
def test_ids_of_every_form(order: str, nulls: str, type: str) -> None:
    for length in LENGTHS:
        ids, mask = ids_of(length, order, nulls)
        for form in ("plain", "a slice", "a dictionary"):
            made = front.uniform(formed(ids, mask, type, form), KEY, name="u").to_pylist()
            assert made == right(ids, mask), (length, form)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("nulls", ["none", "few", "in the first block", "all"])
def test_functions_of_sql_beside_each_other(engine: str, nulls: str) -> None:
    con = connect(engine, threads=2)
    sql = (
        "select hw_uniform(id, 42, 'u'), hw_sample(id, 42, 0.5), hw_split(id, 42, 3),"
        " hw_poisson(id, 42, 'p', case when place % 5 = 0 then null else 1.5 + place end)"
        " from ids order by place"
    )
    for length in LENGTHS[1:]:
        for order, type in (("counting", "int64"), ("mixed", "int32"), ("a block turned round", "uint64")):
            ids, mask = ids_of(length, order, nulls)
            column = formed(ids, mask, type, "plain")
            con.register("ids", pa.table({"place": range(length), "id": column}))
            lam = pa.array([None if i % 5 == 0 else 1.5 + i for i in range(length)], "float64")
            expected = (
                right(ids, mask),
                front.sample(column, KEY, 0.5).to_pylist(),
                front.split(column, KEY, 3).to_pylist(),
                front.poisson(column, KEY, lam, name="p").to_pylist(),
            )
            made = con.execute(sql).fetchall()
            assert made == list(zip(*expected, strict=True)), (length, order)
            con.unregister("ids")
