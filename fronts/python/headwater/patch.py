"""Puts headwater under `os.urandom`, `secrets`, `random.SystemRandom` and `uuid`, program-wide.

Most programs draw through one of these four modules, their own packages included. install()
replaces the functions in the modules, and the copies that `from os import urandom` left in modules
that were imported before. The class random.SystemRandom stays the same object, and its methods are
replaced, so that instances and subclasses made before draw from headwater as well.
"""

from __future__ import annotations

import gc
import os
import posix
import random
import secrets
import sys
import threading
import types
import uuid
from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

from headwater import _native

__all__ = ["Block", "Report", "install", "uninstall"]

#: Draws that no assignment in Python reaches, and the reason.
_OUT_OF_REACH = {
    "random.Random, random.seed() and the functions of random": (
        "a Mersenne Twister, which the interpreter seeds in C; it is for no secret in any case"
    ),
    "tempfile": "takes its names from random.Random",
    "uuid.uuid1(), uuid.uuid6()": "take libuuid, or random.Random, and the network card's address",
    "hash() of str and bytes": "keyed before the first line of a program runs",
    "ssl, hashlib, cryptography": "OpenSSL has a generator of its own: docs/openssl.md",
    "os.getrandom()": "asks the kernel by name and with flags, so it stays the kernel's",
    "C extensions": "call getrandom(2) or read /dev/urandom: docs/programs.md",
    "other processes": (
        "spawn, forkserver and subprocess start a new interpreter, which must call install() itself"
    ),
}

#: Bits of `type.__flags__`: the class was made at run time, and its attributes may be set.
_HEAPTYPE, _IMMUTABLE = 1 << 9, 1 << 8


class Report(NamedTuple):
    """The result of install()."""

    #: The names that now belong to headwater, such as `random._urandom`.
    patched: tuple[str, ...]
    #: Draws that stay as they were, each with the reason.
    unreachable: dict[str, str]

    def __str__(self) -> str:
        lines = [f"patched {len(self.patched)} names:", *(f"  {name}" for name in self.patched)]
        lines += ["out of reach:", *(f"  {name}: {why}" for name, why in self.unreachable.items())]
        return "\n".join(lines)


class _Change(NamedTuple):
    owner: Any
    name: str
    old: Any
    new: Any

    def __str__(self) -> str:
        if isinstance(self.owner, type):
            return f"{self.owner.__module__}.{self.owner.__qualname__}.{self.name}"
        return f"{self.owner.__name__}.{self.name}"


_lock = threading.RLock()
_changes: list[_Change] = []
_report = Report((), {})
#: True between install() and uninstall().
_kept = False
#: The number of `with installed():` blocks that are open.
_blocks = 0


def install() -> Report:
    """Puts headwater under the four modules, and returns what was replaced and what was not.

    The call imports the four modules. A second call changes nothing and returns the same report.
    """
    global _kept
    with _lock:
        _apply()
        _kept = True
        return _report


def uninstall() -> None:
    """Takes back install(). Inside of `with installed():`, the end of the block does it."""
    global _kept
    with _lock:
        _kept = False
        _restore()


class Block:
    """The context manager of headwater.installed()."""

    def __enter__(self) -> Report:
        """Returns the report of install()."""
        global _blocks
        with _lock:
            _apply()
            _blocks += 1
            return _report

    def __exit__(self, *_: object) -> None:
        global _blocks
        with _lock:
            _blocks -= 1
            _restore()


def _apply() -> None:
    global _report
    if _changes:
        return
    urandom = os.urandom
    _changes.extend(_originals())
    _changes.extend(_copies())
    for change in _changes:
        _set(change.owner, change.name, change.new)
    patched = tuple(dict.fromkeys(map(str, _changes)))
    _report = Report(patched, {**_OUT_OF_REACH, **_held(urandom)})


def _originals() -> Iterator[_Change]:
    """Yields the functions of the four modules with what takes their place."""
    wanted: list[tuple[Any, dict[str, Any]]] = [
        (os, {"urandom": _native.urandom}),
        (posix, {"urandom": _native.urandom}),
        (random, {"_urandom": _native.urandom}),
        (
            random.SystemRandom,
            {
                "random": _native.random_float,
                "getrandbits": _native.randbits,
                "randbytes": _native.randbytes,
                "_randbelow": _native.randbelow_or_zero,
            },
        ),
        (
            secrets,
            {
                "token_bytes": _native.token_bytes,
                "token_hex": _native.token_hex,
                "token_urlsafe": _native.token_urlsafe,
                "randbelow": _native.randbelow,
                "randbits": _native.randbits,
                "choice": _native.choice,
            },
        ),
        (uuid, {"uuid4": _native.uuid4}),
    ]
    for owner, names in wanted:
        for name, new in names.items():
            if name in vars(owner):
                yield _Change(owner, name, vars(owner)[name], new)


def _copies() -> Iterator[_Change]:
    """Yields the copies of the originals in all modules, and in the classes of the modules."""
    # By identity, because objects may define == as they like, as NumPy's arrays do. Methods are
    # left out: SystemRandom shares _randbelow() with random.Random, whose seeded values must stay.
    functions = [change for change in _changes if change.owner is not random.SystemRandom]
    new_of = {id(change.old): change.new for change in functions}
    methods = {
        vars(random.SystemRandom)[name]: new
        for owner, name, _, new in _changes
        if owner is random.SystemRandom and name != "_randbelow"
    }
    found = {(id(change.owner), change.name) for change in _changes}
    for owner in _namespaces():
        for name, value in list(vars(owner).items()):
            new = new_of.get(id(value))
            if new is None and type(value) is types.MethodType:
                # `randbits = SystemRandom().getrandbits`, which is a new object at each access.
                new = methods.get(value.__func__)
            if new is not None and (id(owner), name) not in found:
                yield _Change(owner, name, value, new)


def _namespaces() -> Iterator[Any]:
    """Yields all modules but ours, and after each module the classes that it defines."""
    for module in list(sys.modules.values()):
        # Not isinstance(), and vars() only: a lazy module must not be made to load.
        if not issubclass(type(module), types.ModuleType):
            continue
        names = vars(module)
        name = names.get("__name__")
        if not isinstance(name, str) or name.partition(".")[0] == "headwater":
            continue
        yield module
        for value in list(names.values()):
            # Classes of C cannot be changed.
            if type(value) is type and value.__module__ == name and _is_python_class(value):
                yield value


def _is_python_class(value: type) -> bool:
    return bool(value.__flags__ & _HEAPTYPE) and not value.__flags__ & _IMMUTABLE


def _set(owner: Any, name: str, value: object) -> None:
    if isinstance(owner, type):
        setattr(owner, name, value)
    else:
        vars(owner)[name] = value  # past the __setattr__ of a module's own class


def _restore() -> None:
    """Puts the originals back, unless the patches are still wanted."""
    if _kept or _blocks:
        return
    for change in reversed(_changes):
        # A name that another library has replaced since is that library's.
        if vars(change.owner).get(change.name) is change.new:
            _set(change.owner, change.name, change.old)
    # Modules imported meanwhile took copies of ours. The others are public functions, of which a
    # copy may be meant; `urandom` is not.
    for owner in _namespaces():
        for name, value in list(vars(owner).items()):
            if value is _native.urandom:
                _set(owner, name, os.urandom)
    _changes.clear()


def _held(urandom: object) -> dict[str, str]:
    """Returns the references to the original os.urandom that are left, each with the reason.

    Copies of the other originals need no replacement: they are Python functions, which find the new
    os.urandom at each call.
    """
    named, known = [], {id(sys._getframe()), id(sys._getframe(1))}
    for function in gc.get_objects():
        if type(function) is types.FunctionType:
            for part in _parts_with(function, urandom):
                known.add(id(part))
                named.append(f"{function.__module__}.{function.__qualname__}")
    others = Counter(
        type(holder).__qualname__
        for holder in gc.get_referrers(urandom)
        if id(holder) not in known and type(holder) is not _Change
    )
    held = {f"os.urandom in {name}": "among its defaults, or in its closure" for name in named}
    for name, count in others.items():
        held[f"os.urandom in {count} of type {name}"] = "neither a module nor a class of one"
    return held


def _parts_with(function: types.FunctionType, value: object) -> Iterator[object]:
    """Yields the parts of a function, apart from its code, that refer to the value."""
    if any(default is value for default in function.__defaults__ or ()):
        yield function.__defaults__
    if any(default is value for default in (function.__kwdefaults__ or {}).values()):
        yield function.__kwdefaults__
    for cell in function.__closure__ or ():
        try:
            if cell.cell_contents is value:
                yield cell
        except ValueError:  # an empty cell
            pass
