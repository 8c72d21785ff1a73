"""`headwater.Generator`: the rule of its cursor, its state, and NumPy's errors."""

from __future__ import annotations

import copy
import inspect
import pickle
import threading
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import headwater
import numpy as np
import pytest
from headwater import Generator, Key

KEY = Key(7).child("generator")


def rng() -> Any:
    return Generator(KEY)


#: A call of each method that draws numbers.
CALLS: dict[str, tuple[Any, ...]] = {
    "random": (),
    "standard_normal": (),
    "standard_exponential": (),
    "integers": (0, 1 << 40),
    "uniform": (-2, 3),
    "normal": (5, 2),
    "exponential": (3,),
    "laplace": (1, 2),
    "logistic": (1, 2),
    "gumbel": (1, 2),
    "lognormal": (0.5, 0.25),
    "gamma": (2.5, 3),
    "standard_gamma": (0.5,),
    "chisquare": (3,),
    "beta": (2, 3),
    "f": (5, 7),
    "standard_t": (4,),
    "vonmises": (0, 2),
    "pareto": (3,),
    "weibull": (2,),
    "power": (2,),
    "rayleigh": (2,),
    "triangular": (0, 1, 2),
    "wald": (1, 2),
    "standard_cauchy": (),
    "geometric": (0.01,),
    "poisson": (300,),
    "binomial": (1000, 0.3),
    "zipf": (1.3,),
    "logseries": (0.99,),
    "negative_binomial": (2.5, 0.01),
    "noncentral_chisquare": (3, 2),
    "noncentral_f": (3, 5, 2),
    "hypergeometric": (3000, 5000, 4000),
    "loggamma": (0.5,),
    "maxwell": (2,),
}


@pytest.mark.parametrize("method", CALLS)
def test_values_are_the_streams_at_the_cursor(method: str) -> None:
    """The documented mapping: a draw after w words begins at the first whole group after them."""
    names = {"f": "f", "standard_cauchy": "cauchy"}
    arguments = CALLS[method]
    stream = KEY.stream(0)
    of_stream = getattr(stream, names.get(method, method))
    given = arguments if method != "standard_cauchy" else (0, 1)
    there = rng()
    there.uniform(size=3)  # three words
    pairs = {"standard_normal", "normal", "lognormal"}
    start = 4 if method in pairs else 3
    size = (7,) if method not in ("random", "standard_normal", "standard_exponential") else (7,)
    made = getattr(there, method)(*arguments, size=7)
    if method == "integers":
        expected = of_stream(*given, 7, start=start)
    elif method in ("random", "standard_normal", "standard_exponential"):
        expected = of_stream(7, start=start)
    else:
        expected = of_stream(*given, size=size, start=start)
    assert made.dtype == expected.dtype and np.array_equal(made, expected)


@pytest.mark.parametrize("method", CALLS)
def test_pieces_are_the_whole(method: str) -> None:
    """Calls for 3, 1 and 5 numbers are one call for 9, and single numbers too."""
    arguments = CALLS[method]
    whole = getattr(rng(), method)(*arguments, size=9)
    pieces = rng()
    parts = [getattr(pieces, method)(*arguments, size=n) for n in (3, 1, 5)]
    assert np.array_equal(np.concatenate(parts), whole)
    single = rng()
    assert [getattr(single, method)(*arguments) for _ in range(9)] == whole.tolist()


@pytest.mark.parametrize("method", CALLS)
def test_a_second_draw_shares_no_number(method: str) -> None:
    """The trap of streams: uniform and integer numbers of one stream correlate by 0.9999."""
    arguments = CALLS[method]
    n = 20_000
    for other, given in CALLS.items():
        there = rng()
        x = getattr(there, method)(*arguments, size=n)
        y = getattr(there, other)(*given, size=n)
        ranks = [np.argsort(np.argsort(a)) for a in (x, y)]
        assert abs(np.corrcoef(*ranks)[0, 1]) < 5 / n**0.5, (method, other)


def test_an_odd_number_of_normals_leaves_no_half_to_others() -> None:
    there = rng()
    first = [(there.standard_normal(), there.random()) for _ in range(20_000)]
    normal, uniform = np.array(first).T
    assert abs(np.corrcoef(np.abs(normal), uniform)[0, 1]) < 0.035


def test_float32_takes_half_words() -> None:
    there = rng()
    made = np.concatenate([there.random(3, np.float32), there.random(5, np.float32)])
    assert np.array_equal(made, KEY.stream(0).random(8, "float32"))
    assert there.word == 4
    out = np.empty(6, np.float32)
    assert there.standard_normal(out=out, dtype=np.float32) is out
    assert np.array_equal(out, KEY.stream(0).standard_normal(6, "float32", start=8))


def test_signatures_are_numpys() -> None:
    for name, method in inspect.getmembers(np.random.Generator):
        if name.startswith("_") or not callable(method):
            continue
        ours = getattr(Generator, name)
        assert ours is not method, f"{name} is NumPy's, whose words are not the cursor's"
        try:
            theirs = inspect.signature(method)
        except ValueError:
            continue
        assert list(inspect.signature(ours).parameters) == list(theirs.parameters), name
        for parameter in theirs.parameters.values():
            mine = inspect.signature(ours).parameters[parameter.name]
            assert mine.default == parameter.default, (name, parameter.name)


#: Arguments that NumPy refuses.
WRONG: dict[str, Callable[[Any], Any]] = {
    "scale below 0": lambda r: r.normal(0, -1),
    "scales below 0": lambda r: r.normal(0, [1, -1]),
    "size of another shape": lambda r: r.normal([1, 2], 1, size=3),
    "size below 0": lambda r: r.random(-1),
    "size of a float": lambda r: r.random(2.5),
    "shape below 0": lambda r: r.gamma(-1),
    "shapes below 0": lambda r: r.gamma([1, -1]),
    "beta of 0": lambda r: r.beta(0, 1),
    "lam below 0": lambda r: r.poisson(-1),
    "lam of NaN": lambda r: r.poisson(np.nan),
    "lam too large": lambda r: r.poisson(1e30),
    "n below 0": lambda r: r.binomial(-1, 0.5),
    "p above 1": lambda r: r.binomial(3, 1.5),
    "p of geometric": lambda r: r.geometric(0),
    "p of logseries": lambda r: r.logseries(1.5),
    "a of zipf": lambda r: r.zipf(1),
    "left above mode": lambda r: r.triangular(2, 1, 3),
    "left equals right": lambda r: r.triangular(1, 1, 1),
    "mean of wald": lambda r: r.wald(0, 1),
    "df of 0": lambda r: r.standard_t(0),
    "kappa below 0": lambda r: r.vonmises(0, -1),
    "uniform without an end": lambda r: r.uniform(0, np.inf),
    "low above high": lambda r: r.integers(5, 2),
    "high above the type": lambda r: r.integers(0, 300, dtype=np.uint8),
    "integers of floats": lambda r: r.integers(3, dtype=float),
    "random of integers": lambda r: r.random(3, dtype=np.int32),
    "out of another type": lambda r: r.random(out=np.empty(3, np.float32)),
    "out of another shape": lambda r: r.random(4, out=np.empty(3)),
    "choice of nothing": lambda r: r.choice([], 1),
    "choice of 0": lambda r: r.choice(0, 1),
    "choice of a float": lambda r: r.choice(2.5),
    "more than there are": lambda r: r.choice(3, 5, replace=False),
    "p that does not add up": lambda r: r.choice(3, p=[0.2, 0.2, 0.2]),
    "p below 0": lambda r: r.choice(3, p=[1.5, -0.5, 0]),
    "p of another length": lambda r: r.choice(3, p=[0.5, 0.5]),
    "p with too few": lambda r: r.choice(3, 2, replace=False, p=[1, 0, 0]),
    "axis of choice": lambda r: r.choice([[1, 2], [3, 4]], axis=5),
    "shuffle of an integer": lambda r: r.shuffle(5),
    "shuffle of what cannot be written": lambda r: r.shuffle(np.broadcast_to(1, 4)),
    "axis of shuffle": lambda r: r.shuffle(np.arange(4), axis=3),
    "axis of a list": lambda r: r.shuffle([1, 2, 3], axis=1),
    "permuted axis": lambda r: r.permuted(np.ones((2, 2)), axis=7),
    "alpha below 0": lambda r: r.dirichlet([1, -1]),
    "pvals above 1": lambda r: r.multinomial(5, [0.9, 0.9, 0.1]),
    "cov of another shape": lambda r: r.multivariate_normal([0, 0], np.eye(3)),
    "cov checked": lambda r: r.multivariate_normal([0, 0], [[1, 2], [2, 1]], check_valid="raise"),
    "colors below 0": lambda r: r.multivariate_hypergeometric([3, -1], 2),
    "sample of more": lambda r: r.hypergeometric(3, 3, 9),
    "sample below 0": lambda r: r.hypergeometric(3, 3, -1),
    "samples of more": lambda r: r.hypergeometric(3, [3, 1], 5),
    "a billion items": lambda r: r.hypergeometric(10**9, 3, 5),
    "a billion items in an array": lambda r: r.hypergeometric([10**9, 3], 3, 3),
    "colors of a billion": lambda r: r.multivariate_hypergeometric([10**9, 3], 2),
    "colors of floats": lambda r: r.multivariate_hypergeometric([2.5, 3], 2),
    "colors in rows": lambda r: r.multivariate_hypergeometric([[2, 3]], 2),
    "sample above the colors": lambda r: r.multivariate_hypergeometric([2, 3], 6),
    "method unknown": lambda r: r.multivariate_hypergeometric([2, 3], 1, method="urn"),
    "n of negative_binomial": lambda r: r.negative_binomial(0, 0.5),
    "p of negative_binomial": lambda r: r.negative_binomial(1, 0),
    "counts above 2^63": lambda r: r.negative_binomial(1e15, 1e-15),
    "n of an array": lambda r: r.negative_binomial([1, -1], 0.5),
    "df of noncentral_chisquare": lambda r: r.noncentral_chisquare(0, 1),
    "nonc below 0": lambda r: r.noncentral_chisquare(1, -1),
    "dfden of noncentral_f": lambda r: r.noncentral_f(1, 0, 1),
    "nonc of noncentral_f": lambda r: r.noncentral_f(1, 1, -1),
    "argument unknown": lambda r: r.normal(mean=3),
}


@pytest.mark.parametrize("name", WRONG)
def test_errors_are_numpys_and_draw_nothing(name: str) -> None:
    def error(of: Any) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with pytest.raises(Exception) as caught:  # noqa: PT011 (compared below)
                WRONG[name](of)
        return caught.value

    theirs = error(np.random.default_rng(1))
    there = rng()
    there.random()
    before = there.bit_generator.state
    ours = error(there)
    assert type(ours) is type(theirs), (ours, theirs)
    if not isinstance(ours, TypeError) or "argument" not in str(ours):
        assert str(ours) == str(theirs)
    assert there.bit_generator.state == before


def test_a_pickle_a_copy_and_a_state_continue() -> None:
    there = rng()
    there.standard_normal(3, dtype=np.float32)
    there.hypergeometric(5, 5, 3, size=4)
    again = [pickle.loads(pickle.dumps(there)), copy.deepcopy(there), Generator(1)]
    again[2].bit_generator.state = there.bit_generator.state
    expected = [there.standard_normal(3, dtype=np.float32).tolist(), there.permutation(9).tolist()]
    raw = there.bit_generator.random_raw()
    for one in again:
        assert type(one) is headwater.Generator
        drawn = [one.standard_normal(3, dtype=np.float32).tolist(), one.permutation(9).tolist()]
        assert drawn == expected and one.bit_generator.random_raw() == raw
        assert one.bit_generator.state == there.bit_generator.state


def test_a_state_of_another_generator_is_refused() -> None:
    there = rng()
    with pytest.raises(ValueError, match="'PCG64', not of 'headwater.Generator'"):
        there.bit_generator.state = np.random.PCG64(1).state
    with pytest.raises(ValueError, match="engine 'philox4x32', not of 'ars7'"):
        there.bit_generator.state = Generator(1, engine="philox4x32").bit_generator.state
    with pytest.raises(TypeError, match="dict"):
        there.bit_generator.state = 5


def test_bytes_below_0_are_refused() -> None:
    """NumPy's own method returns bytes for a length of -1."""
    with pytest.raises(ValueError, match="length must be 0 or more, not -1"):
        rng().bytes(-1)


def test_workers_split_an_array() -> None:
    """Workers that jump to their part make the array of one process, in any number."""
    n = 12_000
    whole = rng().gamma(2.0, size=n)
    for workers in (1, 2, 3, 8):
        part = n // workers
        with ThreadPoolExecutor(workers) as pool:
            def one(i: int, part: int = part) -> Any:
                return rng().advance(i * part).gamma(2.0, size=part)

            assert np.array_equal(np.concatenate(list(pool.map(one, range(workers)))), whole)


def test_children_and_jumps() -> None:
    there = rng()
    first = there.spawn(2)
    assert [one.random() for one in first] == [Generator(KEY.child(i)).random() for i in (0, 1)]
    (third,) = there.spawn(1)
    assert third.stream == KEY.child(2).stream(0)
    assert there.jumped(3).stream == KEY.stream(3)
    assert there.advance(10).advance(-4).word == 6
    with pytest.raises(ValueError, match="delta must lead to a word"):
        there.advance(-7)
    with pytest.raises(ValueError, match="n_children"):
        there.spawn(-1)
    bits = there.bit_generator.spawn(1)[0]
    assert Generator(bits).random() == Generator(KEY.child(3)).random()


def test_the_end_of_a_stream_is_the_begin_of_the_next() -> None:
    there = rng().advance((1 << 60) - 2)
    there.random(2)
    assert np.array_equal(there.random(4), KEY.stream(1).random(4))


def test_seeds() -> None:
    assert Generator(42).random() == Key(42).stream(0).random()
    assert Generator("a").random() == Key("a").stream(0).random()
    assert Generator(np.int64(42)).random() == Generator(42).random()
    assert Generator(Key(1).stream(9)).random() == Key(1).stream(9).random()
    assert Generator([1, 2]).random() == Generator(np.random.SeedSequence([1, 2])).random()
    assert Generator().random() != Generator().random()
    assert Generator(2**500).stream.key == Key(2**500)
    philox = Generator(42, engine="philox4x32")
    assert philox.random() == Key(42, engine="philox4x32").stream(0).random()
    for wrong in (np.random.PCG64(1), np.random.default_rng(1), np.random.RandomState(1)):
        with pytest.raises(TypeError, match="a generator of NumPy has no key"):
            Generator(wrong)
    with pytest.raises(ValueError, match="engine must be that of the key"):
        Generator(Key(1), engine="philox4x32")
    with pytest.raises(TypeError):
        Generator(2.5)


def test_threads_share_no_number() -> None:
    there = rng()
    made: list[Any] = []
    lock = threading.Lock()

    def draw() -> None:
        mine = []
        for _ in range(200):
            mine += there.random(7).tolist()
            mine.append(there.standard_cauchy())
            mine.append(there.noncentral_chisquare(2, 3))
        with lock:
            made.extend(mine)

    threads = [threading.Thread(target=draw) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(made)) == len(made) == 8 * 200 * 9


def test_the_class_before_its_first_use() -> None:
    code = """
import pickle, sys
import headwater
from headwater import Generator
assert "numpy" not in sys.modules
rng = Generator(3)
import numpy
assert isinstance(rng, Generator) and isinstance(rng, headwater.Generator)
assert isinstance(rng, numpy.random.Generator) and issubclass(headwater.Generator, Generator)
class Mine(Generator): pass
assert isinstance(Mine(3), headwater.Generator) and Mine(3).random() == rng.random()
assert pickle.loads(pickle.dumps(headwater.Generator)) is headwater.Generator
assert pickle.loads(pickle.dumps(Generator)) == headwater.Generator
assert Generator.random is headwater.Generator.random and not isinstance(3, Generator)
"""
    from secure_support import python

    python(code)
    assert headwater.Generator.__module__ == "headwater"


def test_weights_without_replacement_are_successive_draws() -> None:
    """The chances of ordered pairs, against their formula."""
    p = np.array([0.5, 0.3, 0.15, 0.05])
    there, n = rng(), 20_000
    counts = np.zeros((4, 4))
    for _ in range(n):
        i, j = there.choice(4, 2, replace=False, p=p)
        counts[i, j] += 1
    expected = n * p[:, None] * p[None, :] / (1 - p[:, None])
    np.fill_diagonal(expected, 0)
    off = ~np.eye(4, dtype=bool)
    chi = ((counts - expected)[off] ** 2 / expected[off]).sum()
    assert counts.diagonal().sum() == 0 and chi < 40  # 11 degrees: once in 30,000 times


def test_orders_are_uniform() -> None:
    there, n = rng(), 24_000
    for draw in (
        lambda: tuple(there.permutation(4).tolist()),
        lambda: tuple(there.permuted(np.arange(4)).tolist()),
        lambda: tuple(there.permuted(np.arange(8).reshape(2, 4), axis=1)[1].tolist()),
        lambda: tuple(there.choice(4, 4, replace=False).tolist()),
    ):
        seen: dict[Any, int] = {}
        for _ in range(n):
            order = draw()
            seen[order] = seen.get(order, 0) + 1
        chi = sum((count - n / 24) ** 2 for count in seen.values()) / (n / 24)
        assert len(seen) == 24 and chi < 65  # 23 degrees
