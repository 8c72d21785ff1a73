"""The distributions of `headwater.Generator` that have parameters, under NumPy's signatures."""

from __future__ import annotations

from typing import Any

import numpy as np

from headwater._generator_draw import Draw

_NumPy = np.random.Generator


class Distributions(Draw):
    """A method draws a kind at the cursor. Parameters are numbers, or arrays that broadcast."""

    def uniform(self, low: Any = 0.0, high: Any = 1.0, size: Any = None) -> Any:
        """Returns uniform numbers from `low` (included) to `high`."""
        made = self._made("scaled_uniform", size, low, high)
        return self._numpy(_NumPy.uniform, low, high, size) if made is None else made

    def normal(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        """Returns normal numbers of mean `loc` and standard deviation `scale`."""
        made = self._moved("scaled_normal", size, loc, scale)
        return self._numpy(_NumPy.normal, loc, scale, size) if made is None else made

    def exponential(self, scale: Any = 1.0, size: Any = None) -> Any:
        """Returns exponential numbers of mean `scale`."""
        made = self._made("scaled_exponential", size, scale)
        return self._numpy(_NumPy.exponential, scale, size) if made is None else made

    def laplace(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        """Returns numbers of Laplace's distribution around `loc`."""
        made = self._moved("laplace", size, loc, scale)
        return self._numpy(_NumPy.laplace, loc, scale, size) if made is None else made

    def logistic(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        """Returns numbers of the logistic distribution around `loc`."""
        made = self._moved("logistic", size, loc, scale)
        return self._numpy(_NumPy.logistic, loc, scale, size) if made is None else made

    def gumbel(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        """Returns numbers of Gumbel's distribution with its mode at `loc`."""
        made = self._moved("gumbel", size, loc, scale)
        return self._numpy(_NumPy.gumbel, loc, scale, size) if made is None else made

    def lognormal(self, mean: Any = 0.0, sigma: Any = 1.0, size: Any = None) -> Any:
        """Returns exponentials of normal numbers of mean `mean` and deviation `sigma`."""
        made = self._made("lognormal", size, mean, sigma)
        return self._numpy(_NumPy.lognormal, mean, sigma, size) if made is None else made

    def gamma(self, shape: Any, scale: Any = 1.0, size: Any = None) -> Any:
        """Returns gamma numbers of this shape, multiplied by `scale`."""
        made = self._made("scaled_gamma", size, shape, scale)
        return self._numpy(_NumPy.gamma, shape, scale, size) if made is None else made

    def chisquare(self, df: Any, size: Any = None) -> Any:
        """Returns chi-square numbers of `df` degrees of freedom."""
        made = self._made("chi_square", size, df)
        return self._numpy(_NumPy.chisquare, df, size) if made is None else made

    def beta(self, a: Any, b: Any, size: Any = None) -> Any:
        """Returns beta numbers of the shapes `a` and `b`."""
        made = self._made("beta", size, a, b)
        return self._numpy(_NumPy.beta, a, b, size) if made is None else made

    def f(self, dfnum: Any, dfden: Any, size: Any = None) -> Any:
        """Returns numbers of Fisher's F distribution."""
        made = self._made("fisher_f", size, dfnum, dfden)
        return self._numpy(_NumPy.f, dfnum, dfden, size) if made is None else made

    def standard_t(self, df: Any, size: Any = None) -> Any:
        """Returns numbers of Student's t distribution with `df` degrees of freedom."""
        made = self._made("student_t", size, df)
        return self._numpy(_NumPy.standard_t, df, size) if made is None else made

    def vonmises(self, mu: Any, kappa: Any, size: Any = None) -> Any:
        """Returns angles of von Mises' distribution around `mu`."""
        made = self._made("von_mises", size, mu, kappa)
        return self._numpy(_NumPy.vonmises, mu, kappa, size) if made is None else made

    def pareto(self, a: Any, size: Any = None) -> Any:
        """Returns numbers of the Pareto II (Lomax) distribution of shape `a`."""
        made = self._made("pareto", size, a)
        return self._numpy(_NumPy.pareto, a, size) if made is None else made

    def weibull(self, a: Any, size: Any = None) -> Any:
        """Returns numbers of Weibull's distribution of shape `a` and scale 1."""
        made = self._made("weibull", size, a)
        return self._numpy(_NumPy.weibull, a, size) if made is None else made

    def power(self, a: Any, size: Any = None) -> Any:
        """Returns numbers from 0 to 1 whose density is proportional to x ** (a - 1)."""
        made = self._made("power", size, a)
        return self._numpy(_NumPy.power, a, size) if made is None else made

    def rayleigh(self, scale: Any = 1.0, size: Any = None) -> Any:
        """Returns numbers of Rayleigh's distribution."""
        made = self._made("rayleigh", size, scale)
        return self._numpy(_NumPy.rayleigh, scale, size) if made is None else made

    def triangular(self, left: Any, mode: Any, right: Any, size: Any = None) -> Any:
        """Returns numbers of the triangular distribution from `left` to `right`."""
        made = self._made("triangular", size, left, mode, right)
        return self._numpy(_NumPy.triangular, left, mode, right, size) if made is None else made

    def wald(self, mean: Any, scale: Any, size: Any = None) -> Any:
        """Returns numbers of the inverse Gaussian distribution."""
        made = self._made("wald", size, mean, scale)
        return self._numpy(_NumPy.wald, mean, scale, size) if made is None else made

    def geometric(self, p: Any, size: Any = None) -> Any:
        """Returns counts of trials up to the first success, from 1."""
        made = self._made("geometric", size, p)
        return self._numpy(_NumPy.geometric, p, size) if made is None else made

    def poisson(self, lam: Any = 1.0, size: Any = None) -> Any:
        """Returns Poisson counts of mean `lam`."""
        made = self._made("poisson", size, lam)
        return self._numpy(_NumPy.poisson, lam, size) if made is None else made

    def binomial(self, n: Any, p: Any, size: Any = None) -> Any:
        """Returns counts of successes among `n` trials of probability `p`."""
        made = self._made("binomial", size, n, p)
        return self._numpy(_NumPy.binomial, n, p, size) if made is None else made

    def negative_binomial(self, n: Any, p: Any, size: Any = None) -> Any:
        """Returns counts of failures before `n` successes of probability `p`."""
        made = self._made("negative_binomial", size, n, p)
        return self._numpy(_NumPy.negative_binomial, n, p, size) if made is None else made

    def zipf(self, a: Any, size: Any = None) -> Any:
        """Returns numbers of Zipf's distribution with exponent `a`, from 1."""
        made = self._made("zipf", size, a)
        return self._numpy(_NumPy.zipf, a, size) if made is None else made

    def logseries(self, p: Any, size: Any = None) -> Any:
        """Returns numbers of the logarithmic series distribution, from 1."""
        made = self._made("log_series", size, p)
        return self._numpy(_NumPy.logseries, p, size) if made is None else made

    def standard_cauchy(self, size: Any = None) -> Any:
        """Returns numbers of Cauchy's distribution."""
        made = self._made("cauchy", size, 0.0, 1.0)
        return self._numpy(_NumPy.standard_cauchy, size) if made is None else made

    # Kinds that the table does not have: NumPy's methods, over words of a key of the cursor.

    def noncentral_chisquare(self, df: Any, nonc: Any, size: Any = None) -> Any:
        """Returns numbers of the noncentral chi-square distribution."""
        return self._numpy(_NumPy.noncentral_chisquare, df, nonc, size)

    def noncentral_f(self, dfnum: Any, dfden: Any, nonc: Any, size: Any = None) -> Any:
        """Returns numbers of the noncentral F distribution."""
        return self._numpy(_NumPy.noncentral_f, dfnum, dfden, nonc, size)

    def hypergeometric(self, ngood: Any, nbad: Any, nsample: Any, size: Any = None) -> Any:
        """Returns counts of good items in a sample without replacement."""
        return self._numpy(_NumPy.hypergeometric, ngood, nbad, nsample, size)

    def multivariate_hypergeometric(
        self, colors: Any, nsample: Any, size: Any = None, method: Any = "marginals"
    ) -> Any:
        """Returns counts of each colour in a sample without replacement."""
        return self._numpy(
            _NumPy.multivariate_hypergeometric, colors, nsample, size=size, method=method
        )
