"""Spark's two ways to the functions of SQL, which tests run over: the jar, and Arrow functions."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pytest

ENGINES = ("jvm", "arrow functions")
#: The jar that `cargo xtask test` has built.
JAR = os.environ.get("HEADWATER_TEST_SPARK_JAR", "")
SKIP = "no jar of Spark's functions was built: they were not tried"


def session(engine: str, **config: str) -> Any:
    """Returns a session of Spark in this process whose functions are those of this engine."""
    sql = pytest.importorskip("pyspark.sql", reason="Spark is not installed: its SQL was not tried")
    if not Path(JAR).is_file():
        pytest.skip(SKIP)
    # Its workers would otherwise be the first python3 of the path.
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    settings = {
        "spark.ui.enabled": "false",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.jars": JAR,
        "spark.sql.shuffle.partitions": "2",
        "spark.default.parallelism": "2",
        "spark.sql.adaptive.enabled": "false",
        **config,
    }
    builder = sql.SparkSession.builder.master("local[2]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    # A session of its own, whose functions another one does not see.
    made = builder.getOrCreate().newSession()
    made.sparkContext.setLogLevel("OFF")
    import headwater.spark as front

    if engine == "jvm":
        front.register(made)
    else:
        from headwater import _spark_arrow

        _spark_arrow.register(made)
    assert front.engine(made) == engine
    return made
