//! Lognormal numbers: exponentials of normal numbers.

use super::functions::exp;
use super::{Real, checked};
use crate::Error;
use crate::numbers::Number;
use crate::numbers::polynomials::{direction, minus_ln};
use crate::numbers::root::sqrt_f64;
use core::marker::PhantomData;

/// The lognormal distribution. [Not for secrets](crate).
///
/// Element e is e^(mu + sigma x), with element e of
/// [`fill_normal_f64`](crate::Stream::fill_normal_f64) as x, from the same words.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LogNormal {
    mu: f64,
    sigma: f64,
}

impl LogNormal {
    /// Returns the distribution whose logarithm has mean `mu` and standard deviation `sigma`.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] unless both are finite and `sigma` is not below 0.
    pub fn new(mu: f64, sigma: f64) -> Result<LogNormal, Error> {
        let mu = checked("mu", "a finite number", mu, |_| true)?;
        let sigma = checked("sigma", "a finite number from 0", sigma, |x| x >= 0.0)?;
        Ok(LogNormal { mu, sigma })
    }
}

/// The numbers of one precision.
pub(super) struct Of<T> {
    mu: f64,
    sigma: f64,
    value: PhantomData<fn() -> T>,
}

impl<T> Of<T> {
    pub(super) fn new(&LogNormal { mu, sigma }: &LogNormal) -> Of<T> {
        Of { mu, sigma, value: PhantomData }
    }
}

impl<T: Real> Number for Of<T> {
    type Value = T;
    const WORDS: usize = 2;
    const VALUES: usize = 2;

    #[inline(always)]
    fn convert(&self, words: &[u64], out: &mut [T]) -> bool {
        for (out, words) in out.as_chunks_mut::<2>().0.iter_mut().zip(words.as_chunks::<2>().0) {
            // Written out: a call of the normals' own loop would not become vector code.
            let distance = sqrt_f64(2.0 * minus_ln(words[0]));
            let (x, y) = direction(words[1]);
            *out = [
                T::rounded(exp(self.mu + self.sigma * (distance * x))),
                T::rounded(exp(self.mu + self.sigma * (distance * y))),
            ];
        }
        false
    }
}
