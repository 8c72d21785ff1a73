"""`Array` shares its memory by the buffer protocol and DLPack, and serves where NumPy is missing."""

from __future__ import annotations

import array
import copy
import gc
import io
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any

import headwater
import numpy as np
import pytest
from headwater import Array, Key

STREAM = Key(42).stream(6)
TYPES = ["float64", "float32", "int8", "uint8", "int16", "uint16", "int32", "uint32"]
TYPES += ["int64", "uint64"]
PACKAGE = Path(headwater.__file__).parents[1]


def run(code: str, interpreter: str = sys.executable, directory: Path = PACKAGE) -> str:
    """Returns the output of a program with this package."""
    done = subprocess.run(
        [interpreter, "-c", code], cwd=directory, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("dtype", TYPES)
def test_memory_is_shared_with_numpy_and_memoryview(dtype: str) -> None:
    own = Array((2, 3), dtype)
    shared, packed = np.asarray(own), np.from_dlpack(own)
    assert shared.dtype == packed.dtype == own.dtype == dtype
    assert shared.shape == own.shape == (2, 3) and own.ndim == 2 and len(own) == 2
    assert (own.itemsize, own.size, own.nbytes) == (shared.itemsize, 6, shared.nbytes)
    shared[1, 2] = 5
    assert own[1, 2] == packed[1, 2] == memoryview(own)[1, 2] == 5
    own[0, 0] = 3
    assert own.tolist() == shared.tolist() == packed.tolist() == [[3, 0, 0], [0, 0, 5]]
    assert own.tobytes() == shared.tobytes() == bytes(own)
    assert shared.ctypes.data % 64 == 0


def test_arrays_of_no_elements_and_no_dimensions() -> None:
    for shape in ((0,), (0, 3), (3, 0)):
        own = Array(shape)
        assert STREAM.random(out=own) is own
        assert np.asarray(own).shape == np.from_dlpack(own).shape == shape
        assert "[]" in repr(own)
    one = Array(())
    STREAM.random(out=one)
    assert np.asarray(one)[()] == STREAM.random() and one.shape == ()
    with pytest.raises(TypeError):
        len(one)


def test_equality_copies_and_repr() -> None:
    own = Array(9, "int16")
    STREAM.integers(-5, 5, out=own)
    for again in (copy.copy(own), copy.deepcopy(own)):
        assert again == own and not again != own
        again[8] = 99
        assert again != own
    assert own != Array(9, "int32") and own != Array((3, 3), "int16") and own != own.tolist()
    with pytest.raises(TypeError):
        hash(own)
    values = ", ".join(map(str, own.tolist()[:6]))
    assert repr(own) == f"<headwater.Array [{values}, ...], shape=(9,), dtype='int16'>"


def test_the_memory_outlives_the_array() -> None:
    for _ in range(50):
        own = Array(1 << 16)
        STREAM.random(out=own)
        expected = own.tobytes()
        views: list[Any] = [memoryview(own), np.asarray(own), np.from_dlpack(own)]
        del own
        gc.collect()
        assert all(bytes(view) == expected for view in views)


def test_dlpack_of_both_versions() -> None:
    own = Array(4)
    assert '"dltensor"' in repr(own.__dlpack__())
    assert '"dltensor_versioned"' in repr(own.__dlpack__(max_version=(1, 0)))
    assert '"dltensor"' in repr(own.__dlpack__(max_version=(0, 8)))
    assert own.__dlpack_device__() == (1, 0)
    apart = np.from_dlpack(own, copy=True)
    apart[0] = 1
    assert own[0] == 0
    capsules = [own.__dlpack__(max_version=(1, 0)) for _ in range(3)]
    del own
    gc.collect()
    del capsules


class Tensor:
    """A NumPy array that offers DLPack alone, like a tensor of PyTorch."""

    def __init__(self, values: Any, versioned: bool) -> None:
        self.values, self.versioned = values, versioned

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)

    def __dlpack__(self, **options: Any) -> Any:
        if not self.versioned and options:
            raise TypeError("no options are known")
        return self.values.__dlpack__(**options)


@pytest.mark.parametrize("versioned", [False, True])
def test_tensors_of_both_versions_are_places(versioned: bool) -> None:
    values = np.zeros((3, 4))
    tensor = Tensor(values, versioned)
    assert STREAM.random(out=tensor) is tensor
    assert (values == STREAM.random((3, 4))).all()
    with pytest.raises(BufferError, match="out must be C-contiguous"):
        STREAM.random(out=Tensor(values.T, versioned))
    with pytest.raises(TypeError, match="out must hold"):
        STREAM.random(out=Tensor(values.astype(bool), versioned))
    index = Tensor(np.array([[1, 2], [3, 4]]), versioned)
    assert STREAM.at(index).random().shape == (2, 2)


def test_read_only_tensors_are_refused() -> None:
    values = np.zeros(4)
    values.flags.writeable = False
    with pytest.raises(BufferError, match="out must be writable"):
        STREAM.random(out=Tensor(values, True))
    assert (values == 0).all()


def test_tensors_of_another_device_are_refused() -> None:
    class OnDevice(Tensor):
        def __dlpack_device__(self) -> tuple[int, int]:
            return (2, 1)

    with pytest.raises(BufferError, match=r"out must lie in the CPU's memory, .*\(2, 1\)"):
        STREAM.random(out=OnDevice(np.zeros(3), True))


def test_tensors_of_pytorch(tmp_path: Path) -> None:
    interpreter = "/usr/bin/python3"
    try:
        subprocess.run([interpreter, "-c", "import torch"], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("python3-torch is not installed: tensors of PyTorch were not filled")
    checks = Path(__file__).with_name("_torch_checks.py").read_text()
    # Not the directory of the package, whose NumPy is not the one of Debian's PyTorch.
    (tmp_path / "headwater").symlink_to(Path(headwater.__file__).parent)
    assert run(checks, interpreter, tmp_path).count("passed") == 7


def test_places_of_the_standard_library() -> None:
    expected = STREAM.random(100)
    doubles = array.array("d", bytes(800))
    assert STREAM.random(out=doubles) is doubles and doubles.tolist() == expected.tolist()
    view = memoryview(bytearray(800)).cast("d")
    assert STREAM.random(out=view).tolist() == expected.tolist()
    matrix = memoryview(bytearray(800)).cast("d", (10, 10))
    assert STREAM.random((10, 10), out=matrix)[9, 9] == expected[99]
    import ctypes
    import mmap

    numbers = (ctypes.c_double * 100)()
    STREAM.random(out=numbers)
    assert list(numbers) == expected.tolist()
    shared = mmap.mmap(-1, 800)
    STREAM.random(out=memoryview(shared).cast("d"))
    assert shared[:] == expected.tobytes()
    with tempfile.TemporaryFile() as file:
        mapped = np.memmap(file, "f8", "w+", shape=(100,))
        assert (STREAM.random(out=mapped) == expected).all()
    assert io.BytesIO(STREAM.bytes(9)).read() == STREAM.bytes(9)


WITHOUT_NUMPY = """
import sys
sys.modules["numpy"] = None  # an import of NumPy fails from now on
import headwater
stream = headwater.Key(42).stream(6)
values = stream.random((2, 3), start=5)
assert type(values) is headwater.Array and values.shape == (2, 3)
assert type(stream.at([1, 2]).standard_normal("float32")) is headwater.Array
assert type(stream.integers(6, shape=5, dtype="uint8")) is headwater.Array
assert type(stream.permutation(10)[2:5]) is headwater.Array
assert stream.choice(5, 4).tolist() and stream.choice("abc", 2) and stream.sample(9, 2)[1] >= 0
large = stream.standard_normal(1 << 20, threads=2)
assert large.nbytes == 8 << 20
print(values.tobytes().hex())
print(stream.permutation(10)[2:5].tolist())
"""


def test_without_numpy_arrays_have_the_same_values() -> None:
    values, order = run(WITHOUT_NUMPY).split("\n")[:2]
    assert bytes.fromhex(values) == STREAM.random(6, start=5).tobytes()
    assert order == str(STREAM.permutation(10)[2:5].tolist())


def test_numpy_is_imported_at_the_first_array_only() -> None:
    code = """
import sys, headwater
stream = headwater.Key(42).child("a").stream(0)
stream.random(), stream.bytes(9), stream.shuffle([1, 2, 3]), stream.permutation(9)[3]
stream.random(out=headwater.Array(5)), stream.choice("abc", 3), stream.at(3).integers(6)
assert "numpy" not in sys.modules
stream.random(3)
assert "numpy" in sys.modules
"""
    run(code)


def test_threads_share_one_stream_and_one_array() -> None:
    own = Array(1 << 16)

    def fill(first: int) -> None:
        for _ in range(20):
            STREAM.random(out=memoryview(own)[first : first + (1 << 14)], start=first)

    threads = [threading.Thread(target=fill, args=(i << 14,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert own.tobytes() == STREAM.random(1 << 16).tobytes()


def test_no_reference_and_no_buffer_is_leaked() -> None:
    out, indices = np.empty(2000), np.arange(2000)
    target = bytearray(9)
    items = [object() for _ in range(9)]

    def calls() -> None:
        STREAM.random(out=out)
        STREAM.at(indices).random(out=out)
        STREAM.fill(target)
        STREAM.shuffle(items)
        STREAM.choice(items, 3)
        with pytest.raises(ValueError, match="start"):
            STREAM.random(out=out, start=(1 << 64) - 1)

    calls()
    before = [sys.getrefcount(x) for x in (out, indices, target, *items, STREAM)]
    for _ in range(50):
        calls()
    gc.collect()
    assert [sys.getrefcount(x) for x in (out, indices, target, *items, STREAM)] == before
    target.append(1)  # raises BufferError while a view is held
