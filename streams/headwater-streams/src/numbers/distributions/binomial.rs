//! Binomial numbers.
//!
//! Method: inversion for means below 10; from there on BTRS of W. Hoermann, "The Generation of
//! Binomial Random Variates", Journal of Statistical Computation and Simulation 46, 1993, with the
//! test of [`poisson`](super::poisson).

use super::checked;
use super::counts::{Thresholds, ToCounts};
use super::functions::{
    deviance, exp, factor, floor, ln, minus_ln_1_minus, open_uniform, select, stirling,
};
#[cfg(feature = "std")]
use super::near::{Near, Products};
use super::private::{Domain, LAST, Rejection, Sampler, Source, accepted};
use crate::Error;
use crate::numbers::path::Path;
use crate::numbers::root::sqrt_f64;
use crate::words::Words;

/// The binomial distribution: successes among n trials. [Not for secrets](crate).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Binomial {
    n: u64,
    /// Failures are counted instead, because successes are likelier.
    failures: bool,
    method: Method,
}

// The table stays in the value, because a stream never allocates.
#[expect(clippy::large_enum_variant)]
#[derive(Clone, Copy, Debug, PartialEq)]
enum Method {
    Inversion(Thresholds),
    Rejection(Btrs),
}

impl Binomial {
    /// Returns the distribution for `n` trials that succeed with probability `p`.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] unless `p` is from 0 to 1.
    pub fn new(n: u64, p: f64) -> Result<Binomial, Error> {
        let p = checked("p", "a number from 0 to 1", p, |p| (0.0..=1.0).contains(&p))?;
        let failures = p > 0.5;
        let p = if failures { 1.0 - p } else { p };
        let m = n as f64;
        let method = if m * p >= 10.0 {
            Method::Rejection(Btrs::new(m, p))
        } else {
            Method::Inversion(thresholds(m, p))
        };
        Ok(Binomial { n, failures, method })
    }
}

/// Returns the table of a mean below 10.
pub(super) fn thresholds(m: f64, p: f64) -> Thresholds {
    let odds = odds(p);
    let mut last = none(m, p);
    let probabilities = core::array::from_fn(|k| {
        if k > 0 {
            last = next(m, odds, last, k as f64);
        }
        last
    });
    Thresholds::new(&probabilities)
}

/// Returns the odds of a success.
#[inline(always)]
pub(super) fn odds(p: f64) -> f64 {
    p / (1.0 - p)
}

/// Returns the probability of 0.
#[inline(always)]
pub(super) fn none(m: f64, p: f64) -> f64 {
    exp(-(m * minus_ln_1_minus(p)))
}

/// Returns the probability of k, made of that of k - 1.
#[inline(always)]
pub(super) fn next(m: f64, odds: f64, last: f64, k: f64) -> f64 {
    (last * ((m - (k - 1.0)) * odds)) / k
}

impl Sampler<u64> for Binomial {
    fn chunk<W: Words>(&self, source: &Source<'_, W>, out: &mut [f64]) {
        match &self.method {
            Method::Inversion(thresholds) => thresholds.chunk(source, Domain::Binomial, out),
            Method::Rejection(btrs) => accepted(source, Domain::Binomial, btrs, out),
        }
    }

    fn values(&self, path: Path, made: &[f64], out: &mut [u64]) {
        path.run(ToCounts { made, out });
        for k in out {
            // The double nearest to n may be above it.
            let successes = (*k).min(self.n);
            *k = if self.failures { self.n - successes } else { successes };
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Btrs {
    m: f64,
    w: f64,
    x: f64,
    a: f64,
    b: f64,
    i: f64,
    r: f64,
    middle: f64,
    /// The rarity of the likeliest number.
    least: f64,
}

impl Btrs {
    #[inline(always)]
    pub(super) fn new(m: f64, p: f64) -> Btrs {
        let btrs = Btrs::quick_constants(m, p);
        btrs.with(btrs.least_rarity())
    }

    /// Returns the method with this rarity of the likeliest number.
    #[inline(always)]
    pub(super) fn with(self, least: f64) -> Btrs {
        Btrs { least, ..self }
    }

    /// Returns the rarity of the likeliest number.
    #[inline(always)]
    pub(super) fn least_rarity(&self) -> f64 {
        let factors = factor(self.middle) * factor(self.m - self.middle);
        self.rarity(self.middle) + ln(factors) / 2.0
    }

    /// Returns all that the quick test needs.
    #[inline(always)]
    pub(super) fn quick_constants(m: f64, p: f64) -> Btrs {
        let q = 1.0 - p;
        let w = m * p;
        let s = sqrt_f64(w * q);
        let b = 1.15 + 2.53 * s;
        Btrs {
            m,
            w,
            x: m * q,
            a: (-0.0873 + 0.0248 * b) + 0.01 * p,
            b,
            i: (2.83 + 5.1 / b) * s,
            r: 0.92 - 4.2 / b,
            middle: floor((m + 1.0) * p),
            least: 0.0,
        }
    }

    /// Returns -ln of the probability of k, up to a constant and the root of its factors.
    #[inline(always)]
    fn rarity(&self, k: f64) -> f64 {
        let Btrs { m, w, x, .. } = *self;
        (stirling(k) + stirling(m - k)) + (deviance(k, w, k - w) + deviance(m - k, x, w - k))
    }

    /// Returns k, t and v.
    #[inline(always)]
    fn proposal(&self, [w0, w1]: [u64; 2]) -> (f64, f64, f64) {
        let (u, v) = (open_uniform(w0) - 0.5, open_uniform(w1));
        let t = 0.5 - u.abs();
        (floor((((2.0 * self.a) / t + self.b) * u + self.w) + 0.5), t, v)
    }

    /// Returns the proposal if the squeeze accepts it, otherwise NaN.
    #[inline(always)]
    pub(super) fn squeezed(&self, block: [u64; 2]) -> f64 {
        let (k, t, v) = self.proposal(block);
        let there = (k >= 0.0) & (k <= self.m);
        select(there & (t >= 0.07) & (v <= self.r), k, f64::NAN)
    }

    /// Returns the proposal of a block with a test that may be open.
    #[cfg(feature = "std")]
    #[inline(always)]
    pub(super) fn near(&self, block: [u64; 2], odds: f64) -> Near {
        let (k, t, v) = self.proposal(block);
        let there = (k >= 0.0) & (k <= self.m);
        let (k, m) = (select(there, k, self.middle), self.middle);
        let steps = k - m;
        let (rising, falling) = (Products::of_one(steps, m), Products::of_one(-steps, self.m - m));
        let near = Near::new(steps, &rising, &falling, odds, ln(self.height(t, v)));
        near.or((t >= 0.07) & (v <= self.r)).of(k, there)
    }

    /// Returns the height of a proposal over the likeliest number's probability.
    #[inline(always)]
    fn height(&self, t: f64, v: f64) -> f64 {
        (v * self.i) / (self.a / (t * t) + self.b)
    }

    /// Returns the proposal if it is accepted by any test, otherwise NaN.
    #[inline(always)]
    pub(super) fn decided(&self, block: [u64; 2]) -> f64 {
        let (k, t, v) = self.proposal(block);
        let there = (k >= 0.0) & (k <= self.m);
        let quick = (t >= 0.07) & (v <= self.r);
        let y = self.height(t, v);
        let log = ln((y * y) * (factor(k) * factor(self.m - k))) / 2.0;
        let also = log <= self.least - self.rarity(k);
        select(there & (quick | also), k, f64::NAN)
    }
}

#[cfg(test)]
impl Btrs {
    /// Returns the logarithm by which the proposal exceeds what the whole test accepts, or None if
    /// there is no such number or the squeeze accepts it.
    pub(super) fn excess(&self, block: [u64; 2]) -> Option<f64> {
        let (k, t, v) = self.proposal(block);
        let there = (k >= 0.0) & (k <= self.m) & self.squeezed(block).is_nan();
        let log = ln(self.height(t, v)) + ln(factor(k) * factor(self.m - k)) / 2.0;
        there.then(|| log - (self.least - self.rarity(k)))
    }
}

impl Rejection for Btrs {
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
        self.middle
    }
}
