"""STREAMS.md: floats of 16 bits, as their bits, and complex normal numbers."""

import math

from .numbers import DOUBLE_PRECISION, SINGLE_PRECISION, logarithm, normal_point
from .sobol import Sobol


def nearest(x, precision, smallest):
    """The bits of the float of 16 bits nearest to x; `smallest` is the exponent of the smallest normal number."""
    sign, x = (1 << 15 if math.copysign(1, x) < 0 else 0), abs(x)
    exponent = max(math.frexp(x)[1] - 1 if x else smallest, smallest)
    # Exact, and `round` takes the even number of two as near.
    whole = round(math.ldexp(x, precision - 1 - exponent))
    # A number that is rounded up to a power of two carries into the exponent.
    return sign | (exponent - smallest << precision - 1) + whole


FORMATS = {"f16": (11, -14), "bf16": (8, -126)}


class Half(Sobol):
    def uniform(self, e, name):
        quarter = int.from_bytes(self.stream.bytes(2 * e, 2), "little")
        precision, smallest = FORMATS[name]
        return nearest((quarter >> 16 - precision) / 2**precision, precision, smallest)

    def f16(self, e):
        return self.uniform(e, "f16")

    def bf16(self, e):
        return self.uniform(e, "bf16")

    def normal_f16(self, e):
        return nearest(self.stream.normal_f32(e), *FORMATS["f16"])

    def normal_bf16(self, e):
        return nearest(self.stream.normal_f32(e), *FORMATS["bf16"])

    def complex_normal(self, p, x, y):
        r = p.rounded(math.sqrt(logarithm(p, x)))
        return [p.rounded(r * c) for c in normal_point(p, y)]

    def complex_normal_f64(self, e):
        return self.complex_normal(DOUBLE_PRECISION, self.stream.word(2 * e), self.stream.word(2 * e + 1))

    def complex_normal_f32(self, e):
        return self.complex_normal(SINGLE_PRECISION, self.stream.half(2 * e), self.stream.half(2 * e + 1))
