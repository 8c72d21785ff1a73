"""Bit generators for `numpy.random.Generator`: ARS7, Philox4x32 and Xoshiro256pp.

    >>> import numpy as np
    >>> from headwater.numpy import ARS7
    >>> rng = np.random.Generator(ARS7(42))

Not for secrets: from some of the numbers an attacker may compute the others.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from headwater import _native

if TYPE_CHECKING:
    from collections.abc import Mapping

    from headwater import Key, Stream

__all__ = ["ARS7", "Philox4x32", "Xoshiro256pp"]

#: Words of a stream, after which `ARS7` and `Philox4x32` begin it again.
_PERIOD = 1 << 61
#: Streams of a key.
_STREAMS = 1 << 48


class _BitGenerator(np.random.BitGenerator):
    """A bit generator whose draws and state are native.

    `numpy.random.Generator` copies the addresses of the state and of the functions when it is
    made. Therefore every change writes into the one native object that `__init__` has made.
    """

    _native: Any

    def __init__(
        self, seed: Any = None, *, key: Key | bytes | None = None, stream: int = 0
    ) -> None:
        stream = _integer("stream", stream, 0, _STREAMS - 1)
        if key is None:
            if stream:
                raise TypeError("stream needs a key")
            super().__init__(seed)
            start = self._from_seed(self.seed_seq)
        elif seed is not None:
            raise TypeError("seed and key exclude each other")
        else:
            engine, raw = _key("key", key, self._engine())
            # Children, and other uses of the seed sequence, depend on the key and the stream.
            entropy = [int.from_bytes(raw, "little"), stream]
            super().__init__(np.random.SeedSequence(entropy))
            start = self._from_key(engine, raw, stream)
        if hasattr(self, "_native"):  # `__init__` has been called before
            self._write(start)
        else:
            self._native = self._make(start)
        # Both times, because the base class clears the structure.
        self._native.install(self.capsule)

    @classmethod
    def from_stream(cls, stream: Stream) -> Self:
        """Returns the bit generator that begins with the first word of a `headwater.Stream`."""
        if not hasattr(stream, "key"):
            raise TypeError(f"stream must be a headwater.Stream, not {type(stream).__name__}")
        return cls(key=stream.key, stream=stream.id)

    def jumped(self, jumps: int = 1) -> Self:
        """Returns the bit generator at this position after `jumps` jumps.

        A jump goes to the key's next stream; in `Xoshiro256pp` it skips 2**128 words. Words after
        different numbers of jumps are disjoint.
        """
        other = type(self)(self.seed_seq)
        other._write(self._after(_integer("jumps", jumps)))
        return other

    @property
    def state(self) -> dict[str, Any]:
        """Returns the state as integers in dictionaries; set it to continue from it."""
        fields, half = self._read()
        return {
            "bit_generator": type(self).__name__,
            "state": fields,
            "has_uint32": int(half is not None),
            "uinteger": half or 0,
        }

    @state.setter
    def state(self, value: Mapping[str, Any]) -> None:
        if not isinstance(value, dict):
            raise TypeError(f"state must be a dict, not {type(value).__name__}")
        name = value.get("bit_generator")
        if name != type(self).__name__:
            raise ValueError(f"state is of {name!r}, not of {type(self).__name__!r}")
        half = _integer("state['uinteger']", value["uinteger"], 0, 2**32 - 1)
        self._write(self._parse(value["state"]), half if value["has_uint32"] else None)

    def __reduce__(self) -> Any:
        return _restore, (type(self), self.seed_seq, self.state)

    # The parts in which the generators differ. A `start` is the arguments of the native `set`.

    @staticmethod
    def _engine() -> str | None:
        """Returns the engine that a key must have, if any will not do."""
        raise NotImplementedError

    def _make(self, start: tuple[Any, ...]) -> Any:
        raise NotImplementedError

    def _from_seed(self, seed: Any) -> tuple[Any, ...]:
        raise NotImplementedError

    def _from_key(self, engine: str, key: bytes, stream: int) -> tuple[Any, ...]:
        raise NotImplementedError

    def _after(self, jumps: int) -> tuple[Any, ...]:
        raise NotImplementedError

    def _read(self) -> tuple[dict[str, Any], int | None]:
        raise NotImplementedError

    def _parse(self, fields: Mapping[str, Any]) -> tuple[Any, ...]:
        raise NotImplementedError

    def _write(self, start: tuple[Any, ...], half: int | None = None) -> None:
        with self.lock:
            self._native.set(*start, half)


class _Counter(_BitGenerator):
    """A counter-based bit generator: the words of a stream, with a position."""

    _name: ClassVar[str]

    def advance(self, delta: int) -> Self:
        """Skips `delta` words, or goes back if it is negative; returns the bit generator."""
        delta = _integer("delta", delta)
        with self.lock:
            key, stream, position, _ = self._native.get()
            position = (position + delta) % _PERIOD
            self._native.set(key, stream, position, None)
        return self

    @classmethod
    def _engine(cls) -> str | None:
        return cls._name

    def _make(self, start: tuple[Any, ...]) -> _native.BlockBits:
        return _native.BlockBits(self._name, *start[:2])

    def _from_seed(self, seed: Any) -> tuple[Any, ...]:
        return seed.generate_state(2, np.uint64).astype("<u8").tobytes(), 0, 0

    def _from_key(self, engine: str, key: bytes, stream: int) -> tuple[Any, ...]:
        return key, stream, 0

    def _after(self, jumps: int) -> tuple[Any, ...]:
        with self.lock:
            key, stream, position, _ = self._native.get()
        return key, (stream + jumps) % _STREAMS, position

    def _read(self) -> tuple[dict[str, Any], int | None]:
        with self.lock:
            key, stream, position, half = self._native.get()
        number = int.from_bytes(key, "little")
        return {"key": number, "stream": stream, "position": position}, half

    def _parse(self, fields: Mapping[str, Any]) -> tuple[Any, ...]:
        key = _integer("state['key']", fields["key"], 0, 2**128 - 1)
        stream = _integer("state['stream']", fields["stream"], 0, _STREAMS - 1)
        position = _integer("state['position']", fields["position"], 0, _PERIOD - 1)
        return key.to_bytes(16, "little"), stream, position


class ARS7(_Counter):
    """The words of an `ars7` stream: the fastest on a CPU with AES instructions.

    `seed` is what NumPy's bit generators take. `key` and `stream` instead select a stream of
    headwater: a `headwater.Key` of this engine, or its 16 bytes, and a number below 2**48.
    """

    _name = "ars7"


class Philox4x32(_Counter):
    """The words of a `philox4x32` stream, which GPUs and other libraries make as well.

    `seed`, `key` and `stream` are those of `ARS7`.
    """

    _name = "philox4x32"


class Xoshiro256pp(_BitGenerator):
    """xoshiro256++: 32 bytes of state, and jumps of 2**128 words.

    `seed` is what NumPy's bit generators take. `key` and `stream` instead select a stream of
    headwater: a `headwater.Key`, or 16 bytes, and the number of jumps after the key's state.
    """

    def advance(self, delta: int) -> Self:
        """Skips `delta` words, or goes back if it is negative; returns the bit generator."""
        delta = _integer("delta", delta, 1 - 2**128, 2**128 - 1)
        with self.lock:
            self._native.advance(abs(delta), delta < 0)
        return self

    @staticmethod
    def _engine() -> str | None:
        return None

    def _make(self, start: tuple[Any, ...]) -> _native.XoshiroBits:
        return _native.XoshiroBits(*start)

    def _from_seed(self, seed: Any) -> tuple[Any, ...]:
        words = seed.generate_state(4, np.uint64).tolist()
        # Zeros, with probability 2**-256, are the one state that xoshiro never leaves.
        return (words if any(words) else [1, 0, 0, 0],)

    def _from_key(self, engine: str, key: bytes, stream: int) -> tuple[Any, ...]:
        return (_native.XoshiroBits.of_key(engine, key, stream),)

    def _after(self, jumps: int) -> tuple[Any, ...]:
        jumps = _integer("jumps", jumps, 0, 2**64 - 1)
        words, _ = self._native_state()
        there = _native.XoshiroBits(words)
        there.jump(jumps)
        return (there.get()[0],)

    def _read(self) -> tuple[dict[str, Any], int | None]:
        words, half = self._native_state()
        return {"s": words}, half

    def _parse(self, fields: Mapping[str, Any]) -> tuple[Any, ...]:
        words = [_integer("state['s']", word, 0, 2**64 - 1) for word in fields["s"]]
        if len(words) != 4:
            raise ValueError(f"state['s'] must be 4 words, not {len(words)}")
        return (words,)

    def _native_state(self) -> tuple[list[int], int | None]:
        with self.lock:
            words, half = self._native.get()
        return words, half


def _restore(cls: type[_BitGenerator], seed_seq: Any, state: dict[str, Any]) -> _BitGenerator:
    """Makes a bit generator from its pickle."""
    bit_generator = cls(seed_seq)
    bit_generator.state = state
    return bit_generator


def _integer(name: str, value: Any, low: int | None = None, high: int | None = None) -> int:
    """Returns an argument as an integer, or raises an error that names it."""
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} must be an integer, not {type(value).__name__}") from None
    if (low is not None and number < low) or (high is not None and number > high):
        raise ValueError(f"{name} must be from {low} to {high}, not {number}")
    return number


def _key(name: str, key: Any, engine: str | None) -> tuple[str, bytes]:
    """Returns the engine and the 16 bytes of a key."""
    if isinstance(key, (bytes, bytearray)):
        found, raw = engine or "ars7", bytes(key)
    elif hasattr(key, "raw") and hasattr(key, "engine"):
        found, raw = str(key.engine), bytes(key.raw)
    else:
        raise TypeError(f"{name} must be a headwater.Key or 16 bytes, not {type(key).__name__}")
    if len(raw) != 16:
        raise ValueError(f"{name} must be 16 bytes, not {len(raw)}")
    if engine not in (None, found):
        raise ValueError(f"{name} is of the engine {found!r}, not of {engine!r}")
    return found, raw


# Dask looks for `headwater.random` as an attribute of the package when it meets these classes.
import headwater.random as _random  # noqa: E402, F401
