"""install(), uninstall() and `with installed():`, and CPython's own tests under them."""

from __future__ import annotations

import functools
import importlib.util
import os
import posix
import random
import secrets
import subprocess
import sys
import types
import uuid
from collections.abc import Iterator
from os import urandom as copied_urandom
from secrets import randbits as copied_randbits
from secrets import token_hex as copied_token_hex
from uuid import uuid4 as copied_uuid4

import pytest
from secure_support import ROOT, python

import headwater
from headwater import _native, patch

bound_method = random.SystemRandom().getrandbits
instance = random.SystemRandom()

ORIGINALS = {
    "os.urandom": (os, "urandom", _native.urandom),
    "posix.urandom": (posix, "urandom", _native.urandom),
    "random._urandom": (random, "_urandom", _native.urandom),
    "random.SystemRandom.random": (random.SystemRandom, "random", _native.random_float),
    "random.SystemRandom.getrandbits": (random.SystemRandom, "getrandbits", _native.randbits),
    "random.SystemRandom.randbytes": (random.SystemRandom, "randbytes", _native.randbytes),
    "secrets.token_bytes": (secrets, "token_bytes", headwater.token_bytes),
    "secrets.token_hex": (secrets, "token_hex", headwater.token_hex),
    "secrets.token_urlsafe": (secrets, "token_urlsafe", headwater.token_urlsafe),
    "secrets.randbelow": (secrets, "randbelow", headwater.randbelow),
    "secrets.randbits": (secrets, "randbits", headwater.randbits),
    "secrets.choice": (secrets, "choice", headwater.choice),
    "uuid.uuid4": (uuid, "uuid4", headwater.uuid4),
}


class Holder:
    """A class with a copy."""

    draw = os.urandom


def by_default(size: int, draw: object = os.urandom) -> bytes:
    """Holds a copy among its defaults."""
    return draw(size)  # type: ignore[operator, no-any-return]


def by_closure() -> object:
    draw = os.urandom
    return lambda: draw(1)


holds_in_closure = by_closure()
holds_in_partial = functools.partial(os.urandom, 16)


@pytest.fixture(autouse=True)
def unpatched() -> Iterator[None]:
    """Checks that each test leaves the modules as they were."""
    before = [vars(owner)[name] for owner, name, _ in ORIGINALS.values()]
    assert not any(old is new for old, (_, _, new) in zip(before, ORIGINALS.values(), strict=True))
    yield
    headwater.uninstall()
    after = [vars(owner)[name] for owner, name, _ in ORIGINALS.values()]
    assert all(a is b for a, b in zip(before, after, strict=True))


@pytest.mark.parametrize("name", ORIGINALS)
def test_every_name_is_replaced_and_reported(name: str) -> None:
    report = headwater.install()
    owner, attribute, new = ORIGINALS[name]
    assert vars(owner)[attribute] is new
    assert name in report.patched
    assert f"  {name}" in str(report).splitlines()


def test_copies_in_modules_and_classes_are_replaced_and_reported() -> None:
    before = (copied_urandom, copied_token_hex, copied_randbits, copied_uuid4, bound_method)
    report = headwater.install()
    assert copied_urandom is _native.urandom
    assert copied_token_hex is headwater.token_hex
    assert copied_randbits is bound_method is headwater.randbits
    assert copied_uuid4 is headwater.uuid4
    assert Holder.draw is _native.urandom
    for name in ("copied_urandom", "copied_token_hex", "bound_method", "Holder.draw"):
        assert f"{__name__}.{name}" in report.patched
    headwater.uninstall()
    now = (copied_urandom, copied_token_hex, copied_randbits, copied_uuid4, bound_method)
    assert all(a is b for a, b in zip(before, now, strict=True))


def test_copies_out_of_reach_are_named() -> None:
    named = "\n".join(headwater.install().unreachable)
    assert f"{__name__}.by_default" in named
    assert f"{__name__}.by_closure.<locals>.<lambda>" in named
    assert "of type partial" in named
    for name in ("random.Random", "tempfile", "ssl", "hash()", "C extensions", "os.getrandom()"):
        assert name in named


def test_nothing_of_ours_keeps_a_copy_when_there_is_none() -> None:
    python("""
import headwater
report = headwater.install()
assert not [name for name in report.unreachable if name.startswith("os.urandom")], report
""")


def test_instances_and_subclasses_made_before_draw_from_headwater() -> None:
    class Mine(random.SystemRandom):
        pass

    mine = Mine()
    headwater.install()
    assert instance.random is mine.random is _native.random_float
    assert instance.getrandbits is _native.randbits
    assert mine.choice("aaa") == "a"
    with pytest.raises(IndexError):
        instance.choice([])
    assert secrets.SystemRandom is random.SystemRandom


def test_a_seeded_generator_keeps_its_values() -> None:
    def values() -> list[object]:
        seeded = random.Random(42)
        return [
            seeded.random(),
            seeded.randrange(10**9),
            seeded.choice("abcdef"),
            seeded.randbytes(9),
        ]

    before, method = values(), random.Random._randbelow  # type: ignore[attr-defined]
    headwater.install()
    assert values() == before
    assert random.Random._randbelow is method  # type: ignore[attr-defined]
    random.seed(7)
    first = random.random()
    random.seed(7)
    assert random.random() == first


def test_values_have_the_types_and_errors_of_the_standard_library() -> None:
    with headwater.installed():
        assert len(os.urandom(5)) == 5
        for bad in ((), (None,), ("5",), (1.5,), (1, 2)):
            with pytest.raises(TypeError):
                os.urandom(*bad)
        with pytest.raises(TypeError):
            os.urandom(size=5)  # type: ignore[call-arg]
        with pytest.raises(ValueError):
            os.urandom(-1)
        assert type(uuid.uuid4()) is uuid.UUID
        assert len(secrets.token_bytes()) == 32
        assert random.SystemRandom().randrange(3) < 3


def test_a_second_install_changes_nothing() -> None:
    first = headwater.install()
    assert headwater.install() is first
    headwater.uninstall()
    headwater.uninstall()


def test_blocks_nest_and_report() -> None:
    with headwater.installed() as outer:
        assert "os.urandom" in outer.patched
        with headwater.installed() as inner:
            assert inner is outer
        assert os.urandom is _native.urandom
        headwater.uninstall()
        assert os.urandom is _native.urandom
    assert os.urandom is not _native.urandom


def test_a_block_inside_of_install_leaves_it_installed() -> None:
    headwater.install()
    with headwater.installed():
        pass
    assert os.urandom is _native.urandom


def test_a_block_ends_after_an_exception() -> None:
    with pytest.raises(ZeroDivisionError), headwater.installed():
        raise ZeroDivisionError
    assert os.urandom is not _native.urandom


def test_what_another_library_replaced_meanwhile_stays() -> None:
    with headwater.installed():
        old, uuid.uuid4 = patch._changes[-1], lambda: None  # type: ignore[assignment, return-value]
        stub = uuid.uuid4
    assert uuid.uuid4 is stub
    uuid.uuid4 = copied_uuid4
    assert old


def test_modules_imported_meanwhile_lose_their_copies(tmp_path: object) -> None:
    module = types.ModuleType("imported_meanwhile")
    sys.modules[module.__name__] = module
    try:
        with headwater.installed():
            exec("from os import urandom\nfrom headwater import token_hex", vars(module))
            assert module.urandom is _native.urandom
        assert module.urandom is os.urandom
        assert module.token_hex is headwater.token_hex
    finally:
        del sys.modules[module.__name__]


def test_odd_modules_do_no_harm() -> None:
    class Equal:
        def __eq__(self, other: object) -> bool:
            raise AssertionError("compared")

        __hash__ = None  # type: ignore[assignment]

    class Lazy(types.ModuleType):
        def __getattr__(self, name: str) -> object:
            raise AssertionError(f"loaded for {name}")

        def __setattr__(self, name: str, value: object) -> None:
            raise AssertionError(f"set {name}")

    odd: dict[str, object] = {
        "odd_lazy": Lazy("odd_lazy"),
        "odd_none": None,
        "odd_object": object(),
        "odd_nameless": types.ModuleType("odd_nameless"),
    }
    odd["odd_lazy"].__dict__.update(equal=Equal(), draw=os.urandom)
    del odd["odd_nameless"].__dict__["__name__"]
    sys.modules.update(odd)  # type: ignore[arg-type]
    try:
        with headwater.installed() as report:
            assert "odd_lazy.draw" in report.patched
            assert odd["odd_lazy"].__dict__["draw"] is os.urandom is _native.urandom
        assert odd["odd_lazy"].__dict__["draw"] is os.urandom
    finally:
        for name in odd:
            del sys.modules[name]


def test_numpy_takes_its_seeds_from_headwater() -> None:
    pytest.importorskip("numpy", reason="skipped: NumPy is absent, its seeds stay untried")
    python("""
import numpy.random, headwater
from numpy.random import bit_generator
report = headwater.install()
assert bit_generator.randbits is headwater.randbits
assert "numpy.random.bit_generator.randbits" in report.patched
numpy.random.default_rng().random()
""")


@pytest.mark.parametrize("name", ["test_random", "test_secrets", "test_uuid"])
def test_cpythons_own_tests_pass(name: str) -> None:
    if importlib.util.find_spec("test") is None or importlib.util.find_spec(f"test.{name}") is None:
        pytest.skip(f"this interpreter has no test.{name}, so CPython's own tests stay unrun")
    code = f"""
import sys, unittest
import headwater
report = headwater.install()
import os
result = unittest.main("test.{name}", argv=["x"], exit=False).result
assert os.urandom is headwater._native.urandom
assert result.testsRun > 10, result
sys.exit(not result.wasSuccessful())
"""
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-5000:]
