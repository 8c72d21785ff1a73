"""The examples of docs/python/generator.md, numpy.md and dask.md run."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[3] / "docs" / "python"
NEEDS = {
    "generator.md": ("numpy",),
    "numpy.md": ("numpy",),
    "dask.md": ("numpy", "dask.array", "xarray"),
}


@pytest.mark.parametrize("page", sorted(NEEDS))
def test_examples_run(page):
    for module in NEEDS[page]:
        pytest.importorskip(module, reason=f"{module} is missing: {page}'s examples are not run")
    blocks = list(re.finditer(r"^```python\n(.*?)^```$", (DOCS / page).read_text(), re.M | re.S))
    assert len(blocks) > 5
    names: dict[str, object] = {}
    for block in blocks:
        line = block.string[: block.start(1)].count("\n")
        # The line numbers of an error are those of the page.
        exec(compile("\n" * line + block[1], str(DOCS / page), "exec"), names)
