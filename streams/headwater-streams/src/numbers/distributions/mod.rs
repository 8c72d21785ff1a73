//! Distributions with parameters, the same numbers for any partition, thread, CPU and language.
//!
//! A distribution is a value, made once from checked parameters. Element `e` of it is a function of
//! the key, the stream, `e` and the parameters alone. Methods that reject would break this if they
//! took the stream's next words, as generators with a state do. So they draw further words from
//! blocks that element `e` owns, and no element depends on its neighbours (STREAMS.md,
//! "Distributions").
//!
//! ```
//! use headwater_streams::Key;
//! use headwater_streams::distributions::{Gamma, Poisson};
//!
//! let stream = Key::from_seed(42).stream(0)?;
//! let gamma = Gamma::new(2.5)?;
//! let mut whole = [0.0; 1000];
//! stream.fill_distribution(&gamma, 0, &mut whole)?;
//! let mut some = [0.0; 2];
//! stream.distribution_at(&gamma, &[999, 0], &mut some)?;
//! assert_eq!(some, [whole[999], whole[0]]);
//!
//! let mut counts = [0_u64; 10]; // arrivals in ten hours
//! stream.fill_distribution(&Poisson::new(3.5)?, 0, &mut counts)?;
//! # Ok::<(), headwater_streams::Error>(())
//! ```

mod beta;
mod binomial;
mod categorical;
mod counts;
mod dirichlet;
#[cfg(feature = "std")]
mod each;
mod fisher;
mod functions;
mod gamma;
mod geometric;
mod hypergeometric;
mod inverses;
mod laplace;
mod log_series;
mod lognormal;
mod multinomial;
mod multivariate_hypergeometric;
mod multivariate_normal;
#[cfg(feature = "std")]
mod near;
mod negative_binomial;
mod noncentral;
mod of_gamma;
mod poisson;
mod private;
mod scaled;
mod sobol;
mod student_t;
mod truncated_normal;
mod vectors;
mod von_mises;
mod wald;
mod words;
mod zipf;

use super::{fill, path::Path};
use crate::{Error, Stream};

pub use beta::Beta;
pub use binomial::Binomial;
pub use categorical::{Alias, Categorical};
pub use dirichlet::Dirichlet;
#[cfg(feature = "std")]
#[doc(hidden)]
pub use each::draw_each;
pub use fisher::FisherF;
pub use gamma::{ChiSquare, Gamma};
pub use geometric::Geometric;
pub use hypergeometric::Hypergeometric;
pub use inverses::{Cauchy, Gumbel, Logistic, Pareto, Power, Rayleigh, Triangular, Weibull};
pub use laplace::Laplace;
pub use log_series::LogSeries;
pub use lognormal::LogNormal;
pub use multinomial::Multinomial;
pub use multivariate_hypergeometric::MultivariateHypergeometric;
pub use multivariate_normal::MultivariateNormal;
pub use negative_binomial::NegativeBinomial;
pub use noncentral::{NoncentralChiSquare, NoncentralF};
pub use of_gamma::{LogGamma, Maxwell};
pub use poisson::Poisson;
pub use scaled::{ScaledExponential, ScaledNormal, ScaledUniform};
pub use sobol::Sobol;
pub use student_t::StudentT;
pub use truncated_normal::TruncatedNormal;
pub use vectors::VectorDistribution;
pub use von_mises::VonMises;
pub use wald::Wald;
pub use zipf::Zipf;

/// A distribution whose elements can have type `T`: `f64` or `f32` for real numbers, `u64` for
/// counts. An `f32` is the `f64` of the same element, rounded.
pub trait Distribution<T>: Sealed<T> {}

/// The code of a distribution. Other crates cannot name this trait.
pub trait Sealed<T>: Sync {
    /// Returns an error unless the words of these elements exist.
    #[doc(hidden)]
    fn check(&self, start: u64, len: usize) -> Result<(), Error>;

    /// Writes elements that exist.
    #[doc(hidden)]
    fn fill(&self, stream: &Stream, start: u64, out: &mut [T]);

    /// Writes the elements with these numbers; they exist, and `out` has a place for each.
    #[doc(hidden)]
    fn at(&self, stream: &Stream, indices: &[u64], out: &mut [T]);
}

/// Distributions; the types are in [`distributions`](crate::distributions).
impl Stream {
    /// Writes elements `start..start + out.len()` of a distribution.
    ///
    /// # Errors
    ///
    /// [`Error::RangeTooLong`] if an element's words end past 2^64 - 1; nothing is written then.
    pub fn fill_distribution<T>(
        &self,
        distribution: &impl Distribution<T>,
        start: u64,
        out: &mut [T],
    ) -> Result<(), Error> {
        distribution.check(start, out.len())?;
        distribution.fill(self, start, out);
        Ok(())
    }

    /// Writes the elements of [`fill_distribution`](Stream::fill_distribution) with these numbers.
    ///
    /// # Errors
    ///
    /// [`Error::Lengths`] as well, if there is not one place for each index.
    pub fn distribution_at<T>(
        &self,
        distribution: &impl Distribution<T>,
        indices: &[u64],
        out: &mut [T],
    ) -> Result<(), Error> {
        if indices.len() != out.len() {
            return Err(Error::Lengths { indices: indices.len(), out: out.len() });
        }
        indices.iter().try_for_each(|&index| distribution.check(index, 1))?;
        distribution.at(self, indices, out);
        Ok(())
    }
}

#[cfg(feature = "std")]
impl crate::Par {
    /// Fills `out` like [`Stream::fill_distribution`].
    ///
    /// # Errors
    ///
    /// The errors of [`Stream::fill_distribution`].
    pub fn fill_distribution<T: Send>(
        &self,
        distribution: &impl Distribution<T>,
        start: u64,
        out: &mut [T],
    ) -> Result<(), Error> {
        // Once for all pieces: the last one alone may have words that do not exist.
        distribution.check(start, out.len())?;
        self.fill(start, out, |stream, start, out| {
            distribution.fill(stream, start, out);
            Ok(())
        })
    }
}

/// Returns the parameter if it is a finite number that passes a test, otherwise an error that
/// names it.
fn checked(
    name: &'static str,
    need: &'static str,
    value: f64,
    test: impl Fn(f64) -> bool,
) -> Result<f64, Error> {
    // A NaN passes no test, because all of them compare.
    if value.is_finite() && test(value) { Ok(value) } else { Err(Error::Parameter { name, need }) }
}

/// Returns a parameter that must be finite and above 0.
fn positive(name: &'static str, value: f64) -> Result<f64, Error> {
    checked(name, "a finite number above 0", value, |x| x > 0.0)
}

/// A real number of either precision.
trait Real: Copy + Default + Send {
    fn rounded(x: f64) -> Self;
}

impl Real for f64 {
    #[inline(always)]
    fn rounded(x: f64) -> f64 {
        x
    }
}

impl Real for f32 {
    #[inline(always)]
    fn rounded(x: f64) -> f32 {
        x as f32
    }
}

/// Makes types distributions: of numbers that are views of the stream's words, or of elements with
/// blocks of their own.
macro_rules! distributions {
    ($($(@[$($generics:tt)*])? $distribution:ty: $value:ty, words of $number:expr;)*) => {$(
        impl$(<$($generics)*>)? Distribution<$value> for $distribution {}

        impl$(<$($generics)*>)? Sealed<$value> for $distribution {
            fn check(&self, start: u64, len: usize) -> Result<(), Error> {
                fn of<N: super::Number>(_: &N, start: u64, len: usize) -> Result<(), Error> {
                    super::stream::check::<N>(start, len)
                }
                of(&$number(self), start, len)
            }

            fn fill(&self, stream: &Stream, start: u64, out: &mut [$value]) {
                fill::fill(Path::best(), stream, &$number(self), start, out);
            }

            fn at(&self, stream: &Stream, indices: &[u64], out: &mut [$value]) {
                fill::at(Path::best(), stream, &$number(self), indices, out);
            }
        }
    )*};
    ($($distribution:ty: $value:ty;)*) => {$(
        impl Distribution<$value> for $distribution {}

        impl Sealed<$value> for $distribution {
            fn check(&self, start: u64, len: usize) -> Result<(), Error> {
                crate::stream::check(start, len)
            }

            fn fill(&self, stream: &Stream, start: u64, out: &mut [$value]) {
                private::fill(Path::best(), stream, self, start, out);
            }

            fn at(&self, stream: &Stream, indices: &[u64], out: &mut [$value]) {
                private::at(Path::best(), stream, self, indices, out);
            }
        }
    )*};
}

distributions! {
    LogNormal: f64, words of lognormal::Of::<f64>::new;
    LogNormal: f32, words of lognormal::Of::<f32>::new;
    Laplace: f64, words of laplace::Of::<f64>::new;
    Laplace: f32, words of laplace::Of::<f32>::new;
    ScaledUniform: f64, words of words::Of::<ScaledUniform, f64>::new;
    ScaledUniform: f32, words of words::Of::<ScaledUniform, f32>::new;
    ScaledExponential: f64, words of words::Of::<ScaledExponential, f64>::new;
    ScaledExponential: f32, words of words::Of::<ScaledExponential, f32>::new;
    Rayleigh: f64, words of words::Of::<Rayleigh, f64>::new;
    Rayleigh: f32, words of words::Of::<Rayleigh, f32>::new;
    Weibull: f64, words of words::Of::<Weibull, f64>::new;
    Weibull: f32, words of words::Of::<Weibull, f32>::new;
    Pareto: f64, words of words::Of::<Pareto, f64>::new;
    Pareto: f32, words of words::Of::<Pareto, f32>::new;
    Power: f64, words of words::Of::<Power, f64>::new;
    Power: f32, words of words::Of::<Power, f32>::new;
    Gumbel: f64, words of words::Of::<Gumbel, f64>::new;
    Gumbel: f32, words of words::Of::<Gumbel, f32>::new;
    Logistic: f64, words of words::Of::<Logistic, f64>::new;
    Logistic: f32, words of words::Of::<Logistic, f32>::new;
    Cauchy: f64, words of words::Of::<Cauchy, f64>::new;
    Cauchy: f32, words of words::Of::<Cauchy, f32>::new;
    Triangular: f64, words of words::Of::<Triangular, f64>::new;
    Triangular: f32, words of words::Of::<Triangular, f32>::new;
    ScaledNormal: f64, words of scaled::Moved::<f64>::new;
    ScaledNormal: f32, words of scaled::Moved::<f32>::new;
    Geometric: u64, words of core::convert::identity::<&Geometric>;
    @[T: AsRef<[Alias]> + Sync] Categorical<T>: u64, words of categorical::Choice::<u64>::new;
    @[T: AsRef<[Alias]> + Sync] Categorical<T>: u32, words of categorical::Choice::<u32>::new;
}

distributions! {
    Gamma: f64;
    Gamma: f32;
    ChiSquare: f64;
    ChiSquare: f32;
    Beta: f64;
    Beta: f32;
    StudentT: f64;
    StudentT: f32;
    TruncatedNormal: f64;
    TruncatedNormal: f32;
    VonMises: f64;
    VonMises: f32;
    FisherF: f64;
    FisherF: f32;
    Wald: f64;
    Wald: f32;
    Poisson: u64;
    Binomial: u64;
    Zipf: u64;
    LogSeries: u64;
    NoncentralChiSquare: f64;
    NoncentralChiSquare: f32;
    NoncentralF: f64;
    NoncentralF: f32;
    LogGamma: f64;
    LogGamma: f32;
    Maxwell: f64;
    Maxwell: f32;
    NegativeBinomial: u64;
    Hypergeometric: u64;
}

#[cfg(all(test, reference))]
pub(super) use private::{Sampler, at as private_at, fill as private_fill};
