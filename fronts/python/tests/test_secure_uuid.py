"""UUIDs against the module `uuid`."""

from __future__ import annotations

import copy
import gc
import pickle
import re
import time
import uuid
import weakref
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from secure_support import python

import headwater

MAKERS = [headwater.uuid4, lambda: headwater.uuid4_batch(1)[0], headwater.uuid7]


@pytest.mark.parametrize("make", MAKERS)
def test_a_uuid_is_as_good_as_one_of_the_standard_library(make: Callable[[], uuid.UUID]) -> None:
    made = make()
    same = uuid.UUID(int=made.int)
    assert type(made) is uuid.UUID
    assert made == same and hash(made) == hash(same) and not made < same
    assert (str(made), repr(made), made.bytes, made.fields, made.urn) == (
        (str(same), repr(same), same.bytes, same.fields, same.urn)
    )
    assert made.is_safe is uuid.SafeUUID.unknown
    assert made.variant == uuid.RFC_4122
    for other in (pickle.loads(pickle.dumps(made)), copy.copy(made), copy.deepcopy(made)):
        assert other == made and other.is_safe is made.is_safe
    assert weakref.ref(made)() is made
    assert made.__getstate__() == same.__getstate__()
    assert gc.is_tracked(made) == gc.is_tracked(same)


@pytest.mark.parametrize("make", MAKERS)
def test_a_uuid_cannot_be_changed(make: Callable[[], Any]) -> None:
    with pytest.raises(TypeError):
        make().int = 1
    with pytest.raises((TypeError, AttributeError)):
        make().other = 1


def test_every_form_has_version_4_and_random_bits_elsewhere() -> None:
    forms = [
        [headwater.uuid4() for _ in range(4000)],
        headwater.uuid4_batch(4000),
        [uuid.UUID(text) for text in headwater.uuid4_batch(4000, as_str=True)],
        [uuid.UUID(headwater.uuid4_str()) for _ in range(4000)],
        [uuid.UUID(bytes=headwater.uuid4_bytes()) for _ in range(4000)],
    ]
    fixed = {*range(76, 80), 62, 63}
    for made in forms:
        assert len(set(made)) == 4000
        assert all(one.version == 4 and one.variant == uuid.RFC_4122 for one in made)
        for bit in set(range(128)) - fixed:
            # 8 standard deviations of 32.
            assert abs(sum(one.int >> bit & 1 for one in made) - 2000) < 8 * 32


def test_text_is_that_of_str() -> None:
    texts = [headwater.uuid4_str(), *headwater.uuid4_batch(300, as_str=True)]
    for text in texts:
        assert type(text) is str and text.isascii()
        assert str(uuid.UUID(text)) == text
        assert re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", text)
    digits = Counter("".join(texts).replace("-", ""))
    assert len(digits) == 16


@pytest.mark.parametrize("n", [0, 1, 2, 255, 256, 257, 512, 1000, 100_000])
@pytest.mark.parametrize("as_str", [False, True])
def test_a_batch_has_n_different_uuids(n: int, as_str: bool) -> None:
    made = headwater.uuid4_batch(n, as_str=as_str)
    assert type(made) is list
    assert len(set(made)) == len(made) == n
    assert all(type(one) is (str if as_str else uuid.UUID) for one in made)


@pytest.mark.parametrize(
    ("n", "error"),
    [
        (-1, ValueError),
        (2**64, OverflowError),
        (2**62, MemoryError),
        (1.5, TypeError),
        ("3", TypeError),
    ],
)
def test_a_bad_number_raises_what_a_user_expects(n: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match="n must" if error is not MemoryError else None):
        headwater.uuid4_batch(n)


def test_version_7_holds_the_time_and_ascends() -> None:
    before = time.time_ns()
    made = [headwater.uuid7() for _ in range(20_000)]
    after = time.time_ns()
    assert all(one.version == 7 for one in made)
    assert len(set(made)) == len(made)
    stamps = [one.int >> 80 for one in made]
    assert before // 10**6 <= stamps[0] <= stamps[-1] <= after // 10**6
    # The clock's steps may be of 244 ns: within one, the order is random. And a clock may be set.
    ticks = [(one.int >> 80) * 4096 + (one.int >> 64 & 0xFFF) for one in made]
    assert sum(a > b for a, b in zip(ticks, ticks[1:], strict=False)) <= 2
    # The fraction of the millisecond covers its 12 bits.
    assert len({tick & 0xFFF for tick in ticks}) > 100


def test_another_class_of_uuids_is_built_by_its_constructor() -> None:
    """A module `uuid` without slots, as an interpreter other than CPython may have it."""
    code = """
import sys, types, uuid
class UUID(uuid.UUID):
    def __init__(self, hex=None, bytes=None):
        self.__dict__["made"] = bytes
    int = property(lambda self: int.from_bytes(self.made))
sys.modules["uuid"] = types.SimpleNamespace(UUID=UUID, SafeUUID=uuid.SafeUUID)
import headwater
made = headwater.uuid4()
assert type(made) is UUID and len(made.made) == 16 and made.version == 4
assert len(set(map(lambda one: one.made, headwater.uuid4_batch(300)))) == 300
"""
    python(code)


def test_uuids_are_freed() -> None:
    headwater.uuid4_batch(1000)
    gc.collect()
    assert sum(type(one) is uuid.UUID for one in gc.get_objects()) < 1000
