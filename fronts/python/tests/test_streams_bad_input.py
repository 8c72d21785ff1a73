"""Bad input raises the exception that a Python user expects, and the message names the argument."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import headwater
import numpy as np
import pytest
from headwater import Key

KEY = Key(42)
STREAM = KEY.stream(0)
READ_ONLY = np.zeros(4)
READ_ONLY.flags.writeable = False
S: Any = STREAM
K: Any = Key


def overlapping() -> Any:
    """Returns a view whose rows share their elements."""
    return np.lib.stride_tricks.as_strided(np.zeros(4), (3, 2), (8, 8))


def unaligned() -> Any:
    """Returns doubles that begin at an odd address."""
    return memoryview(bytearray(17))[1:].cast("d")


#: Each call with its exception and a part of the message.
TABLE: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    # Seeds, labels and engines.
    "no seed": (lambda: K(), TypeError, "seed"),
    "seed None": (lambda: K(None), TypeError, "seed must be .* not NoneType"),
    "seed float": (lambda: K(1.0), TypeError, "seed must be an integer, bytes or str, not float"),
    "seed list": (lambda: K([1]), TypeError, "seed"),
    "seed array": (lambda: K(np.arange(3)), TypeError, "seed"),
    "seed surrogate": (lambda: K("\udc80"), ValueError, "surrogates"),
    "label float": (lambda: KEY.child(0.5), TypeError, "label"),  # type: ignore[arg-type]
    "engine unknown": (lambda: K(1, engine="mt"), ValueError, "engine must be one of ars7"),
    "engine number": (lambda: K(1, engine=7), TypeError, "engine"),
    "parse float": (lambda: K.parse("1.5"), ValueError, "text"),
    "raw short": (lambda: K.from_raw(b"123"), ValueError, "raw must have 16 bytes, not 3"),
    "raw text": (lambda: K.from_raw("1" * 16), TypeError, "raw"),
    "counter": (lambda: KEY.block(-1), ValueError, "counter must be"),
    "expand": (lambda: KEY.expand("x", -1), ValueError, "n must be"),
    # Streams.
    "stream 2^48": (lambda: KEY.stream(1 << 48), ValueError, r"id must be from 0 to 2\^48 - 1"),
    "stream -1": (lambda: KEY.stream(-1), ValueError, "id must .* not -1"),
    "stream float": (lambda: KEY.stream(1.0), TypeError, "id must be an integer, not float"),  # type: ignore[arg-type]
    "stream text": (lambda: KEY.stream("1"), TypeError, "id must"),  # type: ignore[arg-type]
    "Stream(key)": (lambda: headwater.Stream(42, 0), TypeError, "key must be"),  # type: ignore[arg-type]
    # Shapes.
    "shape -1": (lambda: S.random(-1), ValueError, "shape must .* not -1"),
    "shape (2, -1)": (lambda: S.random((2, -1)), ValueError, "shape"),
    "shape float": (lambda: S.random(2.0), TypeError, "shape"),
    "shape (2.0,)": (lambda: S.random((2.0,)), TypeError, "shape must be an integer, not float"),
    "shape bool": (lambda: S.random(True), TypeError, "shape must be an integer, .* not bool"),
    "shape text": (lambda: S.random("2"), TypeError, "shape"),
    "shape huge": (lambda: S.random(1 << 62), MemoryError, "shape"),
    "shape of huge product": (lambda: S.random((1 << 40, 1 << 40)), MemoryError, "shape"),
    "shape 2^64": (lambda: S.random(1 << 64), ValueError, "shape"),
    # Types.
    "dtype unknown": (lambda: S.random(2, "float8"), TypeError, "dtype must be one of"),
    "dtype int": (lambda: S.random(2, "int64"), TypeError, "dtype must be of type float64 or"),
    "dtype number": (lambda: S.random(2, 8), TypeError, "dtype must"),
    "dtype of normals": (lambda: S.standard_normal(2, np.int8), TypeError, "dtype"),
    "dtype of exponentials": (lambda: S.standard_exponential(2, "float32"), TypeError, "dtype"),
    "dtype of integers": (lambda: S.integers(6, dtype="float64"), TypeError, "dtype"),
    "dtype bool": (lambda: S.integers(2, dtype=bool), TypeError, "dtype"),
    "dtype byte order": (lambda: S.random(2, np.dtype(">f8")), TypeError, "dtype must have the"),
    # Offsets and threads.
    "start -1": (lambda: S.random(2, start=-1), ValueError, "start must .* not -1"),
    "start 2^64": (lambda: S.random(2, start=1 << 64), ValueError, "start must"),
    "start past the end": (lambda: S.random(2, start=(1 << 64) - 2), ValueError, "start"),
    "start past for normals": (lambda: S.standard_normal(start=2**64 - 2), ValueError, "start"),
    "start float": (lambda: S.random(2, start=1.0), TypeError, "start"),
    "start None": (lambda: S.random(2, start=None), TypeError, "start"),
    "bytes start": (lambda: S.bytes(2, start=(1 << 64) - 2), ValueError, "start"),
    "threads -1": (lambda: S.random(2, threads=-1), ValueError, "threads must .* not -1"),
    "threads float": (lambda: S.random(2, threads=2.0), TypeError, "threads"),
    "bytes -1": (lambda: S.bytes(-1), ValueError, "n must"),
    "bytes float": (lambda: S.bytes(1.5), TypeError, "n must"),
    "bytes huge": (lambda: S.bytes(1 << 63), MemoryError, "n exceeds"),
    # Places.
    "out read-only": (lambda: S.random(out=READ_ONLY), BufferError, "out must be writable"),
    "out bytes": (lambda: S.random(out=b"12345678"), BufferError, "out must be writable"),
    "out strided": (lambda: S.random(out=np.zeros(9)[::2]), BufferError, "out must .* C-contig"),
    "out Fortran": (lambda: S.random(out=np.zeros((3, 2), order="F")), BufferError, "out must"),
    "out overlapping": (lambda: S.random(out=overlapping()), BufferError, "out must"),
    "out broadcast": (lambda: S.random(out=np.broadcast_to(0.0, 3)), BufferError, "out must"),
    "out unaligned": (lambda: S.random(out=unaligned()), BufferError, "out must begin at"),
    "out list": (lambda: S.random(out=[0.0]), TypeError, "out must be a writable buffer"),
    "out type": (lambda: S.random(out=np.zeros(3, int)), TypeError, "out must be of type float"),
    "out type of bytes": (lambda: S.random(out=bytearray(8)), TypeError, "out must"),
    "out and dtype": (
        lambda: S.random(out=np.zeros(3), dtype="float32"),
        TypeError,
        "out must be of type float32, not float64",
    ),
    "out byte order": (lambda: S.random(out=np.zeros(3, ">f8")), TypeError, "out must"),
    "out bool": (lambda: S.integers(2, out=np.zeros(3, bool)), TypeError, "out must"),
    "out objects": (lambda: S.integers(2, out=np.zeros(3, object)), TypeError, "out must"),
    "out shape": (
        lambda: S.random((2, 3), out=np.zeros((3, 2))),
        ValueError,
        r"out must have shape \(2, 3\), not \(3, 2\)",
    ),
    "fill read-only": (lambda: S.fill(b"123"), BufferError, "buffer must be writable"),
    "fill objects": (lambda: S.fill(np.zeros(3, object)), TypeError, "buffer must"),
    "fill a record": (
        lambda: S.fill(np.zeros(3, [("a", "f8"), ("b", "O")])),
        TypeError,
        "buffer must hold plain data",
    ),
    "fill int": (lambda: S.fill(3), TypeError, "buffer must be a writable buffer"),
    # Integers.
    "integers empty": (lambda: S.integers(3, 3), ValueError, "high must be greater than 3, not 3"),
    "integers reversed": (lambda: S.integers(3, 1, endpoint=True), ValueError, "high must be at"),
    "integers 0": (lambda: S.integers(0), ValueError, "low must be greater than 0"),
    "integers float": (lambda: S.integers(0, 6.0), TypeError, "high must be an integer"),
    "integers low float": (lambda: S.integers(0.0, 6), TypeError, "low must be an integer"),
    "integers low": (lambda: S.integers(-1, 6, dtype="uint8"), ValueError, "low must .* 0 to 255"),
    "integers high": (lambda: S.integers(0, 257, dtype="uint8"), ValueError, "high must .* uint8"),
    "integers 2^63": (lambda: S.integers((1 << 63) + 1), ValueError, "low must stay within"),
    "integers 2^65": (lambda: S.integers(1 << 65), ValueError, "low must be"),
    # Elements.
    "at float": (lambda: S.at(1.0), TypeError, "indices must"),
    "at floats": (lambda: S.at(np.zeros(3)), TypeError, "indices must"),
    "at list of floats": (lambda: S.at([1, 2.0]), TypeError, "indices must be an integer, not fl"),
    "at bools": (lambda: S.at(np.zeros(3, bool)), TypeError, "indices must"),
    "at list of bools": (lambda: S.at([True, False]), TypeError, "not booleans: numpy.flatnonzero"),
    "at masked": (lambda: S.at(np.ma.array([1, 2], mask=[0, 1])), TypeError, "masked array"),
    "at nested": (lambda: S.at([[1], [2]]), TypeError, "indices must"),
    "at text": (lambda: S.at("12"), TypeError, "indices must"),
    "at bytes": (lambda: S.at(b"12"), TypeError, "indices must"),
    "at -1": (lambda: S.at(-1), ValueError, "indices must .* not -1"),
    "at [-1]": (lambda: S.at([0, -1]), ValueError, "indices must .* not -1"),
    "at array of -1": (lambda: S.at(np.array([0, -1], "i2")), ValueError, "indices must .* not -1"),
    "at the end": (lambda: S.at((1 << 64) - 1), ValueError, "indices must"),
    "at array of the end": (lambda: S.at(np.array([(1 << 64) - 1], "u8")), ValueError, "indices"),
    "at past for normals": (
        lambda: S.at([(1 << 64) - 2]).standard_normal(),
        ValueError,
        "indices must stay",
    ),
    "at out shape": (lambda: S.at([1, 2]).random(out=np.zeros(3)), ValueError, "out must have"),
    # Permutations, samples, choices, shuffles.
    "permutation -1": (lambda: S.permutation(-1), ValueError, "n must"),
    "permutation float": (lambda: S.permutation(3.0), TypeError, "n must"),
    "permutation 2^64": (lambda: S.permutation(1 << 64), ValueError, "n must"),
    "p[n]": (lambda: S.permutation(3)[3], IndexError, "index must be below n = 3, not 3"),
    "p[-n-1]": (lambda: S.permutation(3)[-4], IndexError, "index"),
    "p[10^30]": (lambda: S.permutation(3)[10**30], IndexError, "index"),
    "p[1.0]": (lambda: S.permutation(3)[1.0], TypeError, "index must be an integer or a slice"),
    "p[::0]": (lambda: S.permutation(3)[::0], ValueError, "step must not be 0"),
    "p[1.0:]": (lambda: S.permutation(3)[1.0:], TypeError, "start must be an integer"),
    "p.index(n)": (lambda: S.permutation(3).index(3), ValueError, "value must"),
    "p.index('a')": (lambda: S.permutation(3).index("a"), ValueError, "value must"),
    "p.at([n])": (lambda: S.permutation(3).at([1, 3]), IndexError, "indices must be below n = 3"),
    "p.fill past": (lambda: S.permutation(3).fill(np.zeros(4, "i8")), ValueError, "out must"),
    "p.fill type": (lambda: S.permutation(3).fill(np.zeros(3, "i4")), TypeError, "out must"),
    "p[:] huge": (lambda: S.permutation(1 << 62)[:], MemoryError, "shape"),
    "sample": (lambda: S.sample(3, 4), ValueError, "k must be from 0 to n = 3, not 4"),
    "sample -1": (lambda: S.sample(3, -1), ValueError, "k must"),
    "split -1": (lambda: KEY.split(-1), ValueError, "num must be a number of keys .*, not -1"),
    "split 2^70": (lambda: KEY.split(1 << 70), ValueError, "num must be a number of keys"),
    "split 2.5": (lambda: KEY.split(2.5), TypeError, "num must be an integer, not float"),
    "choice empty": (lambda: S.choice([]), ValueError, "a must not be empty"),
    "choice 0": (lambda: S.choice(0), ValueError, "a must be greater than 0"),
    "choice float": (lambda: S.choice(3.0), TypeError, "a must be an integer or a sequence"),
    "choice set": (lambda: S.choice({1, 2}), TypeError, "a must"),
    "choice dict": (lambda: S.choice({1: 2}), TypeError, "a must"),
    "choice size": (lambda: S.choice("abc", -1), ValueError, "size"),
    "choice size float": (lambda: S.choice("abc", 2.0), TypeError, "size"),
    "choice too many": (lambda: S.choice("abc", 4, replace=False), ValueError, "size must be at m"),
    "shuffle tuple": (lambda: S.shuffle((1, 2)), TypeError, "x must be a mutable sequence"),
    "shuffle text": (lambda: S.shuffle("abc"), TypeError, "x must"),
    "shuffle bytes": (lambda: S.shuffle(b"abc"), BufferError, "x must be writable"),
    "shuffle dict": (lambda: S.shuffle({0: 1}), TypeError, "x must"),
    "shuffle read-only": (lambda: S.shuffle(READ_ONLY), BufferError, "x must be writable"),
    "shuffle strided": (lambda: S.shuffle(np.zeros(9)[::2]), BufferError, "x must"),
    "shuffle scalar": (lambda: S.shuffle(np.array(1.0)), TypeError, "x must"),
    # Arrays.
    "Array()": (lambda: headwater.Array(-1), ValueError, "shape"),
    "Array dtype": (lambda: headwater.Array(1, "bool"), TypeError, "dtype"),
    "Array huge": (lambda: headwater.Array(1 << 62), MemoryError, "shape"),
    "Array device": (
        lambda: headwater.Array(1).__dlpack__(dl_device=(2, 0)),
        BufferError,
        "dl_device",
    ),
}


@pytest.mark.parametrize("name", TABLE)
def test_bad_input(name: str) -> None:
    call, exception, message = TABLE[name]
    with pytest.raises(exception, match=message) as raised:
        call()
    # Never another exception that happens to be a subclass, such as UnicodeError for ValueError.
    assert type(raised.value) is exception or name == "seed surrogate"


def test_a_refused_call_writes_nothing() -> None:
    out = np.full(4, 7.0)
    for start in ((1 << 64) - 3, 1 << 64, -1):
        with pytest.raises(ValueError, match="start"):
            STREAM.random(out=out, start=start)
    with pytest.raises(ValueError, match="indices"):
        STREAM.at([0, 1, 2, (1 << 64) - 2]).standard_normal(out=out)
    assert (out == 7.0).all()


def test_the_last_elements_exist() -> None:
    end = (1 << 64) - 1
    assert len(STREAM.random(5, start=end - 5)) == 5
    assert len(STREAM.standard_normal(5, start=end - 6)) == 5
    assert STREAM.random(0, start=end).shape == (0,)
    assert STREAM.at(end - 1).random() == STREAM.random(start=end - 1)


def test_types_are_final_and_immutable() -> None:
    stream: Any = STREAM
    for name in ("id", "key", "other"):
        with pytest.raises(AttributeError):
            setattr(stream, name, 1)
    with pytest.raises(TypeError):
        type("Sub", (headwater.Stream,), {})
