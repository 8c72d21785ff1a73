"""The examples of docs/python/streams.md, and the script that draws plots."""

from __future__ import annotations

import doctest
import importlib.util
import runpy
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[3]
PNG = b"\x89PNG\r\n\x1a\n"


def test_the_examples_of_the_page() -> None:
    failed, tried = doctest.testfile(str(ROOT / "docs/python/streams.md"), module_relative=False)
    assert tried > 30 and failed == 0


def test_the_plots(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if importlib.util.find_spec("matplotlib") is None:
        pytest.skip("matplotlib is not installed: the plots were not drawn")
    import headwater.bench._measure as timing

    # The bars may be rough here: fewer windows, and arrays of 10,000 in place of 10 M.
    monkeypatch.setattr(timing, "WINDOWS", 2)
    monkeypatch.setattr("headwater.bench.streams.IN_MEMORY", 10_000)
    script: dict[str, Any] = runpy.run_path(str(ROOT / "fronts/python/examples/plots.py"))
    assert script["densities"](tmp_path / "densities.png") < 0.01
    assert script["chunkings"](tmp_path / "chunkings.png")
    ratios = script["speed"](tmp_path / "speed.png")
    assert len(ratios) == 4 and all(ratio > 0 for ratio in ratios)
    for name in ("densities", "chunkings", "speed"):
        assert (tmp_path / f"{name}.png").read_bytes().startswith(PNG)
