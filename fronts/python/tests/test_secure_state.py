"""SystemRandom, generation, Stamp, status and quiesce; modes; a kernel that refuses."""

from __future__ import annotations

import copy
import json
import os
import pickle
import platform
import random
import shutil
import statistics
import subprocess
import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from secure_support import python

import headwater


def test_system_random_is_a_random_of_the_standard_library() -> None:
    ours = headwater.SystemRandom()
    assert isinstance(ours, random.SystemRandom)
    assert issubclass(headwater.SystemRandom, random.Random)
    with pytest.raises(NotImplementedError):
        ours.getstate()
    with pytest.raises(NotImplementedError):
        pickle.dumps(ours)
    ours.seed(1)
    a = ours.random()
    ours.seed(1)
    assert a != ours.random()


def test_every_method_of_random_draws() -> None:
    ours = headwater.SystemRandom()
    assert 0 <= ours.random() < 1
    assert ours.getrandbits(100) < 2**100
    assert len(ours.randbytes(7)) == 7
    assert ours.randrange(10, 20, 3) in (10, 13, 16, 19)
    assert ours.randint(5, 5) == 5
    assert sorted(ours.sample(range(100), 100)) == list(range(100))
    items = list(range(1000))
    ours.shuffle(items)
    assert items != sorted(items) == list(range(1000))
    assert len(ours.choices("ab", weights=[1, 3], k=50)) == 50
    methods: list[tuple[Callable[..., float], *tuple[float, ...]]] = [
        (ours.uniform, 1, 2),
        (ours.triangular, 0, 1),
        (ours.gauss, 0, 1),
        (ours.normalvariate, 0, 1),
        (ours.lognormvariate, 0, 1),
        (ours.expovariate, 1),
        (ours.vonmisesvariate, 0, 1),
        (ours.gammavariate, 1, 1),
        (ours.betavariate, 1, 1),
        (ours.paretovariate, 1),
        (ours.weibullvariate, 1, 1),
    ]
    for method, *arguments in methods:
        assert isinstance(method(*arguments), float)
    with pytest.raises(IndexError):
        ours.choice([])
    # The choice() of Python 3.11.1 and earlier finds an empty sequence by this.
    assert ours._randbelow(0) == 0  # type: ignore[attr-defined]
    with pytest.raises(ValueError):
        ours.randrange(0)


def test_random_is_uniform_with_53_bits() -> None:
    ours = headwater.SystemRandom()
    draws = [ours.random() for _ in range(50_000)]
    assert all(draw * 2**53 == int(draw * 2**53) for draw in draws)
    assert sum(int(draw * 2**53) & 1 for draw in draws) == pytest.approx(25_000, abs=900)
    # 8 standard errors.
    assert statistics.fmean(draws) == pytest.approx(0.5, abs=8 * 0.2887 / 50_000**0.5)
    assert len(set(draws)) > 49_990


def test_a_subclass_may_replace_the_bits() -> None:
    class Fixed(headwater.SystemRandom):
        def getrandbits(self, k: int, /) -> int:
            return 1

    assert Fixed().randrange(100) == 1
    assert Fixed().choice("abc") == "b"


def test_a_stamp_is_stale_first_then_fresh() -> None:
    stamp = headwater.Stamp()
    first, second = stamp.check(), stamp.check()
    assert first == "stale"
    if headwater.generation() is None:
        assert second == "unknown"
        return
    # A reseed of the kernel between the two calls comes once a minute; ask again then.
    assert second == "fresh" or stamp.check() == "fresh"


def test_copies_and_pickles_of_a_stamp_are_stale() -> None:
    stamp = headwater.Stamp()
    stamp.check()
    for other in (copy.copy(stamp), copy.deepcopy(stamp), pickle.loads(pickle.dumps(stamp))):
        assert type(other) is headwater.Stamp
        assert other.check() == "stale"
    assert repr(stamp) == "headwater.Stamp()"
    with pytest.raises(AttributeError):
        stamp.other = 1  # type: ignore[attr-defined]


def test_a_stamp_serves_many_threads() -> None:
    stamp, results = headwater.Stamp(), Counter[str]()

    def check() -> None:
        for _ in range(20_000):
            results[stamp.check()] += 1

    threads = [threading.Thread(target=check) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(results) <= {"fresh", "stale", "unknown"}


def test_status_is_the_document_of_the_command() -> None:
    document = headwater.status()
    assert document["schema"] == "headwater.status/1"
    assert document["mode"] in ("buffered", "hedged", "strict", "kernel")
    assert document["generation"] == headwater.generation() or document["generation"]
    root = Path(__file__).parents[3]
    built = [root / "target" / build / "headwater" for build in ("release", "debug")]
    command = next(filter(Path.exists, built), None) or shutil.which("headwater")
    if command is None:
        pytest.skip("the command headwater is not built, so the documents stay uncompared")
    done = subprocess.run([command, "status", "--json"], capture_output=True, text=True, check=True)
    theirs = json.loads(done.stdout)
    assert shape(document) == shape(theirs)
    assert document["guard"]["vmgenid"] == theirs["guard"]["vmgenid"]


def shape(value: object) -> object:
    if isinstance(value, dict):
        return {key: shape(item) for key, item in value.items()}
    return type(value).__name__ if not isinstance(value, list) else "list"


def test_a_quiesced_process_draws_on_in_mode_strict() -> None:
    python("""
import headwater
before = {headwater.token_bytes(16) for _ in range(1000)}
headwater.quiesce()
assert headwater.status()["mode"] in ("strict", "kernel"), headwater.status()["mode"]
assert len(before | {headwater.token_bytes(16) for _ in range(1000)}) == 2000
headwater.quiesce()
headwater.uuid4()
""")


@pytest.mark.parametrize("mode", ["buffered", "hedged", "strict", "kernel", "auto", "nonsense"])
def test_every_mode_serves(mode: str) -> None:
    output = python(
        """
import headwater
buffer = bytearray(100_000)
headwater.fill(buffer)
assert len({headwater.token_bytes(16) for _ in range(3000)}) == 3000
assert len(set(headwater.uuid4_batch(1000, as_str=True))) == 1000
print(headwater.status()["mode"])
""",
        HEADWATER_MODE=mode,
    )
    if mode in ("strict", "kernel"):
        assert output.strip() == mode


SANDBOX = """
import ctypes, errno, os, struct, sys
import headwater, uuid
# A seccomp filter that answers getrandom(2) and openat(2) with the errno of the argument.
def op(code, jt, jf, k):
    return struct.pack("HBBI", code, jt, jf, k)
code = int(sys.argv[1]) if len(sys.argv) > 1 else errno.EPERM
program = b"".join([
    op(0x20, 0, 0, 0),
    op(0x15, 2, 0, 318),
    op(0x15, 1, 0, 257),
    op(0x06, 0, 0, 0x7FFF0000),
    op(0x06, 0, 0, 0x00050000 | code),
])
class Program(ctypes.Structure):
    _fields_ = [("len", ctypes.c_ushort), ("filter", ctypes.c_char_p)]
libc = ctypes.CDLL(None, use_errno=True)
assert libc.prctl(38, 1, 0, 0, 0) == 0
assert libc.prctl(22, 2, ctypes.byref(Program(5, program)), 0, 0) == 0, ctypes.get_errno()
def refused(call, *arguments):
    try:
        call(*arguments)
    except OSError as error:
        assert error.errno == code and error.strerror, error
        assert type(error) is (PermissionError if code == errno.EPERM else OSError), type(error)
    else:
        raise SystemExit(f"{call} was served")
buffer = bytearray(b"x" * 64)
refused(headwater.fill, buffer)
assert buffer == bytes(64), "zeros after an error"
for call, *arguments in [
    (headwater.token_bytes, 16), (headwater.token_bytes, 100_000), (headwater.token_hex,),
    (headwater.token_hex, 1000), (headwater.token_urlsafe,), (headwater.randbelow, 10),
    (headwater.randbelow, 10**50), (headwater.randbits, 7), (headwater.randbits, 777),
    (headwater.choice, "abc"), (headwater.uuid4,), (headwater.uuid7,), (headwater.uuid4_str,),
    (headwater.uuid4_bytes,), (headwater.uuid4_batch, 3), (headwater.SystemRandom().random,),
]:
    refused(call, *arguments)
"""


@pytest.mark.skipif(
    platform.machine() != "x86_64", reason="skipped: the filter of the test is for x86_64 only"
)
@pytest.mark.parametrize("name", ["EPERM", "EIO"])
def test_a_refusal_of_the_kernel_is_an_oserror_with_its_errno(name: str) -> None:
    import errno

    code = SANDBOX.replace("errno.EPERM\nprogram", f"{getattr(errno, name)}\nprogram")
    python("import random\n" + code)


def test_generation_changes_in_a_forked_child() -> None:
    before = headwater.generation()
    stamp = headwater.Stamp()
    stamp.check()
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(write, f"{headwater.generation()} {stamp.check()}".encode())
        os._exit(0)
    os.waitpid(child, 0)
    number, result = os.read(read, 100).decode().split()
    os.close(read)
    os.close(write)
    assert result == "stale"  # also on a machine that cannot detect clones of itself
    if before is None:
        assert number == "None"
    else:
        assert int(number) != before
