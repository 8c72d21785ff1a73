"""The oldest version of each library that its front works with, checked when it is imported."""

from __future__ import annotations

import re
from typing import Any


def need(library: Any, name: str, least: tuple[int, ...]) -> None:
    """Raises ImportError if a library is older than its front needs."""
    found = str(getattr(library, "__version__", "0"))
    numbers = tuple(int(part) for part in re.findall(r"\d+", found)[: len(least)])
    if numbers < least:
        wanted = ".".join(map(str, least))
        raise ImportError(
            f"headwater.{name} needs {name} {wanted} or later, and this is {found}: update it, or "
            "draw with headwater.arrow or headwater.Stream, which need no library"
        )
