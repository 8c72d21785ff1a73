"""headwater.numpy: values, states, copies and errors."""

from __future__ import annotations

import copy
import ctypes
import gc
import json
import os
import pickle
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

np = pytest.importorskip("numpy", reason="numpy is missing: no bit generator is tested")

from headwater.numpy import ARS7, Philox4x32, Xoshiro256pp  # noqa: E402

VECTORS = Path(__file__).parents[3] / "streams" / "vectors"
COUNTERS = (ARS7, Philox4x32)
ALL = (ARS7, Philox4x32, Xoshiro256pp)
#: The size of the native buffer in words, around which positions are tried.
BUFFER = 256


def cases(file: str) -> list[dict[str, Any]]:
    return json.loads((VECTORS / file).read_text())["cases"]


def words(data: bytes) -> list[int]:
    whole = len(data) // 8 * 8
    return np.frombuffer(data[:whole], "<u8").tolist()


# Values.


@pytest.mark.parametrize("cls", COUNTERS)
def test_raw_words_are_those_of_the_vectors(cls):
    engine = cls.__name__.lower()
    tried = [case for case in cases("streams.json") if case["engine"] == engine]
    assert tried
    for case in tried:
        bit_generator = cls(key=bytes.fromhex(case["key"]), stream=case["stream"])
        start, expected = int(case["start"]), bytes.fromhex(case["bytes"])
        drawn = bit_generator.advance(start // 8).random_raw(len(expected) // 8 + 1)
        drawn = drawn.astype("<u8").tobytes()[start % 8 :]
        # Words begin again after 2^64 bytes, and the stream does not.
        both = min(len(drawn), len(expected), 2**64 - start)
        assert both > 30 and drawn[:both] == expected[:both]


def test_xoshiro_is_that_of_the_vectors():
    tried = [
        case
        for case in cases("generators.json")
        if case["generator"] == "xoshiro256pp" and case.get("state")
    ]
    assert tried
    for case in tried:
        bit_generator = Xoshiro256pp(0)
        state = bit_generator.state
        state["state"]["s"] = words(bytes.fromhex(case["state"]))
        bit_generator.state = state
        base, _, exponent = case["skip"].partition("^")
        jumps, skip = divmod(int(base) ** int(exponent or 1), 2**128)
        while jumps:  # a jump argument is below 2^64
            bit_generator = bit_generator.jumped(min(jumps, 2**63))
            jumps -= min(jumps, 2**63)
        bit_generator.advance(skip)
        expected = words(bytes.fromhex(case["bytes"]))
        assert bit_generator.random_raw(len(expected)).tolist() == expected


def test_xoshiro_of_a_key_is_the_commands():
    for case in cases("seeds.json"):
        if case["generator"] != "xoshiro256pp" or int(case["offset"]) % 8:
            continue
        key = next(
            (row for row in cases("keys.json")
             if row["engine"] == "ars7" and row["seed"] == {"integer": case["seed"]}), None
        )  # fmt: skip
        if key is None:
            continue
        stream = int(case["substream"] or 0)
        bit_generator = Xoshiro256pp(key=bytes.fromhex(key["key"]), stream=stream)
        bit_generator.advance(int(case["offset"]) // 8)
        expected = words(bytes.fromhex(case["bytes"]))
        assert bit_generator.random_raw(len(expected)).tolist() == expected


@pytest.mark.parametrize("cls", COUNTERS)
def test_a_seed_is_hashed_by_numpys_seed_sequence(cls):
    key = np.random.SeedSequence(42).generate_state(2, np.uint64).astype("<u8").tobytes()
    assert (cls(42).random_raw(9) == cls(key=key).random_raw(9)).all()


@pytest.mark.parametrize("cls", ALL)
def test_doubles_and_floats_come_from_the_words(cls):
    # The element rules of STREAMS.md: `Generator.random` draws the array of `Stream.random`.
    raw = cls(7).random_raw(1000)
    doubles = np.random.Generator(cls(7)).random(1000)
    assert (doubles == (raw >> np.uint64(11)) * 2.0**-53).all()
    floats = np.random.Generator(cls(7)).random(2000, dtype=np.float32)
    halves = raw.astype("<u8").view("<u4")
    assert (floats == (halves >> np.uint32(8)) * np.float32(2.0**-24)).all()


def test_from_stream_continues_a_stream_of_headwater():
    headwater = pytest.importorskip("headwater")
    for cls, engine in ((ARS7, "ars7"), (Philox4x32, "philox4x32")):
        stream = headwater.Key(42, engine=engine).child("noise").stream(3)
        expected = np.asarray(stream.uint64(3 * BUFFER))
        assert (cls.from_stream(stream).random_raw(3 * BUFFER) == expected).all()
        doubles = np.random.Generator(cls.from_stream(stream)).random((30, 20))
        assert (doubles == np.asarray(stream.random((30, 20)))).all()
        floats = np.random.Generator(cls.from_stream(stream)).random(99, dtype=np.float32)
        assert (floats == np.asarray(stream.random(99, dtype="float32"))).all()
    with pytest.raises(ValueError, match="engine"):
        ARS7.from_stream(stream)
    with pytest.raises(TypeError, match="stream"):
        ARS7.from_stream(42)


# States.


@pytest.mark.parametrize("cls", ALL)
@settings(max_examples=60, deadline=None)
@given(draws=st.lists(st.integers(0, 3), max_size=12), skip=st.integers(0, 2 * BUFFER + 3))
def test_a_state_is_a_place_in_the_sequence(cls, draws, skip):
    ours, other = cls(1), cls(2)
    ours.random_raw(skip)
    rng = np.random.Generator(ours)
    for draw in draws:
        (rng.random, rng.bit_generator.random_raw,
         lambda: rng.integers(0, 2**32, dtype=np.uint32), lambda: rng.random(dtype=np.float32),
         )[draw]()  # fmt: skip
    state = json.loads(json.dumps(ours.state))  # plain integers, which JSON keeps
    other.state = state
    assert other.state == ours.state == state
    # The half word left over is part of the state.
    expected = rng.integers(0, 2**32, 3, dtype=np.uint32)
    assert (np.random.Generator(other).integers(0, 2**32, 3, dtype=np.uint32) == expected).all()
    assert (other.random_raw(BUFFER + 1) == ours.random_raw(BUFFER + 1)).all()


@pytest.mark.parametrize("cls", ALL)
def test_a_setter_writes_in_place(cls):
    # `Generator` keeps a copy of the structure: a setter that moved the state would leave it with
    # a dangling pointer.
    bit_generator = cls(1)
    rng = np.random.Generator(bit_generator)
    address = bit_generator.ctypes.state_address
    state = bit_generator.state
    expected = rng.random(10)
    for _ in range(10):
        bit_generator.state = state
        gc.collect()
        assert (rng.random(10) == expected).all()
    bit_generator.advance(-3)
    bit_generator.__init__(1)  # initialises again, in place
    assert (rng.random(10) == expected).all()
    assert bit_generator.ctypes.state_address == address
    assert address % 64 == 0


@pytest.mark.parametrize("cls", ALL)
@pytest.mark.parametrize(
    "copied", [copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))]
)
def test_copies_continue_alike_and_apart(cls, copied):
    ours = cls(3)
    ours.random_raw(BUFFER - 1)
    other = copied(ours)
    expected = [ours.random_raw(5).tolist() for _ in range(3)]
    assert [other.random_raw(5).tolist() for _ in range(3)] == expected
    assert type(other) is cls
    rng = copied(np.random.Generator(other))
    assert (rng.bit_generator.random_raw(5) == ours.random_raw(5)).all()


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_pickles_of_all_protocols_keep_children(protocol):
    ours = ARS7(3)
    ours.spawn(2)
    other = pickle.loads(pickle.dumps(ours, protocol))
    assert other.spawn(1)[0].random_raw() == ours.spawn(1)[0].random_raw()


class Derived(ARS7):
    """A user's class."""


def test_classes_of_users_keep_their_type():
    ours = Derived(1)
    for other in (pickle.loads(pickle.dumps(ours)), ours.jumped(), ours.spawn(1)[0]):
        assert type(other) is Derived
    assert ours.state["bit_generator"] == "Derived"
    assert (ours.random_raw(5) == ARS7(1).random_raw(5)).all()


@pytest.mark.parametrize("cls", ALL)
def test_children_differ(cls):
    parent, key = cls(9), cls(key=bytes(range(16)), stream=5)
    assert (parent.spawn(1)[0].random_raw(4) == cls(9).spawn(1)[0].random_raw(4)).all()
    children = [*parent.spawn(3), *key.spawn(3), *np.random.Generator(cls(10)).spawn(2)]
    first = [
        (child.bit_generator if hasattr(child, "bit_generator") else child).random_raw()
        for child in children
    ]
    assert len({*first, cls(9).random_raw(), key.random_raw()}) == len(first) + 2


@pytest.mark.parametrize("cls", COUNTERS)
def test_a_jump_is_a_stream(cls):
    key = bytes(range(16))
    ours = cls(key=key, stream=3)
    assert (ours.jumped().random_raw(9) == cls(key=key, stream=4).random_raw(9)).all()
    assert (ours.jumped(7).random_raw(9) == ours.jumped(3).jumped(4).random_raw(9)).all()
    assert ours.jumped(2**48 - 3).state["state"]["stream"] == 0
    ours.random_raw(5)
    assert ours.jumped().state["state"]["position"] == 5


def test_a_jump_of_xoshiro_is_2_to_the_128():
    ours = Xoshiro256pp(key=bytes(16), stream=2)
    expected = Xoshiro256pp(key=bytes(16)).advance(2**128 - 1).advance(2**128 - 1).advance(2)
    assert ours.state == expected.state
    assert ours.jumped(3).state == Xoshiro256pp(key=bytes(16), stream=5).state


@pytest.mark.parametrize("cls", ALL)
@settings(max_examples=40, deadline=None)
@given(steps=st.lists(st.integers(-3 * BUFFER, 3 * BUFFER), max_size=6))
def test_advance_counts_words(cls, steps):
    ours = cls(4)
    assert ours.advance(5 * 4 * BUFFER) is ours
    np.random.Generator(ours).random(dtype=np.float32)
    at = 5 * 4 * BUFFER + 1
    for step in steps:
        ours.advance(step)
        assert ours.random_raw() is not None
        at += step + 1
    raw = cls(4)
    raw.advance(at)
    ours.advance(0)
    assert raw.state == ours.state


@pytest.mark.parametrize("cls", COUNTERS)
def test_a_stream_begins_again_after_2_to_the_61_words(cls):
    # `Sequential` does the same after 2^64 bytes. The last buffer is whole.
    ours = cls(key=bytes(range(16))).advance(2**61 - 3)
    assert ours.state["state"]["position"] == 2**61 - 3
    begun = cls(key=bytes(range(16)))
    assert (ours.random_raw(5)[3:] == begun.random_raw(2)).all()
    assert ours.state["state"]["position"] == 2
    assert begun.advance(-3).state["state"]["position"] == 2**61 - 1


# The C interfaces.


@pytest.mark.parametrize("cls", ALL)
def test_ctypes_draws_the_same(cls):
    ours, twin = cls(5), cls(5)
    interface = ours.ctypes
    with ours.lock:
        drawn = [interface.next_uint64(interface.state) for _ in range(2 * BUFFER)]
        double = interface.next_double(interface.state)
        halves = [interface.next_uint32(interface.state) for _ in range(2)]
    assert drawn == twin.random_raw(2 * BUFFER).tolist()
    assert double == np.random.Generator(twin).random()
    assert halves[0] | halves[1] << 32 == twin.random_raw()
    # `next_raw` has no place in these interfaces: `random_raw` above calls it.
    assert ctypes.cast(interface.bit_generator, ctypes.c_void_p).value


@pytest.mark.parametrize("cls", ALL)
def test_cffi_draws_the_same(cls):
    pytest.importorskip("cffi", reason="cffi is missing: that interface is not tested")
    ours, twin = cls(5), cls(5)
    interface = ours.cffi
    assert interface.next_uint64(interface.state) == twin.random_raw()
    assert interface.next_double(interface.state) == np.random.Generator(twin).random()


@pytest.mark.parametrize("cls", ALL)
def test_threads_share_a_generator(cls):
    # Each value is drawn once: the lock is held around draws, and around the state.
    rng = np.random.Generator(cls(6))
    parts: list[Any] = []

    def draw() -> None:
        for _ in range(40):
            part = rng.integers(0, 2**64, 999, dtype=np.uint64)
            assert rng.bit_generator.state["bit_generator"] == cls.__name__
            parts.append(part)

    threads = [threading.Thread(target=draw) for _ in range(4)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    drawn = np.sort(np.concatenate(parts))
    assert (drawn == np.sort(cls(6).random_raw(4 * 40 * 999))).all()


@pytest.mark.parametrize("cls", ALL)
def test_a_draw_and_a_change_wait_for_each_other(cls):
    # `Generator` draws without the interpreter's lock, under the bit generator's own.
    ours = cls(1)
    state = ours.state
    for action in (
        lambda: ours.state,
        lambda: setattr(ours, "state", state),
        lambda: ours.advance(1),
        lambda: ours.jumped(),
    ):
        done = threading.Event()
        thread = threading.Thread(target=lambda action=action, done=done: (action(), done.set()))
        with ours.lock:
            thread.start()
            assert not done.wait(0.02)
        thread.join()
        assert done.is_set()


@pytest.mark.parametrize("cls", ALL)
def test_the_lock_may_be_held_around_a_state(cls):
    ours = cls(1)
    with ours.lock:
        ours.state = ours.state
        ours.jumped()
        ours.advance(1)


@pytest.mark.parametrize("cls", ALL)
def test_a_forked_child_continues_equally(cls):
    # Reproducible numbers are those of the state, which a fork copies; docs/python/numpy.md.
    ours = cls(8)
    ours.random_raw(10)
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(write, ours.random_raw(BUFFER).tobytes())
        os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        drawn = pipe.read()
    os.waitpid(child, 0)
    assert drawn == ours.random_raw(BUFFER).tobytes()


def test_a_generator_outlives_the_name_of_its_bit_generator():
    rngs = [np.random.Generator(cls(1)) for cls in ALL for _ in range(50)]
    gc.collect()
    assert len({float(rng.random()) for rng in rngs}) == len(ALL)


# Errors.


@pytest.mark.parametrize(
    ("arguments", "error", "named"),
    [
        (lambda: ARS7(-1), ValueError, "non-negative"),
        (lambda: ARS7(3.5), TypeError, "SeedSequence"),
        (lambda: ARS7("seed"), (TypeError, ValueError), "."),
        (lambda: ARS7(1, key=bytes(16)), TypeError, "seed and key"),
        (lambda: ARS7(stream=1), TypeError, "stream"),
        (lambda: ARS7(key=bytes(15)), ValueError, "key"),
        (lambda: ARS7(key=16), TypeError, "key"),
        (lambda: ARS7(key=bytes(16), stream=2**48), ValueError, "stream"),
        (lambda: ARS7(key=bytes(16), stream=-1), ValueError, "stream"),
        (lambda: ARS7(key=bytes(16), stream=1.0), TypeError, "stream"),
        (lambda: ARS7(1).advance(1.5), TypeError, "float"),
        (lambda: ARS7(1).jumped("2"), TypeError, "str"),
        (lambda: Xoshiro256pp(1).jumped(-1), ValueError, "jumps"),
        (lambda: Xoshiro256pp(1).advance(2**128), ValueError, "delta"),
        (lambda: Xoshiro256pp(1).advance(1.0), TypeError, "delta"),
    ],
)  # fmt: skip
def test_bad_arguments_are_named(arguments, error, named):
    with pytest.raises(error, match=named):
        arguments()


@pytest.mark.parametrize(
    ("change", "error"),
    [
        (lambda state: state.update(bit_generator="PCG64"), ValueError),
        (lambda state: state.update(uinteger=2**32), ValueError),
        (lambda state: state.update(uinteger=0.5), TypeError),
        (lambda state: state["state"].update(key=-1), ValueError),
        (lambda state: state["state"].update(stream=2**48), ValueError),
        (lambda state: state["state"].update(position=2**61), ValueError),
        (lambda state: state["state"].update(position=None), TypeError),
        (lambda state: state.pop("state"), KeyError),
    ],
)
def test_bad_states_change_nothing(change, error):
    ours = ARS7(1)
    before, bad = ours.state, ours.state
    change(bad)
    with pytest.raises(error):
        ours.state = bad
    assert ours.state == before


def test_bad_states_of_xoshiro():
    ours = Xoshiro256pp(1)
    for bad in ([0] * 4, [1, 2, 3], [1, 2, 3, 2**64], [1, 2, 3, -1]):
        state = ours.state
        state["state"]["s"] = bad
        with pytest.raises(ValueError):
            ours.state = state
