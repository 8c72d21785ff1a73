"""Values and errors of the functions that `secrets` has too, which is the oracle."""

from __future__ import annotations

import base64
import secrets
import threading
from collections import Counter
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import headwater

TOKENS = ["token_bytes", "token_hex", "token_urlsafe"]
#: Lengths on both sides of the borders in the code: the stack buffer, and the GIL's release.
LENGTHS = [0, 1, 2, 3, 15, 16, 17, 32, 63, 64, 65, 66, 67, 4096, 8192, 8193, 100_003]


class Index:
    """An object that is no int and can be used as one."""

    def __init__(self, value: int) -> None:
        self.value = value

    def __index__(self) -> int:
        return self.value


@pytest.mark.parametrize("name", TOKENS)
@pytest.mark.parametrize("length", LENGTHS)
def test_a_token_has_the_type_and_length_that_secrets_returns(name: str, length: int) -> None:
    ours, theirs = getattr(headwater, name)(length), getattr(secrets, name)(length)
    assert type(ours) is type(theirs)
    assert len(ours) == len(theirs)
    assert len(getattr(headwater, name)(nbytes=length)) == len(theirs)
    assert len(getattr(headwater, name)(Index(length))) == len(theirs)


@pytest.mark.parametrize("name", TOKENS)
def test_none_means_the_default_length(name: str) -> None:
    assert len(getattr(headwater, name)()) == len(getattr(secrets, name)())
    assert len(getattr(headwater, name)(None)) == len(getattr(secrets, name)())


@pytest.mark.parametrize("length", LENGTHS)
def test_texts_are_what_the_standard_library_would_write(length: int) -> None:
    text = headwater.token_hex(length)
    assert bytes.fromhex(text).hex() == text
    text = headwater.token_urlsafe(length)
    data = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    assert base64.urlsafe_b64encode(data).rstrip(b"=").decode() == text


@pytest.mark.parametrize(("name", "alphabet"), [("token_hex", 16), ("token_urlsafe", 64)])
def test_every_character_is_equally_frequent(name: str, alphabet: int) -> None:
    # The last character of a base64 text has spare bits, so it stays out.
    counts = Counter("".join(getattr(headwater, name)(48)[:64] for _ in range(4000)))
    assert len(counts) == alphabet
    assert chi_square(counts, 4000 * 64, alphabet) < alphabet + 8 * (2 * alphabet) ** 0.5


def chi_square(counts: Counter[Any], total: int, cells: int) -> float:
    expected = total / cells
    return sum((count - expected) ** 2 / expected for count in counts.values())


@pytest.mark.parametrize("name", [*TOKENS, "uuid4_bytes", "uuid4_str"])
def test_no_value_repeats_in_100_000_draws(name: str) -> None:
    draw = getattr(headwater, name)
    arguments = (16,) if name in TOKENS else ()
    assert len({draw(*arguments) for _ in range(100_000)}) == 100_000


@pytest.mark.parametrize("bound", [1, 2, 3, 6, 10, 255, 256, 257, 1000])
def test_randbelow_is_uniform(bound: int) -> None:
    counts = Counter(headwater.randbelow(bound) for _ in range(100 * bound + 1000))
    assert set(counts) == set(range(bound))
    assert chi_square(counts, 100 * bound + 1000, bound) < bound + 8 * (2 * bound) ** 0.5


BOUNDS = [2**31, 2**32 + 1, 2**62 + 1, 2**63 - 1, 2**63, 2**63 + 1, 2**64 - 1, 2**64, 2**64 + 1]
LARGE = [3 * 2**100, 2**128 - 1, 2**128, 2**128 + 1, 2**129, 10**40, 7**3000]


@pytest.mark.parametrize("bound", BOUNDS + LARGE)
def test_randbelow_covers_a_large_range_evenly(bound: int) -> None:
    # Eighths of the range are equally frequent, which a draw with too few bits would miss.
    draws = [headwater.randbelow(bound) for _ in range(4000)]
    assert all(type(draw) is int and 0 <= draw < bound for draw in draws)
    counts = Counter(draw * 8 // bound for draw in draws)
    assert chi_square(counts, 4000, 8) < 8 + 8 * 16**0.5
    assert len(set(draws)) > 3990


@settings(max_examples=300, deadline=None)
@given(st.integers(1, 2**200))
def test_randbelow_stays_below_any_bound(bound: int) -> None:
    assert 0 <= headwater.randbelow(bound) < bound
    assert 0 <= headwater.randbelow(Index(bound)) < bound


@settings(max_examples=300, deadline=None)
@given(st.integers(0, 1000))
def test_randbits_fit_their_number(bits: int) -> None:
    assert headwater.randbits(bits).bit_length() <= bits


@pytest.mark.parametrize("bits", [1, 8, 31, 32, 53, 63, 64, 65, 127, 128, 129, 136, 1001])
def test_each_of_the_random_bits_is_set_half_the_time(bits: int) -> None:
    draws = [headwater.randbits(bits) for _ in range(2000)]
    for bit in {0, bits // 2, bits - 1}:
        # 8 standard deviations of 22.
        assert abs(sum(draw >> bit & 1 for draw in draws) - 1000) < 8 * 22.4


def test_choice_takes_any_sequence_and_is_uniform() -> None:
    seqs: list[Any] = ["abc", b"abc", [1, 2, 3], (1, 2, 3), range(3), {0: 1, 1: 2, 2: 3}]
    for seq in seqs:
        counts = Counter(headwater.choice(seq) for _ in range(3000))
        assert len(counts) == 3
        assert chi_square(counts, 3000, 3) < 40


BAD: list[Any] = [-1, -(2**63), -(2**64), 2**63, 2**64, 1.0, 1.5, "1", b"1", [], {}, object(), 1j]


@pytest.mark.parametrize("argument", BAD, ids=repr)
@pytest.mark.parametrize("name", [*TOKENS, "randbits"])
def test_a_bad_length_raises_what_secrets_raises(name: str, argument: object) -> None:
    with pytest.raises((ValueError, TypeError, OverflowError, MemoryError)) as theirs:
        getattr(secrets, name)(argument)
    with pytest.raises(Exception) as ours:
        getattr(headwater, name)(argument)
    if argument in (-(2**63), -(2**64)):  # os.urandom finds these too large, not negative
        assert ours.type is ValueError
    elif name == "randbits" and argument in (2**63, 2**64):  # a length of 2^60 bytes has no memory
        assert ours.type is OverflowError
    else:
        assert ours.type is theirs.type
    assert str(ours.value).startswith(("nbytes must", "k must"))


@pytest.mark.parametrize(
    "argument", [0, -1, -(2**64), -(10**5000)], ids=["0", "-1", "-2^64", "long"]
)
def test_a_bound_that_is_not_positive_raises_value_error(argument: int) -> None:
    with pytest.raises(ValueError, match="exclusive_upper_bound must be positive"):
        headwater.randbelow(argument)


@pytest.mark.parametrize("argument", [1.0, "10", None, [], 1j, object()], ids=repr)
def test_a_bound_that_is_no_int_raises_type_error(argument: Any) -> None:
    with pytest.raises(TypeError, match="exclusive_upper_bound must be an int, not '"):
        headwater.randbelow(argument)


def test_an_error_of_index_itself_passes_through() -> None:
    class Broken:
        def __index__(self) -> int:
            raise ZeroDivisionError

    for draw in (headwater.token_bytes, headwater.randbelow, headwater.randbits):
        with pytest.raises(ZeroDivisionError):
            draw(Broken())


@pytest.mark.parametrize("name", TOKENS)
def test_a_length_without_memory_raises_memory_error(name: str) -> None:
    with pytest.raises(MemoryError):
        getattr(headwater, name)(2**62)


@pytest.mark.parametrize("seq", [[], "", (), {}], ids=repr)
def test_nothing_to_choose_raises_index_error(seq: Any) -> None:
    with pytest.raises(IndexError):
        headwater.choice(seq)


@pytest.mark.parametrize("seq", [5, None, {1, 2}, iter([1])], ids=repr)
def test_no_sequence_raises_type_error(seq: Any) -> None:
    with pytest.raises(TypeError):
        headwater.choice(seq)


def test_arguments_of_the_wrong_number_raise_type_error() -> None:
    for name in [*TOKENS, "randbelow", "randbits", "choice", "fill"]:
        with pytest.raises(TypeError):
            getattr(headwater, name)(1, 2)
    with pytest.raises(TypeError):
        headwater.randbelow()  # type: ignore[call-arg]


@settings(max_examples=200, deadline=None)
@given(st.text() | st.binary(), st.text() | st.binary())
@example("a", "a")
@example(b"a", b"a")
@example("ä", "ä")
def test_compare_digest_agrees_with_secrets(a: Any, b: Any) -> None:
    def result(compare: Any) -> object:
        try:
            return compare(a, b)
        except TypeError:
            return TypeError

    assert result(headwater.compare_digest) == result(secrets.compare_digest)


def test_no_value_repeats_between_threads() -> None:
    drawn: list[list[bytes]] = []

    def draw() -> None:
        drawn.append([headwater.token_bytes(16) for _ in range(40_000)])

    threads = [threading.Thread(target=draw) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set().union(*drawn)) == 160_000
