"""Secure random bytes at memory speed, and random arrays for any partition of the work.

The secure half has the functions of `secrets` and of `uuid`, and `install()` puts them under a
whole program. The other half makes reproducible arrays: `Key(42).child("noise").stream(3)`.
"""

# The budget of this import is 3 ms. `typing` alone takes more, `random`, `secrets` and `uuid` take
# 10 to 25 each: the names that need a module import it at their first use.
from __future__ import annotations

import sys
from _operator import _compare_digest as compare_digest

from headwater import _native
from headwater._native import (
    ENGINES,
    Array,
    Categorical,
    Elements,
    Key,
    Permutation,
    Stamp,
    Stream,
    __version__,
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

    from headwater import patch
    from headwater._generator import Generator
    from headwater._system_random import SystemRandom
else:
    from headwater._later import Generator

__all__ = [
    "ENGINES",
    "Array",
    "Categorical",
    "Elements",
    "Generator",
    "Key",
    "Permutation",
    "Stamp",
    "Stream",
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


def status() -> dict[str, Any]:
    """Returns the document of `headwater status --json` (schema headwater.status/1) as a dict."""
    import json

    document: dict[str, Any] = json.loads(_native.status_json())
    return document


def install() -> patch.Report:
    """Puts headwater under os.urandom, secrets, random.SystemRandom and uuid in this process.

    Returns the names that were replaced, and the draws that are out of reach. The call imports the
    four modules.
    """
    from headwater import patch

    return patch.install()


def uninstall() -> None:
    """Takes back install(); inside of `with installed():`, the end of the block does it."""
    from headwater import patch

    patch.uninstall()


def installed() -> patch.Block:
    """Returns a context manager: install() for the length of a `with` block, in all threads."""
    from headwater import patch

    return patch.Block()


def __getattr__(name: str) -> object:
    if name != "SystemRandom":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from headwater._system_random import SystemRandom

    globals()[name] = SystemRandom
    # With this function in it, a module is not what the interpreter's specialised instructions
    # expect: each `headwater.token_bytes` would take 20 ns more.
    globals().pop("__getattr__", None)
    return SystemRandom


def __dir__() -> list[str]:
    return sorted({*__all__, "SystemRandom", *(name for name in globals() if name[:2] == "__")})


# If the program has paid for `random`, at once.
if "random" in sys.modules:
    __getattr__("SystemRandom")
