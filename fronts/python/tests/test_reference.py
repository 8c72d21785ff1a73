"""docs/python/reference.md is what its script writes, has every method, and its examples run."""

from __future__ import annotations

import doctest
import runpy
from pathlib import Path
from typing import Any

from headwater import Generator

ROOT = Path(__file__).parents[3]
SCRIPT: dict[str, Any] = runpy.run_path(str(ROOT / "fronts/python/examples/reference.py"))


def test_the_page_is_what_the_script_writes(tmp_path: Path) -> None:
    written = SCRIPT["write"](tmp_path)
    assert len(written) > 35
    for path in written:
        kept = ROOT / "docs/python" / path.relative_to(tmp_path)
        assert kept.read_text() == path.read_text(), (
            f"{kept} is stale: python fronts/python/examples/reference.py docs/python"
        )


def test_every_method_has_a_section() -> None:
    made = Generator(1)  # the class itself imports NumPy at its first use only
    methods = {
        name for name in dir(made) if name[0] != "_" and callable(getattr(type(made), name))
    }
    assert methods == set(SCRIPT["DRAWN"]) | set(SCRIPT["OTHERS"])
    sections = (ROOT / "docs/python/reference.md").read_text().split("\n## ")[1:]
    assert [text.split("\n")[0] for text in sections] == sorted(methods)


def test_the_examples_run() -> None:
    page = ROOT / "docs/python/reference.md"
    options = doctest.NORMALIZE_WHITESPACE
    import numpy as np

    with np.printoptions():  # the page sets its own
        failed, tried = doctest.testfile(str(page), module_relative=False, optionflags=options)
    assert tried > 100 and failed == 0
