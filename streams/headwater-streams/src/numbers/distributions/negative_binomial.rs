//! Negative binomial numbers: Poisson counts whose means are gamma numbers.
//!
//! Method: the mixture of M. Greenwood and G. U. Yule, "An Inquiry into the Nature of Frequency
//! Distributions", Journal of the Royal Statistical Society 83(2), 1920. Each element has a mean of
//! its own, so there can be no table of thresholds. As in multinomial vectors, small means take a
//! search from 0 on, and the others PTRS (`poisson.rs`) with constants that are computed for each
//! element, in vector code.

use super::checked;
use super::counts::ToCounts;
use super::functions::{exp, open_uniform, select};
use super::gamma::Parts;
use super::poisson::Ptrs;
use super::private::{CHUNK, Domain, FEW, LAST, Rejection, Sampler, Source, accepted, is_few, map};
use crate::Error;
use crate::numbers::path::Path;
use crate::numbers::root::sqrt_f64;
use crate::words::Words;

/// The largest count of the search, which a mean below 10 does not reach in 2^53 numbers.
const MOST: f64 = 63.0;
/// Elements of one search, which ends when the largest count is found.
const TILE: usize = 32;
/// The largest mean, which is that of a Poisson number.
const LARGEST: f64 = (1u64 << 63) as f64;

/// The negative binomial distribution: failures before the n-th success.
/// [Not for secrets](crate).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NegativeBinomial {
    parts: Parts,
    odds: f64,
}

impl NegativeBinomial {
    /// Returns the distribution of failures before so many successes of probability `p`. The number
    /// of successes need not be an integer.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] unless `successes` is finite and above 0, `p` above 0 and at most 1,
    /// and the counts' mean ten of gamma's standard deviations below 2^63, as in NumPy.
    pub fn new(successes: f64, p: f64) -> Result<NegativeBinomial, Error> {
        let need = "a finite number above 0, with counts below 2^63";
        let n = checked("successes", need, successes, |n| n > 0.0)?;
        let p = checked("p", "a number above 0 and at most 1", p, |p| p > 0.0 && p <= 1.0)?;
        let odds = odds(p);
        checked("successes", need, n, |n| are_few(n, odds))?;
        Ok(NegativeBinomial { parts: Parts::new(n), odds })
    }
}

impl Sampler<u64> for NegativeBinomial {
    fn chunk<W: Words>(&self, source: &Source<'_, W>, out: &mut [f64]) {
        self.parts.factors(source, Domain::NegativeBinomialMean, out);
        if let Some(by) = self.parts.boost {
            map(source, Domain::NegativeBinomialMean, LAST, by, out);
        }
        match is_few(out.len()) {
            true => self.counts::<W, FEW>(source, out),
            false => self.counts::<W, CHUNK>(source, out),
        }
    }

    fn values(&self, path: Path, made: &[f64], out: &mut [u64]) {
        path.run(ToCounts { made, out });
    }
}

impl NegativeBinomial {
    /// Replaces gamma numbers by the counts.
    fn counts<W: Words, const N: usize>(&self, source: &Source<'_, W>, out: &mut [f64]) {
        let mut means = Means([0.0; N]);
        for (mean, &gamma) in means.0.iter_mut().zip(&*out) {
            *mean = mean_of(gamma, self.odds);
        }
        accepted(source, Domain::NegativeBinomial, &means, out);
    }
}

/// Returns the odds of a failure.
#[inline(always)]
pub(super) fn odds(p: f64) -> f64 {
    (1.0 - p) / p
}

/// Returns true for a number of successes whose counts are below 2^63: their mean is ten of gamma's
/// standard deviations below it, as in NumPy.
#[inline(always)]
pub(super) fn are_few(n: f64, odds: f64) -> bool {
    const BELOW: f64 = 9.223_372_006_484_771e18;
    odds * (n + 10.0 * sqrt_f64(n)) <= BELOW
}

/// Returns the mean of a gamma number, at most that of a Poisson number.
#[inline(always)]
pub(super) fn mean_of(gamma: f64, odds: f64) -> f64 {
    let y = gamma * odds;
    select(y < LARGEST, y, LARGEST)
}

/// Poisson counts of means that each element has for itself: the search for small ones, and PTRS
/// for the others. The number of means is a power of two.
pub(super) struct Means<const N: usize>(pub(super) [f64; N]);

impl<const N: usize> Rejection for Means<N> {
    const ATTEMPTS: u16 = LAST + 1;

    #[inline(always)]
    fn quick(&self, blocks: &[[u64; 2]], out: &mut [f64]) {
        for ((out, blocks), means) in
            out.chunks_mut(TILE).zip(blocks.chunks(TILE)).zip(self.0.chunks(TILE))
        {
            let means = means.get(..out.len()).unwrap_or(means);
            if means.iter().fold(false, |any, &mean| any | (mean >= 10.0)) {
                for ((out, &block), &mean) in out.iter_mut().zip(blocks).zip(means) {
                    *out = Ptrs::new(mean).squeezed(block);
                }
            }
            if means.iter().fold(false, |any, &mean| any | (mean < 10.0)) {
                search(blocks, means, out);
            }
        }
    }

    #[inline(always)]
    fn full(&self, blocks: &[[u64; 2]], places: &[u16], out: &mut [f64]) {
        for ((out, &block), &place) in out.iter_mut().zip(blocks).zip(places) {
            *out = Ptrs::new(self.0[usize::from(place) & (N - 1)]).decided(block);
        }
    }

    fn fallback(&self, place: usize) -> f64 {
        Ptrs::new(self.0[place & (N - 1)]).fallback(place)
    }
}

/// Writes the counts of small means.
#[inline(always)]
fn search(blocks: &[[u64; 2]], means: &[f64], out: &mut [f64]) {
    let (mut u, mut t, mut found) = ([-1.0; TILE], [0.0; TILE], [0.0; TILE]);
    for (((u, t), &mean), &[w0, _]) in u.iter_mut().zip(&mut t).zip(means).zip(blocks) {
        // A number below 0 ends the search of large means, which have no use for it.
        *u = select(mean < 10.0, open_uniform(w0), -1.0);
        *t = exp(-mean);
    }
    let mut k = 0.0;
    let mut more = true;
    while more && k < MOST {
        more = false;
        for (((u, t), found), &mean) in u.iter_mut().zip(&mut t).zip(&mut found).zip(means) {
            // A lane that has stopped never continues, since nothing in it changes.
            let on = *u >= *t;
            *u -= select(on, *t, 0.0);
            *found += select(on, 1.0, 0.0);
            *t = select(on, (*t * mean) / (k + 1.0), *t);
            more |= on;
        }
        k += 1.0;
    }
    for ((out, &found), &mean) in out.iter_mut().zip(&found).zip(means) {
        *out = select(mean < 10.0, found, *out);
    }
}
