"""Parameters that are arrays: each element is the draw of its own parameters."""

import pytest

np = pytest.importorskip("numpy")

import headwater

MANY = 9000  # more than two blocks
WIDE = np.linspace(0.05, 90, MANY)
CHANCES = np.linspace(0.001, 0.999, MANY)
COUNTS = np.arange(MANY) % 300
#: A method, and parameters that are arrays or numbers.
CASES = [
    ("lognormal", (CHANCES, WIDE / 100)), ("standard_gamma", (WIDE,)), ("gamma", (WIDE, CHANCES)),
    ("gamma", (WIDE, 2)), ("chisquare", (WIDE,)), ("beta", (WIDE, CHANCES)), ("beta", (0.5, CHANCES)),
    ("beta", (CHANCES, WIDE[::-1])), ("f", (WIDE, 3)), ("f", (2, CHANCES)), ("standard_t", (WIDE,)),
    ("vonmises", (CHANCES * 6 - 3, WIDE)), ("vonmises", (0.0, CHANCES)), ("pareto", (WIDE,)),
    ("weibull", (WIDE,)), ("power", (WIDE,)), ("triangular", (0, CHANCES, 1)),
    ("triangular", (-WIDE, 0.0, WIDE)), ("wald", (WIDE, CHANCES)), ("uniform", (0, WIDE)),
    ("uniform", (-WIDE, 5)), ("geometric", (CHANCES,)), ("poisson", (WIDE,)), ("poisson", (CHANCES,)),
    ("binomial", (COUNTS, CHANCES)), ("binomial", (COUNTS * 10**12, 0.25)), ("binomial", (20, CHANCES)),
    ("zipf", (WIDE + 1,)), ("logseries", (CHANCES,)), ("negative_binomial", (WIDE, CHANCES)),
    ("negative_binomial", (5, CHANCES)), ("noncentral_chisquare", (WIDE, WIDE[::-1])),
    ("noncentral_chisquare", (CHANCES, 3)), ("noncentral_f", (WIDE, 5.0, CHANCES)),
    ("noncentral_f", (CHANCES, WIDE, 0)), ("hypergeometric", (COUNTS, COUNTS[::-1], COUNTS // 2)),
    ("hypergeometric", (COUNTS * 1000, 500, 400)),
]
#: The same numbers in other arrays.
FORMS = {
    "as they are": lambda array: array,
    "a view with steps": lambda array: np.repeat(array, 2)[::2],
    "backwards": lambda array: array[::-1].copy()[::-1],
    "big-endian": lambda array: array.astype(array.dtype.newbyteorder(">")),
    "in two dimensions": lambda array: array.reshape(90, 100),
    "read-only": lambda array: np.frombuffer(array.tobytes(), array.dtype),
    "not aligned": lambda array: np.frombuffer(b"x" + array.tobytes(), np.uint8)[1:].view(array.dtype),
    "a list": lambda array: array.tolist(),
}


@pytest.mark.parametrize("method, given", CASES, ids=str)
def test_elements_are_draws_of_their_own(method, given):
    """Some elements of each array, one of which ends a block, beside a generator with a cursor
    there: the values of a kind are those of its stream."""
    drawn = getattr(headwater.Generator(11), method)(*given)
    assert drawn.shape == (MANY,)
    for i in [0, 1, 17, 511, 512, 4095, 4096, 5000, 8191, 8192, MANY - 1]:
        other = headwater.Generator(11)
        one = [float(p[i]) if isinstance(p, np.ndarray) and p.dtype.kind == "f" else
               int(p[i]) if isinstance(p, np.ndarray) else p for p in given]
        # The same elements with this one's parameters, which are numbers.
        assert getattr(other, method)(*one, size=i + 1)[i] == drawn[i], (i, one)


@pytest.mark.parametrize("form", FORMS, ids=str)
@pytest.mark.parametrize("method, given", CASES, ids=str)
def test_the_form_of_an_array_changes_no_number(method, given, form):
    expected = getattr(headwater.Generator(2), method)(*given)
    made = [FORMS[form](p) if isinstance(p, np.ndarray) else p for p in given]
    drawn = getattr(headwater.Generator(2), method)(*made)
    assert drawn.reshape(-1).tolist() == expected.tolist()


@pytest.mark.parametrize(
    "method, given",
    [("binomial", (np.array([3, -1]), 0.5)), ("binomial", (np.array([3, 4]), [0.5, 1.5])),
     ("gamma", (np.array([1.0, -1.0]),)), ("beta", (np.array([1.0, 0.0]), 2)),
     ("poisson", (np.array([1.0, -0.5]),)), ("hypergeometric", (np.array([3, 3]), 2, [4, 6])),
     ("zipf", (np.array([2.0, 1.0]),)), ("geometric", (np.array([0.5, 0.0]),)),
     ("vonmises", (np.array([0.0, 1.0]), -1)), ("wald", (np.array([1.0, 0.0]), 1)),
     ("logseries", (np.array([0.5, 1.0]),)), ("noncentral_f", (np.array([1.0, 0.0]), 1, 1))],
    ids=str,
)
def test_errors_are_numpys(method, given):
    ours, theirs = headwater.Generator(1), np.random.default_rng(1)
    with pytest.raises(ValueError) as expected:
        getattr(theirs, method)(*given)
    before = ours.bit_generator.state
    with pytest.raises(ValueError) as found:
        getattr(ours, method)(*given)
    assert str(found.value) == str(expected.value)
    assert str(ours.bit_generator.state) == str(before)


def test_counts_above_all_floats_are_exact():
    """An integer that no float has is drawn by itself, and is not rounded to its neighbour."""
    trials = np.array([2**53 + 1, 2**62 + 1, 2**63 - 1, 7], np.int64)
    assert headwater.Generator(1).binomial(trials, 1.0).tolist() == trials.tolist()
    assert headwater.Generator(1).binomial(2**53 + 1, np.ones(3)).tolist() == [2**53 + 1] * 3


@pytest.mark.parametrize("given", [{}, {"p": [0.1, 0.2, 0.3, 0.4]}, {"replace": False}])
@pytest.mark.parametrize("a", [4, np.int64(4), np.array(4)])
def test_a_choice_of_a_number_has_numpys_type(a, given):
    numpys = np.random.default_rng(1)
    for size in (None, (), 1, (2, 1)):
        mine, other = headwater.Generator(1).choice(a, size, **given), numpys.choice(a, size, **given)
        assert type(mine) is type(other), size
        assert np.shape(mine) == np.shape(other)
