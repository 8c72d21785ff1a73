//! Distributions with parameters: made from Python's arguments, and written to memory.

use super::categorical::{Categorical, Table, table};
use super::dtype::{Dtype, REALS};
use super::kinds::Elements;
use super::memory::Memory;
use super::parameters::{Parameter, refused};
use headwater_streams::distributions::{
    Beta, Binomial, ChiSquare, Dirichlet, Distribution as Numbers, Gamma, Geometric, LogNormal,
    Multinomial, MultivariateNormal, Poisson, Sobol, StudentT, TruncatedNormal, VectorDistribution,
    VonMises,
};
use headwater_streams::{Error, Stream};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

const COUNTS: &[Dtype] = &[Dtype::I64, Dtype::U64];
const OUTCOMES: &[Dtype] = &[Dtype::I64, Dtype::U64, Dtype::U32];
const DOUBLES: &[Dtype] = &[Dtype::F64];

/// A distribution with its parameters.
pub(crate) enum Distribution {
    Beta(Beta),
    Binomial(Binomial, u64),
    Categorical(Table),
    ChiSquare(ChiSquare),
    Dirichlet(Vec<f64>),
    /// The numbers are multiplied by a scale.
    Gamma(Gamma, f64),
    Geometric(Geometric),
    LogNormal(LogNormal),
    Multinomial(Multinomial<Vec<f64>>, usize, u64),
    MultivariateNormal {
        mean: Vec<f64>,
        factor: Vec<f64>,
    },
    Poisson(Poisson, f64),
    Sobol(Sobol, usize),
    StudentT(StudentT),
    TruncatedNormal(TruncatedNormal),
    VonMises(VonMises),
}

type Made = PyResult<Distribution>;

/// Functions that make a distribution from the arguments of the method with the same name.
impl Distribution {
    pub(crate) fn beta(a: &Parameter<'_>, b: &Parameter<'_>) -> Made {
        let (a, b) = (a.real("a")?, b.real("b")?);
        let made =
            Beta::new(a, b).map_err(|e| refused(e, &[("a", "a", Some(a)), ("b", "b", Some(b))]));
        Ok(Distribution::Beta(made?))
    }

    pub(crate) fn binomial(n: &Parameter<'_>, p: &Parameter<'_>) -> Made {
        let (n, p) = (n.count("n")?, p.real("p")?);
        let made = Binomial::new(n, p).map_err(|e| refused(e, &[("p", "p", Some(p))]));
        Ok(Distribution::Binomial(made?, n))
    }

    pub(crate) fn categorical(weights: &Parameter<'_>) -> Made {
        Distribution::weighted("weights", weights, |_| Ok(()))
    }

    /// Returns the weighted choice for the argument of this name: weights, or the table of some.
    /// The number of outcomes must pass a test.
    pub(crate) fn weighted(
        name: &str,
        weights: &Parameter<'_>,
        test: impl FnOnce(usize) -> PyResult<()>,
    ) -> Made {
        if let Parameter::Given(given) = weights
            && let Ok(made) = given.cast::<Categorical>()
        {
            let table = made.get().table();
            test(table.table().len())?;
            return Ok(Distribution::Categorical(table.clone()));
        }
        let weights = weights.list(name)?;
        test(weights.len())?;
        Ok(Distribution::Categorical(table(name, &weights)?))
    }

    pub(crate) fn chisquare(df: &Parameter<'_>) -> Made {
        let df = df.real("df")?;
        let made = ChiSquare::new(df).map_err(|e| refused(e, &[("k", "df", Some(df))]));
        Ok(Distribution::ChiSquare(made?))
    }

    pub(crate) fn dirichlet(alpha: &Parameter<'_>) -> Made {
        let alpha = alpha.list("alpha")?;
        Dirichlet::new(&alpha).map_err(|e| refused(e, &[]))?;
        Ok(Distribution::Dirichlet(alpha))
    }

    pub(crate) fn gamma(shape: &Parameter<'_>, scale: &Parameter<'_>) -> Made {
        let (shape, scale) = (shape.real("shape")?, scale.real("scale")?);
        if !(scale.is_finite() && scale >= 0.0) {
            let message = format!("scale must be a finite number from 0, not {scale:?}");
            return Err(PyValueError::new_err(message));
        }
        let made = Gamma::new(shape).map_err(|e| refused(e, &[("shape", "shape", Some(shape))]));
        Ok(Distribution::Gamma(made?, scale))
    }

    pub(crate) fn standard_gamma(shape: &Parameter<'_>) -> Made {
        Distribution::gamma(shape, &Parameter::Default(1.0))
    }

    pub(crate) fn geometric(p: &Parameter<'_>) -> Made {
        let p = p.real("p")?;
        let made = Geometric::new(p).map_err(|e| refused(e, &[("p", "p", Some(p))]));
        Ok(Distribution::Geometric(made?))
    }

    pub(crate) fn lognormal(mean: &Parameter<'_>, sigma: &Parameter<'_>) -> Made {
        let (mean, sigma) = (mean.real("mean")?, sigma.real("sigma")?);
        let names = [("mu", "mean", Some(mean)), ("sigma", "sigma", Some(sigma))];
        Ok(Distribution::LogNormal(LogNormal::new(mean, sigma).map_err(|e| refused(e, &names))?))
    }

    pub(crate) fn multinomial(n: &Parameter<'_>, pvals: &Parameter<'_>) -> Made {
        let (n, pvals) = (n.count("n")?, pvals.list("pvals")?);
        let made =
            Multinomial::new(n, &pvals).map_err(|e| refused(e, &[("weights", "pvals", None)]));
        Ok(Distribution::Multinomial(made?, pvals.len(), n))
    }

    pub(crate) fn multivariate_normal(mean: &Parameter<'_>, cov: &Parameter<'_>) -> Made {
        let mean = mean.list("mean")?;
        let cov = cov.square("cov", mean.len())?;
        let mut factor = vec![0.0; cov.len()];
        let names = [("covariance", "cov", None), ("factor", "cov", None), ("mean", "mean", None)];
        if mean.is_empty() {
            return Err(PyValueError::new_err("mean must be a list of finite numbers"));
        }
        MultivariateNormal::cholesky(&cov, mean.len(), &mut factor)
            .map_err(|e| refused(e, &names))?;
        MultivariateNormal::new(&mean, &factor).map_err(|e| refused(e, &names))?;
        Ok(Distribution::MultivariateNormal { mean, factor })
    }

    pub(crate) fn poisson(lam: &Parameter<'_>) -> Made {
        let lam = lam.real("lam")?;
        let made = Poisson::new(lam).map_err(|e| refused(e, &[("mean", "lam", Some(lam))]));
        Ok(Distribution::Poisson(made?, lam))
    }

    pub(crate) fn sobol(d: &Parameter<'_>, scramble: bool) -> Made {
        let d = d.count("d")?;
        let dimension = usize::try_from(d).unwrap_or(usize::MAX);
        let make = if scramble { Sobol::new } else { Sobol::plain };
        let made = make(dimension).map_err(|e| {
            let Error::Parameter { need, .. } = e else { return refused(e, &[]) };
            PyValueError::new_err(format!("d must be {need}, not {d}"))
        });
        Ok(Distribution::Sobol(made?, dimension))
    }

    pub(crate) fn standard_t(df: &Parameter<'_>) -> Made {
        let df = df.real("df")?;
        let made = StudentT::new(df).map_err(|e| refused(e, &[("nu", "df", Some(df))]));
        Ok(Distribution::StudentT(made?))
    }

    pub(crate) fn truncated_normal(
        low: &Parameter<'_>,
        high: &Parameter<'_>,
        loc: &Parameter<'_>,
        scale: &Parameter<'_>,
    ) -> Made {
        let (low, high) = (low.real("low")?, high.real("high")?);
        let (loc, scale) = (loc.real("loc")?, scale.real("scale")?);
        let names = [
            ("mean", "loc", Some(loc)),
            ("deviation", "scale", Some(scale)),
            ("low", "low", Some(low)),
        ];
        let made = TruncatedNormal::new(loc, scale, low, high).map_err(|e| refused(e, &names));
        Ok(Distribution::TruncatedNormal(made?))
    }

    pub(crate) fn vonmises(mu: &Parameter<'_>, kappa: &Parameter<'_>) -> Made {
        let (mu, kappa) = (mu.real("mu")?, kappa.real("kappa")?);
        let names = [("mu", "mu", Some(mu)), ("kappa", "kappa", Some(kappa))];
        Ok(Distribution::VonMises(VonMises::new(mu, kappa).map_err(|e| refused(e, &names))?))
    }
}

impl Distribution {
    /// Returns the types that the numbers may have, the default first.
    pub(crate) fn types(&self) -> &'static [Dtype] {
        use Distribution::*;
        match self {
            Binomial(..) | Geometric(_) | Multinomial(..) | Poisson(..) => COUNTS,
            Categorical(_) => OUTCOMES,
            Dirichlet(_) | MultivariateNormal { .. } | Sobol(..) => DOUBLES,
            Beta(_) | ChiSquare(_) | Gamma(..) | LogNormal(_) | StudentT(_)
            | TruncatedNormal(_) | VonMises(_) => REALS,
        }
    }

    /// Returns the number of components, if elements are vectors.
    pub(crate) fn dimension(&self) -> Option<usize> {
        match self {
            Distribution::Dirichlet(alpha) => Some(alpha.len()),
            Distribution::MultivariateNormal { mean, .. } => Some(mean.len()),
            Distribution::Multinomial(_, dimension, _) | Distribution::Sobol(_, dimension) => {
                Some(*dimension)
            }
            _ => None,
        }
    }

    /// Returns an error if counts may exceed the type. NumPy has the same limits for `int64`.
    pub(crate) fn fits(&self, dtype: Dtype) -> PyResult<()> {
        if dtype != Dtype::I64 {
            return Ok(());
        }
        match *self {
            Distribution::Binomial(_, n) | Distribution::Multinomial(_, _, n)
                if i64::try_from(n).is_err() =>
            {
                Err(PyValueError::new_err(format!(
                    "n must be at most 2^63 - 1 for counts of int64, not {n}; uint64 holds more"
                )))
            }
            Distribution::Poisson(_, lam) if lam > POISSON_MOST => {
                Err(PyValueError::new_err(format!(
                    "lam must be at most {POISSON_MOST:e} for counts of int64, not {lam:e}; uint64 \
                     holds more"
                )))
            }
            _ => Ok(()),
        }
    }

    /// Writes the elements to `memory`, whose type is one of [`types`](Distribution::types).
    pub(crate) fn write(
        &self,
        stream: &Stream,
        elements: Elements<'_>,
        memory: Memory,
    ) -> Result<(), Error> {
        let to = To { stream, elements, memory };
        match self {
            Distribution::Beta(numbers) => to.reals(numbers),
            Distribution::ChiSquare(numbers) => to.reals(numbers),
            Distribution::LogNormal(numbers) => to.reals(numbers),
            Distribution::StudentT(numbers) => to.reals(numbers),
            Distribution::TruncatedNormal(numbers) => to.reals(numbers),
            Distribution::VonMises(numbers) => to.reals(numbers),
            Distribution::Gamma(numbers, scale) => {
                to.reals(numbers)?;
                to.scale(*scale);
                Ok(())
            }
            Distribution::Binomial(numbers, _) => to.numbers::<u64>(numbers),
            Distribution::Poisson(numbers, _) => to.numbers::<u64>(numbers),
            Distribution::Geometric(numbers) => {
                to.numbers::<u64>(numbers)?;
                to.saturate();
                Ok(())
            }
            Distribution::Categorical(numbers) => match memory.dtype() {
                Dtype::U32 => to.numbers::<u32>(&**numbers),
                _ => to.numbers::<u64>(&**numbers),
            },
            Distribution::Dirichlet(alpha) => to.vectors(&Dirichlet::new(alpha)?),
            Distribution::Multinomial(vectors, _, _) => to.vectors(vectors),
            Distribution::MultivariateNormal { mean, factor } => {
                to.vectors(&MultivariateNormal::new(mean, factor)?)
            }
            Distribution::Sobol(vectors, _) => to.vectors(vectors),
        }
    }
}

/// The largest mean of counts of `int64`: ten standard deviations below 2^63.
const POISSON_MOST: f64 = 9.223_372_006_484_771e18;

/// The place of a call's numbers.
#[derive(Clone, Copy)]
struct To<'a> {
    stream: &'a Stream,
    elements: Elements<'a>,
    memory: Memory,
}

impl To<'_> {
    fn numbers<T: Copy + Send>(self, numbers: &impl Numbers<T>) -> Result<(), Error> {
        // SAFETY: the caller has checked the size of the elements, which take any bits, and makes
        // no other reference while this one is in use.
        let out = unsafe { self.memory.elements::<T>() };
        match self.elements {
            Elements::From { start, threads } => {
                self.stream.par(threads).fill_distribution(numbers, start, out)
            }
            Elements::At(indices) => self.stream.distribution_at(numbers, indices, out),
        }
    }

    fn reals<D: Numbers<f64> + Numbers<f32>>(self, numbers: &D) -> Result<(), Error> {
        match self.memory.dtype() {
            Dtype::F32 => self.numbers::<f32>(numbers),
            _ => self.numbers::<f64>(numbers),
        }
    }

    fn vectors<D: VectorDistribution>(self, vectors: &D) -> Result<(), Error>
    where
        D::Value: Copy + Send,
    {
        // SAFETY: as in `numbers`.
        let out = unsafe { self.memory.elements::<D::Value>() };
        match self.elements {
            Elements::From { start, threads } => {
                self.stream.par(threads).fill_vectors(vectors, start, out)
            }
            Elements::At(indices) => self.stream.vectors_at(vectors, indices, out),
        }
    }

    /// Multiplies the numbers, rounded once in the type of the array.
    fn scale(self, scale: f64) {
        if scale == 1.0 {
            return;
        }
        match self.memory.dtype() {
            // SAFETY: as in `numbers`, whose reference is gone.
            Dtype::F32 => unsafe { self.memory.elements::<f32>() }
                .iter_mut()
                .for_each(|number| *number *= scale as f32),
            // SAFETY: as in `numbers`, whose reference is gone.
            _ => unsafe { self.memory.elements::<f64>() }
                .iter_mut()
                .for_each(|number| *number *= scale),
        }
    }

    /// Ends counts at the largest number of `int64`, if that is their type.
    fn saturate(self) {
        if self.memory.dtype() == Dtype::I64 {
            // SAFETY: as in `numbers`, whose reference is gone.
            let counts = unsafe { self.memory.elements::<u64>() };
            counts.iter_mut().for_each(|count| *count = (*count).min(i64::MAX as u64));
        }
    }
}
