"""STREAMS.md: Sobol's sequences."""

from pathlib import Path

from .rows import Rows

FILE = Path(__file__).parents[2] / "headwater-streams/src/numbers/distributions/sobol/joe-kuo.txt"


def directions(dimension):
    lines = [line for line in FILE.read_text().splitlines() if not line.startswith("#")]
    polynomial, *m = map(int, lines[dimension].split())
    s = polynomial.bit_length() - 1
    while len(m) < 53:
        if s == 0:
            m.append(1)
            continue
        number = m[-s]
        for i in range(1, s + 1):
            if polynomial >> (s - i) & 1:
                number ^= m[-i] << i
        m.append(number)
    return [number << 53 - k for k, number in enumerate(m, start=1)]


class Sobol(Rows):
    def sobol(self, i, d, scrambled):
        return [self.coordinate(i, c, scrambled) / 2**53 for c in range(int(d))]

    def coordinate(self, i, c, scrambled):
        x = 0
        for k, direction in enumerate(directions(c)):
            if (i ^ i >> 1) >> k & 1:
                x ^= direction
        if not scrambled:
            return x
        y = x
        for level in range(53):
            # The bit with `level` bits above it.
            group, inside = level // 7, level % 7
            prefix, q = x >> 53 - 7 * group, x >> 53 - level & (1 << inside) - 1
            w0, w1 = self.block("sobol", c << 49 | prefix, group)
            flip = w1 >> q if inside == 6 else w0 >> (1 << inside) - 1 + q
            y ^= (flip & 1) << 52 - level
        return y
