"""Parameters that are columns in DuckDB's SQL, over both of its engines: `by_row_cases.py`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from _duckdb_engines import ENGINES, connect
from by_row_cases import CASES, ERRORS, KEY, MU, SIGMA, TABLE, N, alone, rows

pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed: DuckDB was not compared")
duckdb = pytest.importorskip("duckdb", reason="DuckDB is not installed: its SQL was not tried")

import headwater.arrow as ha  # noqa: E402
import headwater.duckdb as front  # noqa: E402
from headwater import _kinds, _sql_arrow  # noqa: E402


@pytest.fixture(scope="module", params=ENGINES)
def con(request: pytest.FixtureRequest) -> Any:
    made = connect(request.param, threads=2)
    made.execute(f"create table t as {TABLE.format(rows=f'range({N}) r(i)')}")
    return made


def column(con: Any, sql: str) -> list[Any]:
    return [row[0] for row in con.execute(sql).fetchall()]


def same(made: list[Any], right: list[Any]) -> bool:
    """Compares numbers by their digits, as 0 and -0 are equal and another number."""
    return list(map(repr, made)) == list(map(repr, right))


def lacks(con: Any, sql: str) -> bool:
    """Returns whether this DuckDB hands a UHUGEINT to Python as bytes without a meaning."""
    old = tuple(int(part) for part in duckdb.__version__.split(".")[:2]) < (1, 5)
    return old and "uhugeint" in sql and front.engine(con) == "arrow functions"


@pytest.mark.parametrize(("arguments", "kind", "parameters"), CASES)
def test_each_row_has_the_number_of_its_own_parameters(
    con: Any, arguments: str, kind: str, parameters: Any
) -> None:
    sql = f"hw_{kind}(id, 42, 'z', {arguments}) from t"
    if lacks(con, sql):
        with pytest.raises(duckdb.Error, match="must be a column of"):
            column(con, f"select {sql}")
        return
    assert same(column(con, f"select {sql} order by i"), alone(kind, parameters))
    # A filter makes a dictionary of the rows that it leaves.
    few = column(con, f"select {sql} where i % 7 = 0 order by i")
    assert same(few, alone(kind, parameters, 7))


@pytest.mark.parametrize(("call", "words"), ERRORS)
def test_errors_name_the_row_and_the_value(con: Any, call: str, words: str) -> None:
    with pytest.raises(duckdb.Error, match=words):
        column(con, f"select {call} from t")
    # The connection is still good.
    assert column(con, "select hw_sample(1, 42, 1)") == [True]


#: Parameters of all kinds by name, as SQL over `t` and from a row of it.
BY_NAME: dict[str, Any] = {
    "mu": ("sigma", lambda row: row["sigma"]),
    "n": ("n + 20", lambda row: row["n"] + 20),
    "ngood": ("n + 10", lambda row: row["n"] + 10),
    "nbad": ("n + 8", lambda row: row["n"] + 8),
    "nsample": ("n % 7", lambda row: row["n"] % 7),
    "p": ("p / 2 + 0.25", lambda row: row["p"] / 2 + 0.25),
    "low": ("-slow", lambda row: -row["slow"]),
    "left": ("-slow", lambda row: -row["slow"]),
    "mode": ("sigma / 4", lambda row: row["sigma"] / 4),
    "high": ("slow", lambda row: row["slow"]),
    "right": ("slow", lambda row: row["slow"]),
}
OTHER: tuple[str, Any] = ("sigma + slow", lambda row: row["sigma"] + row["slow"])


def test_every_kind_takes_columns(con: Any) -> None:
    """Each parameter by itself, and all of them, beside `headwater.arrow` and a draw of each row."""
    tried = 0
    for name, kind in _kinds.KINDS.items():
        if not kind["columns"] or kind["dtypes"][0] not in ("float64", "int64", "uint64"):
            continue
        names = [parameter for parameter, _ in kind["parameters"]]
        given = [BY_NAME.get(parameter, OTHER) for parameter in names]
        if name in ("zipf", "noncentral_f"):
            given = [("slow + 1", lambda row: row["slow"] + 1) for _ in names]
        sql = f"select hw_{name}(id, 42, 'z', {', '.join(text for text, _ in given)}) from t order by i"
        made = column(con, sql)
        parameters = tuple(value for _, value in given)
        assert same(made[::13], alone(name, parameters, 13)), name
        ids = np.array([row["id"] for row in rows()])
        lists = [np.array([value(row) for row in rows()]) for value in parameters]
        arrow = getattr(ha, name)(ids, KEY, *lists, name="z")
        assert same(made, pa.array(arrow).to_pylist()), name
        for alone_place, _ in enumerate(names):
            texts, values = [], []
            for place, (text, value) in enumerate(given):
                constant = value(rows()[4])
                texts.append(text if place == alone_place else repr(constant))
                values.append(value if place == alone_place else lambda _, constant=constant: constant)
            if name == "triangular" or "low" in names:
                continue  # A border is not free of the other.
            made = column(con, f"select hw_{name}(id, 42, 'z', {', '.join(texts)}) from t order by i")
            assert same(made[::37], alone(name, tuple(values), 37)), (name, alone_place)
        tried += 1
    assert tried > 30


def test_vectors_of_every_form(con: Any) -> None:
    """The same rows through joins, windows, sorts, unions, lists, and other sizes of chunks."""
    right = alone("normal", (MU, SIGMA))
    call = "hw_normal(id, 42, 'z', mu, sigma)"
    for sql in (
        # One row beside all, which is a constant vector.
        "select hw_normal(t.id, c.seed, c.name, t.mu, t.sigma) from t, (select 42 seed, 'z' as name) c order by i",
        "select hw_normal(a.id, 42, 'z', b.mu, a.sigma) from t a join t b using (i) order by i",
        f"select z from (select i, {call} z from t order by sigma, mu desc) order by i",
        f"select {call} from (select * from t where i < 77 union all select * from t where i >= 77) order by i",
        "select hw_normal(id, 42, 'z', first(mu), first(sigma)) from t group by i, id order by i",
        "select hw_normal(id, 42, 'z', lag(mu, 0) over (order by i), sigma) from t order by i",
        "select hw_normal(id, 42, 'z', s.mu, s.sigma) from (select i, id, {'mu': mu, 'sigma': sigma} s from t) order by i",
        "select hw_normal(id, 42, 'z', unnest([mu]), sigma) from t order by i",
        f"with w as materialized (select * from t) select {call} from w order by i",
        f"select coalesce(case when yes then {call} end, case when not yes then {call} end) from t order by i",
        f"select max({call}) from t group by i order by i",
        "select hw_normal(id, 42, 'z', mu, (select s.sigma from t s where s.i = t.i)) from t order by i",
    ):
        assert same(column(con, sql), right), sql
    con.execute("create or replace table pairs as select i, id, mu, sigma from t")
    for _ in range(3):
        con.execute("insert into pairs select i + 5000, id, mu, sigma from t")
    assert same(column(con, f"select {call} from pairs where i >= 5000 order by i"), [x for x in right for _ in range(3)])
    prepared = "select hw_normal(id, ?, ?, mu, ?) from t order by i"
    made = [row[0] for row in con.execute(prepared, [42, "z", 0.5]).fetchall()]
    assert same(made, alone("normal", (MU, lambda row: 0.5)))


@pytest.mark.parametrize("threads", [1, 4])
def test_a_column_is_the_same_in_all_orders_and_threads(con: Any, threads: int) -> None:
    con.execute(f"set threads = {threads}")
    right = alone("gamma", (lambda row: row["sigma"] + 0.5, lambda row: row["slow"]))
    for order in ("i", "i desc", "id", "hash(i)"):
        inner = f"select * from t order by {order}"
        sql = f"select z from (select i, hw_gamma(id, 42, 'z', sigma + 0.5, slow) z from ({inner})) order by i"
        assert same(column(con, sql), right), order


def test_no_rows_and_one(con: Any) -> None:
    call = "hw_normal(id, 42, 'z', mu, sigma)"
    assert column(con, f"select {call} from t where i < 0") == []
    assert column(con, f"select {call} from t where i = 17") == [alone("normal", (MU, SIGMA))[17]]
    assert column(con, "select hw_normal(null, 42, 'z', null, null)") == [None]
    assert column(con, "select hw_normal(3, 42, 'z', null::double)") == [None]


def test_a_type_that_arrow_does_not_compare_is_named() -> None:
    if not hasattr(pa, "opaque"):
        pytest.skip("this pyarrow has no opaque types, so none was tried as a constant")
    # As DuckDB before 1.5 hands a UHUGEINT over.
    opaque = pa.opaque(pa.binary(16), "uhugeint", "DuckDB")
    column = pa.ExtensionArray.from_storage(opaque, pa.array([bytes(16)] * 2, pa.binary(16)))
    assert not _sql_arrow._is_one(column)
    with pytest.raises(TypeError, match="seed must be a number or a text, not of type"):
        _sql_arrow._constant(column, "seed")
