"""STREAMS.md in plain Python, and its comparison with the files beside it.

Written from STREAMS.md (with FIPS 197 for AES and RFC 7693, which `hashlib` has), so it shows that the document is
complete. It needs no package. `python3 vectors/streams.py` compares it with every case of every file, and exits with 1
if a value differs.
"""

import json
import math
import struct
import sys
from hashlib import blake2s
from pathlib import Path

W = 1 << 64
H = 1 << 32


def word(data, at=0):
    return int.from_bytes(data[at : at + 8], "little")


def rotl(x, k):
    return (x << k | x >> (64 - k)) % W


# --- Engines -------------------------------------------------------------------------------------


def doubled(x):
    return (x << 1) ^ (0x11B if x & 0x80 else 0)


def times(x, y):
    product = 0
    while y:
        if y & 1:
            product ^= x
        x, y = doubled(x), y >> 1
    return product


def s_box():
    """FIPS 197, 5.1.1: the inverse in GF(2^8), then an affine map."""
    box = []
    for x in range(256):
        inverse = next((y for y in range(256) if times(x, y) == 1), 0)
        bits = [inverse >> i & 1 for i in range(8)]
        mapped = [bits[i] ^ bits[(i + 4) % 8] ^ bits[(i + 5) % 8] ^ bits[(i + 6) % 8] ^ bits[(i + 7) % 8] for i in range(8)]
        box.append(sum(bit << i for i, bit in enumerate(mapped)) ^ 0x63)
    return box


S_BOX = s_box()
DOUBLE = [doubled(x) for x in range(256)]


def ars(rounds, key, counter):
    state = (key ^ counter).to_bytes(16, "little")
    low, high = key % W, key >> 64
    for number in range(1, rounds + 1):
        low, high = (low + 0x9E3779B97F4A7C15) % W, (high + 0xBB67AE8584CAA73B) % W
        # Byte i of the state is in row i mod 4 and column i div 4. ShiftRows moves row r by r columns to the left.
        state = bytes(S_BOX[state[i % 4 + 4 * ((i // 4 + i) % 4)]] for i in range(16))
        if number < rounds:
            mixed = []
            for c in range(0, 16, 4):
                a = state[c : c + 4]
                total = a[0] ^ a[1] ^ a[2] ^ a[3]
                mixed += [a[r] ^ total ^ DOUBLE[a[r] ^ a[(r + 1) % 4]] for r in range(4)]
            state = bytes(mixed)
        state = (int.from_bytes(state, "little") ^ (high << 64 | low)).to_bytes(16, "little")
    return int.from_bytes(state, "little")


def philox4x32(key, counter):
    counter ^= key >> 64 << 64
    c0, c1, c2, c3 = (counter >> (32 * i) & (H - 1) for i in range(4))
    k0, k1 = key % H, key >> 32 & (H - 1)
    for _ in range(10):
        p, q = c0 * 0xD2511F53, c2 * 0xCD9E8D57
        c0, c1, c2, c3 = q >> 32 ^ c1 ^ k0, q % H, p >> 32 ^ c3 ^ k1, p % H
        k0, k1 = (k0 + 0x9E3779B9) % H, (k1 + 0xBB67AE85) % H
    return c0 | c1 << 32 | c2 << 64 | c3 << 96


ENGINES = {"ars7": lambda k, c: ars(7, k, c), "ars5": lambda k, c: ars(5, k, c), "philox4x32": philox4x32}


# --- Keys ----------------------------------------------------------------------------------------


def encoded(seed):
    if isinstance(seed, int):
        return bytes([0]) + seed.to_bytes(16, "little") if seed >= 0 else bytes([1]) + (-1 - seed).to_bytes(16, "little")
    return bytes([2]) + seed if isinstance(seed, bytes) else bytes([3]) + seed.encode()


def hashed(engine, purpose, *parts):
    head = b"hw-streams-v1".ljust(16, b"\0") + engine.encode().ljust(12, b"\0") + bytes([purpose])
    return blake2s(head + b"".join(parts)).digest()


def root_key(engine, seed):
    return hashed(engine, 0, encoded(seed))[:16]


def child_key(engine, key, label):
    return hashed(engine, 1, key, encoded(label))[:16]


def expand(engine, key, label, length):
    pieces = (hashed(engine, 2, key, i.to_bytes(8, "little"), encoded(label)) for i in range(-(-length // 32)))
    return b"".join(pieces)[:length]


# --- Streams and numbers -------------------------------------------------------------------------


class Stream:
    def __init__(self, engine, key, number):
        self.block = ENGINES[engine]
        self.key, self.number = int.from_bytes(key, "little"), number

    def bytes(self, start, length, draw=0):
        first, last = start // 16, (start + length + 15) // 16
        blocks = (self.block(self.key, self.number << 80 | draw << 64 | b) for b in range(first, last))
        return b"".join(b.to_bytes(16, "little") for b in blocks)[start % 16 :][:length]

    def word(self, e, draw=0):
        return int.from_bytes(self.bytes(8 * e, 8, draw), "little")

    def half(self, e, draw=0):
        return int.from_bytes(self.bytes(4 * e, 4, draw), "little")

    def bounded(self, w, bound, e):
        source = self.word if w == 64 else self.half
        for draw in range(1 << 16):
            p = source(e, draw) * bound
            if p % (1 << w) >= (1 << w) % bound:
                break
        return p >> w

    def f64(self, e):
        return (self.word(e) >> 11) / 2**53

    def f32(self, e):
        return (self.half(e) >> 8) / 2**24

    def exponential_f64(self, e):
        return logarithm(DOUBLE_PRECISION, self.word(e))

    def normal_f64(self, e):
        return normal_pair(DOUBLE_PRECISION, self.word(e & ~1), self.word(e | 1))[e % 2]

    def normal_f32(self, e):
        return normal_pair(SINGLE_PRECISION, self.half(e & ~1), self.half(e | 1))[e % 2]

    def shuffled(self, n):
        order, left, batch = list(range(n)), n, 0
        while left > 1:
            sizes = [(6, 1), (512, 6), (2048, 5), (16384, 4), (1 << 19, 3), (1 << 30, 2)]
            k = next((k for most, k in sizes if left <= most), 1)
            m = math.prod(range(left - k + 1, left + 1))
            v = self.bounded(64, m, batch)
            for _ in range(k):
                m //= left
                i = v // m
                order[left - 1], order[i] = order[i], order[left - 1]
                v, left = v % m, left - 1
            batch += 1
        return order

    def permuted(self, n, start, length):
        if n <= 256:
            return self.shuffled(n)[start : start + length]
        words = [self.word(e) for e in range(25)]
        b = (n - 1).bit_length()
        l = (b + 1) // 2
        h = b - l

        def g(v, key):
            p = (v ^ key % H) * (key >> 32 | 1)
            return p >> 32 ^ p % H

        def at(x):
            while True:
                upper, lower = x >> l, x % (1 << l)
                for j in range(12):
                    if j % 2 == 0:
                        upper ^= g(g(lower, words[2 * j]), words[2 * j + 1]) % (1 << h)
                    else:
                        lower ^= g(g(upper, words[2 * j]), words[2 * j + 1]) % (1 << l)
                x = upper << l | lower
                if words[24] % 2 == 1 and x < 2:
                    x = 1 - x
                if x < n:
                    return x

        return [at(i) for i in range(start, min(start + length, n))]


def single(x):
    """The nearest float of single precision. `+ - * /` and roots of such floats, rounded twice, are rounded right."""
    return struct.unpack("<f", struct.pack("<f", x))[0]


def nearest_single(n):
    """An integer as the nearest float of single precision, rounded once."""
    excess = max(n.bit_length() - 24, 0)
    quotient, rest = n >> excess, n & ((1 << excess) - 1)
    half = 1 << excess >> 1
    return float((quotient + (rest > half or (rest == half and half and quotient & 1))) << excess)


class Precision:
    def __init__(self, bits, rounded, from_int, root_half, log, sine, cosine):
        self.bits, self.rounded, self.from_int = bits, rounded, from_int
        self.root_half = root_half
        self.log, self.sine, self.cosine = ([rounded(c) for c in list_] for list_ in (log, sine, cosine))


DOUBLE_PRECISION = Precision(
    64,
    float,
    float,
    struct.unpack("<d", (0x3FE6A09E667F3BCD).to_bytes(8, "little"))[0],
    [0.6666666666666734, 0.3999999999941708, 0.28571428741882043, 0.22222198622870856, 0.18183561836640963,
     0.15314112225295762, 0.14795350288838463],
    [math.pi / 2, -0.6459640975062381, 0.07969262624584415, -0.004681754129625158, 0.0001604411326945897,
     -3.598585748498499e-6, 5.626858907924295e-8],
    [1, -1.2337005501361697, 0.25366950790104287, -0.02086348076322718, 0.0009192602732998637, -2.520203194041353e-5,
     4.710477243016975e-7, -6.306848163316639e-9],
)
SINGLE_PRECISION = Precision(
    32,
    single,
    nearest_single,
    struct.unpack("<f", (0x3F3504F4).to_bytes(4, "little"))[0],
    [0.66666776, 0.3997759, 0.29870573],
    [math.pi / 2, -0.645965, 0.079692006, -0.004628752],
    [1, -1.2337005, 0.25366867, -0.02085681, 0.0008974423],
)


def polynomial(p, z, c):
    c = list(c)
    while len(c) > 1:
        pairs = [c[i : i + 2] for i in range(0, len(c), 2)]
        c = [p.rounded(two[0] + p.rounded(two[1] * z)) if len(two) == 2 else two[0] for two in pairs]
        z = p.rounded(z * z)
    return c[0]


def logarithm(p, x):
    w = p.bits
    f, k = p.from_int(x | 1), 0
    while f >= 2 * p.root_half:
        f, k = f / 2, k + 1
    d = -(p.from_int(~x % (1 << w) | 1) / 2**w) if k == w else p.rounded(f - 1)
    s = p.rounded(d / p.rounded(d + 2))
    z = p.rounded(s * s)
    tail = p.rounded(p.rounded(p.rounded(s * z) * polynomial(p, z, p.log)) + p.rounded(s + s))
    return p.rounded(p.rounded((w - k) * p.rounded(math.log(2))) - tail)


def normal_pair(p, x, y):
    w = p.bits
    r = p.rounded(math.sqrt(p.rounded(2 * logarithm(p, x))))
    t = p.from_int((2 * y + 1) % (1 << (w - 2))) / 2 ** (w - 1)
    z = p.rounded(t * t)
    s = p.rounded(polynomial(p, z, p.sine) * t)
    c = polynomial(p, z, p.cosine)
    first, second = (s, c) if y >> (w - 3) & 1 else (c, s)
    first = -first if y >> (w - 1) & 1 else first
    second = -second if y >> (w - 2) & 1 else second
    return p.rounded(r * first), p.rounded(r * second)


# --- Distributions -------------------------------------------------------------------------------

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
DOMAINS = {"gamma": 0, "beta 1": 1, "beta 2": 2, "student_t": 3, "poisson": 4, "binomial": 5}


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

    def poisson(self, e, mean):
        if mean < 10:
            p = [exp(-mean)]
            for k in range(1, 64):
                p.append((p[-1] * mean) / k)
            return below_thresholds(p, self.block("poisson", e, 0)[0])
        s = math.sqrt(mean)
        b = 0.931 + 2.53 * s
        a = -0.059 + 0.02483 * b
        i = 1.1239 + 1.1328 / (b - 3.4)
        limit = 0.9277 - 3.6224 / (b - 2)
        for j in range(512):
            w0, w1 = self.block("poisson", e, j)
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
            w0, w1 = self.block("binomial", e, j)
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
        return min(int(k), n)


# --- Generators with a state ---------------------------------------------------------------------


class Xoshiro256pp:
    width = 4

    def __init__(self, state):
        self.s = list(state)

    def next(self):
        s = self.s
        result = (rotl((s[0] + s[3]) % W, 23) + s[0]) % W
        t = s[1] << 17 & (W - 1)
        s[2] ^= s[0]
        s[3] ^= s[1]
        s[1] ^= s[2]
        s[0] ^= s[3]
        s[2] ^= t
        s[3] = rotl(s[3], 45)
        return result


class Xorshift128p:
    width = 2

    def __init__(self, state):
        self.s = list(state)

    def next(self):
        s0, s1 = self.s
        a = s0 ^ s0 << 23 & (W - 1)
        self.s = [s1, a ^ s1 ^ a >> 18 ^ s1 >> 5]
        return (self.s[0] + self.s[1]) % W


class Pcg64Dxsm:
    M = 0xDA942042E4DD58B5

    def __init__(self, state, increment):
        self.state, self.increment = state, increment

    def next(self):
        h, l = self.state >> 64, self.state % W | 1
        h ^= h >> 32
        h = h * self.M % W
        h ^= h >> 48
        self.state = (self.state * self.M + self.increment) % (1 << 128)
        return h * l % W

    def skip(self, n):
        """n steps at once, by squaring the map x -> m x + a."""
        m, a, total_m, total_a = self.M, self.increment, 1, 0
        while n:
            if n & 1:
                total_m, total_a = m * total_m % (1 << 128), (m * total_a + a) % (1 << 128)
            m, a, n = m * m % (1 << 128), (m * a + a) % (1 << 128), n >> 1
        self.state = (total_m * self.state + total_a) % (1 << 128)


class Sfc64:
    def __init__(self, a, b, c, n=1):
        self.s = [a, b, c, n]

    def next(self):
        a, b, c, n = self.s
        r = (a + b + n) % W
        self.s = [b ^ b >> 11, (c + (c << 3)) % W, (rotl(c, 24) + r) % W, (n + 1) % W]
        return r


def splitmix64(x, count):
    words = []
    for _ in range(count):
        x = (x + 0x9E3779B97F4A7C15) % W
        z = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 % W
        z = (z ^ z >> 27) * 0x94D049BB133111EB % W
        words.append(z ^ z >> 31)
    return words


def columns(generator):
    """The step of a linear generator as a matrix over GF(2): its images of the unit vectors, as integers."""
    images = []
    for bit in range(64 * generator.width):
        there = generator([(1 << bit) >> 64 * i & (W - 1) for i in range(generator.width)])
        there.next()
        images.append(sum(x << 64 * i for i, x in enumerate(there.s)))
    return images


def image(matrix, vector):
    total = 0
    while vector:
        low = vector & -vector
        total ^= matrix[low.bit_length() - 1]
        vector ^= low
    return total


POWERS = {}


def power(generator, exponent):
    """The matrix of 2^exponent steps."""
    matrices = POWERS.setdefault(generator, [columns(generator)])
    while len(matrices) <= exponent:
        matrices.append([image(matrices[-1], column) for column in matrices[-1]])
    return matrices[exponent]


def skip(there, n):
    generator = type(there)
    vector = sum(x << 64 * i for i, x in enumerate(there.s))
    for exponent in range(n.bit_length()):
        if n >> exponent & 1:
            vector = image(power(generator, exponent), vector)
    there.s = [vector >> 64 * i & (W - 1) for i in range(generator.width)]


def seed_sequence(entropy, spawn_key, count):
    words = list(entropy)
    if spawn_key:
        words += [0] * (4 - len(words)) + list(spawn_key)
    c = 0x43B0D7E5

    def scrambled(v):
        nonlocal c
        v ^= c
        c = c * 0x931E8875 % H
        v = v * c % H
        return v ^ v >> 16

    def mix(x, y):
        r = (x * 0xCA01F9DD - y * 0x4973F715) % H
        return r ^ r >> 16

    pool = [scrambled(words[i] if i < len(words) else 0) for i in range(4)]
    for source in range(4):
        for target in range(4):
            if target != source:
                pool[target] = mix(pool[target], scrambled(pool[source]))
    for value in words[4:]:
        for target in range(4):
            pool[target] = mix(pool[target], scrambled(value))
    out, c = [], 0x8B51F9DD
    for i in range(2 * count):
        v = pool[i % 4] ^ c
        c = c * 0x58F38DED % H
        v = v * c % H
        out.append(v ^ v >> 16)
    return [low | high << 32 for low, high in zip(out[::2], out[1::2])]


def half_words(n):
    return [n >> 32 * i & (H - 1) for i in range(max(1, -(-n.bit_length() // 32)))]


def numpys(name, entropy, spawn_key):
    if name == "pcg64dxsm":
        w = seed_sequence(entropy, spawn_key, 4)
        initial, increment = w[0] << 64 | w[1], ((w[2] << 64 | w[3]) << 1 | 1) % (1 << 128)
        state = (increment + initial) * 0x2360ED051FC65DA44385DF649FCCF645 + increment
        return Pcg64Dxsm(state % (1 << 128), increment)
    there = Sfc64(*seed_sequence(entropy, spawn_key, 3))
    for _ in range(12):
        there.next()
    return there


def typed(text):
    """A seed as it is typed to the command."""
    for prefix, make in ("hex:", bytes.fromhex), ("text:", str):
        if text.startswith(prefix):
            return make(text[len(prefix) :])
    return int(text, 0) if text[0] in "0123456789-" else text


def command(name, seed, substream, offset, length):
    """Bytes of `headwater stream --engine name` for a generator with a state."""
    if name in ("pcg64dxsm", "sfc64"):
        there = numpys(name, half_words(seed), [] if substream is None else [substream])
        there.skip(offset // 8) if offset >= 8 else None
        lanes = [there]
    else:
        generator = Xorshift128p if name == "xorshift128p" else Xoshiro256pp
        label, jump = ("xorshift128p", 64) if name == "xorshift128p" else ("xoshiro256pp", 128)
        state = expand("ars7", root_key("ars7", seed), label, 8 * generator.width)
        words = [word(state, 8 * i) for i in range(generator.width)]
        many = 8 if name.endswith("-x8") else 1
        lanes = []
        for lane in range(many):
            there = generator(words if any(words) else splitmix64(0, generator.width))
            skip(there, ((substream or 0) * many + lane) << jump)
            skip(there, offset // 8 // many + (lane < offset // 8 % many))
            lanes.append(there)
        first = offset // 8 % many
        lanes = lanes[first:] + lanes[:first]
    return joined(lanes, offset % 8 + length)[offset % 8 :]


def joined(lanes, length):
    """Bytes of several generators, a word of each in turn."""
    words = (lanes[i % len(lanes)].next() for i in range(-(-length // 8)))
    return b"".join(w.to_bytes(8, "little") for w in words)[:length]


# --- The files -----------------------------------------------------------------------------------


def bits(x, double):
    return struct.pack(">d" if double else ">f", x).hex()


def numbers(case):
    stream = Stream(case["engine"], bytes.fromhex(case["key"]), case["stream"])
    kind, start, count = case["kind"], int(case["start"]), len(case["values"])
    n = int(case.get("n", case.get("bound", 0)))
    if kind == "shuffle":
        return [str(i) for i in stream.shuffled(n)]
    if kind in ("permutation", "sample"):
        return [str(i) for i in stream.permuted(n, start, count)]
    if kind.startswith("bounded"):
        return [str(stream.bounded(int(kind[-2:]), n, e)) for e in range(start, start + count)]
    element = getattr(stream, kind)
    return [bits(element(e), kind.endswith("64")) for e in range(start, start + count)]


def distributions(case):
    there = Distributions(Stream(case["engine"], bytes.fromhex(case["key"]), case["stream"]))
    parameters = [struct.unpack(">d", bytes.fromhex(x))[0] for x in case["parameters"]]
    parameters = ([int(case["n"])] if "n" in case else []) + parameters
    start = int(case["start"])
    element = getattr(there, case["kind"])
    values = [element(e, *parameters) for e in range(start, start + len(case["values"]))]
    if case["value"] == "u64":
        return [str(value) for value in values]
    if case["value"] == "f64":
        return [bits(value, True) for value in values]
    return [bits(rounded_single(value), False) for value in values]


def rounded_single(x):
    """The nearest float of single precision, which may be infinite."""
    try:
        return single(x)
    except OverflowError:
        return math.copysign(math.inf, x)


def check(name, case):
    """What the case says, and what this program computes."""
    if name == "engines":
        block = ENGINES[case["engine"]](int(case["key"], 16), int(case["counter"], 16))
        return case["block"], f"{block:032x}"
    if name == "keys":
        (kind, value), engine = next(iter(case["seed"].items())), case["engine"]
        seed = {"integer": int, "text": str, "bytes": bytes.fromhex}[kind](value)
        key = root_key(engine, seed)
        child = child_key(engine, key, seed)
        expanded = expand(engine, child, seed, 70)
        return [case["key"], case["child"], case["expanded"]], [key.hex(), child.hex(), expanded.hex()]
    if name == "streams":
        stream = Stream(case["engine"], bytes.fromhex(case["key"]), case["stream"])
        return case["bytes"], stream.bytes(int(case["start"]), len(case["bytes"]) // 2).hex()
    if name == "numbers":
        return case["values"], numbers(case)
    if name == "distributions":
        return case["values"], distributions(case)
    length = len(case["bytes"]) // 2
    if name == "seeds":
        substream = None if case["substream"] is None else int(case["substream"])
        data = command(case["generator"], typed(case["seed"]), substream, int(case["offset"]), length)
        return case["bytes"], data.hex()
    return case["bytes"], generator_case(case, length)


def generator_case(case, length):
    name = case["generator"]
    if "entropy" in case:
        entropy = case["entropy"]
        entropy = half_words(int(entropy)) if isinstance(entropy, (str, int)) else [int(x) for x in entropy]
        there = numpys(name, entropy, [int(x) for x in case["spawn_key"]])
        return joined([there], length).hex()
    data = bytes.fromhex(case["state"])
    state = [word(data, at) for at in range(0, len(data), 8)]
    base, _, exponent = case["skip"].partition("^")
    steps = int(base) ** int(exponent) if exponent else int(base)
    generator = Xorshift128p if name == "xorshift128p" else Xoshiro256pp
    lanes = []
    for lane in range(8 if name.endswith("8 lanes") else 1):
        there = generator(state)
        skip(there, steps + (lane << 128))
        lanes.append(there)
    return joined(lanes, length).hex()


def main():
    wrong = 0
    for name in "engines", "keys", "streams", "numbers", "distributions", "generators", "seeds":
        cases = json.loads((Path(__file__).parent / f"{name}.json").read_text())["cases"]
        for case in cases:
            expected, computed = check(name, case)
            if expected != computed:
                wrong += 1
                print(f"{name}.json: {case}\n  computed {computed}")
        print(f"{name}.json: {len(cases)} cases")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
