"""DuckDB's functions as Arrow functions in Python, where DuckDB does not load the extension.

Errors and values are those of the extension, `fronts/duckdb`; tests run over both.
"""

from __future__ import annotations

from typing import Any

import duckdb

from headwater import _sql_arrow

# The types of DuckDB by the formats of Arrow.
_TYPES = {"g": "DOUBLE", "l": "BIGINT", "L": "UBIGINT", "b": "BOOLEAN", "C": "UTINYINT"}


def register(con: duckdb.DuckDBPyConnection) -> None:
    """Makes the functions known to a connection."""
    try:
        _create(con)
    except duckdb.NotImplementedException:
        # It remembers functions that a rollback has removed, and makes none a second time. But all
        # connections of a database share its functions, and a new one remembers nothing.
        _create(con.cursor())


def _create(con: duckdb.DuckDBPyConnection) -> None:
    # Texts for the options, because the enums of DuckDB's stubs have moved between its versions.
    create: Any = con.create_function
    for name, (function, format) in _sql_arrow.functions().items():
        # `special`: a null id is seen here, because DuckDB would otherwise leave out its row, and
        # runs of ids with it.
        create(name, function, None, _TYPES[format], type="arrow", null_handling="special")
