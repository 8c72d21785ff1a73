"""fill(): every kind of buffer, and the GIL."""

from __future__ import annotations

import array
import ctypes
import mmap
import sys
import threading
from typing import Any

import pytest

import headwater


def is_filled(data: Any) -> bool:
    """Returns whether no long run of zeros is left (by chance: 2^-128)."""
    return bytes(16) not in bytes(memoryview(data).cast("B"))


@pytest.mark.parametrize("length", [16, 17, 4095, 8192, 8193, 1 << 20])
def test_all_of_a_bytearray_is_filled(length: int) -> None:
    buffer = bytearray(length)
    assert headwater.fill(buffer) is None  # type: ignore[func-returns-value]
    assert len(buffer) == length
    assert is_filled(buffer)
    assert buffer[-16:] != bytes(16)


def test_nothing_but_the_view_is_written() -> None:
    buffer = bytearray(3 * 64)
    headwater.fill(memoryview(buffer)[64:128])
    assert buffer[:64] == buffer[128:] == bytes(64)
    assert is_filled(buffer[64:128])


def test_buffers_of_every_exporter_are_filled() -> None:
    with mmap.mmap(-1, 4096) as pages:
        headwater.fill(pages)
        assert pages[:16] != bytes(16)
    buffers: list[Any] = [
        array.array("d", [0.0] * 100),
        array.array("H", [0] * 100),
        (ctypes.c_uint64 * 32)(),
        (ctypes.c_char * 64)(),
        ctypes.c_longdouble(),  # a single number has no shape
        memoryview(bytearray(96)).cast("B", (4, 24)),
        memoryview(bytearray(96)).cast("I"),
    ]
    for buffer in buffers:
        headwater.fill(buffer)
        assert bytes(buffer)[:10] != bytes(10), buffer
    headwater.fill(bytearray())
    headwater.fill(memoryview(bytearray(64))[5:5])


def test_numpy_arrays_are_filled() -> None:
    np = pytest.importorskip("numpy", reason="skipped: NumPy is absent, its arrays stay untried")
    for dtype in ["u1", "i8", "f4", "c16", "S7", "M8[s]", [("Old", "f8"), ("b", "i4")]]:
        data = np.zeros((16, 16), dtype if not isinstance(dtype, str) or dtype[0] != "M" else "i8")
        headwater.fill(data)
        assert data.tobytes().count(0) < data.nbytes / 50
    fortran = np.zeros((7, 64), "u8", order="F")
    headwater.fill(fortran)
    assert (fortran != 0).all()
    single = np.zeros((), "u8")
    headwater.fill(single)
    assert single != 0
    row = np.zeros((4, 64), "u8")
    headwater.fill(row[2])
    assert (row[2] != 0).all() and not row[[0, 1, 3]].any()


def test_a_read_only_buffer_raises_buffer_error() -> None:
    class Ours(bytes):
        pass

    buffers: list[Any] = [
        b"abc",
        Ours(b"abc"),
        memoryview(b"abc"),
        memoryview(bytearray(3)).toreadonly(),
    ]
    for buffer in buffers:
        with pytest.raises(BufferError, match="buffer must be writable"):
            headwater.fill(buffer)


def test_a_buffer_with_gaps_raises_buffer_error() -> None:
    data = bytearray(64)
    for view in [memoryview(data)[::2], memoryview(data)[::-1]]:
        with pytest.raises(BufferError, match="buffer must be contiguous"):
            headwater.fill(view)
    assert data == bytes(64)


def test_numpy_arrays_that_cannot_serve_are_refused_by_name() -> None:
    np = pytest.importorskip("numpy", reason="skipped: NumPy is absent, its arrays stay untried")
    square = np.zeros((8, 8))
    with pytest.raises(BufferError, match="buffer must be contiguous"):
        headwater.fill(square[:, 1:])
    with pytest.raises(BufferError, match="buffer must be contiguous"):
        headwater.fill(np.zeros((2, 3, 4)).transpose(1, 0, 2))
    square.setflags(write=False)
    with pytest.raises(BufferError, match="buffer must be writable"):
        headwater.fill(square)
    for dtype in ["O", [("a", "f8"), ("b", "O")]]:
        holder = np.zeros(3, dtype)
        with pytest.raises(TypeError, match="Python objects"):
            headwater.fill(holder)
        assert holder.tolist()  # a filled array of objects would crash here
    with pytest.raises(BufferError, match="buffer"):
        headwater.fill(np.zeros(3, "M8[s]"))  # NumPy exports no dates


def test_ctypes_objects_are_refused() -> None:
    with pytest.raises(TypeError, match="Python objects"):
        headwater.fill((ctypes.py_object * 3)())


@pytest.mark.parametrize("buffer", [None, 5, "abc", [1, 2], object()], ids=repr)
def test_no_buffer_raises_type_error(buffer: Any) -> None:
    with pytest.raises(TypeError, match="buffer must be a writable buffer, not '"):
        headwater.fill(buffer)


def test_the_buffer_is_released_also_after_an_error() -> None:
    buffer = bytearray(64)
    headwater.fill(buffer)
    with pytest.raises(BufferError):
        headwater.fill(memoryview(buffer)[::2])
    buffer.append(1)  # BufferError while a view is held


def ran_meanwhile(length: int, calls: int) -> bool:
    """Returns whether another thread ran during the calls, the switch by time being off."""
    ran, lock = threading.Event(), threading.Lock()
    buffer = bytearray(length)
    interval = sys.getswitchinterval()
    lock.acquire()

    def other() -> None:
        with lock:
            ran.set()

    thread = threading.Thread(target=other)
    thread.start()
    sys.setswitchinterval(1000)
    try:
        lock.release()
        for _ in range(calls):
            headwater.fill(buffer)
            if ran.is_set():
                break
        return ran.is_set()
    finally:
        sys.setswitchinterval(interval)
        thread.join()


@pytest.mark.skipif(
    not getattr(sys, "_is_gil_enabled", lambda: True)(),
    reason="skipped: there is no GIL to release",
)
def test_the_gil_is_released_for_long_fills_only() -> None:
    assert ran_meanwhile(64 << 20, 50)
    assert not ran_meanwhile(8 << 10, 2000)
