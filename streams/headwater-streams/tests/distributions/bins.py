"""Writes bins.json: the probabilities of bins by SciPy's distribution functions, which tests compare with counts.

The outermost bins begin at one in ten million, on either side. Needs SciPy (1.17 wrote the file).
"""

import json
from pathlib import Path

import numpy
from scipy import special, stats

LOWER = [1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 0.01] + [i / 20 for i in range(1, 11)]
UPPER = [i / 20 for i in range(9, 0, -1)] + [0.01, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7]

REALS = [
    ("lognormal", stats.lognorm(0.5, scale=numpy.exp(0.25)), [0.25, 0.5]),
    ("lognormal", stats.lognorm(3), [0.0, 3.0]),
    *[("gamma", stats.gamma(a), [a]) for a in (0.01, 0.3, 0.999, 1.0, 1.5, 4.0, 100.0, 1e6)],
    *[("chi_square", stats.chi2(k), [k]) for k in (1.0, 5.0, 60.0)],
    *[
        ("beta", stats.beta(a, b), [a, b])
        for a, b in ((0.3, 0.7), (0.5, 0.5), (1.0, 1.0), (1.0, 0.1), (0.4, 3.0), (5.0, 0.2), (2.0, 3.0), (70.0, 30.0))
    ],
    *[("student_t", stats.t(nu), [nu]) for nu in (0.5, 1.0, 2.5, 8.0, 200.0)],
]
COUNTS = [
    *[("geometric", stats.geom(p), [p]) for p in (0.001, 0.2, 0.7)],
    *[("poisson", stats.poisson(m), [m]) for m in (0.01, 1.0, 6.5, 9.99, 10.0, 13.0, 40.0, 1e3, 1e7)],
    *[
        ("binomial", stats.binom(n, p), [float(n), p])
        for n, p in (
            (1, 0.3), (20, 0.2), (30, 0.9), (1000, 0.005), (20, 0.5), (100, 0.11), (60, 0.5), (400, 0.8), (10**6, 0.3)
        )
    ],
]
# After the others, because the stream of a case is its number.
FURTHER = [
    *[
        ("truncated_normal", stats.truncnorm((low - m) / s, (high - m) / s, m, s), [m, s, low, high])
        for m, s, low, high in (
            (0.0, 1.0, -1e308, 1e308),
            (0.0, 1.0, 0.0, 1e308),
            (2.0, 3.0, -1.0, 8.0),
            (0.0, 1.0, -0.5, 0.75),
            (0.0, 1.0, 0.3, 1.0),
            (0.0, 1.0, 1.5, 1e308),
            (0.0, 1.0, -1e308, -4.0),
            (5.0, 2.0, -15.0, -5.0),
            (0.0, 1.0, 9.0, 9.5),
            (0.0, 1.0, 35.0, 1e308),
        )
    ],
    *[("von_mises", stats.vonmises(k), [0.0, k]) for k in (0.1, 0.374, 0.5, 1.0, 4.0, 40.0, 1e4, 1e9)],
]
# The last ones: the kinds of 2026-11-25, whose streams follow those of all other cases.
LAST = [
    ("scaled_uniform", stats.uniform(-2, 5), [-2.0, 3.0]),
    ("scaled_normal", stats.norm(3, 0.5), [3.0, 0.5]),
    ("scaled_exponential", stats.expon(scale=4), [4.0]),
    ("rayleigh", stats.rayleigh(scale=3), [3.0]),
    *[("weibull", stats.weibull_min(a), [a]) for a in (0.5, 1.0, 3.5)],
    *[("pareto", stats.lomax(a), [a]) for a in (0.5, 3.0, 1e6)],
    *[("power", stats.powerlaw(a), [a]) for a in (0.3, 1.0, 7.0)],
    ("gumbel", stats.gumbel_r(1, 2), [1.0, 2.0]),
    ("logistic", stats.logistic(1, 2), [1.0, 2.0]),
    ("cauchy", stats.cauchy(1, 2), [1.0, 2.0]),
    *[
        ("triangular", stats.triang((m - a) / (b - a), a, b - a), [a, m, b])
        for a, m, b in ((0.0, 0.5, 1.0), (-3.0, -3.0, 8.0), (1.0, 1.9, 2.0), (1.0, 2.0, 2.0))
    ],
    *[
        ("wald", stats.invgauss(m / s, scale=s), [m, s])
        for m, s in ((1.0, 1.0), (3.0, 0.25), (0.5, 40.0))
    ],
    *[("fisher_f", stats.f(a, b), [a, b]) for a, b in ((5.0, 2.0), (1.0, 1.0), (0.7, 30.0), (200.0, 90.0))],
    *[("log_series", stats.logser(p), [p]) for p in (0.1, 0.6, 0.99)],
]
# The kinds after those: the last of NumPy's, and two of JAX's.
NEWEST = [
    *[("noncentral_chi_square", stats.ncx2(k, n), [k, n]) for k, n in ((1.0, 0.5), (4.0, 3.0), (0.5, 2.0), (0.3, 60.0), (50.0, 9.0))],
    *[("noncentral_f", stats.ncf(a, b, n), [a, b, n]) for a, b, n in ((1.0, 5.0, 2.0), (5.0, 20.0, 3.0), (0.7, 9.0, 4.0), (40.0, 90.0, 15.0))],
    *[("log_gamma", stats.loggamma(a), [a]) for a in (0.1, 1.0, 2.5, 100.0)],
    *[("maxwell", stats.maxwell(scale=s), [s]) for s in (1.0, 4.0)],
    *[
        ("negative_binomial", stats.nbinom(n, p), [n, p])
        for n, p in ((1.0, 0.5), (0.3, 0.1), (2.5, 0.05), (7.0, 0.9), (100.0, 0.5), (30.0, 0.002), (1e6, 0.7))
    ],
    *[
        ("hypergeometric", stats.hypergeom(good + bad, good, sample), [float(good), float(bad), float(sample)])
        for good, bad, sample in (
            (5, 7, 4), (20, 10, 25), (300, 700, 30), (500, 500, 19), (500, 500, 20), (500, 500, 300), (900, 100, 700),
            (10**4, 3 * 10**4, 2000), (4 * 10**4, 10**4, 3 * 10**4), (10**6, 10**6, 10**5),
        )
    ],
]
WEIGHTS = [
    [1.0, 3.0],
    [5.0, 0.0, 1.0, 0.0, 2.0],
    [2.0**-i for i in range(24)],
    [float(i % 7) for i in range(1, 100)],
    [1e300, 3e300, 5e299],
]


def case(kind, distribution, parameters):
    edges = [distribution.ppf(q) for q in LOWER] + [distribution.isf(q) for q in UPPER]
    edges = sorted({float(edge) for edge in edges if numpy.isfinite(edge)})
    # Where floats are too coarse or end, so do the bins: an edge of 0 would count what has underflowed.
    if kind == "beta":
        edges = [edge for edge in edges if edge < 1 - 1e-12]
    if kind in ("beta", "gamma", "chi_square"):
        edges = [edge for edge in edges if edge > 1e-300]
    # A count belongs to the bin of the first edge that is not below it. Differences are taken on the side where the
    # function is small, so that they are precise.
    probabilities, before = [], None
    for edge in edges:
        if before is None:
            probabilities.append(distribution.cdf(edge))
        elif distribution.cdf(edge) < 0.5:
            probabilities.append(distribution.cdf(edge) - distribution.cdf(before))
        else:
            probabilities.append(distribution.sf(before) - distribution.sf(edge))
        before = edge
    probabilities.append(distribution.sf(before))
    return {"kind": kind, "parameters": parameters, "edges": edges, "probabilities": [float(p) for p in probabilities]}


def sums():
    """Sums of components of vectors, chosen by the bits of the first parameter."""
    for mask, alpha in ((1, [1, 1]), (2, [0.5, 2.0, 7.0]), (6, [0.5, 2.0, 7.0, 1.0]), (5, [0.1, 0.2, 0.3, 0.4]), (9, [30.0, 0.9, 4.0, 1.5])):
        part = sum(x for i, x in enumerate(alpha) if mask >> i & 1)
        yield case("dirichlet", stats.beta(part, sum(alpha) - part), [mask, *alpha])
    for mask, n, p in (
        (1, 10, [1, 1, 1]), (4, 10, [1, 1, 1]), (6, 20, [1, 2, 3, 4]), (8, 1000, [5, 1, 1, 3]), (2, 1000, [5, 1, 1, 3]), (10, 1000, [5, 1, 1, 3]),
        (4, 10**6, [1, 1, 1, 1]), (6, 10**6, [3, 1, 1e-6, 1]), (5, 50, [1, 8, 1]),
    ):
        part = sum(x for i, x in enumerate(p) if mask >> i & 1)
        yield case("multinomial", stats.binom(n, part / sum(p)), [mask, n, *p])
    covariance = [[2, 0.6, -1], [0.6, 5, 1.5], [-1, 1.5, 3]]
    for mask in (1, 2, 4, 5, 7):
        weights = numpy.array([mask >> i & 1 for i in range(3)])
        variance = weights @ numpy.array(covariance) @ weights
        there = stats.norm(weights @ [1, 2, -3], numpy.sqrt(variance))
        yield case("multivariate_normal", there, [mask, 1, 2, -3, *sum(covariance, [])])


def colors():
    """Sums of components of samples, as of other vectors; the sample's size is the last parameter."""
    for mask, sample, items in (
        (1, 5, [4, 6, 10]), (4, 15, [4, 6, 10]), (6, 40, [30, 50, 20]), (2, 60, [30, 50, 20]), (9, 900, [1000, 300, 20, 2000]),
        (4, 1500, [1000, 300, 20, 700]), (3, 10**4, [10**4, 10**4, 10**4]), (2, 50, [10**5, 10**5]),
    ):
        part = sum(x for i, x in enumerate(items) if mask >> i & 1)
        yield case("multivariate_hypergeometric", stats.hypergeom(sum(items), part, sample), [mask, *items, sample])


def neighbours(kind, x):
    """The number of a 16-bit format at x or next to it, and the one above that."""
    if kind.endswith("bf16"):
        steps = numpy.arange(-0x7F7F, 0x7F80, dtype=numpy.int64)  # the finite ones
        bits = (numpy.abs(steps) << 16).astype(numpy.uint32)
        grid = numpy.sign(steps) * bits.view(numpy.float32).astype(float)
    else:
        bits = numpy.arange(2**15, dtype=numpy.uint16)
        half = bits.view(numpy.float16).astype(float)
        grid = numpy.concatenate([-half[::-1], half[1:]])
    grid = grid[numpy.isfinite(grid)]
    place = int(numpy.searchsorted(grid, x))
    return float(grid[place]), float(grid[place + 1])


def rounded(kind):
    """Normal numbers of 16 bits: bins end where numbers are rounded to another one."""
    points = [stats.norm.ppf(q) for q in LOWER] + [stats.norm.isf(q) for q in UPPER]
    pairs = sorted({neighbours(kind, x) for x in points})
    middles = [(low + high) / 2 for low, high in pairs]
    made = [stats.norm.cdf(middles[0])]
    for before, middle in zip(middles, middles[1:]):
        low = stats.norm.cdf(middle) - stats.norm.cdf(before)
        high = stats.norm.sf(before) - stats.norm.sf(middle)
        made.append(low if middle < 0 else high)
    made.append(stats.norm.sf(middles[-1]))
    return {"kind": kind, "parameters": [0], "edges": [low for low, _ in pairs], "probabilities": [float(p) for p in made]}


def uniform(kind, values, bins):
    """Uniform numbers of 16 bits are multiples of 1 / values."""
    edges = [(i * (values // bins) - 1) / values for i in range(1, bins)]
    return {"kind": kind, "parameters": [0], "edges": edges, "probabilities": [1 / bins] * bins}


def sixteen_bits_and_complex():
    """The parameter of a complex case is a part, 2 for the squared size, 3 for the angle over pi."""
    yield uniform("f16", 2**11, 128)
    yield uniform("bf16", 2**8, 256)
    yield rounded("normal_f16")
    yield rounded("normal_bf16")
    part, size, angle = stats.norm(0, 0.5**0.5), stats.expon(), stats.uniform(-1, 2)
    for kind in ("complex_normal_f64", "complex_normal_f32"):
        for number, distribution in enumerate((part, part, size, angle)):
            yield case(kind, distribution, [number])


def choice(weights):
    """Outcomes are bins of their own."""
    total = sum(weights)
    edges = [float(i) for i in range(len(weights) - 1)]
    return {"kind": "categorical", "parameters": weights, "edges": edges, "probabilities": [w / total for w in weights]}


def zipf(a):
    """SciPy's quantiles of Zipf's distribution take minutes; the sums are Hurwitz's function."""
    edges = [float(k) for k in (1, 2, 3, 4, 5, 7, 10, 15, 30, 100, 1000, 10**4, 10**6)]
    rest = special.zeta(a, 2.0**63)  # the numbers end there
    above = [float((special.zeta(a, k + 1) - rest) / (special.zeta(a) - rest)) for k in edges]
    above = [1.0] + [p for p in above if p > 1e-9]
    edges = edges[: len(above) - 1]
    probabilities = [p - q for p, q in zip(above, above[1:])] + [above[-1]]
    return {"kind": "zipf", "parameters": [a], "edges": edges, "probabilities": probabilities}


cases = [case(*each) for each in REALS + COUNTS + FURTHER] + [choice(weights) for weights in WEIGHTS] + list(sums())
cases += sixteen_bits_and_complex()
cases += [case("laplace", stats.laplace(m, s), [m, s]) for m, s in ((0.0, 1.0), (-3.0, 0.25))]
cases += [case(*each) for each in LAST] + [zipf(a) for a in (1.1, 1.5, 2.0, 3.5, 20.0)]
cases += [case(*each) for each in NEWEST] + list(colors())
lines = ",\n".join("  " + json.dumps(case) for case in cases)
Path(__file__).with_name("bins.json").write_text("[\n" + lines + "\n]\n")
