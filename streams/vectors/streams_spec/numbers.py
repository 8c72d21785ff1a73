"""STREAMS.md: streams, elements and numbers."""

import math
import struct

from .engines import ENGINES, H


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
    r = p.rounded(math.sqrt(p.rounded(2 * logarithm(p, x))))
    first, second = normal_point(p, y)
    return p.rounded(r * first), p.rounded(r * second)


def normal_point(p, y):
    """A point of the unit circle."""
    w = p.bits
    t = p.from_int((2 * y + 1) % (1 << (w - 2))) / 2 ** (w - 1)
    z = p.rounded(t * t)
    s = p.rounded(polynomial(p, z, p.sine) * t)
    c = polynomial(p, z, p.cosine)
    first, second = (s, c) if y >> (w - 3) & 1 else (c, s)
    first = -first if y >> (w - 1) & 1 else first
    second = -second if y >> (w - 2) & 1 else second
    return first, second
