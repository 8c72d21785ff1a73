"""Numbers of a stream in JAX's and PyTorch's own operations, against the package's.

On a graphics card fronts/outside/gpu.py compares the same functions.
"""

from __future__ import annotations

import doctest
import json
from pathlib import Path

import numpy as np
import pytest

import headwater
from headwater import _philox

KEY = headwater.Key("devices", engine="philox4x32")
VECTORS = Path(__file__).parents[3] / "streams/vectors/devices.json"
# Shapes and starts: none, parts of a block, blocks, and indices that carry into the upper half.
PLACES = [
    (0, 0),
    (1, 0),
    ((3, 5), 2),
    (4096, 4),
    ((2, 3, 7), 2**34 - 5),
    (np.int64(40), 2**63 + 3),
    ([5, np.uint8(2)], np.uint64(6)),
    (9, 2**64 - 11),
]
STREAMS = [0, 1, 2**16 + 3, 2**31 - 1, 2**48 - 1]


def expected(shape: object, stream: int, start: int) -> tuple[np.ndarray, np.ndarray]:
    one = KEY.stream(stream)
    return (
        np.asarray(one.integers(0, 2**32, shape, dtype="uint32", start=start)),
        np.asarray(one.random(shape, dtype="float32", start=start)),
    )


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("stream", STREAMS)
def test_jax_has_the_streams_numbers(place: tuple[object, int], stream: int) -> None:
    jax = pytest.importorskip("jax", reason="JAX is not installed: its arrays were not compared")
    import headwater.jax as front

    shape, start = place
    bits, numbers = expected(shape, stream, start)
    for made in (
        front.bits(KEY, shape, stream=stream, start=start),
        jax.jit(lambda: front.bits(KEY, shape, stream=stream, start=start))(),
    ):
        assert made.dtype == "uint32"
        assert np.array_equal(np.asarray(made), bits)
    made = jax.jit(lambda: front.random(KEY, shape, stream=stream, start=start))()
    assert made.dtype == "float32"
    assert np.array_equal(np.asarray(made), numbers)
    if stream < 2**31:
        step = jax.jit(lambda step: front.bits(KEY, shape, stream=step, start=start))
        assert np.array_equal(np.asarray(step(stream)), bits)


def test_jax_has_the_same_array_however_it_is_sharded() -> None:
    """Eight devices of one CPU, in a process of their own: JAX counts devices once."""
    pytest.importorskip("jax", reason="JAX is not installed: no sharded array was compared")
    import subprocess
    import sys

    program = """
import os
os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"
import jax, numpy as np, headwater, headwater.jax as front
from jax.sharding import NamedSharding, PartitionSpec as P
assert len(jax.devices()) == 8
key = headwater.Key("devices", engine="philox4x32")
expected = np.asarray(key.stream(3).random((64, 48), dtype="float32", start=5))
for sizes, names, spec in [((8,), "a", P("a")), ((8,), "a", P(None, "a")), ((4, 2), "ab", P("a", "b"))]:
    mesh = jax.make_mesh(sizes, tuple(names))
    draw = jax.jit(
        lambda step: front.random(key, (64, 48), stream=step, start=5),
        out_shardings=NamedSharding(mesh, spec),
    )
    made = draw(3)
    assert len(made.addressable_shards) == 8
    assert np.array_equal(np.asarray(made), expected), spec
"""
    subprocess.run([sys.executable, "-c", program], check=True)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("stream", STREAMS)
def test_pytorch_has_the_streams_numbers(place: tuple[object, int], stream: int) -> None:
    torch = pytest.importorskip(
        "torch", reason="PyTorch is not installed: its tensors were not compared"
    )
    import headwater.torch as front

    shape, start = place
    bits, numbers = expected(shape, stream, start)
    for number in (stream, torch.tensor(stream)):
        made = front.bits(KEY, shape, stream=number, start=start)
        assert made.dtype == torch.int64
        assert np.array_equal(made.cpu().numpy(), bits)
        made = front.random(KEY, shape, stream=number, start=start)
        assert made.dtype == torch.float32
        assert np.array_equal(made.cpu().numpy(), numbers)


def test_compiled_pytorch_has_the_streams_numbers() -> None:
    """One function for keys, streams and indices of all sizes: its compiler takes an integer that
    differs between calls as any integer, of 64 bits.
    """
    torch = pytest.importorskip(
        "torch", reason="PyTorch is not installed: no compiled function's numbers were compared"
    )
    import headwater.torch as front

    used: list[int] = []

    def eager(graph, given):  # type: ignore[no-untyped-def]
        for node, one in zip(graph.graph.find_nodes(op="placeholder"), given, strict=True):
            if node.users and not isinstance(one, torch.Tensor):
                used.append(int(one))
        return graph.forward

    for backend in (eager, "inductor"):
        torch.compiler.reset()
        draw = torch.compile(
            lambda key, step, start: front.random(key, 1000, stream=step, start=start),
            backend=backend,
        )
        for seed, start in enumerate((5, 2**33 - 40, 2**33 + 1, 2**34 - 5, 2**63 + 7)):
            key = headwater.Key(seed, engine="philox4x32")
            of = key.stream(seed + 7).random(1000, dtype="float32", start=start)
            assert np.array_equal(draw(key, torch.tensor(seed + 7), start).numpy(), np.asarray(of))
    # The launcher of 2.11 took no other integers on a card. Later compilers keep `start` in the
    # graph, and were not seen on one.
    if torch.__version__.startswith("2.11."):
        assert max(used, default=0) < 2**63


def numpy_bits(
    key: headwater.Key, shape: object, stream: int = 0, start: int = 0
) -> np.ndarray:
    """Computes half words by the shared rounds in NumPy's operations, for a Python without JAX."""
    sizes, first, count = _philox.checked(key, shape, start)  # type: ignore[arg-type]
    block = [first + i for i in range(count)]
    low = np.array([b & 0xFFFFFFFF for b in block], "u8")
    high = np.array([b >> 32 for b in block], "u8")
    c2, c3 = _philox.number(stream)

    def mul(a: np.ndarray, b: int) -> tuple[np.ndarray, np.ndarray]:
        return a * np.uint64(b) >> np.uint64(32), a * np.uint64(b) & np.uint64(0xFFFFFFFF)

    counter = (low, high, np.full_like(low, c2), np.full_like(low, c3))
    halves = np.stack(_philox.blocks(key, counter, mul, np.uint64), axis=-1).reshape(-1)
    return halves[start % 4 :][: int(np.prod(sizes))].reshape(sizes)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("stream", STREAMS)
def test_the_rounds_have_the_streams_numbers(place: tuple[object, int], stream: int) -> None:
    shape, start = place
    bits, _ = expected(shape, stream, start)
    assert np.array_equal(numpy_bits(KEY, shape, stream, start), bits)


@pytest.mark.parametrize(
    ("case", "error"),
    [
        ({"key": headwater.Key(1)}, "make the key with engine='philox4x32'"),
        ({"shape": (2, -1)}, "no negative size"),
        ({"shape": 2.5}, None),
        ({"shape": (2.5,)}, None),
        ({"start": -1}, "start must be from 0"),
        ({"start": 2**64 - 2}, "the last element before 2\\^64 - 1"),
        ({"stream": -1}, "from 0 to 2\\^48 - 1, not -1"),
        ({"stream": 2**48}, "from 0 to 2\\^48 - 1"),
        ({"stream": np.int64(2**48)}, "from 0 to 2\\^48 - 1"),
        ({"stream": 2.0}, None),
    ],
)
def test_wrong_arguments_are_errors(case: dict, error: str | None) -> None:
    fronts = [numpy_bits]
    for name in ("jax", "torch"):
        try:
            __import__(name)
        except ImportError:
            continue
        fronts.append(__import__(f"headwater.{name}", fromlist=["bits"]).bits)
    for bits in fronts:
        given = {"key": KEY, "shape": 3} | case
        with pytest.raises((ValueError, TypeError), match=error):
            bits(given.pop("key"), given.pop("shape"), **given)


def test_a_step_that_is_no_integer_is_an_error() -> None:
    jax = pytest.importorskip("jax", reason="JAX is not installed: no step was refused")
    import headwater.jax as front

    with pytest.raises(TypeError, match="stream must be an integer, not float32"):
        jax.jit(lambda step: front.bits(KEY, 3, stream=step))(2.0)
    made = front.bits(KEY, 5, stream=jax.numpy.int32(7))
    assert list(made) == list(front.bits(KEY, 5, stream=7)) == list(front.bits(KEY, 5, stream=np.int64(7)))
    # JAX's integers have 64 bits where it is told so.
    with jax.experimental.enable_x64() if hasattr(jax.experimental, "enable_x64") else jax.enable_x64(True):
        draw = jax.jit(lambda step: front.bits(KEY, 5, stream=step))
        for step in (7, 2**16 + 3, 2**32 + 5, 2**48 - 1, -1):
            assert list(draw(step)) == list(front.bits(KEY, 5, stream=step % 2**48))


@pytest.mark.parametrize("library", ["jax", "torch"])
def test_several_streams_or_a_stream_for_a_key_are_errors(library: str) -> None:
    """Eight half words are two blocks, so two numbers of streams would have been one for each."""
    reason = f"{library} is not installed: its arrays were not refused"
    pytest.importorskip(library, reason=reason)
    front = __import__(f"headwater.{library}", fromlist=["bits"])
    if library == "torch":
        import torch

        several, one = torch.tensor([1, 2]), torch.tensor([2])
    else:
        import jax

        several, one = jax.numpy.array([1, 2]), jax.numpy.array([2])
    for draw in (front.bits, front.random):
        with pytest.raises(ValueError, match="stream must be one integer, not an? .* of 2"):
            draw(KEY, 8, stream=several)
        assert draw(KEY, 8, stream=one).tolist() == draw(KEY, 8, stream=2).tolist()
        with pytest.raises(TypeError, match="key must be a headwater.Key, not Stream"):
            draw(KEY.stream(0), 8)


def test_words_of_other_libraries_are_the_streams() -> None:
    cases = json.loads(VECTORS.read_text())["cases"]
    assert {case["by"].split(",")[0].split(" ")[0] for case in cases} == {"cuRAND", "JAX", "Triton"}
    for case in cases:
        stream = headwater.Key.from_raw(bytes.fromhex(case["key"]), engine="philox4x32").stream(0)
        start, values = int(case["start"]), case["values"]
        made = stream.integers(0, 2**32, len(values), dtype="uint32", start=start)
        assert list(made) == values, case["by"]


def test_jax_rbg_is_a_stream_on_this_machine() -> None:
    jax = pytest.importorskip("jax", reason="JAX is not installed: rbg was not compared")
    key = jax.random.wrap_key_data(jax.numpy.array([5, 6, 0, 0], "uint32"), impl="rbg")
    half = (5).to_bytes(4, "little") + (6).to_bytes(4, "little")
    stream = headwater.Key.from_raw(half + half, engine="philox4x32").stream(0)
    made = np.asarray(jax.random.bits(key, (10_000,), "uint32"))
    assert np.array_equal(made, np.asarray(stream.integers(0, 2**32, 10_000, dtype="uint32")))


def test_the_examples_of_the_page() -> None:
    page = Path(__file__).parents[3] / "docs/devices.md"
    failed, tried = doctest.testfile(str(page), module_relative=False)
    assert tried > 3 and failed == 0
