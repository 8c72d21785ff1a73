"""STREAMS.md: distributions."""

import math
import struct

from .engines import H, W
from .numbers import DOUBLE_PRECISION, logarithm, polynomial

LOG = DOUBLE_PRECISION.log
LN_2 = math.log(2)
MAGIC = 1.5 * 2.0**52
LOG2_E, LN_2_HIGH, LN_2_LOW = (
    struct.unpack("<d", bits.to_bytes(8, "little"))[0]
    for bits in (0x3FF71547652B82FE, 0x3FE62E42FEE00000, 0x3DEA39EF35793C76)
)
FACTORIALS = [1 / math.factorial(i) for i in range(14)]
STIRLING = [0.0, 0.08106146679532726, 0.0413406959554093, 0.02767792568499834, 0.020790672103765093, 0.016644691189821193,
            0.013876128823070748, 0.01189670994589177, 0.010411265261972096, 0.009255462182712733]
QUARTER = [1.5707963267948963, -0.6459640975062232, 0.07969262624568337, -0.004681754131447062, 0.0001604411695631063,
           -3.5988107063136794e-6, 5.688318064017795e-8, -6.449471237809134e-10]
STIRLING_SERIES = [1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188]
DOMAINS = {"gamma": 0, "beta 1": 1, "beta 2": 2, "student_t": 3, "poisson": 4, "binomial": 5,
           "fisher 1": 11, "fisher 2": 12, "wald": 13, "zipf": 14, "log_series": 15,
           "negative_binomial 1": 16, "negative_binomial 2": 17, "noncentral 1": 18, "noncentral 2": 19,
           "noncentral 3": 20, "noncentral_f 1": 21, "noncentral_f 2": 22, "noncentral_f 3": 23, "noncentral_f 4": 24,
           "hypergeometric": 25, "log_gamma": 27, "maxwell": 28}
LEAST_SHAPE = 2.0**-1000


def series(z, c):
    return polynomial(DOUBLE_PRECISION, z, c)


def ln(x):
    f, k = math.frexp(x)
    if f < DOUBLE_PRECISION.root_half:
        f, k = f * 2, k - 1
    d = f - 1
    s = d / (d + 2)
    z = s * s
    return k * LN_2 + ((s * z) * series(z, LOG) + (s + s))


def reduced(x):
    n = (x * LOG2_E + MAGIC) - MAGIC
    return int(n), (x - n * LN_2_HIGH) - n * LN_2_LOW


def exp(x):
    n, r = reduced(min(max(x, -746.0), 710.0))
    h = n // 2
    return (series(r, FACTORIALS) * 2.0**h) * 2.0 ** (n - h)


def expm1(x):
    n, r = reduced(min(max(x, -746.0), 710.0))
    f = r * series(r, FACTORIALS[1:])
    h = n // 2
    if n < 0:
        return (f * 2.0**h) * 2.0 ** (n - h) + (2.0**n - 1)
    inverse = 2.0**-n
    return ((f + (1 - inverse)) * 2.0**h) * 2.0 ** (n - h)


def open_uniform(w):
    return (2 * (w >> 12) + 1) / 2**53


def minus_ln_1_minus(p):
    if p > 0.25:
        return -ln(1 - p) if p < 1 else math.inf
    s = -p / (2 - p)
    z = s * s
    return -((s * z) * series(z, LOG) + (s + s))


def coordinate(w):
    s = open_uniform(2 * w % W)
    x = s * series(s * s, QUARTER)
    return -x if w >> 63 else x


def factor(k):
    return 2 * math.pi * k if k else 1.0


def stirling(k):
    if k < 10:
        return STIRLING[int(k)]
    i = 1 / k
    return i * series(i * i, STIRLING_SERIES)


def deviance(k, mean, d):
    if k == 0:
        return mean
    root_half = DOUBLE_PRECISION.root_half
    if not root_half <= k / mean < 2 * root_half:
        return k * ln(k / mean) - d
    s = d / (k + mean)
    z = s * s
    return d * s + k * ((s * z) * series(z, LOG))


def below_thresholds(p, w0):
    total, number = 0.0, 0
    for k in range(63, 0, -1):
        total += p[k]
        number += w0 < min(int(total * 2.0**64), W - 1)
    return number


class Distributions:
    def __init__(self, stream):
        self.stream = stream

    def block(self, domain, e, j):
        draw = 2**15 + 2**9 * DOMAINS[domain] + j
        block = self.stream.block(self.stream.key, self.stream.number << 80 | draw << 64 | e)
        return block % W, block >> 64

    def lognormal(self, e, m, s):
        return exp(m + s * self.stream.normal_f64(e))

    def laplace(self, e, m, s):
        w = self.stream.word(e)
        v = 2 * w % W
        if w >> 63:
            return m + s * logarithm(DOUBLE_PRECISION, W - 1 - v)
        return m - s * logarithm(DOUBLE_PRECISION, v)

    def f64(self, e):
        return (self.stream.word(e) >> 11) / 2**53

    def scaled_uniform(self, e, low, high):
        return low + (high - low) * self.f64(e)

    def scaled_normal(self, e, m, s):
        return m + s * self.stream.normal_f64(e)

    def scaled_exponential(self, e, s):
        return s * self.stream.exponential_f64(e)

    def rayleigh(self, e, s):
        return s * math.sqrt(2 * self.stream.exponential_f64(e))

    def weibull(self, e, a):
        return exp(ln(self.stream.exponential_f64(e)) / a)

    def pareto(self, e, a):
        return expm1(self.stream.exponential_f64(e) / a)

    def power(self, e, a):
        return exp(-(self.stream.exponential_f64(e) / a))

    def gumbel(self, e, m, s):
        return m - s * ln(self.stream.exponential_f64(e))

    def logistic(self, e, m, s):
        w = self.stream.word(e)
        v = 2 * w % W
        exponential = logarithm(DOUBLE_PRECISION, W - 1 - v if w >> 63 else v)
        x = exponential + ln(2 - exp(-exponential))
        return m + s * (x if w >> 63 else -x)

    def cauchy(self, e, m, s):
        w = self.stream.word(e)
        u = open_uniform(2 * w % W)
        sine, cosine = u * series(u * u, QUARTER), (1 - u) * series((1 - u) * (1 - u), QUARTER)
        return m + s * (sine / cosine if w >> 63 else -(sine / cosine))

    def triangular(self, e, left, mode, right):
        width = right - left
        t, u = (mode - left) / width, open_uniform(self.stream.word(e))
        if u <= t:
            return left + width * math.sqrt(u * t)
        return right - width * math.sqrt((1 - u) * (1 - t))

    def wald(self, e, m, s):
        w0, w1 = self.block("wald", e, 0)
        u = (2 * (w1 % H) + 1) / 2**33
        x = math.sqrt(-2 * ln(open_uniform(w0))) * coordinate(w1 >> 32 << 32 | 1 << 31)
        h = ((m / 2) / s) * (x * x)
        if h < 2.0**-1022:
            h = 0.0
        d = (1 + h) + math.sqrt(h) * math.sqrt(h + 2)
        return m / d if u * (1 + 1 / d) <= 1 else m * d

    def fisher_f(self, e, d1, d2):
        a, b = max(d1 / 2, 2.0**-1000), max(d2 / 2, 2.0**-1000)
        g1, e1 = self.gamma_parts("fisher 1", e, a)
        g2, e2 = self.gamma_parts("fisher 2", e, b)
        return ((g1 / a) * exp(e2 - e1)) * (b / g2)

    def zipf(self, e, a):
        c = a - 1
        if c >= 63:
            return 1
        rest, share = expm1(c * LN_2), -expm1(-(c * (63 * LN_2)))
        for j in range(512):
            w0, w1 = self.block("zipf", e, j)
            small = c < 1
            exponential = minus_ln_1_minus(share * open_uniform(w0)) if small else logarithm(DOUBLE_PRECISION, w0)
            k = exp(exponential / c)
            if not k < 2.0**63:
                continue
            k = float(math.floor(k))
            s = 1 / (k + k + 1)
            z = s * s
            log = (s * z) * series(z, LOG) + (s + s) if k > 2 else ln(1 + 1 / k)
            t = expm1(c * log)
            if ((open_uniform(w1) * k) * t) / rest <= (1 + t) / (1 + rest):
                return int(k)
        return 1

    def log_series(self, e, p):
        w0, w1 = self.block("log_series", e, 0)
        u, v = open_uniform(w0), open_uniform(w1)
        if v >= p:
            return 1
        q = -expm1(-(minus_ln_1_minus(p) * u))
        if v <= q * q:
            return min(math.floor(1 + ln(v) / ln(q)), W - 1) if q < 1 else W - 1
        return 1 if v >= q else 2

    def gamma_parts(self, domain, e, shape):
        a = shape if shape >= 1 else shape + 1
        d = a - 1 / 3
        w = (1 / 3) / math.sqrt(d)
        exponent = 0.0 if shape >= 1 else logarithm(DOUBLE_PRECISION, self.block(domain, e, 511)[0]) / shape
        for j in range(511):
            w0, w1 = self.block(domain, e, j)
            u = (2 * (w1 % H) + 1) / 2**33
            x = math.sqrt(-2 * ln(open_uniform(w0))) * coordinate(w1 >> 32 << 32 | 1 << 31)
            g = w * x
            t = 1 + g
            if t <= 0:
                continue
            v, q = (t * t) * t, x * x
            if u < 1 - 0.0331 * (q * q):
                return d * v, exponent
            if -0.25 <= g <= 0.25:
                s = g / (g + 2)
                z = s * s
                b = 3 * ((s * z) * series(z, LOG) - g * s) - (g * g) * (3 + g)
            else:
                b = 3 * ln(t) + (1 - v)
            if ln(u) < 0.5 * q + d * b:
                return d * v, exponent
        return d, exponent

    def gamma(self, e, shape):
        g, exponent = self.gamma_parts("gamma", e, shape)
        return g * (1.0 if shape >= 1 else exp(-exponent))

    def chi_square(self, e, k):
        return 2 * self.gamma(e, max(k / 2, 2.0**-1074))

    def beta(self, e, a, b):
        if max(a, b) < 2.0**-200:
            a, b = a * 2.0**100, b * 2.0**100
        if max(a, b) <= 1:
            for j in range(512):
                e1, e2 = (logarithm(DOUBLE_PRECISION, w) / x for w, x in zip(self.block("beta 1", e, j), (a, b)))
                r = exp(-abs(e1 - e2))
                if ln(1 + r) <= min(e1, e2):
                    return (1 if e1 <= e2 else r) / (1 + r)
            return 0.5
        g1, e1 = self.gamma_parts("beta 1", e, a)
        g2, e2 = self.gamma_parts("beta 2", e, b)
        m = min(e1, e2)
        first, second = g1 * exp(m - e1), g2 * exp(m - e2)
        return 1 / (1 + second / first) if first else 0.0

    def student_t(self, e, nu):
        nu = min(max(nu, 2.0**-60), 2.0**60)
        w0, w1 = self.block("student_t", e, 0)
        n, r = reduced(min((2 * logarithm(DOUBLE_PRECISION, w0)) / nu, 1500.0))
        m = r * series(r, FACTORIALS[1:]) + (1 - 2.0**-n)
        h = n // 2
        i = h // 2
        return coordinate(w1) * ((math.sqrt((nu * m) * 2.0 ** (n - 2 * h)) * 2.0**i) * 2.0 ** (h - i))

    def geometric(self, e, p):
        divisor = minus_ln_1_minus(p)
        x = self.stream.exponential_f64(e) / divisor if divisor else math.inf
        return min(1 + math.floor(x), W - 1) if x < 2.0**64 else W - 1

    def poisson(self, e, mean, domain="poisson"):
        if mean < 10:
            p = [exp(-mean)]
            for k in range(1, 64):
                p.append((p[-1] * mean) / k)
            return below_thresholds(p, self.block(domain, e, 0)[0])
        return self.ptrs(domain, e, mean)

    def ptrs(self, domain, e, mean):
        s = math.sqrt(mean)
        b = 0.931 + 2.53 * s
        a = -0.059 + 0.02483 * b
        i = 1.1239 + 1.1328 / (b - 3.4)
        limit = 0.9277 - 3.6224 / (b - 2)
        for j in range(512):
            w0, w1 = self.block(domain, e, j)
            u, v = open_uniform(w0) - 0.5, open_uniform(w1)
            t = 0.5 - abs(u)
            k = float(math.floor((((2 * a) / t + b) * u + mean) + 0.43))
            if k < 0:
                continue
            if t >= 0.07 and v <= limit:
                return int(k)
            if t < 0.013 and v > t:
                continue
            y = (v * i) / (a / (t * t) + b)
            if ln((y * y) * factor(k)) / 2 <= -(stirling(k) + deviance(k, mean, k - mean)):
                return int(k)
        return math.floor(mean)

    def negative_binomial(self, e, n, p):
        g, exponent = self.gamma_parts("negative_binomial 1", e, n)
        gamma = g * (1.0 if n >= 1 else exp(-exponent))
        mean = min(gamma * ((1 - p) / p), 2.0**63)
        if mean >= 10:
            return min(self.ptrs("negative_binomial 2", e, mean), W - 1)
        u, t, k = open_uniform(self.block("negative_binomial 2", e, 0)[0]), exp(-mean), 0
        while u >= t and k < 63:
            u, t, k = u - t, (t * mean) / (k + 1), k + 1
        return k

    def noncentral_halves(self, name, e, degrees, around):
        first, second, third = (f"{name} {i}" for i in (1, 2, 3))
        if degrees >= 1:
            g, exponent = self.gamma_parts(first, e, max((degrees - 1) / 2, LEAST_SHAPE))
            w0, w1 = self.block(second, e, 0)
            x = math.sqrt(around) + math.sqrt(2 * logarithm(DOUBLE_PRECISION, w0)) * coordinate(w1)
            return g, exponent, (x * x) / 2
        g, exponent = self.gamma_parts(first, e, max(degrees / 2, LEAST_SHAPE))
        pairs = float(self.poisson(e, around / 2, second))
        return g, exponent, self.gamma_parts(third, e, pairs)[0] if pairs else 0.0

    def noncentral_chi_square(self, e, k, around):
        g, exponent, rest = self.noncentral_halves("noncentral", e, k, around)
        return 2 * (g * exp(-exponent) + rest)

    def noncentral_f(self, e, d1, d2, around):
        a, b = max(d1 / 2, LEAST_SHAPE), max(d2 / 2, LEAST_SHAPE)
        g1, e1, rest = self.noncentral_halves("noncentral_f", e, d1, around)
        g2, e2 = self.gamma_parts("noncentral_f 4", e, b)
        rest = rest * exp(e2) if rest else 0.0
        return ((g1 * exp(e2 - e1) + rest) / a) * (b / g2)

    def log_gamma(self, e, shape):
        g, exponent = self.gamma_parts("log_gamma", e, max(shape, LEAST_SHAPE))
        return ln(g) - exponent

    def maxwell(self, e, scale):
        return scale * math.sqrt(2 * self.gamma_parts("maxwell", e, 1.5)[0])

    def hypergeometric(self, e, good, bad, sample):
        good, bad, sample = int(good), int(bad), int(sample)
        population = good + bad
        few, drawn = min(good, bad), min(sample, population - sample)
        k = self.of_halves("hypergeometric", e, population, few, drawn, False)
        among = drawn - k if good > bad else k
        return good - among if sample > population - sample else among

    def of_halves(self, domain, e, population, good, drawn, searched):
        """Hypergeometric, of a population of which at most half are good, and at most half drawn."""
        n, g, m = float(population), float(good), float(drawn)
        if not g or not m:
            return 0
        p, q, b, share = m / n, (n - m) / n, n - g, g / n
        mean = g * p
        if mean < 10:
            rarity = (mean + deviance(g, g * q, mean)) + (deviance(m, b * p, mean) + deviance(b - m, b * q, -mean))
            small = (stirling(b - m) - stirling(b)) + (stirling(n) - stirling(n - m))
            factors = (factor(b - m) / factor(b)) * (factor(n) / factor(n - m))
            chances = [exp(-(rarity + small)) / math.sqrt(factors)]
            for k in range(63):
                chances.append((chances[-1] * ((g - k) * (m - k))) / ((k + 1) * (((b - m) + k) + 1)))
            w0 = self.block(domain, e, 0)[0]
            if not searched:
                return below_thresholds(chances, w0)
            u, k = open_uniform(w0), 0
            while u >= chances[k] and k < 63:
                u, k = u - chances[k], k + 1
            return min(k, good, drawn)
        variance = ((m * share) * (1 - share)) * ((n - m) / (n - 1))
        h = 1.7155277699214135 * math.sqrt(variance + 0.5) + 0.8989161620588988
        middle = float(math.floor((m + 1) * ((g + 1) / (n + 2))))

        def rarity(k):  # V(k)
            d, others = k - mean, (b - m) + k
            return ((stirling(k) + stirling(g - k)) + (stirling(m - k) + stirling(others))) + (
                (deviance(k, mean, d) + deviance(g - k, g * q, -d))
                + (deviance(m - k, b * p, -d) + deviance(others, b * q, d))
            )

        def factors(k):
            return (factor(k) * factor(g - k)) * (factor(m - k) * factor((b - m) + k))

        least = rarity(middle) + ln(factors(middle)) / 2
        for j in range(512):
            w0, w1 = self.block(domain, e, j)
            u, v = open_uniform(w0), open_uniform(w1)
            k = float(math.floor((mean + 0.5) + (h * (v - 0.5)) / u))
            if k < 0 or k > g or k > m:
                continue
            square = u * u
            if ln((square * square) * factors(k)) / 2 <= least - rarity(k):
                return int(k)
        return int(middle)

    def binomial(self, e, n, p):
        if p > 0.5:
            return n - self.binomial(e, n, 1 - p)
        m, q = float(n), 1 - p
        w = m * p
        if w < 10:
            probabilities = [exp(-(m * minus_ln_1_minus(p)))]
            for k in range(1, 64):
                probabilities.append((probabilities[-1] * ((m - (k - 1)) * (p / q))) / k)
            return below_thresholds(probabilities, self.block("binomial", e, 0)[0])
        return min(self.btrs("binomial", e, m, p), n)

    def btrs(self, domain, e, m, p):
        q = 1 - p
        w = m * p
        s = math.sqrt(w * q)
        b = 1.15 + 2.53 * s
        a = (-0.0873 + 0.0248 * b) + 0.01 * p
        limit = 0.92 - 4.2 / b
        i = (2.83 + 5.1 / b) * s
        x, middle = m * q, float(math.floor((m + 1) * p))

        def rarity(k):  # V(k)
            return (stirling(k) + stirling(m - k)) + (deviance(k, w, k - w) + deviance(m - k, x, w - k))

        least = rarity(middle) + ln(factor(middle) * factor(m - middle)) / 2
        for j in range(512):
            w0, w1 = self.block(domain, e, j)
            u, v = open_uniform(w0) - 0.5, open_uniform(w1)
            t = 0.5 - abs(u)
            k = float(math.floor((((2 * a) / t + b) * u + w) + 0.5))
            if k < 0 or k > m:
                continue
            if t >= 0.07 and v <= limit:
                break
            y = (v * i) / (a / (t * t) + b)
            if ln((y * y) * (factor(k) * factor(m - k))) / 2 <= least - rarity(k):
                break
        else:
            k = middle
        return int(k)
