"""Python returns the values of `streams/vectors/`, for every kind, type and way of asking."""

from __future__ import annotations

import array
import importlib.util
import json
import struct
from pathlib import Path
from types import ModuleType
from typing import Any

import headwater
import numpy as np
import pytest
from headwater import Key

VECTORS = Path(__file__).parents[3] / "streams" / "vectors"


def cases(name: str) -> list[dict[str, Any]]:
    """Returns the cases of a file of vectors."""
    document = json.loads((VECTORS / f"{name}.json").read_text())
    assert document["cases"]
    result: list[dict[str, Any]] = document["cases"]
    return result


@pytest.fixture(scope="module")
def reference() -> ModuleType:
    """Returns STREAMS.md in plain Python, which shares no code with the package."""
    spec = importlib.util.spec_from_file_location("reference_streams", VECTORS / "streams.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def bits(values: Any) -> list[str]:
    """Returns floats as the digits of their bits, as the vectors have them."""
    code = {8: ">d", 4: ">f"}[values.dtype.itemsize]
    return [struct.pack(code, value).hex() for value in values.tolist()]


def seed_of(case: dict[str, Any]) -> int | str | bytes:
    ((kind, value),) = case["seed"].items()
    seeds: dict[str, Any] = {"integer": int, "text": str, "bytes": bytes.fromhex}
    seed: int | str | bytes = seeds[kind](value)
    return seed


def test_seeds_make_the_keys_children_and_expanded_bytes() -> None:
    for case in cases("keys"):
        seed = seed_of(case)
        key = Key(seed, engine=case["engine"])
        assert key.raw.hex() == case["key"], case
        assert key.engine == case["engine"]
        child = key.child(seed)
        assert child.raw.hex() == case["child"], case
        expanded = bytes.fromhex(case["expanded"])
        for length in (0, 1, 31, 32, 33, len(expanded)):
            assert child.expand(seed, length) == expanded[:length], case
        if isinstance(seed, bytes):
            assert Key(bytearray(seed), engine=case["engine"]) == key
            assert Key(memoryview(seed), engine=case["engine"]) == key


@pytest.mark.parametrize("engine", headwater.ENGINES)
def test_integers_up_to_the_ends_are_seeds_by_value(reference: ModuleType, engine: str) -> None:
    near = [0, 1 << 63, 1 << 64, 1 << 127, 1 << 128]
    seeds = {sign * (n + d) for n in near for d in (-2, -1, 0, 1) for sign in (1, -1)}
    for seed in (n for n in seeds if -(1 << 128) <= n < 1 << 128):
        assert Key(seed, engine=engine).raw == reference.root_key(engine, seed), seed
    assert Key(np.int64(-7)) == Key(-7) and Key(np.uint8(7)) == Key(7) == Key(True + 6)


def test_seeds_as_the_command_line_has_them() -> None:
    seeds: dict[str, int | str | bytes] = {
        "42": 42,
        "-1": -1,
        "0x2a": 42,
        "hex:00ff": b"\x00\xff",
        "text:42": "42",
        "alice": "alice",
    }
    for text, seed in seeds.items():
        assert Key.parse(text) == Key(seed)


def test_engines_make_the_blocks() -> None:
    for case in cases("engines"):
        key = Key.from_raw(int(case["key"], 16).to_bytes(16, "little"), engine=case["engine"])
        assert key.block(int(case["counter"], 16)) == int(case["block"], 16), case


def test_streams_have_the_bytes() -> None:
    for case in cases("streams"):
        stream = Key(int(case["seed"]), engine=case["engine"]).stream(case["stream"])
        assert stream.key.raw.hex() == case["key"]
        start, expected = int(case["start"]), bytes.fromhex(case["bytes"])
        assert stream.bytes(len(expected), start=start) == expected, case
        assert stream.fill(bytearray(len(expected)), start=start) == expected, case
        indices = range(start, start + len(expected))
        assert stream.at(indices).bytes() == expected, case
        if start % 8 == 0:
            words = len(expected) // 8
            u64 = stream.uint64(words, start=start // 8)
            assert u64.tobytes() == expected[: 8 * words]
            u32 = stream.uint32(2 * words, start=start // 4)
            assert u32.tobytes() == expected[: 8 * words]
            assert stream.uint64(start=start // 8) == int(u64[0])


@pytest.mark.parametrize(
    "kind",
    ["f64", "f32", "exponential_f64", "normal_f64", "normal_f32", "bounded_u64"]
    + ["bounded_u32", "shuffle", "permutation", "sample"],
)
def test_numbers_are_the_values(kind: str) -> None:
    chosen = [case for case in cases("numbers") if case["kind"] == kind]
    assert chosen
    for case in chosen:
        stream = Key(int(case["seed"]), engine=case["engine"]).stream(case["stream"])
        assert stream.key.raw.hex() == case["key"]
        start, values = int(case["start"]), case["values"]
        indices = list(range(start, start + len(values)))
        n, bound = int(case.get("n", 0)), int(case.get("bound", 0))
        dtype: Any = "float32" if kind.endswith("f32") else "float64"
        if kind in ("f64", "f32", "normal_f64", "normal_f32"):
            method = "random" if kind.startswith("f") else "standard_normal"
            fill, at = getattr(stream, method), getattr(stream.at(indices), method)
            assert bits(fill(len(values), dtype, start=start)) == values, case
            assert bits(at(dtype)) == values, case
            assert bits(np.array([fill(dtype=dtype, start=start)], dtype)) == values[:1]
        elif kind == "exponential_f64":
            assert bits(stream.standard_exponential(len(values), start=start)) == values, case
            assert bits(stream.at(indices).standard_exponential()) == values, case
        elif kind.startswith("bounded"):
            types = ["uint64", "int64"] if kind.endswith("64") else ["uint32", "int32"]
            for name in (name for name in types if bound - 1 <= np.iinfo(name).max):
                made = stream.integers(0, bound, len(values), name, start=start)
                assert made.dtype == name
                assert list(map(str, made)) == values, case
                made = stream.at(indices).integers(bound - 1, dtype=name, endpoint=True)
                assert list(map(str, made)) == values, case
        elif kind == "shuffle":
            for x in (list(range(n)), array.array("q", range(n)), np.arange(n, dtype="u2")):
                stream.shuffle(x)
                assert list(map(str, x)) == values, case
        elif kind == "permutation":
            order = stream.permutation(n)
            assert list(map(str, order[start : start + len(values)])) == values, case
            assert [str(order[i]) for i in indices] == values, case
            assert list(map(str, order.at(indices))) == values, case
            assert list(map(str, stream.at(indices).permutation(n))) == values, case
            assert [order.index(int(value)) for value in values] == indices, case
        else:
            assert list(map(str, stream.sample(n, len(values)))) == values, case


@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"])
def test_integers_of_every_type_follow_the_specification(reference: ModuleType, dtype: str) -> None:
    stream = Key(42).child("integers").stream(9)
    model = reference.Stream("ars7", stream.key.raw, 9)
    info = np.iinfo(dtype)
    width = 64 if info.bits == 64 else 32
    for low, high in [(int(info.min), int(info.max)), (3, 100), (int(info.max) - 1, int(info.max))]:
        expected = [low + model.bounded(width, high - low + 1, e) for e in range(5, 45)]
        made = stream.integers(low, high, 40, dtype, endpoint=True, start=5)
        assert made.dtype == dtype and made.tolist() == expected
        assert stream.integers(low, high, dtype=dtype, endpoint=True, start=5) == expected[0]
        assert stream.at(range(5, 45)).integers(low, high + 1, dtype).tolist() == expected


def test_records_are_filled_whatever_their_names() -> None:
    records = np.zeros(5, [("Object", "f8"), ("O", "u1"), ("pOint", "i4")])
    assert Key(3).stream(0).fill(records) is records
    assert records.tobytes() == Key(3).stream(0).bytes(records.nbytes)


def test_choice_selects_by_the_integers_and_by_the_permutation() -> None:
    stream = Key(7).stream(1)
    letters = "abcdefghijk"
    places = stream.integers(len(letters), shape=20, start=4)
    assert stream.choice(letters, 20, start=4) == [letters[i] for i in places]
    assert stream.choice(len(letters), 20, start=4).tolist() == places.tolist()
    values = np.arange(11.0) * 3
    assert (stream.choice(values, 20, start=4) == values[places]).all()
    assert stream.at(range(4, 24)).choice(letters) == [letters[i] for i in places]
    assert stream.choice(letters, (2, 10), start=4) == [
        [letters[i] for i in places[:10]],
        [letters[i] for i in places[10:]],
    ]
    rows = values[:10].reshape(5, 2)
    assert stream.choice(rows, (3, 2)).shape == (3, 2, 2)
    order = [letters[i] for i in stream.permutation(11)]
    assert stream.choice(letters, 11, replace=False) == order
    assert stream.choice(letters, 3, replace=False, start=8) == order[8:]
    assert stream.choice(letters) == letters[stream.integers(11)]
    assert stream.choice(range(10, 20), 0) == [] and stream.choice([], 0) == []


def test_shuffle_moves_rows_and_keeps_every_object() -> None:
    stream = Key(7).stream(2)
    order = list(range(40))
    stream.shuffle(order)
    for dtype, width in [("u1", 3), ("f4", 1), ("f8", 2), ("i8", 5), ("S7", 1), ("O", 1)]:
        rows = np.arange(40 * width).astype(dtype).reshape(40, width)
        moved = rows.copy()
        stream.shuffle(moved)
        assert (moved == rows[order]).all(), dtype
    empty = np.empty((4, 0))
    stream.shuffle(empty)
    text = bytearray(range(40))
    stream.shuffle(text)
    assert list(text) == order
    from collections import deque

    class Items(list[int]):
        pass

    for x in (deque(range(40)), Items(range(40)), headwater.Array(40, "int16")):
        if isinstance(x, headwater.Array):
            for i in range(40):
                x[i] = i
        stream.shuffle(x)
        assert list(x) == order
    record = np.zeros(5, [("a", "i4"), ("b", "O")])
    record["b"] = [object() for _ in range(5)]
    before = {id(value) for value in record["b"]}
    stream.shuffle(record)
    assert {id(value) for value in record["b"]} == before
