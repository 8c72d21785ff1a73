"""STREAMS.md: distributions of vectors."""

import math

from .distributions import exp, minus_ln_1_minus, open_uniform
from .samplers import Samplers


def cholesky(covariance, d):
    """Row j has the weights of normal number j, by component."""
    a = [covariance[i * d : i * d + d] for i in range(d)]
    rows = [[0.0] * d for _ in range(d)]
    for j in range(d):
        least = max((d * 2.0**-50) * a[j][j], 2.0**-1022)
        for c in range(j, d):
            rest = a[c][j]
            for k in range(j):
                rest -= rows[k][c] * rows[k][j]
            if c == j:
                if rest < -least:
                    raise ValueError("not positive semidefinite")
                root = rows[j][j] = math.sqrt(rest) if rest > least else 0.0
            elif root > 0:
                rows[j][c] = rest / root
            elif rest * rest > (4 * least) * a[c][c]:
                raise ValueError("not positive semidefinite")
    return rows


class Rows(Samplers):
    """Methods return vector i."""

    def dirichlet(self, i, *alpha):
        d = len(alpha)
        if max(alpha) < 2.0**-200:
            alpha = [x * 2.0**100 for x in alpha]
        parts = [self.gamma_parts("dirichlet", i * d + c, x) for c, x in enumerate(alpha)]
        least = min(exponent for _, exponent in parts)
        # The exponential of 0 is 1, and a shape from 1 on has exponent 0, which is then the least.
        numbers = [g * exp(least - exponent) if x < 1 else g for (g, exponent), x in zip(parts, alpha)]
        total = 0.0
        for number in numbers:
            total += number
        return [number / total for number in numbers]

    def multivariate_normal(self, i, *parameters):
        d = next(d for d in range(1, 100) if d + d * d == len(parameters))
        mean, rows = parameters[:d], cholesky(parameters[d:], d)
        normals = [self.stream.normal_f64(i * d + c) for c in range(d)]
        vector = []
        for c in range(d):
            total = 0.0
            for j in range(c + 1):
                total += rows[j][c] * normals[j]
            vector.append(mean[c] + total)
        return vector

    def multinomial(self, i, trials, *weights):
        d, sums, total = len(weights), [], 0.0
        for weight in reversed(weights):
            total = weight + total
            sums.insert(0, total)
        left, counts = trials, []
        for c, weight in enumerate(weights):
            p = weight / sums[c] if weight > 0 else 0.0
            count = self.rare("multinomial", i * d + c, float(left), 1 - p if p > 0.5 else p)
            count = min(count, left)
            counts.append(left - count if p > 0.5 else count)
            left -= counts[-1]
        return counts

    def rare(self, domain, e, m, p):
        """A binomial count of m trials for p up to 1/2."""
        if m * p < 10:
            u, k, t = open_uniform(self.block(domain, e, 0)[0]), 0, exp(-(m * minus_ln_1_minus(p)))
            while k < 63 and u >= t:
                u -= t
                t = (t * ((m - k) * (p / (1 - p)))) / (k + 1)
                k += 1
            return k
        return self.btrs(domain, e, m, p)

    def multivariate_hypergeometric(self, i, left, *colors):
        d, population, vector = len(colors), int(sum(colors)), []
        for c, good in enumerate(int(n) for n in colors):
            others = population - good
            few, drawn = min(good, others), min(left, population - left)
            k = self.of_halves("multivariate_hypergeometric", i * d + c, population, few, drawn, True)
            among = drawn - k if good > others else k
            count = good - among if left > population - left else among
            vector.append(count)
            left, population = left - count, others
        return vector
