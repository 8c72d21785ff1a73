"""Random columns by row id in DuckDB's SQL.

    >>> import duckdb, headwater.duckdb
    >>> con = duckdb.connect(config={"allow_unsigned_extensions": "true"})
    >>> headwater.duckdb.load(con)
    >>> headwater.duckdb.engine(con)
    'extension'
    >>> con.sql("select id, hw_normal(id, 42, 'noise') from range(10) t(id)")
    >>> con.sql("select id from range(1000) t(id) where hw_sample(id, 42, 0.01)")

| function | value |
| --- | --- |
| `hw_normal(id, seed, name[, loc, scale])` | a DOUBLE of mean `loc` and deviation `scale` |
| `hw_uniform(id, seed, name[, low, high])` | a DOUBLE from `low` to `high` |
| `hw_gamma(id, seed, name, shape[, scale])` and every other kind of numbers | its first type |
| `hw_sample(id, seed, p)` | whether the row is in a sample of this share |
| `hw_split(id, seed, parts)` | the number of its part, from 0, of so many or of a list of shares |
| `hw_order(id, seed)` | a UBIGINT to sort by, then by id |
| `hw_weighted_order(id, seed, weight)` | a DOUBLE to sort by, whose first k rows are a weighted sample |
| `hw_permute(i, n, seed)` | a UBIGINT: element i of the numbers below n in random order |
| `hw_key(value, ...)` | an id, of texts, integers, dates, timestamps, booleans, BLOBs |

`seed`, `name`, `n`, `p` and `parts` are one value for all rows: a seed is what `headwater.Key` takes,
and a name is the label of the column. A parameter of a kind may be a column, and a null of it makes a
null. `hw_sample`, `hw_split`, `hw_permute` and the orders take a
name as their last argument, or none. Values are those of `headwater.arrow`. A null id makes a null.

The functions are an extension of DuckDB, whose threads call it side by side. DuckDB loads only
extensions that its makers signed, unless a connection was opened with `allow_unsigned_extensions`.
Without that, and where the package has no extension for the machine, they are Arrow functions in
Python, with the same values: DuckDB calls them for 2,048 rows at a time, and its threads take turns.
"""

from __future__ import annotations

import re
import warnings
from pathlib import Path

import duckdb

from headwater import _engines

_engines.need(duckdb, "duckdb", (1, 2))

#: The extension's file, for DuckDB's command and for other languages: `load '...'` after a start
#: with `-unsigned`.
EXTENSION = Path(__file__).with_name("headwater.duckdb_extension")

# The extension asks for DuckDB's stable struct of version 1.2.0; builds of 1.2 name their platform
# after the compiler and refuse it.
_LEAST = (1, 3)
_BEFORE_THE_END = 512


def _platform() -> str:
    """Returns the platform that the extension was built for: a field of the file's end."""
    with EXTENSION.open("rb") as file:
        file.seek(-_BEFORE_THE_END, 2)
        fields = file.read(256)
    # Eight fields of 32 bytes, the last of which are the platform and the form of the end.
    return fields[192:224].rstrip(b"\0").decode()


def _takes_extension(con: duckdb.DuckDBPyConnection) -> bool:
    """Returns whether this connection would load the extension."""
    if not EXTENSION.is_file():
        return False
    allowed, version = con.execute(
        "select current_setting('allow_unsigned_extensions'), version()"
    ).fetchall()[0]
    numbers = tuple(int(part) for part in re.findall(r"\d+", version)[:2])
    if not allowed or numbers < _LEAST:
        return False
    return bool(con.execute("pragma platform").fetchall() == [(_platform(),)])


def load(con: duckdb.DuckDBPyConnection) -> None:
    """Makes the functions known to a connection. A second call changes nothing.

    They are the extension's if the connection allows it, and Arrow functions otherwise, which need
    pyarrow: `engine(con)` says which.
    """
    if engine(con) != "not loaded":
        return
    if _takes_extension(con):
        path = str(EXTENSION).replace("'", "''")
        try:
            con.execute(f"load '{path}'")
            return
        except duckdb.Error as error:
            message = f"DuckDB does not load {EXTENSION}, so its functions are in Python: {error}"
            warnings.warn(message, RuntimeWarning, stacklevel=2)
    from headwater import _duckdb_arrow

    _duckdb_arrow.register(con)


def engine(con: duckdb.DuckDBPyConnection) -> str:
    """Returns how a connection computes the functions: "extension", "arrow functions" or "not
    loaded".
    """
    # The catalog alone tells them apart: DuckDB shows a first argument of an Arrow function that
    # takes any number of them, and none of the extension's. duckdb_extensions() would say it in
    # words, but it looks into a directory, which a connection without access to files refuses.
    known = "select len(parameters) from duckdb_functions() where function_name = 'hw_sample'"
    rows = con.execute(known).fetchall()
    if not rows:
        return "not loaded"
    return "extension" if rows[0] == (0,) else "arrow functions"
