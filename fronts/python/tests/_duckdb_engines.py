"""DuckDB's two ways to the functions, which tests run over: the extension, and Arrow functions."""

from __future__ import annotations

from typing import Any

import pytest

ENGINES = ("extension", "arrow functions")


def connect(engine: str, **config: Any) -> Any:
    """Returns a connection whose functions are those of this engine."""
    duckdb = pytest.importorskip(
        "duckdb", reason="DuckDB is not installed: its functions were not tried"
    )
    import headwater.duckdb as front

    if engine == "extension":
        if not front.EXTENSION.is_file():
            pytest.skip("the package has no extension for this machine: it was not tried")
        config["allow_unsigned_extensions"] = "true"
    else:
        pytest.importorskip("pyarrow", reason="pyarrow is not installed: the Arrow functions need it")
    con = duckdb.connect(config=config)
    front.load(con)
    assert front.engine(con) == engine
    return con
