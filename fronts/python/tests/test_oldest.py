"""Every function in versions of the engines that differ by years.

The tests of each front are written for its newest engine, whose own interface has changed. These
pass in the oldest ones as well, where `cargo xtask test --only "columns by row id in the oldest
engines"` runs them.
"""

from __future__ import annotations

import numpy as np
import pytest
from _duckdb_engines import connect
from test_one_array import KEY, N, ORDER, by_id, columns, expected

__all__ = ["expected"]
REASON = "{} is not installed: its columns were not compared"
NAMES = ("z", "u", "sample", "split")
MU = ORDER * 0.5
RIGHT = KEY.child("m").stream(0).at(ORDER).standard_normal() + MU


def test_pyarrow(expected: str) -> None:
    pa = pytest.importorskip("pyarrow", reason=REASON.format("pyarrow"))
    import headwater.pyarrow as front

    pieces = np.array_split(ORDER, 7)
    chunked = pa.chunked_array([pa.array(piece) for piece in pieces])
    assert by_id(ORDER, *(column.to_numpy() for column in columns(front, chunked))) == expected
    mu = pa.chunked_array([pa.array(piece) for piece in np.array_split(MU, 7)])
    assert front.normal(chunked, KEY, mu, name="m").to_numpy().tolist() == RIGHT.tolist()
    empty = pa.chunked_array([], pa.int64())
    assert front.split(empty, KEY, 3).type == pa.uint8() and len(front.key_of(empty)) == 0
    vectors = front.dirichlet(chunked.slice(5, 20), KEY, [1.0, 2.0])
    assert len(vectors) == 20 and vectors.type.list_size == 2


def test_pandas(expected: str) -> None:
    pd = pytest.importorskip("pandas", reason=REASON.format("pandas"))
    import headwater.pandas as front

    frame = pd.DataFrame({"id": ORDER, "mu": MU, "g": ORDER % 3, "w": 1.0})
    made = columns(front, frame["id"])
    assert by_id(frame["id"], *made) == expected
    assert front.normal(frame["id"], KEY, frame["mu"], name="m").tolist() == RIGHT.tolist()
    some = frame["id"].astype("Int64").where(frame["g"] > 0)
    drawn = front.normal(some, KEY, frame["mu"].where(frame["g"] > 0), name="m")
    assert drawn.isna().equals(some.isna())
    assert drawn[frame["g"] > 0].tolist() == RIGHT[frame["g"] > 0].tolist()
    for more in ({}, {"by": "g"}, {"weights": "w"}):
        assert len(front.sample_n(frame, "id", 5, KEY, **more)) == (15 if "by" in more else 5)
    assert sum(len(fold) for _, fold in front.folds(frame, "id", 3, KEY)) == N


def test_polars(expected: str) -> None:
    pl = pytest.importorskip("polars", reason=REASON.format("Polars"))
    pa = pytest.importorskip("pyarrow", reason=REASON.format("pyarrow"))
    import headwater.polars as front
    import headwater.pyarrow as right

    assert front.engine() == "plugin"
    frame = pl.DataFrame({"id": ORDER, "mu": MU, "g": ORDER % 3, "w": 1.0})
    made = frame.lazy().with_columns(*columns(front, "id")).collect()
    assert by_id(made["id"], *(made[name].to_numpy() for name in NAMES)) == expected
    drawn = frame.select(front.normal("id", KEY, pl.col("mu"), name="m")).to_series()
    assert drawn.to_list() == RIGHT.tolist()
    keys = frame.select(front.key_of("id", "g")).to_series().to_list()
    assert keys == right.key_of(pa.array(ORDER), pa.array(ORDER % 3)).to_pylist()
    vectors = frame.head(3).select(front.dirichlet("id", KEY, [1.0, 2.0])).to_series()
    assert vectors.dtype == pl.Array(pl.Float64, 2)
    few = frame.lazy().filter(front.sample("id", KEY, 0.01)).collect()
    assert few.height == int(made["sample"].sum())
    for more in ({}, {"by": "g"}, {"weights": "w"}):
        rows = front.sample_n(frame.lazy(), "id", 5, KEY, **more).collect()
        assert rows.height == (15 if "by" in more else 5)
    assert sum(fold.height for _, fold in front.folds(frame, "id", 3, KEY)) == N


def test_duckdb(expected: str) -> None:
    pa = pytest.importorskip("pyarrow", reason=REASON.format("pyarrow"))
    con = connect("arrow functions")
    con.register("rows", pa.table({"id": ORDER, "mu": MU}))
    made = con.execute(
        "select id, hw_normal(id, 42, 'z') z, hw_uniform(id, 42, 'u') u, hw_sample(id, 42, 0.01) k,"
        " hw_split(id, 42, 10) s, hw_normal(id, 42, 'm', mu) m from rows"
    ).fetchnumpy()
    assert by_id(made["id"], *(made[name] for name in "zuks")) == expected
    assert made["m"][np.argsort(made["id"])].tolist() == RIGHT[np.argsort(ORDER)].tolist()
    few = con.execute("select id from rows order by hw_order(id, 42), id limit 3").fetchall()
    assert len(few) == 3 and con.execute("select hw_key('a', 1)").fetchall()[0][0] > 0
    # DuckDB 1.2 hands a UHUGEINT over as its bytes, which are another seed and key.
    for sql in ("hw_normal(1, 5::uhugeint, 'n')", "hw_key(5::uhugeint)", "hw_key(1, 5::uhugeint)"):
        right = con.execute(f"select {sql.replace('uhugeint', 'bigint')}").fetchone()
        try:
            made = con.execute(f"select {sql}").fetchone()
        except Exception as error:  # noqa: BLE001
            assert "must not be a UHUGEINT in this DuckDB: cast it to HUGEINT" in str(error)
        else:
            assert made == right


@pytest.mark.parametrize(
    ("front", "library"),
    [("pyarrow", "pyarrow"), ("polars", "polars"), ("pandas", "pandas"), ("duckdb", "duckdb"),
     ("datafusion", "datafusion"), ("daft", "daft"), ("ibis", "ibis")],
)  # fmt: skip
def test_a_front_refuses_what_is_too_old(
    front: str, library: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    import importlib

    module = pytest.importorskip(library, reason=REASON.format(library))
    made = importlib.import_module(f"headwater.{front}")
    monkeypatch.setattr(module, "__version__", "0.5.9")
    with pytest.raises(ImportError, match=f"headwater.{front} needs {library} .* this is 0.5.9"):
        importlib.reload(made)
    monkeypatch.undo()
    importlib.reload(made)
