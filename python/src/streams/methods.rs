//! The methods of `Stream` and `Elements` for distributions with parameters.
//!
//! Each distribution is one entry of a macro, which makes both methods: the numbers of a range, and
//! those at indices. Names and the order of arguments are those of NumPy's `Generator`.

use super::args::{Shape, Size, Start, Threads};
use super::distribution::Distribution;
use super::elements::Elements as At;
use super::kinds::Elements;
use super::output::{Place, Wanted};
use super::parameters::Parameter;
use super::stream::Stream;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// The arguments that say where the numbers go.
struct To<'a, 'py> {
    size: Option<Shape>,
    dtype: Option<&'a Bound<'py, PyAny>>,
    out: Option<&'a Bound<'py, PyAny>>,
}

fn drawn<'py>(
    py: Python<'py>,
    stream: &headwater_streams::Stream,
    elements: Elements<'_>,
    distribution: &Distribution,
    to: To<'_, 'py>,
) -> PyResult<Bound<'py, PyAny>> {
    let To { size, dtype, out } = to;
    let mut shape = size;
    if let Some(dimension) = distribution.dimension() {
        // Without a size the result is one vector.
        if shape.is_some() || out.is_none() {
            let mut lengths = shape.map_or(Vec::new(), |shape| shape.dimensions().to_vec());
            lengths.push(dimension);
            shape = Some(Shape::new(lengths));
        }
    }
    let place = Place::find(Wanted { shape, dtype, out }, distribution.types())?;
    if let Some((dimension, held)) = distribution.dimension().zip(place.shape())
        && held.dimensions().last() != Some(&dimension)
    {
        return Err(PyValueError::new_err(format!(
            "out must have vectors of {dimension} components in its last dimension, not shape \
             {held}"
        )));
    }
    distribution.fits(place.dtype())?;
    place.write(py, |memory| distribution.write(stream, elements, memory))
}

/// Makes both methods of each distribution. The texts are what `help` shows for them.
macro_rules! methods {
    ($(
        $(#[$doc:meta])*
        $name:ident($($arg:ident $(= $default:tt)?),+) $stream_text:tt $at_text:tt;
    )*) => {$(
        #[pymethods]
        impl Stream {
            $(#[$doc])*
            #[pyo3(
                signature = (
                    $($arg $(= Parameter::Default($default))?,)+ size=None, *, dtype=None,
                    out=None, start=Start(0), threads=Threads(1)
                ),
                text_signature = $stream_text
            )]
            #[allow(clippy::too_many_arguments)] // NumPy's, and those that all methods have
            fn $name<'py>(
                &self,
                py: Python<'py>,
                $($arg: Parameter<'py>,)+
                size: Option<Size>,
                dtype: Option<&Bound<'py, PyAny>>,
                out: Option<&Bound<'py, PyAny>>,
                start: Start,
                threads: Threads,
            ) -> PyResult<Bound<'py, PyAny>> {
                let distribution = Distribution::$name($(&$arg),+)?;
                let elements = Elements::From { start: start.0, threads: threads.0 };
                let size = size.map(|size| size.0);
                drawn(py, &self.0, elements, &distribution, To { size, dtype, out })
            }
        }

        #[pymethods]
        impl At {
            #[doc = concat!("Returns these elements of `Stream.", stringify!($name), "`.")]
            #[pyo3(
                signature = (
                    $($arg $(= Parameter::Default($default))?,)+ *, dtype=None, out=None
                ),
                text_signature = $at_text
            )]
            #[allow(clippy::too_many_arguments)] // as above
            fn $name<'py>(
                &self,
                py: Python<'py>,
                $($arg: Parameter<'py>,)+
                dtype: Option<&Bound<'py, PyAny>>,
                out: Option<&Bound<'py, PyAny>>,
            ) -> PyResult<Bound<'py, PyAny>> {
                let distribution = Distribution::$name($(&$arg),+)?;
                let (stream, indices) = self.parts();
                let to = To { size: indices.shape.clone(), dtype, out };
                drawn(py, stream, Elements::At(&indices.list), &distribution, to)
            }
        }
    )*};
}

methods! {
    /// Returns beta numbers of two shapes above 0: float64, or float32.
    beta(a, b)
        "($self, a, b, size=None, *, dtype='float64', out=None, start=0, threads=1)"
        "($self, a, b, *, dtype='float64', out=None)";
    /// Returns the successes of `n` trials with probability `p`: int64, or uint64.
    binomial(n, p)
        "($self, n, p, size=None, *, dtype='int64', out=None, start=0, threads=1)"
        "($self, n, p, *, dtype='int64', out=None)";
    /// Returns outcomes, from 0, each as likely as its share in `weights`: int64, uint64 or
    /// uint32. Each call makes a table of all weights, unless `weights` is a
    /// `headwater.Categorical`, which has one.
    categorical(weights)
        "($self, weights, size=None, *, dtype='int64', out=None, start=0, threads=1)"
        "($self, weights, *, dtype='int64', out=None)";
    /// Returns chi-square numbers of `df` degrees of freedom: float64, or float32.
    chisquare(df)
        "($self, df, size=None, *, dtype='float64', out=None, start=0, threads=1)"
        "($self, df, *, dtype='float64', out=None)";
    /// Returns vectors of shares, which add up to 1, in the last dimension: float64.
    dirichlet(alpha)
        "($self, alpha, size=None, *, dtype='float64', out=None, start=0, threads=1)"
        "($self, alpha, *, dtype='float64', out=None)";
    /// Returns gamma numbers of this shape, multiplied by `scale`: float64, or float32.
    gamma(shape, scale = 1.0)
        "($self, shape, scale=1.0, size=None, *, dtype='float64', out=None, start=0, threads=1)"
        "($self, shape, scale=1.0, *, dtype='float64', out=None)";
    /// Returns gamma numbers of this shape: float64, or float32.
    standard_gamma(shape)
        "($self, shape, size=None, *, dtype='float64', out=None, start=0, threads=1)"
        "($self, shape, *, dtype='float64', out=None)";
    /// Returns the trials up to the first success, from 1, of probability `p`: int64, or uint64.
    geometric(p)
        "($self, p, size=None, *, dtype='int64', out=None, start=0, threads=1)"
        "($self, p, *, dtype='int64', out=None)";
    /// Returns numbers whose logarithms are normal, with this mean and deviation: float64, or
    /// float32.
    lognormal(mean = 0.0, sigma = 1.0)
        "($self, mean=0.0, sigma=1.0, size=None, *, dtype='float64', out=None, start=0, threads=1)"
        "($self, mean=0.0, sigma=1.0, *, dtype='float64', out=None)";
    /// Returns how often each outcome occurs in `n` trials, in the last dimension: int64, or
    /// uint64. The weights `pvals` need not add up to 1.
    multinomial(n, pvals)
        "($self, n, pvals, size=None, *, dtype='int64', out=None, start=0, threads=1)"
        "($self, n, pvals, *, dtype='int64', out=None)";
    /// Returns normal vectors in the last dimension: float64. `cov` is positive semidefinite, and
    /// only its lower triangle is read.
    multivariate_normal(mean, cov)
        "($self, mean, cov, size=None, *, dtype='float64', out=None, start=0, threads=1)"
        "($self, mean, cov, *, dtype='float64', out=None)";
    /// Returns Poisson's counts with the mean `lam`: int64, or uint64.
    poisson(lam = 1.0)
        "($self, lam=1.0, size=None, *, dtype='int64', out=None, start=0, threads=1)"
        "($self, lam=1.0, *, dtype='int64', out=None)";
    /// Returns Student's t of `df` degrees of freedom: float64, or float32.
    standard_t(df)
        "($self, df, size=None, *, dtype='float64', out=None, start=0, threads=1)"
        "($self, df, *, dtype='float64', out=None)";
    /// Returns normal numbers of mean `loc` and deviation `scale`, given that they lie from `low`
    /// to `high`: float64, or float32.
    truncated_normal(low, high, loc = 0.0, scale = 1.0)
        "($self, low, high, loc=0.0, scale=1.0, size=None, *, dtype='float64', out=None, start=0, threads=1)"
        "($self, low, high, loc=0.0, scale=1.0, *, dtype='float64', out=None)";
    /// Returns von Mises' angles from -pi to pi around `mu`, of concentration `kappa`: float64, or
    /// float32.
    vonmises(mu, kappa)
        "($self, mu, kappa, size=None, *, dtype='float64', out=None, start=0, threads=1)"
        "($self, mu, kappa, *, dtype='float64', out=None)";
}

#[pymethods]
impl Stream {
    /// Returns points of Sobol's sequence of dimension `d`, in the last dimension: float64. The
    /// stream scrambles the sequence unless `scramble` is false.
    #[pyo3(
        signature = (
            d, size=None, *, scramble=true, dtype=None, out=None, start=Start(0),
            threads=Threads(1)
        ),
        text_signature = "($self, d, size=None, *, scramble=True, dtype='float64', out=None, start=0, threads=1)"
    )]
    #[expect(clippy::too_many_arguments)] // SciPy's, and those that all methods have
    fn sobol<'py>(
        &self,
        py: Python<'py>,
        d: Parameter<'py>,
        size: Option<Size>,
        scramble: bool,
        dtype: Option<&Bound<'py, PyAny>>,
        out: Option<&Bound<'py, PyAny>>,
        start: Start,
        threads: Threads,
    ) -> PyResult<Bound<'py, PyAny>> {
        let distribution = Distribution::sobol(&d, scramble)?;
        let elements = Elements::From { start: start.0, threads: threads.0 };
        let size = size.map(|size| size.0);
        drawn(py, &self.0, elements, &distribution, To { size, dtype, out })
    }
}

#[pymethods]
impl At {
    /// Returns these elements of `Stream.sobol`.
    #[pyo3(
        signature = (d, *, scramble=true, dtype=None, out=None),
        text_signature = "($self, d, *, scramble=True, dtype='float64', out=None)"
    )]
    fn sobol<'py>(
        &self,
        py: Python<'py>,
        d: Parameter<'py>,
        scramble: bool,
        dtype: Option<&Bound<'py, PyAny>>,
        out: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let distribution = Distribution::sobol(&d, scramble)?;
        let (stream, indices) = self.parts();
        let to = To { size: indices.shape.clone(), dtype, out };
        drawn(py, stream, Elements::At(&indices.list), &distribution, to)
    }
}
