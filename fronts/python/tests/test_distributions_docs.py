"""The examples of docs/python/distributions.md."""

from __future__ import annotations

import doctest
from pathlib import Path

ROOT = Path(__file__).parents[3]


def test_the_examples_of_the_page() -> None:
    page = ROOT / "docs/python/distributions.md"
    failed, tried = doctest.testfile(str(page), module_relative=False)
    assert tried > 20 and failed == 0
