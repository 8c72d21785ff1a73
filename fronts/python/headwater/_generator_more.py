"""Numbers that NumPy's generators lack, under the names of JAX and of randomgen.

Each is made of draws at the cursor, so its values depend on the key and the cursor alone. Arguments
have NumPy's order: the parameters, then `size`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from headwater._generator_draw import KINDS, Draw, floats, lengths
from headwater.numpy import _integer

_MAXWELL, _LOG_GAMMA = KINDS["maxwell"], KINDS["log_gamma"]


def _fits(shape: tuple[int, ...], wanted: tuple[int, ...]) -> bool:
    """Returns true if arrays of a shape can be spread over another one."""
    try:
        return np.broadcast_shapes(shape, wanted) == wanted
    except ValueError:
        return False


class More(Draw):
    """The methods of JAX and randomgen that NumPy's `Generator` lacks."""

    def bits(self, size: Any = None, dtype: Any = np.uint32) -> Any:
        """Returns random bits as unsigned integers of this type.

        >>> rng.bits(2, np.uint8)
        """
        of = np.dtype(dtype)
        if of.kind != "u":
            raise TypeError(f"dtype must be a type of unsigned integers, not {of}")
        most = int(np.iinfo(of).max)
        return self.integers(0, most, size, of, True)  # type: ignore[attr-defined]

    def bernoulli(self, p: Any = 0.5, size: Any = None) -> Any:
        """Returns True with probability `p`, which may be an array.

        >>> rng.bernoulli(0.25, 4)
        """
        chance = floats(p)
        if not np.all((chance >= 0) & (chance <= 1)):
            raise ValueError("p < 0, p > 1 or p is NaN")
        shape = chance.shape if size is None else lengths(size)
        if not _fits(chance.shape, shape):
            raise ValueError(
                f"Output size {shape} is not compatible with broadcast dimensions of inputs "
                f"{chance.shape}."
            )
        made = self.random(shape or None)  # type: ignore[attr-defined]
        return made < chance if shape else bool(made < chance)

    def rademacher(self, size: Any = None, dtype: Any = np.int64) -> Any:
        """Returns -1 or 1, each with probability 1/2.

        >>> rng.rademacher(5)
        """
        of = np.dtype(dtype)
        if of.kind not in "if":
            raise TypeError(f"dtype must have a sign, so it must be of integers or floats, not {of}")
        sides = self.integers(0, 2, size, np.int8, False)  # type: ignore[attr-defined]
        made = (2 * np.asarray(sides, np.int8) - 1).astype(of)
        return made[()]

    def maxwell(self, scale: Any = 1.0, size: Any = None) -> Any:
        """Returns lengths of vectors of three normal numbers of the deviation `scale`.

        >>> rng.maxwell(2.0, 3)
        """
        return self._kind(_MAXWELL, "scale", size, scale)

    def loggamma(self, a: Any, size: Any = None) -> Any:
        """Returns logarithms of gamma numbers of shape `a`, finite for small shapes too.

        >>> rng.loggamma(1e-6, 3)
        """
        return self._kind(_LOG_GAMMA, "a", size, a)

    def _kind(self, kind: int, name: str, size: Any, value: Any) -> Any:
        made = self._draw(kind, size, None, None, value)
        if made is None and np.ndim(value):
            made = self._each(kind, size, (value,))
        if made is None:
            need = "a finite number from 0" if kind == _MAXWELL else "a finite number above 0"
            raise ValueError(f"{name} must be {need}, and fit size {size!r}, not {value!r}")
        return made

    def ball(self, d: Any, p: float = 2.0, size: Any = None) -> Any:
        """Returns points of the ball of all vectors whose p-norm is at most 1, each as likely.

        `d` is the dimension, and `p` may be infinite. Method: F. Barthe, O. Guedon, S. Mendelson
        and A. Naor, "A Probabilistic Approach to the Geometry of the l_p^n-Ball", Annals of
        Probability 33(2), 2005.

        >>> np.linalg.norm(rng.ball(3, size=4), axis=-1) <= 1
        """
        d = _integer("d", d)
        if d < 1:
            raise ValueError(f"d must be 1 or more, not {d}")
        if not p > 0:
            raise ValueError(f"p must be above 0, not {p!r}")
        shape = (*lengths(size), d)
        if math.isinf(p):
            return self.uniform(-1.0, 1.0, shape)  # type: ignore[attr-defined]
        # Logarithms, because a gamma number of a small shape would underflow.
        parts = np.asarray(self.loggamma(1 / p, shape))
        rest = np.asarray(self.standard_exponential(shape[:-1]))  # type: ignore[attr-defined]
        sides = self.rademacher(shape, np.float64)
        # A caller may have made errors of these: a coordinate that is far below another one is 0.
        with np.errstate(divide="ignore", under="ignore"):
            total = np.logaddexp(np.logaddexp.reduce(parts, axis=-1), np.log(rest))
            return sides * np.exp((parts - total[..., None]) / p)

    def orthogonal(self, n: Any, size: Any = None) -> Any:
        """Returns orthogonal matrices of `n` rows, distributed by Haar's measure.

        Method: F. Mezzadri, "How to Generate Random Matrices from the Classical Compact Groups",
        Notices of the AMS 54(5), 2007.

        >>> q = rng.orthogonal(4)
        >>> np.allclose(q @ q.T, np.eye(4))
        """
        n = _integer("n", n)
        if n < 0:
            raise ValueError(f"n must be 0 or more, not {n}")
        shape = (*lengths(size), n, n)
        normals = np.asarray(self.standard_normal(shape))  # type: ignore[attr-defined]
        q, r = np.linalg.qr(normals)
        signs = np.where(np.diagonal(r, axis1=-2, axis2=-1) < 0, -1.0, 1.0)
        return q * signs[..., None, :]

    def wishart(self, df: Any, scale: Any, size: Any = None) -> Any:
        """Returns matrices of Wishart's distribution, whose mean is `df * scale`.

        `scale` is positive semidefinite. `df` is a number above n - 1 for n rows of `scale`, or a
        whole number from 1, for which a matrix has at most this rank. Method: M. S. Bartlett, "On
        the Theory of Statistical Regression", Proceedings of the Royal Society of Edinburgh 53,
        1933.

        >>> rng.wishart(5, [[2, 0.5], [0.5, 1]]).shape
        (2, 2)
        """
        matrix = _symmetric(scale, "scale")
        n = len(matrix)
        factor = _factor(matrix, "scale")
        many = lengths(size)
        df = float(df)
        if math.isfinite(df) and df > n - 1:
            lower = np.zeros((*many, n, n))
            rows, columns = np.tril_indices(n, -1)
            normals = self.standard_normal((*many, len(rows)))  # type: ignore[attr-defined]
            lower[..., rows, columns] = normals
            for i in range(n):
                squares = self.chisquare(df - i, many or None)  # type: ignore[attr-defined]
                lower[..., i, i] = np.sqrt(squares)
        elif math.isfinite(df) and df >= 1 and df == int(df):
            lower = self.standard_normal((*many, n, int(df)))  # type: ignore[attr-defined]
        else:
            raise ValueError(f"df must be above {n - 1}, or a whole number from 1, not {df!r}")
        root = factor @ lower
        return root @ np.swapaxes(root, -1, -2)

    def complex_normal(
        self, loc: Any = 0.0, gamma: Any = 1.0, relation: Any = 0.0, size: Any = None
    ) -> Any:
        """Returns complex normal numbers of mean `loc`, variance `gamma` and this relation.

        For z around `loc`, `gamma` is the mean of |z|^2, and `relation` that of z^2. Parameters are
        numbers, or arrays that broadcast.

        >>> rng.complex_normal(1 + 2j, 3.0, size=2)
        """
        place, spread, square = (
            floats(loc, np.complex128),
            floats(gamma),
            floats(relation, np.complex128),
        )
        if not np.all(np.isfinite(place)):
            raise ValueError("loc must be finite")
        if not (np.all(np.abs(square) <= spread) and np.all(np.isfinite(spread))):
            raise ValueError("gamma must be finite, and at least the size of relation")
        shape = np.broadcast_shapes(place.shape, spread.shape, square.shape)
        wanted = shape if size is None else lengths(size)
        if not _fits(shape, wanted):
            raise ValueError(f"size must be one that the parameters broadcast to, not {size!r}")
        made = self.standard_normal((*wanted, 2))  # type: ignore[attr-defined]
        variance = (spread + square.real) / 2
        deviation = np.sqrt(variance)
        with np.errstate(divide="ignore", invalid="ignore"):
            slope = np.where(variance > 0, (square.imag / 2) / deviation, 0.0)
        rest = np.sqrt(np.maximum((spread - square.real) / 2 - slope * slope, 0.0))
        real = deviation * made[..., 0]
        imaginary = slope * made[..., 0] + rest * made[..., 1]
        return (place + (real + 1j * imaginary))[()]

    def multivariate_complex_normal(
        self, loc: Any, gamma: Any = None, relation: Any = None, size: Any = None
    ) -> Any:
        """Returns complex normal vectors of mean `loc` in the last dimension.

        For z around `loc`, `gamma` is the mean of z z^H (the identity if it is None), and
        `relation` that of z z^T (0 if it is None).

        >>> rng.multivariate_complex_normal([0, 1j], size=3).shape
        (3, 2)
        """
        place = floats(loc, np.complex128)
        if place.ndim != 1 or not np.all(np.isfinite(place)):
            raise ValueError("loc must be a list of finite numbers")
        n = len(place)
        spread = np.eye(n) if gamma is None else floats(gamma, np.complex128)
        square = np.zeros((n, n)) if relation is None else floats(relation, np.complex128)
        if spread.shape != (n, n) or not np.allclose(spread, spread.conj().T):
            raise ValueError(f"gamma must be a Hermitian matrix of shape ({n}, {n})")
        if square.shape != (n, n) or not np.allclose(square, square.T):
            raise ValueError(f"relation must be a symmetric matrix of shape ({n}, {n})")
        covariance = np.empty((2 * n, 2 * n))
        covariance[:n, :n] = (spread + square).real / 2
        covariance[n:, n:] = (spread - square).real / 2
        covariance[:n, n:] = (square - spread).imag / 2
        covariance[n:, :n] = covariance[:n, n:].T
        factor = _factor(covariance, "gamma, with this relation,")
        made = self.standard_normal((*lengths(size), 2 * n))  # type: ignore[attr-defined]
        parts = made @ factor.T
        return place + (parts[..., :n] + 1j * parts[..., n:])


def _symmetric(value: Any, name: str) -> Any:
    matrix = floats(value)
    if matrix.ndim != 2 or len(set(matrix.shape)) != 1 or not matrix.size:
        raise ValueError(f"{name} must be a square matrix, not of shape {matrix.shape}")
    if not np.all(np.isfinite(matrix)) or not np.allclose(matrix, matrix.T):
        raise ValueError(f"{name} must be finite and symmetric")
    return matrix


def _factor(matrix: Any, name: str) -> Any:
    """Returns a matrix whose product with its transpose is a positive semidefinite one."""
    values, vectors = np.linalg.eigh(matrix)
    if values.min() < -1e-8 * max(values.max(), 1e-300):
        raise ValueError(f"{name} must be positive semidefinite")
    return vectors * np.sqrt(np.maximum(values, 0.0))
