"""The distributions of `headwater.Generator` that have parameters, under NumPy's signatures."""

from __future__ import annotations

from typing import Any

import numpy as np

from headwater._generator_draw import KINDS, Draw, whole

_NumPy = np.random.Generator

_SCALED_UNIFORM = KINDS["scaled_uniform"]
_SCALED_NORMAL = KINDS["scaled_normal"]
_SCALED_EXPONENTIAL = KINDS["scaled_exponential"]
_LAPLACE = KINDS["laplace"]
_LOGISTIC = KINDS["logistic"]
_GUMBEL = KINDS["gumbel"]
_LOGNORMAL = KINDS["lognormal"]
_SCALED_GAMMA = KINDS["scaled_gamma"]
_CHI_SQUARE = KINDS["chi_square"]
_BETA = KINDS["beta"]
_FISHER_F = KINDS["fisher_f"]
_STUDENT_T = KINDS["student_t"]
_VON_MISES = KINDS["von_mises"]
_PARETO = KINDS["pareto"]
_WEIBULL = KINDS["weibull"]
_POWER = KINDS["power"]
_RAYLEIGH = KINDS["rayleigh"]
_TRIANGULAR = KINDS["triangular"]
_WALD = KINDS["wald"]
_GEOMETRIC = KINDS["geometric"]
_POISSON = KINDS["poisson"]
_BINOMIAL = KINDS["binomial"]
_ZIPF = KINDS["zipf"]
_LOG_SERIES = KINDS["log_series"]
_CAUCHY = KINDS["cauchy"]
_NEGATIVE_BINOMIAL = KINDS["negative_binomial"]
_HYPERGEOMETRIC = KINDS["hypergeometric"]
_NONCENTRAL_CHI_SQUARE = KINDS["noncentral_chi_square"]
_NONCENTRAL_F = KINDS["noncentral_f"]
#: The numbers of good and of bad items that NumPy's hypergeometric numbers end below.
_BILLION = 10**9


def _is_small(items: Any) -> bool:
    """Returns true for numbers of items that NumPy's hypergeometric distribution has."""
    if type(items) is int:
        return items < _BILLION
    try:
        return bool(np.all(np.less(items, _BILLION)))
    except TypeError:
        return False


class Distributions(Draw):
    """A method draws a kind at the cursor. Parameters are numbers, or arrays that broadcast."""

    def uniform(self, low: Any = 0.0, high: Any = 1.0, size: Any = None) -> Any:
        """Returns uniform numbers from `low` (included) to `high`."""
        made = self._draw(_SCALED_UNIFORM, size, None, None, low, high)
        return self._rest(_SCALED_UNIFORM, _NumPy.uniform, (low, high), size) if made is None else made

    def normal(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        """Returns normal numbers of mean `loc` and standard deviation `scale`."""
        made = self._draw(_SCALED_NORMAL, size, None, None, loc, scale)
        return self._moved(_SCALED_NORMAL, _NumPy.normal, loc, scale, size) if made is None else made

    def exponential(self, scale: Any = 1.0, size: Any = None) -> Any:
        """Returns exponential numbers of mean `scale`."""
        made = self._draw(_SCALED_EXPONENTIAL, size, None, None, scale)
        if made is None:
            made = self._stretched(_SCALED_EXPONENTIAL, (1.0,), size, scale)
        return self._numpy(_NumPy.exponential, scale, size) if made is None else made

    def laplace(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        """Returns numbers of Laplace's distribution around `loc`."""
        made = self._draw(_LAPLACE, size, None, None, loc, scale)
        return self._moved(_LAPLACE, _NumPy.laplace, loc, scale, size) if made is None else made

    def logistic(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        """Returns numbers of the logistic distribution around `loc`."""
        made = self._draw(_LOGISTIC, size, None, None, loc, scale)
        return self._moved(_LOGISTIC, _NumPy.logistic, loc, scale, size) if made is None else made

    def gumbel(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        """Returns numbers of Gumbel's distribution with its mode at `loc`."""
        made = self._draw(_GUMBEL, size, None, None, loc, scale)
        return self._moved(_GUMBEL, _NumPy.gumbel, loc, scale, size) if made is None else made

    def lognormal(self, mean: Any = 0.0, sigma: Any = 1.0, size: Any = None) -> Any:
        """Returns exponentials of normal numbers of mean `mean` and deviation `sigma`."""
        made = self._draw(_LOGNORMAL, size, None, None, mean, sigma)
        return self._rest(_LOGNORMAL, _NumPy.lognormal, (mean, sigma), size) if made is None else made

    def gamma(self, shape: Any, scale: Any = 1.0, size: Any = None) -> Any:
        """Returns gamma numbers of this shape, multiplied by `scale`."""
        made = self._draw(_SCALED_GAMMA, size, None, None, shape, scale)
        if made is None and np.ndim(shape) == 0:
            made = self._stretched(_SCALED_GAMMA, (shape, 1.0), size, scale)
        return self._rest(_SCALED_GAMMA, _NumPy.gamma, (shape, scale), size) if made is None else made

    def chisquare(self, df: Any, size: Any = None) -> Any:
        """Returns chi-square numbers of `df` degrees of freedom."""
        made = self._draw(_CHI_SQUARE, size, None, None, df)
        return self._rest(_CHI_SQUARE, _NumPy.chisquare, (df,), size) if made is None else made

    def beta(self, a: Any, b: Any, size: Any = None) -> Any:
        """Returns beta numbers of the shapes `a` and `b`."""
        made = self._draw(_BETA, size, None, None, a, b)
        return self._rest(_BETA, _NumPy.beta, (a, b), size) if made is None else made

    def f(self, dfnum: Any, dfden: Any, size: Any = None) -> Any:
        """Returns numbers of Fisher's F distribution."""
        made = self._draw(_FISHER_F, size, None, None, dfnum, dfden)
        return self._rest(_FISHER_F, _NumPy.f, (dfnum, dfden), size) if made is None else made

    def standard_t(self, df: Any, size: Any = None) -> Any:
        """Returns numbers of Student's t distribution with `df` degrees of freedom."""
        made = self._draw(_STUDENT_T, size, None, None, df)
        return self._rest(_STUDENT_T, _NumPy.standard_t, (df,), size) if made is None else made

    def vonmises(self, mu: Any, kappa: Any, size: Any = None) -> Any:
        """Returns angles of von Mises' distribution around `mu`."""
        made = self._draw(_VON_MISES, size, None, None, mu, kappa)
        return self._rest(_VON_MISES, _NumPy.vonmises, (mu, kappa), size) if made is None else made

    def pareto(self, a: Any, size: Any = None) -> Any:
        """Returns numbers of the Pareto II (Lomax) distribution of shape `a`."""
        made = self._draw(_PARETO, size, None, None, a)
        return self._rest(_PARETO, _NumPy.pareto, (a,), size) if made is None else made

    def weibull(self, a: Any, size: Any = None) -> Any:
        """Returns numbers of Weibull's distribution of shape `a` and scale 1."""
        made = self._draw(_WEIBULL, size, None, None, a)
        return self._rest(_WEIBULL, _NumPy.weibull, (a,), size) if made is None else made

    def power(self, a: Any, size: Any = None) -> Any:
        """Returns numbers from 0 to 1 whose density is proportional to x ** (a - 1)."""
        made = self._draw(_POWER, size, None, None, a)
        return self._rest(_POWER, _NumPy.power, (a,), size) if made is None else made

    def rayleigh(self, scale: Any = 1.0, size: Any = None) -> Any:
        """Returns numbers of Rayleigh's distribution."""
        made = self._draw(_RAYLEIGH, size, None, None, scale)
        if made is None:
            made = self._stretched(_RAYLEIGH, (1.0,), size, scale)
        return self._numpy(_NumPy.rayleigh, scale, size) if made is None else made

    def triangular(self, left: Any, mode: Any, right: Any, size: Any = None) -> Any:
        """Returns numbers of the triangular distribution from `left` to `right`."""
        made = self._draw(_TRIANGULAR, size, None, None, left, mode, right)
        return self._rest(_TRIANGULAR, _NumPy.triangular, (left, mode, right), size) if made is None else made

    def wald(self, mean: Any, scale: Any, size: Any = None) -> Any:
        """Returns numbers of the inverse Gaussian distribution."""
        made = self._draw(_WALD, size, None, None, mean, scale)
        return self._rest(_WALD, _NumPy.wald, (mean, scale), size) if made is None else made

    def geometric(self, p: Any, size: Any = None) -> Any:
        """Returns counts of trials up to the first success, from 1."""
        made = self._draw(_GEOMETRIC, size, None, None, p)
        return self._rest(_GEOMETRIC, _NumPy.geometric, (p,), size) if made is None else made

    def poisson(self, lam: Any = 1.0, size: Any = None) -> Any:
        """Returns Poisson counts of mean `lam`."""
        made = self._draw(_POISSON, size, None, None, lam)
        return self._rest(_POISSON, _NumPy.poisson, (lam,), size) if made is None else made

    def binomial(self, n: Any, p: Any, size: Any = None) -> Any:
        """Returns counts of successes among `n` trials of probability `p`."""
        n = n if type(n) is int else whole(n)
        made = self._draw(_BINOMIAL, size, None, None, n, p)
        return self._rest(_BINOMIAL, _NumPy.binomial, (n, p), size) if made is None else made

    def negative_binomial(self, n: Any, p: Any, size: Any = None) -> Any:
        """Returns counts of failures before `n` successes of probability `p`."""
        made = self._draw(_NEGATIVE_BINOMIAL, size, None, None, n, p)
        return self._rest(_NEGATIVE_BINOMIAL, _NumPy.negative_binomial, (n, p), size) if made is None else made

    def hypergeometric(self, ngood: Any, nbad: Any, nsample: Any, size: Any = None) -> Any:
        """Returns counts of good items in a sample without replacement."""
        given = whole(ngood), whole(nbad), whole(nsample)
        # NumPy refuses larger numbers; those of the stream go on to 2^53.
        if not (_is_small(ngood) and _is_small(nbad)):
            return self._numpy(_NumPy.hypergeometric, *given, size)
        made = self._draw(_HYPERGEOMETRIC, size, None, None, *given)
        return self._rest(_HYPERGEOMETRIC, _NumPy.hypergeometric, given, size) if made is None else made

    def zipf(self, a: Any, size: Any = None) -> Any:
        """Returns numbers of Zipf's distribution with exponent `a`, from 1."""
        made = self._draw(_ZIPF, size, None, None, a)
        return self._rest(_ZIPF, _NumPy.zipf, (a,), size) if made is None else made

    def logseries(self, p: Any, size: Any = None) -> Any:
        """Returns numbers of the logarithmic series distribution, from 1."""
        made = self._draw(_LOG_SERIES, size, None, None, p)
        return self._rest(_LOG_SERIES, _NumPy.logseries, (p,), size) if made is None else made

    def standard_cauchy(self, size: Any = None) -> Any:
        """Returns numbers of Cauchy's distribution."""
        made = self._draw(_CAUCHY, size, None, None, 0.0, 1.0)
        return self._numpy(_NumPy.standard_cauchy, size) if made is None else made

    def noncentral_chisquare(self, df: Any, nonc: Any, size: Any = None) -> Any:
        """Returns numbers of the noncentral chi-square distribution."""
        made = self._draw(_NONCENTRAL_CHI_SQUARE, size, None, None, df, nonc)
        if made is not None:
            return made
        return self._rest(_NONCENTRAL_CHI_SQUARE, _NumPy.noncentral_chisquare, (df, nonc), size)

    def noncentral_f(self, dfnum: Any, dfden: Any, nonc: Any, size: Any = None) -> Any:
        """Returns numbers of the noncentral F distribution."""
        made = self._draw(_NONCENTRAL_F, size, None, None, dfnum, dfden, nonc)
        if made is not None:
            return made
        return self._rest(_NONCENTRAL_F, _NumPy.noncentral_f, (dfnum, dfden, nonc), size)
