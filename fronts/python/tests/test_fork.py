"""No value repeats: in forked children, in worker processes, in threads of both."""

from __future__ import annotations

import multiprocessing
import os
import threading
import warnings
from collections.abc import Callable

import pytest
from secure_support import python

import headwater

# From 3.12 on Python warns of a fork in a process with threads, which is the subject here.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

CHILDREN = 4
DRAWS = 30_000


def draw_bytes() -> list[bytes]:
    return [headwater.token_bytes(16) for _ in range(DRAWS)]


def draw_uuids() -> list[bytes]:
    return [one.bytes for one in headwater.uuid4_batch(DRAWS)]


def draw_random() -> list[bytes]:
    # One instance, made before the fork, serves all. 53 bits would repeat by chance.
    return [SHARED.getrandbits(128).to_bytes(16) for _ in range(DRAWS)]


def draw_fill() -> list[bytes]:
    buffer = bytearray(16 * DRAWS)
    headwater.fill(buffer)
    return [bytes(buffer[at : at + 16]) for at in range(0, len(buffer), 16)]


def draw_os() -> list[bytes]:
    return [os.urandom(16) for _ in range(DRAWS)]


SHARED = headwater.SystemRandom()


def forked(draw: Callable[[], list[bytes]]) -> bytes:
    """Returns what a forked child draws."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            os.close(read)
            with os.fdopen(write, "wb") as output:
                output.write(b"".join(draw()))
            status = 0
        finally:
            os._exit(status)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        data = pipe.read()
    assert os.waitpid(child, 0)[1] == 0
    return data


def split(data: bytes) -> list[bytes]:
    return [data[at : at + 16] for at in range(0, len(data), 16)]


@pytest.mark.parametrize("draw", [draw_bytes, draw_uuids, draw_random, draw_fill])
def test_children_and_parent_draw_different_values(draw: Callable[[], list[bytes]]) -> None:
    drawn = draw()
    for _ in range(CHILDREN):
        drawn += split(forked(draw))
    drawn += draw()
    assert len(drawn) == (CHILDREN + 2) * DRAWS
    assert len(set(drawn)) == len(drawn)


def test_children_of_a_patched_program_draw_different_values() -> None:
    with headwater.installed():
        drawn = draw_os()
        for _ in range(CHILDREN):
            drawn += split(forked(draw_os))
        drawn += draw_os()
    assert len(set(drawn)) == (CHILDREN + 2) * DRAWS


def test_grandchildren_draw_different_values() -> None:
    def generations() -> list[bytes]:
        return [*draw_bytes(), *split(forked(draw_bytes)), *draw_bytes()]

    drawn = draw_bytes() + split(forked(generations)) + draw_bytes()
    assert len(drawn) == 5 * DRAWS
    assert len(set(drawn)) == len(drawn)


@pytest.mark.parametrize(
    "draw",
    [
        "made = headwater.uuid4_batch(250)[150:]",
        "while Forks.child is None and len(kept) < 1000: made = [headwater.uuid4()]; kept += made",
    ],
)
def test_a_fork_by_a_finalizer_in_the_middle_of_a_draw(draw: str) -> None:
    code = f"""
import gc, os, sys, headwater

class Forks:
    child = None
    def __init__(self):
        self.itself = self
    def __del__(self):
        if Forks.child is None:
            Forks.child = os.fork()

headwater.uuid4_batch(1)
kept = []
read, write = os.pipe()
gc.collect()
gc.disable()
Forks()
gc.set_threshold(50)
gc.enable()
{draw}
gc.disable()
# From 3.12 on the collector runs between two instructions and not inside of a call. So the fork
# copies what the call before it has returned, in any library, and only later draws must differ.
mine = headwater.uuid4_batch(100) + (made if sys.version_info < (3, 12) else [])
if Forks.child == 0:
    os.write(write, b"".join(one.bytes for one in mine))
    os._exit(0)
if Forks.child is not None:
    os.waitpid(Forks.child, 0)
    theirs = os.read(read, 65536)
    print(len(theirs) == 16 * len(mine), sum(one.bytes in theirs for one in mine))
"""
    out = python(code)
    if not out:
        pytest.skip("skipped: this Python runs no finalizer within a draw")
    assert out == "True 0\n"


def test_a_fork_in_the_middle_of_other_threads_draws() -> None:
    drawn: list[list[bytes]] = []
    stop = threading.Event()

    def keep_drawing() -> None:
        own = []
        while not stop.is_set():
            own.append(headwater.token_bytes(16))
            buffer = bytearray(16 << 10)  # long enough to release the GIL, so forks fall into it
            headwater.fill(buffer)
            own.append(bytes(buffer[-16:]))
        drawn.append(own)

    threads = [threading.Thread(target=keep_drawing) for _ in range(3)]
    for thread in threads:
        thread.start()
    children = [split(forked(draw_bytes)) for _ in range(CHILDREN)]
    stop.set()
    for thread in threads:
        thread.join()
    everything = [value for values in (*drawn, *children) for value in values]
    assert len(everything) > CHILDREN * DRAWS
    assert len(set(everything)) == len(everything)


def work(_: int) -> list[bytes]:
    """Draws in a worker process, by four threads."""
    drawn: list[list[bytes]] = []
    threads = [
        threading.Thread(
            target=lambda: drawn.append([headwater.uuid4_bytes() for _ in range(DRAWS // 8)])
        )
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return [value for values in drawn for value in values]


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_workers_of_multiprocessing_draw_different_values(method: str) -> None:
    drawn = work(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with multiprocessing.get_context(method).Pool(3) as pool:
            for values in pool.imap_unordered(work, range(8)):
                drawn += values
    drawn += work(0)
    assert len(drawn) == 10 * 4 * (DRAWS // 8)
    assert len(drawn) >= 100_000
    assert len(set(drawn)) == len(drawn)


def patched_names(_: int) -> bool:
    return os.urandom is headwater._native.urandom


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_workers_that_are_told_to_install_do(method: str) -> None:
    context = multiprocessing.get_context(method)
    with context.Pool(1, initializer=headwater.install) as pool:
        assert pool.apply(patched_names, (0,))
    with context.Pool(1) as pool:
        assert not pool.apply(patched_names, (0,))
