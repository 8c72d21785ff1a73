"""Checks with PyTorch, run by the interpreter that has it: `test_streams_dlpack.py` starts them."""

from __future__ import annotations

import gc
import sys

import headwater
import torch
from headwater import Key
from torch.utils.dlpack import from_dlpack

STREAM = Key(42).child("torch").stream(1)


def refused(exception: type[Exception], message: str, call: object) -> None:
    try:
        call()  # type: ignore[operator]
    except exception as error:
        assert message in str(error), error
    else:
        raise AssertionError(f"no {exception.__name__}: {message}")


def fills_tensors_of_every_type() -> None:
    for dtype, name in [(torch.float64, "float64"), (torch.float32, "float32")]:
        out = torch.zeros((3, 5), dtype=dtype)
        assert STREAM.random(out=out, start=7) is out
        own = headwater.Array((3, 5), name)
        assert out.tolist() == STREAM.random(out=own, start=7).tolist()
        assert STREAM.standard_normal((3, 5), dtype, out).tolist() == out.tolist()
    for dtype in (torch.int8, torch.uint8, torch.int16, torch.int32, torch.int64):
        out = torch.zeros(1000, dtype=dtype)
        STREAM.integers(-3 if dtype.is_signed else 3, 100, out=out)
        own = headwater.Array(1000, str(dtype).removeprefix("torch."))
        STREAM.integers(-3 if dtype.is_signed else 3, 100, out=own)
        assert out.tolist() == own.tolist()


def fills_parts_and_large_tensors() -> None:
    whole = torch.empty(1 << 20, dtype=torch.float64)
    STREAM.standard_normal(out=whole, threads=2)
    parts = torch.empty(1 << 20, dtype=torch.float64)
    for first in range(0, 1 << 20, 99_999):
        STREAM.standard_normal(out=parts[first : first + 99_999], start=first)
    assert torch.equal(whole, parts)
    # A view in the middle of a matrix keeps its neighbours.
    matrix = torch.zeros((4, 6), dtype=torch.float64)
    STREAM.random(out=matrix[1:3])
    assert matrix[0].eq(0).all() and matrix[3].eq(0).all() and matrix[1:3].ne(0).all()


def takes_indices_and_shuffles() -> None:
    indices = torch.tensor([[5, 3], [0, 999]])
    values = STREAM.at(indices).random(out=torch.zeros((2, 2), dtype=torch.float64))
    assert values.tolist() == [[STREAM.random(start=i) for i in row] for row in indices.tolist()]
    assert STREAM.at(torch.tensor(7)).random() == STREAM.random(start=7)
    order = list(range(50))
    STREAM.shuffle(order)
    for rows in (torch.arange(50), torch.arange(150).reshape(50, 3)):
        moved = rows.clone()
        STREAM.shuffle(moved)
        assert torch.equal(moved, rows[order])
    for dtype in (torch.float16, torch.bfloat16):
        half = torch.empty(100, dtype=dtype)
        assert STREAM.standard_normal(out=half) is half
        single = torch.empty(100)
        STREAM.standard_normal(out=single)
        assert torch.equal(half, single.to(dtype))
        own = from_dlpack(STREAM.standard_normal(100, str(dtype)[6:]))
        assert own.dtype == dtype and torch.equal(own, half)
    complexes = torch.empty(100, dtype=torch.complex64)
    STREAM.complex_normal(out=complexes)
    assert complexes.tolist() == STREAM.complex_normal(100, "complex64").tolist()
    raw = torch.zeros(100, dtype=torch.int64)
    assert bytes(STREAM.fill(raw).numpy()) == STREAM.bytes(800)


def shuffles_booleans() -> None:
    flags = torch.arange(1000) % 3 == 0
    numbers = flags.to(torch.uint8)
    STREAM.shuffle(flags)
    STREAM.shuffle(numbers)
    assert flags.dtype == torch.bool and flags.tolist() == numbers.to(torch.bool).tolist()
    rows = torch.arange(300).reshape(100, 3) % 2 == 0
    STREAM.shuffle(rows)
    # They are no numbers to draw.
    refused(TypeError, "type 6 of 8 bits", lambda: STREAM.integers(2, out=flags))


def refuses_other_tensors() -> None:
    refused(BufferError, "out must be C-contiguous", lambda: STREAM.random(out=torch.zeros(9)[::2]))
    refused(BufferError, "out must be C-cont", lambda: STREAM.random(out=torch.zeros((3, 2)).t()))
    refused(TypeError, "out must", lambda: STREAM.random(out=torch.zeros(3, dtype=torch.int8)))
    refused(TypeError, "out must be of", lambda: STREAM.random(out=torch.zeros(3, dtype=torch.int)))
    refused(TypeError, "out must", lambda: STREAM.integers(2, out=torch.zeros(3)))
    refused(ValueError, "out must", lambda: STREAM.random((2, 2), out=torch.zeros((3, 2))))
    refused(TypeError, "indices must", lambda: STREAM.at(torch.zeros(3)))
    refused(Exception, "grad", lambda: STREAM.random(out=torch.zeros(3, requires_grad=True)))
    empty = torch.zeros((0, 3))
    assert STREAM.random(out=empty) is empty


def shares_own_arrays() -> None:
    own = headwater.Array((2, 3), "float32")
    tensor = from_dlpack(own)
    assert tensor.data_ptr() % 64 == 0
    STREAM.random(out=own)
    assert tensor.tolist() == own.tolist() and tuple(tensor.shape) == (2, 3)
    tensor[1, 2] = 7.0
    assert own[1, 2] == 7.0
    del own
    gc.collect()
    assert tensor[1, 2] == 7.0
    # Capsules that no consumer takes are freed, and so are those that one takes.
    for _ in range(1000):
        own = headwater.Array(1 << 20)
        own.__dlpack__()
        from_dlpack(own)


def has_the_streams_numbers_by_its_own_operations() -> None:
    import headwater.torch as front

    key = Key("devices", engine="philox4x32")
    for shape, start in [(0, 0), ((3, 5), 2), (4096, 4), ((2, 3, 7), 2**34 - 5), (9, 2**64 - 11)]:
        for stream in (0, 2**16 + 3, 2**48 - 1):
            one = key.stream(stream)
            words = one.integers(0, 2**32, shape, dtype="uint32", start=start).tolist()
            numbers = one.random(shape, dtype="float32", start=start).tolist()
            for number in (stream, torch.tensor(stream)):
                assert front.bits(key, shape, stream=number, start=start).tolist() == words
                made = front.random(key, shape, stream=number, start=start)
                assert made.dtype == torch.float32 and made.tolist() == numbers
    refused(ValueError, "engine='philox4x32'", lambda: front.bits(Key(1), 3))


for check in (
    fills_tensors_of_every_type,
    fills_parts_and_large_tensors,
    takes_indices_and_shuffles,
    shuffles_booleans,
    refuses_other_tensors,
    shares_own_arrays,
    has_the_streams_numbers_by_its_own_operations,
):
    check()
    print("passed", check.__name__, "with PyTorch", torch.__version__)
sys.stdout.flush()
