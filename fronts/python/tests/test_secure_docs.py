"""The examples of the page, in the order of the page, each in an interpreter of its own."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from secure_support import python

REPOSITORY = Path(__file__).parents[3]
PAGES = [REPOSITORY / "docs/python/secrets.md", REPOSITORY / "fronts/python/README.md"]
EXAMPLES = [
    pytest.param(example, id=f"{page.name}-{number}")
    for page in PAGES
    for number, example in enumerate(
        re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL)
    )
]


@pytest.mark.parametrize("example", EXAMPLES)
def test_an_example_runs(example: str) -> None:
    python(example)
    # Each example stands alone.
    assert "import headwater" in example


def test_the_page_has_examples() -> None:
    assert len(EXAMPLES) >= 6


def test_the_page_names_all_public_names_of_the_secure_half() -> None:
    text = PAGES[0].read_text()
    for name in SECURE:
        assert re.search(rf"\b{name}\b", text), name


SECURE = """
Stamp SystemRandom choice compare_digest fill generation install installed quiesce randbelow
randbits status token_bytes token_hex token_urlsafe uninstall uuid4 uuid4_batch uuid4_bytes
uuid4_str uuid7
""".split()
