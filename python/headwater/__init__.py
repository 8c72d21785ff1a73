"""Secure random bytes at memory speed, and random arrays for any partition of the work.

The secure half has the functions of `secrets` and of `uuid`, and `install()` puts them under a
whole program. The other half makes reproducible arrays: `Key(42).child("noise").stream(3)`.
"""

# The budget of this import is 3 ms. `typing` alone takes more, `random`, `secrets` and `uuid` take
# 10 to 25 each: the names that need a module import it at their first use.
from __future__ import annotations

from _operator import _compare_digest as compare_digest

from headwater import _native
from headwater._native import (
    Stamp,
    choice,
    fill,
    generation,
    quiesce,
    randbelow,
    randbits,
    token_bytes,
    token_hex,
    token_urlsafe,
    uuid4,
    uuid4_batch,
    uuid4_bytes,
    uuid4_str,
    uuid7,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from headwater._system_random import SystemRandom
    from headwater.patch import Report, install, installed, uninstall

__all__ = [
    "Report",
    "Stamp",
    "SystemRandom",
    "choice",
    "compare_digest",
    "fill",
    "generation",
    "install",
    "installed",
    "quiesce",
    "randbelow",
    "randbits",
    "status",
    "token_bytes",
    "token_hex",
    "token_urlsafe",
    "uninstall",
    "uuid4",
    "uuid4_batch",
    "uuid4_bytes",
    "uuid4_str",
    "uuid7",
]

#: Names whose modules are imported at the first use.
_LAZY = {
    "Report": "headwater.patch",
    "SystemRandom": "headwater._system_random",
    "install": "headwater.patch",
    "installed": "headwater.patch",
    "uninstall": "headwater.patch",
}

# The streams.
for _name in ("Key", "Permutation", "Stream"):
    if hasattr(_native, _name):
        globals()[_name] = getattr(_native, _name)
        __all__.append(_name)
del _name


def status() -> dict[str, Any]:
    """Returns the document of `headwater status --json` (schema headwater.status/1) as a dict."""
    import json

    document: dict[str, Any] = json.loads(_native.status_json())
    return document


def __getattr__(name: str) -> object:
    try:
        module = _LAZY[name]
    except KeyError:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from None
    value = globals()[name] = getattr(__import__(module, fromlist=[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY})
