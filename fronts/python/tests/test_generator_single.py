"""Single numbers of `headwater.Generator`, some of which are drawn ahead: they are the array's."""

import pickle
import threading

import pytest

np = pytest.importorskip("numpy")

import headwater

CALLS = [
    ("random", ()), ("standard_normal", ()), ("standard_exponential", ()), ("uniform", (2.0, 3)),
    ("normal", (5, 2.5)), ("exponential", (3,)), ("laplace", (0, 1)), ("logistic", (0.5, 1)),
    ("gumbel", (0, 2)), ("lognormal", (0, 1)), ("gamma", (2.5, 2)), ("gamma", (0.5,)),
    ("standard_gamma", (3,)), ("chisquare", (3,)), ("beta", (2, 3)), ("beta", (0.5, 0.25)),
    ("f", (5, 7)), ("standard_t", (4,)), ("vonmises", (0, 2)), ("vonmises", (1, 0.1)),
    ("pareto", (3,)), ("weibull", (2,)), ("power", (2,)), ("rayleigh", (1,)),
    ("triangular", (0, 1, 2)), ("wald", (1, 2)), ("standard_cauchy", ()), ("geometric", (0.3,)),
    ("geometric", (1e-300,)), ("poisson", (3,)), ("poisson", (300,)), ("binomial", (10, 0.3)),
    ("binomial", (1000, 0.7)), ("zipf", (2,)), ("zipf", (1.0001,)), ("logseries", (0.5,)),
    ("negative_binomial", (5, 0.3)), ("noncentral_chisquare", (3, 2)),
    ("noncentral_chisquare", (0.5, 2)), ("noncentral_f", (5, 7, 2)),
    ("hypergeometric", (500, 500, 300)), ("hypergeometric", (5, 7, 3)),
]


def draw(generator, call, size=None):
    method, arguments = call
    return getattr(generator, method)(*arguments, size=size)


@pytest.mark.parametrize("before", [0, 1, 5])
@pytest.mark.parametrize("call", CALLS, ids=str)
def test_numbers_one_by_one_are_the_array(call, before):
    """For each kind, from places in the middle of a group on, over the ends of what is ahead."""
    one, all_of_them = headwater.Generator(7), headwater.Generator(7)
    for generator in (one, all_of_them):
        generator.random(before)
    numbers = [draw(one, call) for _ in range(50)]
    assert all(type(number) in (int, float) for number in numbers)
    assert numbers == draw(all_of_them, call, 50).tolist()
    # Both have gone as far.
    assert one.random() == all_of_them.random()


@pytest.mark.parametrize("call", CALLS, ids=str)
def test_moves_forget_nothing_and_repeat_nothing(call):
    """Arrays, other kinds, other parameters, saved states and jumps between single numbers."""
    generator, other = headwater.Generator(3), headwater.Generator(3)
    first = [draw(generator, call) for _ in range(5)]
    assert first == draw(other, call, 5).tolist()
    # An array in the middle of the numbers ahead, and numbers after it.
    assert draw(generator, call, 3).tolist() == [draw(other, call) for _ in range(3)]
    assert draw(generator, call) == draw(other, call, 1)[0]
    # Another kind in between.
    assert generator.integers(10) == other.integers(10, size=1)[0]
    assert [draw(generator, call) for _ in range(20)] == draw(other, call, 20).tolist()
    # A state that was saved, drawn again.
    saved = pickle.loads(pickle.dumps(generator))
    state = generator.bit_generator.state
    again = [draw(generator, call) for _ in range(20)]
    assert [draw(saved, call) for _ in range(20)] == again
    generator.bit_generator.state = state
    assert [draw(generator, call) for _ in range(20)] == again


def test_other_parameters_are_other_numbers():
    """The same kind in turns with two parameters: no number is one of the other's."""
    generator, other = headwater.Generator(5), headwater.Generator(5)
    for i in range(60):
        scale = (1.0, 2, 1, 2.0, 3.5)[i % 5]
        assert generator.normal(0, scale) == other.normal(0, scale, size=1)[0]
    assert generator.gamma(2) == other.gamma(2.0, size=1)[0]
    # An integer and the float that is equal have the same numbers; minus zero is no zero.
    assert [generator.normal(-0.0, 1) for _ in range(3)] == other.normal(0.0, 1, size=3).tolist()


def test_other_streams_are_other_numbers():
    """A child's and another key's numbers at the same place, with the same kind in between."""
    seen = set()
    for generator in [headwater.Generator(1), headwater.Generator(2), *headwater.Generator(1).spawn(3)]:
        seen |= {generator.standard_cauchy() for _ in range(40)}
    assert len(seen) == 200


def test_threads_share_no_number():
    """Four threads that draw single numbers of one generator take each number once."""
    generator, found = headwater.Generator(9), []

    def run():
        found.extend([generator.standard_cauchy() for _ in range(5000)])

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == sorted(headwater.Generator(9).standard_cauchy(20000).tolist())


def at_word(word):
    """Returns a generator that goes on at a word of its stream."""
    generator = headwater.Generator(4)
    state = generator.bit_generator.state
    state["state"]["word"] = word
    generator.bit_generator.state = state
    return generator


@pytest.mark.parametrize("call", CALLS, ids=str)
def test_the_last_numbers_of_a_cursor_are_there(call):
    """A cursor ends at word 2^60: its last numbers come, though more are drawn ahead."""
    one, all_of_them = at_word(2**60 - 40), at_word(2**60 - 40)
    numbers = [draw(one, call) for _ in range(20)]
    assert numbers == draw(all_of_them, call, 20).tolist()


ENDS = [
    *CALLS,
    ("integers", (100,)), ("integers", (0, 2**63 - 1)), ("dirichlet", ([1.0, 2.5, 3.0],)),
    ("multinomial", (10, [0.2, 0.3, 0.5])),
    ("multivariate_normal", ([0.0, 1.0, 2.0], np.eye(3) + 0.5)),
    ("multivariate_hypergeometric", ([10, 20, 30], 12)), ("choice", (100,)),
    ("choice", (3, [0.2, 0.3, 0.5])), ("normal", (np.linspace(0, 1, 7), 2)),
    ("gamma", (np.linspace(1, 2, 7),)), ("binomial", (np.arange(7), 0.5)),
]


@pytest.mark.parametrize("before", [1, 2, 3, 5, 8, 20])
@pytest.mark.parametrize("call", ENDS, ids=str)
def test_pieces_over_the_end_of_a_stream_are_the_whole(call, before):
    """A draw that passes word 2^60 goes on in the next stream, wherever it is cut in pieces."""
    method, arguments = call
    are_lists = any(np.ndim(value) == 1 and method in ("normal", "gamma", "binomial")
                    for value in arguments)

    def numbers(generator, start, stop):
        if method == "choice" and len(arguments) == 2:
            return generator.choice(arguments[0], stop - start, p=arguments[1])
        given = [value[start:stop] if are_lists and np.ndim(value) else value for value in arguments]
        return draw(generator, (method, given), size=None if are_lists else stop - start)

    whole = numbers(at_word(2**60 - before), 0, 7)
    for cut in range(1, 7):
        generator = at_word(2**60 - before)
        pieces = np.concatenate([numbers(generator, 0, cut), numbers(generator, cut, 7)])
        assert np.array_equal(pieces, whole), cut
    # And one after the other.
    generator = at_word(2**60 - before)
    single = [numbers(generator, place, place + 1) for place in range(7)]
    assert np.array_equal(np.concatenate(single), whole)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("method", ["random", "standard_normal"])
def test_pieces_of_types_and_places_over_the_end(method, dtype):
    for size in (7, 1000):
        whole = getattr(at_word(2**60 - 3), method)(size, dtype=dtype)
        out, generator = np.empty(size, dtype), at_word(2**60 - 3)
        getattr(generator, method)(out=out, dtype=dtype)
        assert np.array_equal(out, whole)
        pieces = at_word(2**60 - 3)
        made = [getattr(pieces, method)(many, dtype=dtype) for many in (2, size - 2)]
        assert np.array_equal(np.concatenate(made), whole)
        assert pieces.word == generator.word < 2**20


def test_bytes_over_the_end():
    whole = at_word(2**60 - 3).bytes(100)
    pieces = at_word(2**60 - 3)
    assert pieces.bytes(16) + pieces.bytes(84) == whole
    key = headwater.Generator(4).stream.key
    assert whole == key.stream(0).bytes(24, start=(2**60 - 3) * 8) + key.stream(1).bytes(76)


def test_integers_that_no_draw_knows_are_those_of_arrays():
    """Integers beyond 32 bits, and beyond floats, beside one that was kept."""
    generator, other = headwater.Generator(6), headwater.Generator(6)
    for trials in (5, 5, 2**32, 2**32 + 5, 2**40, 5, 5):
        assert generator.binomial(trials, 0.5) == other.binomial(trials, 0.5, size=1)[0]
    for scale in (3, 2**32 + 3, 2**60 + 1, 3):
        assert generator.exponential(scale) == other.exponential(scale, size=1)[0]
    assert generator.exponential(3) == other.exponential(3.0, size=1)[0]
    with pytest.raises((ValueError, OverflowError)):
        generator.exponential(10**400)
