"""Keys, streams and permutations are values: equal, hashable, written down and copied as such."""

from __future__ import annotations

import copy
import subprocess
import sys
from pathlib import Path
from typing import Any

import headwater
import pytest
from headwater import Elements, Key, Permutation, Stream

KEY = Key("objects")
VALUES: list[Any] = [KEY, KEY.stream(3), KEY.stream(3).permutation(9)]


@pytest.mark.parametrize("value", VALUES, ids=["Key", "Stream", "Permutation"])
def test_values_are_equal_by_their_parts(value: Any) -> None:
    names = {"Key": Key, "Stream": Stream, "Permutation": Permutation}
    again = eval(repr(value), dict(names))
    for same in (again, copy.copy(value), copy.deepcopy(value)):
        assert same == value and hash(same) == hash(value)
    assert value != 3 and value is not None and {value: 1}[again] == 1


def test_different_values_differ() -> None:
    stream = KEY.stream(3)
    assert KEY != Key("other") and KEY != Key("objects", engine="ars5")
    assert stream != KEY.stream(4) and stream != KEY.child(0).stream(3)
    assert stream.permutation(9) != stream.permutation(10)
    assert stream.at([1]) == stream.at((1,)) != stream.at([2])
    assert len({KEY.child(label) for label in (1, "1", b"1", b"\x01", -1, 1 << 70)}) == 6


def test_hashes_are_the_same_in_every_process() -> None:
    code = "from headwater import Key; print(hash(Key(1)), hash(Key(1).stream(2)))"
    package = Path(headwater.__file__).parents[1]
    output = subprocess.check_output([sys.executable, "-c", code], cwd=package, text=True)
    assert output.split() == [str(hash(Key(1))), str(hash(Key(1).stream(2)))]


def test_properties() -> None:
    stream = KEY.child(1).stream(7)
    assert (stream.id, stream.key, stream.key.engine) == (7, KEY.child(1), "ars7")
    assert Stream(KEY, 7) == KEY.stream(7)
    assert Key.from_raw(KEY.raw, engine=KEY.engine) == KEY and len(KEY.raw) == 16
    order = stream.permutation(5)
    assert (order.n, order.stream) == (5, stream)
    elements = stream.at([3, 1])
    assert isinstance(elements, Elements)
    assert (elements.stream, elements.indices, elements.shape) == (stream, [3, 1], (2,))
    assert len(elements) == 2 and stream.at(3).shape == ()
    assert repr(elements) == f"{stream!r}.at([3, 1])" and repr(stream.at(3)).endswith(".at(3)")
    assert headwater.ENGINES == ("ars7", "ars5", "philox4x32")


def test_every_public_name_has_a_docstring_and_a_signature() -> None:
    import inspect

    for kind in (headwater.Array, Elements, Key, Permutation, Stream):
        assert kind.__doc__ and kind.__module__ == "headwater"
        for name, member in vars(kind).items():
            if not name.startswith("_"):
                assert member.__doc__, f"{kind.__name__}.{name}"
                if callable(member):
                    inspect.signature(member)
