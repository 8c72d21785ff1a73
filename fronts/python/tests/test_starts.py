"""The programs of docs/one-array.md for engines that take minutes to install, as they stand there.

Each prints the rows of one sample. Ray listens on every interface, so it runs in a network
namespace of its own.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[3] / "docs/one-array.md"
PROGRAMS = {
    found[1]: program
    for program in re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(), re.S | re.M)
    if "headwater.Key(42)" in program and (found := re.search(r"(?:import|from) (\w+)", program))
}
ENGINES = ("datafusion", "daft", "ibis", "dask", "ray", "pyspark")
#: Spark's workers would otherwise be the first python3 of the path, and its driver would listen on
#: every interface.
SPARK = {
    "PYSPARK_PYTHON": sys.executable,
    "PYSPARK_SUBMIT_ARGS": "--master local[2] --conf spark.ui.enabled=false --conf"
    " spark.driver.bindAddress=127.0.0.1 --conf spark.driver.host=127.0.0.1 pyspark-shell",
    "SPARK_LOCAL_IP": "127.0.0.1",
}


def test_each_program_is_found() -> None:
    assert tuple(PROGRAMS) == ENGINES
    for engine, program in PROGRAMS.items():
        assert len(program.splitlines()) == 5, engine


@pytest.mark.parametrize("engine", ENGINES)
def test_a_program_prints_the_rows_of_the_sample(engine: str, tmp_path: Path) -> None:
    pytest.importorskip(engine, reason=f"{engine} is not installed: its start was not run")
    run = [sys.executable, "-c", PROGRAMS[engine]]
    if engine == "ray":
        alone = ["unshare", "--net", "--map-root-user", "sh", "-c"]
        if subprocess.run([*alone, "ip link set lo up"], capture_output=True).returncode != 0:
            pytest.skip("no network namespace can be made here: Ray's start was not run")
        run = [*alone, 'ip link set lo up && exec "$@"', "sh", *run]
    env = {**os.environ, **SPARK}
    ran = subprocess.run(run, capture_output=True, text=True, cwd=tmp_path, env=env)
    assert ran.returncode == 0, ran.stderr[-3000:]
    assert ran.stdout.split()[-1] == "12", ran.stdout[-3000:]
