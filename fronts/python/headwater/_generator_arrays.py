"""The methods of `headwater.Generator` for arrays: vectors, choices and orders."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from headwater._generator_draw import KINDS, REFUSED, Draw, floats, whole

_NumPy = np.random.Generator

_DIRICHLET, _MULTINOMIAL, _VECTORS, _CATEGORICAL = (
    KINDS[name] for name in ("dirichlet", "multinomial", "multivariate_normal", "categorical")
)
_COLORS = KINDS["multivariate_hypergeometric"]


class Arrays(Draw):
    """Vectors, choices and orders, under NumPy's signatures."""

    # --- vectors -----------------------------------------------------------------------------

    def dirichlet(self, alpha: Any, size: Any = None) -> Any:
        """Returns vectors of shares, which add up to 1, in the last dimension."""
        made = self._draw(_DIRICHLET, size, None, None, alpha)
        return self._numpy(_NumPy.dirichlet, alpha, size) if made is None else made

    def multinomial(self, n: Any, pvals: Any, size: Any = None) -> Any:
        """Returns vectors that say how often each outcome occurs in `n` trials."""
        made = None
        n = whole(n)
        try:
            shares = np.array(floats(pvals))
            # The last share is what the others leave, as in NumPy.
            if shares.ndim == 1 and shares.size and np.ndim(n) == 0 and not np.any(shares < 0):
                left = 1.0 - shares[:-1].sum()
                if -1e-12 < left and abs(shares.sum() - 1.0) < 1e-8:
                    shares[-1] = max(left, 0.0)
                    made = self._draw(
                        _MULTINOMIAL, size, None, None, operator.index(n), shares
                    )
        except REFUSED:
            made = None
        return self._numpy(_NumPy.multinomial, n, pvals, size) if made is None else made

    def multivariate_hypergeometric(
        self, colors: Any, nsample: Any, size: Any = None, method: Any = "marginals"
    ) -> Any:
        """Returns counts of each colour in a sample without replacement. Both methods are one."""
        made = None
        items = np.asarray(colors)
        # NumPy refuses larger numbers for its first method; those of the stream go on to 2^53.
        most = {"marginals": 10**9 - 1, "count": 1 << 53}.get(method, -1)
        if items.ndim == 1 and items.size and items.dtype.kind in "iu" and items.max() <= most:
            if items.min() >= 0 and sum(items.tolist()) <= most and np.ndim(nsample) == 0:
                made = self._draw(_COLORS, size, None, None, items, nsample)
        if made is not None:
            return made
        return self._numpy(
            _NumPy.multivariate_hypergeometric, colors, nsample, size=size, method=method
        )

    def multivariate_normal(
        self,
        mean: Any,
        cov: Any,
        size: Any = None,
        check_valid: Any = "warn",
        tol: Any = 1e-8,
        *,
        method: Any = "svd",
    ) -> Any:
        """Returns normal vectors in the last dimension. A Cholesky factor serves each `method`."""
        made = None
        if check_valid in ("warn", "raise", "ignore") and method in ("svd", "eigh", "cholesky"):
            try:
                matrix = floats(cov)
                # What NumPy warns of, NumPy answers.
                if matrix.ndim == 2 and np.array_equal(matrix, matrix.T):
                    made = self._draw(_VECTORS, size, None, None, mean, matrix)
            except REFUSED:
                made = None
        if made is not None:
            return made
        return self._numpy(
            _NumPy.multivariate_normal, mean, cov, size, check_valid, tol, method=method
        )

    # --- choices -----------------------------------------------------------------------------

    def choice(
        self,
        a: Any,
        size: Any = None,
        replace: Any = True,
        p: Any = None,
        axis: Any = 0,
        shuffle: Any = True,
    ) -> Any:
        """Returns random items of `a`, or of `range(a)`, along an axis.

        Without replacement, weights `p` are those of successive draws: each item is drawn from
        those that are left, as likely as its share in their weights. The order is random whether
        `shuffle` asks for it or not.
        """
        places = None
        items = None
        before = self._cursor.get()
        try:
            if np.ndim(a) == 0 and not isinstance(a, (str, bytes)):
                n = operator.index(a.item() if isinstance(a, np.ndarray) else a)
            else:
                items = np.asarray(a)
                n = items.shape[axis]
            if n > 0:
                places = self._places(n, size, bool(replace), p)
        except (*REFUSED, IndexError):
            places = None
        if places is None:
            self._cursor.set(*before)
            return self._numpy(_NumPy.choice, a, size, replace, p, axis, shuffle)
        if items is None:
            return int(places) if size is None else places
        if size is None and items.ndim == 1:
            return items[places]  # an item, and not an array of none dimensions
        if size is None:
            return items.take(places, axis=axis)
        return items[places] if items.ndim == 1 else items.take(places, axis=axis)

    def _places(self, n: int, size: Any, replace: bool, p: Any) -> Any:
        """Returns random places below `n`, or None for NumPy to answer."""
        weights = None
        if p is not None:
            weights = floats(p)
            # NumPy's tolerance: the square root of the precision of the weights.
            of = getattr(p, "dtype", None)
            float_type = of if of in (np.float16, np.float32) else np.float64
            near = max(np.sqrt(np.finfo(np.float64).eps), np.sqrt(np.finfo(float_type).eps))
            if weights.shape != (n,) or not np.all(weights >= 0):
                return None
            if abs(weights.sum() - 1.0) > near:
                return None
        shape = () if size is None else size
        if replace:
            if weights is None:
                return self._cursor.integers(n, None, size, None, False)
            return self._draw(_CATEGORICAL, size, None, None, weights)
        many = int(np.prod(shape, dtype=np.int64))
        if many > n or many < 0:
            return None
        if weights is None:
            order = self._cursor.own().sample(n, many)
        else:
            if np.count_nonzero(weights) < many:
                return None
            # Efraimidis and Spirakis, Information Processing Letters 97(5), 2006: the smallest of
            # exponential numbers over weights are successive draws. A weight of 0 comes last.
            waits = self.standard_exponential(n)  # type: ignore[attr-defined]
            with np.errstate(divide="ignore", over="ignore"):
                waits /= weights
            order = np.argsort(waits, kind="stable")[:many]
        return order[0] if size is None else order.reshape(shape)

    # --- orders ------------------------------------------------------------------------------

    def shuffle(self, x: Any, axis: Any = 0) -> None:
        """Shuffles an array or a list in place, along an axis."""
        axis = _axis(axis)
        if type(x) is list and axis == 0:
            self._cursor.own().shuffle(x)
            return
        if type(x) is np.ndarray and x.ndim and x.flags.writeable and type(axis) is int:
            if -x.ndim <= axis < x.ndim:
                self._shuffle_array(x, axis)
                return
        self._numpy(_NumPy.shuffle, x, axis)

    def _shuffle_array(self, x: Any, axis: int) -> None:
        if not x.size:
            return
        if axis in (0, -x.ndim) and x.flags.c_contiguous and x.dtype.isnative:
            try:
                own = self._cursor.own()
                own.shuffle(x.view(np.uint8).reshape(*x.shape, -1) if _is_opaque(x) else x)
            except REFUSED:
                pass
            else:
                return
        order = self._order(x.shape[axis])
        x[...] = np.take(x, order, axis=axis)

    def _order(self, n: int) -> Any:
        """Returns a random order of `range(n)`, which is that of a shuffle of it."""
        order = np.arange(n)
        self._cursor.own().shuffle(order)
        return order

    def permutation(self, x: Any, axis: Any = 0) -> Any:
        """Returns a shuffled `range(x)`, or a copy of `x` that is shuffled along an axis."""
        if isinstance(x, (int, np.integer)) and not isinstance(x, bool) and 0 <= x < 1 << 62:
            return self._order(int(x))
        array, axis = np.asarray(x), _axis(axis)
        if array.ndim and type(axis) is int and -array.ndim <= axis < array.ndim:
            if array.ndim == 1:
                copy = np.array(array)
                self.shuffle(copy)
                return copy
            return np.take(array, self._order(array.shape[axis]), axis=axis)
        return self._numpy(_NumPy.permutation, x, axis)

    def permuted(self, x: Any, *, axis: Any = None, out: Any = None) -> Any:
        """Returns a copy of `x` in which each slice along an axis is shuffled by itself."""
        array, axis = np.asarray(x), _axis(axis)
        fits = axis is None or (type(axis) is int and -array.ndim <= axis < array.ndim)
        if not fits or not array.ndim or (out is not None and type(out) is not np.ndarray):
            return self._numpy(_NumPy.permuted, x, axis=axis, out=out)
        if out is not None and (
            out.shape != array.shape or out.dtype != array.dtype or not out.flags.writeable
        ):
            return self._numpy(_NumPy.permuted, x, axis=axis, out=out)
        if axis is None:
            made = array.reshape(-1)[self._order(array.size)].reshape(array.shape)
        else:
            # Words as keys: two of a slice are equal once in 2^64 pairs.
            keys = np.frombuffer(self._cursor.bytes(8 * array.size), "<u8").reshape(array.shape)
            made = np.take_along_axis(array, np.argsort(keys, axis=axis, kind="stable"), axis=axis)
        if out is None:
            return made
        out[...] = made
        return out


def _axis(axis: Any) -> Any:
    return int(axis) if isinstance(axis, np.integer) else axis


def _is_opaque(x: Any) -> bool:
    """Returns true for plain items whose format no buffer of ours has, such as dates."""
    return x.dtype.kind in "mMSUV" and not x.dtype.hasobject


