//! Poisson numbers.
//!
//! Method: inversion for means below 10; from there on PTRS of W. Hoermann, "The Transformed
//! Rejection Method for Generating Poisson Random Variables", Insurance: Mathematics and Economics
//! 12(1), 1993. He compares logarithms of factorials, but these would lose all bits of means above
//! 10^15. So our test compares with the probability itself in a form without cancellation (C.
//! Loader, "Fast and Accurate Computation of Binomial Probabilities", 2000).

use super::checked;
use super::counts::{COUNTS, Thresholds, ToCounts};
use super::functions::{deviance, exp, factor, floor, ln, open_uniform, select, stirling};
use super::private::{Domain, LAST, Rejection, Sampler, Source, accepted};
use crate::Error;
use crate::numbers::path::Path;
use crate::numbers::root::sqrt_f64;
use crate::words::Words;

/// The Poisson distribution. [Not for secrets](crate).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Poisson(Method);

// The table stays in the value, because a stream never allocates.
#[expect(clippy::large_enum_variant)]
#[derive(Clone, Copy, Debug, PartialEq)]
enum Method {
    Inversion(Thresholds),
    Rejection(Ptrs),
}

impl Poisson {
    /// Returns the distribution of this mean.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] unless the mean is from 0 to 2^63.
    pub fn new(mean: f64) -> Result<Poisson, Error> {
        const MOST: f64 = (1u64 << 63) as f64;
        let possible = |mean: f64| (0.0..=MOST).contains(&mean);
        Ok(Poisson::of_mean(checked("mean", "a number from 0 to 2^63", mean, possible)?))
    }

    /// Returns the distribution of a mean that is finite and from 0. Counts above 2^53 are doubles.
    pub(super) fn of_mean(mean: f64) -> Poisson {
        if mean >= 10.0 {
            return Poisson(Method::Rejection(Ptrs::new(mean)));
        }
        Poisson(Method::Inversion(Poisson::thresholds(mean)))
    }

    /// Returns the table of a mean below 10.
    pub(super) fn thresholds(mean: f64) -> Thresholds {
        let mut last = exp(-mean);
        let probabilities = core::array::from_fn(|k| {
            if k > 0 {
                last = (last * mean) / k as f64;
            }
            last
        });
        Thresholds::new(&probabilities)
    }

    /// Writes the counts of a chunk of elements, of blocks of this domain.
    pub(super) fn counts<W: Words>(&self, source: &Source<'_, W>, domain: Domain, out: &mut [f64]) {
        match &self.0 {
            Method::Inversion(thresholds) => thresholds.chunk(source, domain, out),
            Method::Rejection(ptrs) => accepted(source, domain, ptrs, out),
        }
    }
}

const _: () = assert!(COUNTS == 64);

impl Sampler<u64> for Poisson {
    fn chunk<W: Words>(&self, source: &Source<'_, W>, out: &mut [f64]) {
        self.counts(source, Domain::Poisson, out);
    }

    fn values(&self, path: Path, made: &[f64], out: &mut [u64]) {
        path.run(ToCounts { made, out });
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Ptrs {
    mean: f64,
    a: f64,
    b: f64,
    i: f64,
    r: f64,
}

impl Ptrs {
    #[inline(always)]
    pub(super) fn new(mean: f64) -> Ptrs {
        let b = 0.931 + 2.53 * sqrt_f64(mean);
        Ptrs {
            mean,
            a: -0.059 + 0.02483 * b,
            b,
            i: 1.1239 + 1.1328 / (b - 3.4),
            r: 0.9277 - 3.6224 / (b - 2.0),
        }
    }

    /// Returns k, t and v.
    #[inline(always)]
    fn proposal(&self, [w0, w1]: [u64; 2]) -> (f64, f64, f64) {
        let (u, v) = (open_uniform(w0) - 0.5, open_uniform(w1));
        let t = 0.5 - u.abs();
        (floor((((2.0 * self.a) / t + self.b) * u + self.mean) + 0.43), t, v)
    }

    /// Returns the proposal if the squeeze accepts it, otherwise NaN.
    #[inline(always)]
    pub(super) fn squeezed(&self, block: [u64; 2]) -> f64 {
        let (k, t, v) = self.proposal(block);
        select((k >= 0.0) & (t >= 0.07) & (v <= self.r), k, f64::NAN)
    }

    /// Returns the proposal if it is accepted by any test, otherwise NaN.
    #[inline(always)]
    pub(super) fn decided(&self, block: [u64; 2]) -> f64 {
        let (k, t, v) = self.proposal(block);
        let quick = (t >= 0.07) & (v <= self.r);
        let never = (t < 0.013) & (v > t);
        let rarity = stirling(k) + deviance(k, self.mean, k - self.mean);
        let y = (v * self.i) / (self.a / (t * t) + self.b);
        let also = !never & (ln((y * y) * factor(k)) / 2.0 <= -rarity);
        select((k >= 0.0) & (quick | also), k, f64::NAN)
    }
}

impl Rejection for Ptrs {
    const ATTEMPTS: u16 = LAST + 1;

    #[inline(always)]
    fn quick(&self, blocks: &[[u64; 2]], out: &mut [f64]) {
        for (out, &block) in out.iter_mut().zip(blocks) {
            *out = self.squeezed(block);
        }
    }

    #[inline(always)]
    fn full(&self, blocks: &[[u64; 2]], _: &[u16], out: &mut [f64]) {
        for (out, &block) in out.iter_mut().zip(blocks) {
            *out = self.decided(block);
        }
    }

    fn fallback(&self, _: usize) -> f64 {
        floor(self.mean)
    }
}
