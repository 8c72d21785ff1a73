"""The notebooks of docs/python/notebooks run from the first cell to the last."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

NOTEBOOKS = sorted((Path(__file__).parents[3] / "docs/python/notebooks").glob("*.ipynb"))


def test_there_are_notebooks() -> None:
    assert len(NOTEBOOKS) == 4


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_cells_run_in_order(path: Path) -> None:
    document = json.loads(path.read_text())
    assert document["nbformat"] == 4
    namespace: dict[str, Any] = {"__name__": "__main__"}
    cells = [cell for cell in document["cells"] if cell["cell_type"] == "code"]
    assert len(cells) >= 4 and document["cells"][0]["cell_type"] == "markdown"
    for cell in cells:
        assert not cell["outputs"], "a notebook is kept without outputs"
        exec(compile("".join(cell["source"]), f"{path.name}:{cell['id']}", "exec"), namespace)
