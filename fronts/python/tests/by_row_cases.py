"""Columns as parameters in SQL: the statements, and what each row must have.

The answers were written before the tests ran first. An answer is a kind with its parameters row by
row, of which each row is then drawn by itself, or words of an error.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np

import headwater
import headwater.arrow as ha

KEY = headwater.Key(42)
N = 5000

#: The rows of the table `t`, in this order: `i` is the row, and ids are in no order.
ROWS: dict[str, list[Any]] = {
    "i": list(range(N)),
    "id": [i * 7919 % 5003 for i in range(N)],
    "mu": [(i % 40) / 4 - 3 for i in range(N)],
    "sigma": [(i % 5) / 4 for i in range(N)],
    "n": [i % 20 for i in range(N)],
    "p": [(i % 9) / 8 for i in range(N)],
    "slow": [(i // 700) / 4 + 1 for i in range(N)],
    "gap": [None if i % 11 == 5 else (i % 7) / 2 for i in range(N)],
    "gaps": [None if i % 13 == 6 else i % 9 for i in range(N)],
    "late": [None if i >= 4096 else i % 3 for i in range(N)],
    "yes": [i % 3 == 0 for i in range(N)],
}

#: The table's columns as SQL of DuckDB's and of Spark's.
TABLE = """
    select i, i * 7919 % 5003 as id, cast(i % 40 as double) / 4 - 3 as mu,
        cast(i % 5 as double) / 4 as sigma, cast(i % 20 as int) as n, cast(i % 9 as double) / 8 as p,
        cast(cast(floor(i / 700) as int) as double) / 4 + 1 as slow,
        case when i % 11 = 5 then null else cast(i % 7 as double) / 2 end as gap,
        case when i % 13 = 6 then null else cast(i % 9 as bigint) end as gaps,
        case when i >= 4096 then null else cast(i % 3 as double) end as late, i % 3 = 0 as yes
    from {rows}
"""

Row = Callable[[dict[str, Any]], Any]


def of(name: str) -> Row:
    return lambda row: row[name]


def one(value: Any) -> Row:
    return lambda row: value


MU, SIGMA, COUNT, P, SLOW = of("mu"), of("sigma"), of("n"), of("p"), of("slow")
GAP, GAPS, LATE, ID = of("gap"), of("gaps"), of("late"), of("id")


def tenths(row: dict[str, Any]) -> float:
    return float(Decimal(row["i"] % 97) / 10)


#: The arguments after the name in DuckDB's SQL, the kind, and its parameters in the order of SQL.
CASES: list[tuple[str, str, tuple[Row, ...]]] = [
    ("mu, sigma", "normal", (MU, SIGMA)),
    ("mu", "normal", (MU, one(1.0))),
    ("2.5, sigma", "normal", (one(2.5), SIGMA)),
    ("mu, 0.5", "normal", (MU, one(0.5))),
    ("slow, slow", "normal", (SLOW, SLOW)),
    ("mu, slow", "normal", (MU, SLOW)),
    ("gap, sigma", "normal", (GAP, SIGMA)),
    ("mu, gap", "normal", (MU, GAP)),
    ("gap, gaps", "normal", (GAP, GAPS)),
    ("late, sigma", "normal", (LATE, SIGMA)),
    ("mu, late", "normal", (MU, LATE)),
    ("null, sigma", "normal", (one(None), SIGMA)),
    ("null::double, 1", "normal", (one(None), one(1.0))),
    ("mu, null", "normal", (MU, one(None))),
    # Types of columns.
    ("n::tinyint, 1", "normal", (COUNT, one(1.0))),
    ("n::smallint, 1", "normal", (COUNT, one(1.0))),
    ("n, 1", "normal", (COUNT, one(1.0))),
    ("n::bigint, 1", "normal", (COUNT, one(1.0))),
    ("n::hugeint, 1", "normal", (COUNT, one(1.0))),
    ("n::utinyint, n::usmallint", "normal", (COUNT, COUNT)),
    ("n::uinteger, n::ubigint", "normal", (COUNT, COUNT)),
    ("n::uhugeint, 1", "normal", (COUNT, one(1.0))),
    ("mu::float, sigma::float", "normal", (MU, SIGMA)),
    ("(i * 0.1)::float, 1", "normal", (lambda row: float(np.float32(row["i"] * 0.1)), one(1.0))),
    ("(i % 97 / 10)::decimal(4, 1), 1", "normal", (tenths, one(1.0))),
    ("(i % 97 / 10)::decimal(9, 3), 1", "normal", (tenths, one(1.0))),
    ("(i % 97 / 10)::decimal(18, 7), 1", "normal", (tenths, one(1.0))),
    ("(i % 97 / 10)::decimal(38, 20), 1", "normal", (tenths, one(1.0))),
    ("n::decimal(4, 0), 1", "normal", (COUNT, one(1.0))),
    ("n::decimal(38, 0), 1", "normal", (COUNT, one(1.0))),
    ("yes, 1", "normal", (of("yes"), one(1.0))),
    ("mu, yes", "normal", (MU, of("yes"))),
    ("(case when n > 3 then n / 10 end)::decimal(5, 2), 1", "normal", (lambda row: row["n"] / 10 if row["n"] > 3 else None, one(1.0))),
    # Expressions.
    ("mu * 2 + 1, abs(mu)", "normal", (lambda row: row["mu"] * 2 + 1, lambda row: abs(row["mu"]))),
    ("case when yes then mu else 7 end, 1", "normal", (lambda row: row["mu"] if row["yes"] else 7.0, one(1.0))),
    ("coalesce(gap, 9), sigma", "normal", (lambda row: 9.0 if row["gap"] is None else row["gap"], SIGMA)),
    ("id, id", "normal", (ID, ID)),
    ("case when i < 2048 then 1 else 2 end, 1", "normal", (lambda row: 1 if row["i"] < 2048 else 2, one(1.0))),
    # Not by CASE, whose branches 0 and -0 Spark takes for one.
    ("(0::double - yes::int) * 0::double, 0", "normal", (lambda row: -0.0 if row["yes"] else 0.0, one(0.0))),
    # Kinds of two, of one, of more, and of counts.
    ("mu, mu + slow", "uniform", (MU, lambda row: row["mu"] + row["slow"])),
    ("-1, slow", "uniform", (one(-1), SLOW)),
    ("gap, 100", "uniform", (GAP, one(100.0))),
    ("sigma", "exponential", (SIGMA,)),
    ("slow", "exponential", (SLOW,)),
    ("mu, sigma", "laplace", (MU, SIGMA)),
    ("mu, sigma", "gumbel", (MU, SIGMA)),
    ("mu, sigma", "logistic", (MU, SIGMA)),
    ("mu, sigma", "cauchy", (MU, SIGMA)),
    ("sigma", "rayleigh", (SIGMA,)),
    ("sigma", "maxwell", (SIGMA,)),
    ("mu / 4, sigma", "lognormal", (lambda row: row["mu"] / 4, SIGMA)),
    ("slow", "weibull", (SLOW,)),
    ("gap + 0.5", "weibull", (lambda row: None if row["gap"] is None else row["gap"] + 0.5,)),
    ("slow", "pareto", (SLOW,)),
    ("sigma + 1", "power", (lambda row: row["sigma"] + 1,)),
    ("sigma + 0.5, slow", "gamma", (lambda row: row["sigma"] + 0.5, SLOW)),
    ("sigma + 0.5", "gamma", (lambda row: row["sigma"] + 0.5, one(1.0))),
    ("sigma + 0.5, slow", "beta", (lambda row: row["sigma"] + 0.5, SLOW)),
    ("n + 1", "chisquare", (lambda row: row["n"] + 1,)),
    ("n + 1", "standard_t", (lambda row: row["n"] + 1,)),
    ("n", "poisson", (COUNT,)),
    ("slow * 30", "poisson", (lambda row: row["slow"] * 30,)),
    ("gaps", "poisson", (GAPS,)),
    ("(p + 1) / 2", "geometric", (lambda row: (row["p"] + 1) / 2,)),
    ("n, p", "binomial", (COUNT, P)),
    ("20, p", "binomial", (one(20), P)),
    ("n, 0.25", "binomial", (COUNT, one(0.25))),
    ("gaps, p", "binomial", (GAPS, P)),
    ("n::utinyint, p::decimal(4, 3)", "binomial", (COUNT, P)),
    ("n::hugeint, p::float", "binomial", (COUNT, P)),
    ("n::uhugeint, p", "binomial", (COUNT, P)),
    ("yes, p", "binomial", (of("yes"), P)),
    ("n, n + 3, least(n, 2)", "hypergeometric", (COUNT, lambda row: row["n"] + 3, lambda row: min(row["n"], 2))),
    ("mu - 1, mu, mu + slow", "triangular", (lambda row: row["mu"] - 1, MU, lambda row: row["mu"] + row["slow"])),
    ("-1, slow, mu, 2.0", "truncated_normal", (one(-1), SLOW, MU, one(2.0))),
    ("sigma, slow", "vonmises", (SIGMA, SLOW)),
    ("slow, slow", "wald", (SLOW, SLOW)),
    ("n + 1, slow", "f", (lambda row: row["n"] + 1, SLOW)),
    ("slow + 1", "zipf", (lambda row: row["slow"] + 1,)),
    ("p / 2 + 0.25", "logseries", (lambda row: row["p"] / 2 + 0.25,)),
    ("slow, p / 2 + 0.25", "negative_binomial", (SLOW, lambda row: row["p"] / 2 + 0.25)),
    ("n + 1, sigma", "noncentral_chisquare", (lambda row: row["n"] + 1, SIGMA)),
]  # fmt: skip

CONSTANT = "must be one value for all rows, and not null: write a constant"
#: A call over `t` and words of its error.
ERRORS: list[tuple[str, str]] = [
    ("hw_normal(id, 42, 'z', 0, mu)", r"scale in row \d+ of the batch must be a finite number from 0, not -3\.0"),
    ("hw_normal(id, 42, 'z', 0, case when i = 3 then 'inf'::double else 1 end)", r"scale in row 3 of the batch must be a finite number from 0, not inf"),
    ("hw_normal(id, 42, 'z', case when i = 9 then 'nan'::double else 1 end)", r"loc in row 9 of the batch must be a finite number, not nan"),
    ("hw_gamma(id, 42, 'z', gap)", r"shape in row 0 of the batch must be a finite number above 0, not 0\.0"),
    ("hw_uniform(id, 42, 'z', mu, 6)", r"low in row \d+ of the batch must be a finite number up to high, not 6\.25"),
    ("hw_binomial(id, 42, 'z', n, p * 2)", r"p in row 5 of the batch must be a number from 0 to 1, not 1\.25"),
    ("hw_binomial(id, 42, 'z', n - 1, p)", r"n in row 0 of the batch must be a whole number from 0 to 2\^64 - 1, not -1"),
    ("hw_binomial(id, 42, 'z', n * 1267650600228229401496703205376::hugeint, p)", r"n in row 1 of the batch must be a whole number from 0 to 2\^64 - 1, not 1267650600228229401496703205376"),
    ("hw_binomial(id, 42, 'z', mu, p)", "n must be a column of integers"),
    ("hw_binomial(id, 42, 'z', p::decimal(4, 3), p)", "n must be a column of integers"),
    ("hw_normal(id, 42, 'z', 'a' || i)", "loc must be a column of numbers"),
    ("hw_normal(id, 42, 'z', 0, date '2026-11-26' + n)", "scale must be a column of numbers"),
    ("hw_normal(id, 42, 'z', [n])", f"loc (must be a column of numbers|in hw_normal.* {CONSTANT})"),
    ("hw_normal(id, 42, 'z', [4])", "loc must be"),
    ("hw_integers(id, 42, 'z', n, 40)", f"low in hw_integers.* {CONSTANT}"),
    ("hw_integers(id, 42, 'z', 0, n + 1)", f"high in hw_integers.* {CONSTANT}"),
    ("hw_permutation(id, 42, 'z', 6000 + n)", f"n in hw_permutation.* {CONSTANT}"),
    ("hw_normal(id, n, 'z', mu)", f"seed in hw_normal.* {CONSTANT}"),
    ("hw_normal(id, 42, 'a' || n, mu)", f"name in hw_normal.* {CONSTANT}"),
    ("hw_normal(id - 5000, 42, 'z', mu, sigma)", r"id -5000 in row 0 of the batch is negative"),
    ("hw_normal(id, 42, 'z', mu, sigma, 1)", "takes 3 to 5 arguments, not 6"),
    ("hw_sample(id, 42, p)", f"p in hw_sample.* {CONSTANT}"),
    ("hw_split(id, 42, n)", f"parts in hw_split.* {CONSTANT}"),
]  # fmt: skip


def rows() -> list[dict[str, Any]]:
    return [dict(zip(ROWS, values, strict=True)) for values in zip(*ROWS.values(), strict=True)]


def alone(kind: str, parameters: tuple[Row, ...], every: int = 1) -> list[Any]:
    """Draws each row of `t` by itself, with numbers as its parameters, in the order of `i`."""
    function = getattr(ha, kind)
    made = []
    for row in rows()[::every]:
        values = [value(row) for value in parameters]
        if None in values:
            made.append(None)
            continue
        drawn = function(np.array([row["id"]]), KEY, *map(plain, values), name="z")
        made.append(drawn.to_numpy()[0].item())
    return made


def plain(value: Any) -> Any:
    return int(value) if isinstance(value, bool) else value
