//! Lognormal numbers: exponentials of normal numbers.

use super::functions::{exp_of_parts, exp_parts};
use super::{Real, checked};
use crate::Error;
use crate::numbers::Number;
use crate::numbers::normal::NormalF64;
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
        const TILE: usize = 64;
        for (out, words) in out.chunks_mut(TILE).zip(words.chunks(TILE)) {
            let mut normals = [0.0; TILE];
            let normals = &mut normals[..out.len()];
            NormalF64.convert(words, normals);
            // In loops of their own, because the CPU can reorder a few hundred instructions only.
            let mut doublings = [0.0; TILE];
            for (normal, n) in normals.iter_mut().zip(&mut doublings) {
                (*n, *normal) = exp_parts(self.mu + self.sigma * *normal);
            }
            for ((out, &mut rest), &n) in out.iter_mut().zip(normals).zip(&doublings) {
                *out = T::rounded(exp_of_parts(n, rest));
            }
        }
        false
    }
}
