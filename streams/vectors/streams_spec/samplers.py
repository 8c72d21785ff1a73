"""STREAMS.md: categorical numbers, truncated normal numbers, and von Mises' distribution."""

import math

from .distributions import DOMAINS, QUARTER, Distributions, coordinate, ln, open_uniform, series
from .engines import H, W
from .numbers import DOUBLE_PRECISION, logarithm

DOMAINS.update({"truncated_normal": 6, "von_mises": 7, "dirichlet": 8, "multinomial": 9, "sobol": 10, "multivariate_hypergeometric": 26})


def alias_table(weights):
    """Pairs of a threshold and another outcome."""
    n = len(weights)
    exponent = math.frexp(max(weights))[1] - 1
    # Exact: a weight is a whole number times a power of two.
    whole = [math.floor(math.ldexp(math.frexp(w)[0], 53)) for w in weights]
    shift = [62 - exponent + math.frexp(w)[1] - 53 for w in weights]
    shares = [m << s if s >= 0 else m >> -s for m, s in zip(whole, shift)]
    dropped = max(sum(shares).bit_length() - 63, 0)
    shares = [share >> dropped for share in shares]
    total = sum(shares)
    shares = [share * n for share in shares]

    def bucket(own, keeps, other):
        return (W - 1, own) if keeps == total else ((keeps << 64) // total, other)

    table = [(W - 1, own) for own in range(n)]
    lights = iter([i for i in range(n) if shares[i] <= total])
    heavies = iter([i for i in range(n) if shares[i] > total])
    heavy = next(heavies, None)
    left = shares[heavy] if heavy is not None else 0
    while heavy is not None:
        if left > total:
            light = next(lights)
            table[light] = bucket(light, shares[light], heavy)
            left -= total - shares[light]
        else:
            following = next(heavies, None)
            if following is not None:
                table[heavy] = bucket(heavy, left, following)
                left = shares[following] - (total - left)
            heavy = following
    return table


def within(x, low, high):
    return min(max(x, low), high)


class Samplers(Distributions):
    def categorical(self, e, *weights):
        table = alias_table(weights)
        product = self.stream.word(e) * len(table)
        own, rest = product >> 64, product % W
        threshold, other = table[own]
        return own if rest < threshold else other

    def truncated_normal(self, e, m, s, low, high):
        a, b, width = (low - m) / s, (high - m) / s, high - low
        h = width / s
        start, least = low, 0.0
        between = a < 0 < b
        if between:
            method, least = ("uniform" if h < 2.5 else "normal"), a * a / 2
        else:
            if a < 0:
                a, start, width, s = -b, high, -width, -s
            root = math.sqrt(a * a + 4)
            rate = (a + root) / 2
            # Infinity times 0 is a NaN, which is not below 1.
            method = "uniform" if h * rate < 1 else "exponential"
        for j in range(512):
            w0, w1 = self.block("truncated_normal", e, j)
            if method == "normal":
                x = math.sqrt(2 * logarithm(DOUBLE_PRECISION, w0)) * coordinate(w1)
                if a <= x <= b:
                    return within(m + s * x, low, high)
            elif method == "uniform":
                u = open_uniform(w0)
                t = h * u
                if t * (a + t / 2) + least <= logarithm(DOUBLE_PRECISION, w1):
                    return within(start + width * u, low, high)
            else:
                t = logarithm(DOUBLE_PRECISION, w0) / rate
                d = t - 2 / (a + root)
                if t <= h and (d * d) / 2 <= logarithm(DOUBLE_PRECISION, w1):
                    return within(start + s * t, low, high)
        return m if method == "normal" else start

    def von_mises(self, e, mu, kappa):
        for j in range(512):
            w0, w1 = self.block("von_mises", e, j)
            if kappa < 0.375:
                s, negative = open_uniform(2 * w0 % W), w0 >> 63
                y = s * series(s * s, QUARTER)
                accepted = ((2 * kappa) * y) * y <= logarithm(DOUBLE_PRECISION, w1)
            else:
                u = (2 * (w1 % H) + 1) / 2**33
                x = math.sqrt(-2 * ln(open_uniform(w0))) * coordinate(w1 >> 32 << 32 | 1 << 31)
                s, negative = abs(x) * (0.5 / math.sqrt(kappa)), x < 0
                p = series(s * s, QUARTER)
                accepted = s <= 1 and ((x * x) / 2) * (p * p - 1) <= -ln(u)
            if accepted:
                angle = mu + (-(math.pi * s) if negative else math.pi * s)
                if angle > math.pi:
                    return angle - 2 * math.pi
                return angle + 2 * math.pi if angle < -math.pi else angle
        return mu
