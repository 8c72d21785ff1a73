"""The bit generator inside a `headwater.Generator`, and what a generator is made of."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from headwater import Key as _Key
from headwater import Stream as _Stream
from headwater import _native, token_bytes
from headwater.numpy import _Counter

if TYPE_CHECKING:
    from collections.abc import Mapping

    from headwater import Key, Stream

_NAME = "headwater.Generator"


class Bits(_Counter):
    """NumPy's door to a generator: its C interface, and its state with the cursor's.

    Programs that draw through the C interface (numba, Cython, `numpy.random.RandomState`) cannot
    move the cursor, because it is behind no function of that interface. So they get words of a key
    of their own, a child of the generator's. A method of NumPy's that the generator has no kind for
    begins with a key that it takes from the cursor, and so depends on the cursor alone.
    """

    def __init__(self, seed: Any = None) -> None:
        # SciPy makes bit generators of a generator's class from children of its seed sequence, so a
        # seed is taken as well as a cursor.
        cursor = seed
        if not isinstance(seed, _native.Cursor):
            cursor = _native.Cursor(_stream_of(seed, None))
        # Not `_BitGenerator.__init__`, which reads a seed: the cursor has what it would make.
        key, stream, _, _ = cursor.get()
        entropy = [int.from_bytes(key.raw, "little"), stream]
        np.random.BitGenerator.__init__(self, np.random.SeedSequence(entropy))
        self.cursor = cursor
        self.children = 0
        self._name = key.engine  # type: ignore[misc]
        own = key.child(b"bit generator")
        self._native = _native.BlockBits(key.engine, own.raw, stream)
        self._native.install(self.capsule)

    def rekey(self, raw: bytes) -> None:
        """Begins the words of another key. The caller has the lock."""
        self._native.set(raw, 0, 0, None)

    def words(self) -> tuple[bytes, int, int, int | None]:
        """Returns the key, the stream, the place and the half word of NumPy's words."""
        words: tuple[bytes, int, int, int | None] = self._native.get()
        return words

    def set_words(self, words: tuple[bytes, int, int, int | None]) -> None:
        """Goes back to what `words` returned."""
        self._native.set(*words)

    @property
    def state(self) -> dict[str, Any]:
        """Returns the generator's state as integers in dictionaries; set it to continue there."""
        with self.lock:
            key, stream, position, half = self._native.get()
            root, number, word, last = self.cursor.get()
            children = self.children
        return {
            "bit_generator": _NAME,
            "engine": root.engine,
            "state": {
                "key": int.from_bytes(root.raw, "little"),
                "stream": number,
                "word": word,
                "last": last,
                "children": children,
            },
            "words": {
                "key": int.from_bytes(key, "little"),
                "stream": stream,
                "position": position,
                "half": half,
            },
        }

    @state.setter
    def state(self, value: Mapping[str, Any]) -> None:
        if not isinstance(value, dict):
            raise TypeError(f"state must be a dict, not {type(value).__name__}")
        if value.get("bit_generator") != _NAME:
            raise ValueError(f"state is of {value.get('bit_generator')!r}, not of {_NAME!r}")
        if value["engine"] != self._name:
            raise ValueError(f"state is of the engine {value['engine']!r}, not of {self._name!r}")
        state, words = value["state"], value["words"]
        root = _Key.from_raw(state["key"].to_bytes(16, "little"), engine=self._name)
        own = words["key"].to_bytes(16, "little")
        last = None if state["last"] is None else tuple(state["last"])
        children = operator.index(state["children"])
        with self.lock:
            self.cursor.set(root, state["stream"], state["word"], last)
            self._native.set(own, words["stream"], words["position"], words["half"])
            self.children = children

    def advance(self, delta: int) -> Bits:
        """Moves the cursor by `delta` words, back if it is negative."""
        self.cursor.advance(operator.index(delta))
        return self

    def jumped(self, jumps: int = 1) -> Bits:
        """Returns the bit generator at this word of the stream that comes `jumps` streams later."""
        key, stream, word, last = self.cursor.get()
        cursor = _native.Cursor(key.stream(0))
        cursor.set(key, (stream + operator.index(jumps)) % (1 << 48), word, last)
        return Bits(cursor)

    def spawn(self, n_children: int) -> list[Bits]:
        """Returns bit generators of the next children of the key, numbered from 0."""
        n = operator.index(n_children)
        if n < 0:
            raise ValueError(f"n_children must be 0 or more, not {n}")
        key, stream, _, _ = self.cursor.get()
        with self.lock:
            first, self.children = self.children, self.children + n
        parent = key.stream(stream)
        return [Bits(_native.Cursor(parent.child(i))) for i in range(first, first + n)]

    def __reduce__(self) -> Any:
        return restored, (self.state,)


def restored(state: dict[str, Any]) -> Bits:
    """Returns the bit generator with this state: the other half of a pickle."""
    raw = state["state"]["key"].to_bytes(16, "little")
    bits = Bits(_native.Cursor(_Key.from_raw(raw, engine=state["engine"]).stream(0)))
    bits.state = state
    return bits


def bits_of(seed: Any, engine: str | None) -> Bits:
    """Returns the bit generator for the argument of `Generator`."""
    if isinstance(seed, Bits):
        return seed
    return Bits(_native.Cursor(_stream_of(seed, engine)))


def _stream_of(seed: Any, engine: str | None) -> Stream:
    if isinstance(seed, _Stream):
        _one_engine(seed.key, engine)
        return seed
    if isinstance(seed, _Key):
        _one_engine(seed, engine)
        return seed.stream(0)
    name = engine or "ars7"
    if seed is None:
        return _Key.from_raw(token_bytes(16), engine=name).stream(0)
    if isinstance(seed, (np.random.BitGenerator, np.random.Generator, np.random.RandomState)):
        raise TypeError(
            f"seed must be an integer, bytes, a text, a headwater.Key or a headwater.Stream, "
            f"not {type(seed).__name__}: a generator of NumPy has no key"
        )
    if isinstance(seed, (str, bytes, bytearray, memoryview)) or hasattr(seed, "__index__"):
        return _Key(seed, engine=name).stream(0)
    # What NumPy takes besides: a SeedSequence, and a sequence of integers.
    sequence = seed
    if not isinstance(seed, np.random.bit_generator.ISeedSequence):
        sequence = np.random.SeedSequence(seed)
    raw = sequence.generate_state(2, np.uint64).astype("<u8").tobytes()
    return _Key.from_raw(raw, engine=name).stream(0)


def _one_engine(key: Key, engine: str | None) -> None:
    if engine not in (None, key.engine):
        raise ValueError(f"engine must be that of the key, {key.engine!r}, not {engine!r}")
