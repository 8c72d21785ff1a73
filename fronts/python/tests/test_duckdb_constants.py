"""Seeds that are one value for all rows, and seeds that only look so, over both engines.

The functions compare the seeds of all rows. It looks like a waste, because DuckDB knows constants
when it binds a call, and says so from version 1.5.6 on; but asking it about a subquery makes the
statement an error. So whoever tries to leave the comparison out finds each way to write a seed here:
one that is taken for a constant, and is none, would be the first row's seed for all rows.
"""

from __future__ import annotations

from typing import Any

import pytest
from _duckdb_engines import ENGINES, connect

import headwater

duckdb = pytest.importorskip("duckdb", reason="DuckDB is not installed: its seeds were not tried")

REFUSED = "must be one value for all rows"
ROWS = [0, 1, 2047, 2048, 4999]
WHERE = "id in (0, 1, 2047, 2048, 4999)"

#: Seeds of 42.
ONE_VALUE = (
    "42", "(42)", "40 + 2", "-(-42)", "42::utinyint", "42::hugeint", "42::decimal(3, 0)",
    "84 // 2", "abs(-42)", "'42'::integer", "try_cast('42' as integer)", "ascii('*')",
    "coalesce(null, 42)", "nullif(42, 7)", "least(42, 43)", "if(true, 42, 7)",
    "case when 1 < 2 then 42 else 7 end", "case 3 when 3 then 42 end", "[41, 42][2]",
    "struct_extract({'a': 42}, 'a')", "map {'a': 42}['a']", "list_sum([40, 2])::bigint",
    "length(repeat('x', 42))", "date_part('day', date '2026-11-11' + 31) + 30", "pi()::integer * 14",
    "list_extract(list_transform([21], lambda x: x * 2), 1)", "list_reduce([40, 2], lambda x, y: x + y)",
    "len(list_filter(range(43), lambda x: x > 0))", "(extract(year from now()) * 0)::integer + 42",
    "current_setting('threads')::integer * 0 + 42", "getvariable('seed')", "length(current_query()) * 0 + 42",
    "length(current_user) * 0 + 42", "constant()", "same(42)", "(select 42)", "(select max(x) from (values (42), (7)) v(x))",
    "(with c as (select 42 as s) select s from c)", "id * 0 + 42", "case when id >= 0 then 42 else 7 end",
    "max(id) over () - 4957", "first_value(id + 42) over (order by id)", "least(42, id + 42)",
)  # fmt: skip

#: Seeds that differ in a vector of rows. None of these is a constant.
DIFFERENT = (
    "id", "-id", "id % 2", "id::varchar", "hash(id)", "id + 0 * 42", "coalesce(nullif(id, 1), 42)",
    "case when id > 1 then 42 else 7 end", "if(id = 1, 7, 42)", "least(42, id)", "[id, 42][1]", "[7, 42][id % 2 + 1]",
    "struct_extract({'a': id}, 'a')", "same(id)", "(select id)", "(select id + s from (values (1)) v(s))",
    "row_number() over (order by id)", "lag(id, 1, 0) over (order by id)", "(random() * 1e9)::integer",
    "case when random() < 2 then (random() * 1e9)::integer else 42 end", "hash(random())", "hash(uuid())",
    "uuid()::varchar", "nextval('counter')", "42 + nextval('counter')", "list_transform([id], lambda x: x)[1]",
    "list_sum(list_transform([1, 2], lambda x: x + id))::bigint", "len(list_filter([1, 2], lambda x: x > id))",
    "try_cast(id::varchar as integer)", "getvariable('seed') + id", "constant() * id", "pair.a", "pair['a']",
)  # fmt: skip


def numbers(ids: list[int], seed: int = 42) -> list[float]:
    return headwater.Key(seed).child("u").stream(0).at(ids).random().tolist()


@pytest.fixture(scope="module", params=ENGINES)
def con(request: pytest.FixtureRequest) -> Any:
    made = connect(request.param, threads=2)
    made.execute("create table t as select id, {'a': id} as pair from range(5000) r(id)")
    made.execute("create sequence counter")
    made.execute("create macro constant() as 42")
    made.execute("create macro same(x) as x")
    made.execute("set variable seed = 42")
    return made


def ids_of(con: Any, seed: str, parameters: list[Any] | None = None) -> list[float]:
    rows = con.execute(
        f"select u from (select id, hw_uniform(id, {seed}, 'u') as u from t) where {WHERE}"
        " order by id",
        parameters,
    )
    return [row[0] for row in rows.fetchall()]


@pytest.mark.parametrize("seed", ONE_VALUE)
def test_one_value_is_a_seed_however_it_is_written(con: Any, seed: str) -> None:
    assert ids_of(con, seed) == numbers(ROWS)


@pytest.mark.parametrize("seed", DIFFERENT)
def test_a_seed_that_differs_is_refused(con: Any, seed: str) -> None:
    with pytest.raises(duckdb.Error, match=REFUSED):
        ids_of(con, seed)
    # As a name, and beside a constant that is one, it is refused too.
    with pytest.raises(duckdb.Error, match=REFUSED):
        con.execute(
            f"select sum(u) from (select hw_uniform(id, 42, ({seed})::varchar) as u from t)"
        ).fetchall()


def test_a_parameter_of_a_statement_is_read_at_each_execution(con: Any) -> None:
    for seed in (42, 7, 42):
        assert ids_of(con, "?", [seed]) == numbers(ROWS, seed)
    con.execute("prepare drawn as select hw_uniform(id, $1, 'u') from range(3) r(id) order by id")
    for seed in (42, 7, 42):
        rows = con.execute(f"execute drawn({seed})").fetchall()
        assert [row[0] for row in rows] == numbers([0, 1, 2], seed)
    con.execute("deallocate drawn")


@pytest.mark.parametrize("seed", ["getvariable('changed')", "epoch_us(now())", "txid_current()"])
def test_a_prepared_statement_has_the_seed_that_it_shows(con: Any, seed: str) -> None:
    con.execute("set variable changed = 1")
    con.execute(
        f"prepare shown as select {seed}, hw_uniform(id, {seed}, 'u') from range(3) r(id) order by id"
    )
    for value in (5, 6):
        con.execute(f"set variable changed = {value}")
        rows = con.execute("execute shown").fetchall()
        assert [row[1] for row in rows] == numbers([0, 1, 2], rows[0][0])
    con.execute("deallocate shown")


LAMBDAS: list[tuple[str, list[list[float]] | None]] = [
    ("list_transform([1, 2, 3], lambda x: hw_uniform(x, 42, 'u'))", [numbers([1, 2, 3])] * 2),
    ("list_transform([1, 2, 3], lambda x: hw_uniform(x, 40 + 2, 'u'))", [numbers([1, 2, 3])] * 2),
    ("list_transform([7], lambda x: hw_uniform(x + i * 0, 42, 'u'))", [numbers([7])] * 2),
    ("list_transform([1, 2, 3], lambda s: hw_uniform(7, s, 'u'))", None),
    ("list_transform([1, 2, 3], lambda s: hw_uniform(7, s + 0, 'u'))", None),
    ("list_transform([7, 8], lambda x: hw_uniform(x, i, 'u'))", None),
    ("list_transform([7, 8], lambda x, place: hw_uniform(x, place, 'u'))", None),
    ("list_transform([[1, 2]], lambda l: list_transform(l, lambda s: hw_uniform(7, s, 'u')))", None),
    ("[hw_uniform(unnest([1, 2, 3]), 42, 'u')]", [[x] for x in numbers([1, 2, 3])] * 2),
    ("[hw_uniform(7, unnest([1, 2, 3]), 'u')]", None),
]  # fmt: skip


@pytest.mark.parametrize(("sql", "expected"), LAMBDAS)
def test_a_variable_of_a_lambda_is_no_constant(
    con: Any, sql: str, expected: list[list[float]] | None
) -> None:
    statement = f"select {sql} from (values (1), (2)) t(i) order by i"
    if expected is None:
        with pytest.raises(duckdb.Error, match=REFUSED):
            con.execute(statement).fetchall()
    else:
        assert [row[0] for row in con.execute(statement).fetchall()] == expected


#: Statements whose plans DuckDB copies or writes anew, with what they return.
COPIES: list[tuple[str, Any]] = [
    ("select count(*) from (select hw_uniform(id, 42, 'u') u from t) where u < 0.5 and u >= 0.5", [(0,)]),
    ("select count(*) from t a join t b on hw_uniform(a.id, 42, 'u') = hw_uniform(b.id, 42, 'u')", [(5000,)]),
    ("select bool_and(hw_uniform(id, 42, 'u') = hw_uniform(id, s, 'u')) from t, (values (42)) v(s)", [(True,)]),
    ("select bool_and(a = b) from (select hw_uniform(id, 42, 'u') a, hw_uniform(id, 41 + 1, 'u') b from t)", [(True,)]),
    ("select id from t order by hw_order(id, 42) limit 3", "select id from t order by hw_order(id, (select 42)) limit 3"),
    ("select hw_uniform(id, 42, 'u') from t where id < 2 union all select hw_uniform(id, 7, 'u') from t where id < 2",
     [(x,) for x in numbers([0, 1]) + numbers([0, 1], 7)]),
    ("select sum(hw_uniform(id, 42, 'u')) filter (hw_sample(id, 42, 0.5)) from t",
     "select sum(hw_uniform(id, (select 42), 'u')) filter (hw_sample(id, (select 42), 0.5)) from t"),
    ("select count(*) from t group by hw_split(id, 42, [0.5, 0.5]) order by 1",
     "select count(*) from t group by hw_split(id, (select 42), (select [0.5, 0.5])) order by 1"),
    ("select * from drawn where id = 4999", [(4999, *numbers([4999]))]),
    ("select u from generated where id = 3", [(*numbers([3]),)]),
    ("select hw_gamma(1, 42, 'g', 2.5, 3) = hw_gamma(1, 42, 'g', shape, scale) from (values (2.5, 3), (2.5, 3)) v(shape, scale)",
     [(True,), (True,)]),
]  # fmt: skip


@pytest.mark.parametrize("verified", [False, True])
@pytest.mark.parametrize(("sql", "expected"), COPIES)
def test_plans_that_are_copied_have_the_same_seeds(
    con: Any, sql: str, expected: Any, verified: bool
) -> None:
    con.execute("create or replace view drawn as select id, hw_uniform(id, 42, 'u') u from t")
    con.execute("create or replace table generated(id bigint, u double as (hw_uniform(id, 42, 'u')))")
    con.execute("insert into generated values (3)")
    if isinstance(expected, str):
        expected = con.execute(expected).fetchall()
    if verified:
        # DuckDB runs each statement several times: copied, written and read, without the optimizer.
        con.execute("pragma enable_verification")
    try:
        assert con.execute(sql).fetchall() == expected
    finally:
        con.execute("pragma disable_verification")


def test_a_view_of_a_file_is_bound_again(tmp_path: Any) -> None:
    file = tmp_path / "kept.db"
    for engine in ENGINES:
        with connect(engine) as con:
            con.execute(f"attach '{file}' as kept")
            con.execute(
                "create or replace view kept.drawn as"
                " select hw_uniform(id, 42, 'u') as u from range(3) r(id) order by id"
            )
            assert [row[0] for row in con.execute("from kept.drawn").fetchall()] == numbers([0, 1, 2])
            con.execute("detach kept")
        with connect(engine) as con:
            con.execute(f"attach '{file}' as kept")
            assert [row[0] for row in con.execute("from kept.drawn").fetchall()] == numbers([0, 1, 2])
