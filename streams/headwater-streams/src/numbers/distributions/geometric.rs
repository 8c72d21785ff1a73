//! Geometric numbers: whole parts of exponential ones.

use super::checked;
use super::functions::{floor, minus_ln_1_minus};
use crate::Error;
use crate::numbers::Number;
use crate::numbers::exponential::ExponentialF64;
use crate::numbers::polynomials::TWO_52;

/// The geometric distribution: trials up to the first success, from 1. [Not for secrets](crate).
///
/// Element e comes from word e, as that of
/// [`fill_exponential_f64`](crate::Stream::fill_exponential_f64). Numbers end at 2^64 - 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Geometric {
    rate: f64,
}

impl Geometric {
    /// Returns the distribution for trials that succeed with probability `p`.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] unless `p` is above 0 and at most 1.
    pub fn new(p: f64) -> Result<Geometric, Error> {
        let p = checked("p", "a number above 0 and at most 1", p, |p| p > 0.0 && p <= 1.0)?;
        Ok(Geometric { rate: minus_ln_1_minus(p) })
    }
}

/// Converts quotients of exponential numbers and their rates, at most [`TILE`] of them.
#[inline(always)]
pub(super) fn counts(quotients: &[f64], out: &mut [u64]) {
    if quotients.iter().fold(true, |all, &x| all & (x < TWO_52 - 1.0)) {
        // The sum has the integer in its lowest bits. AVX2 has no conversion of its own.
        for (out, &x) in out.iter_mut().zip(quotients) {
            *out = ((floor(x) + 1.0) + TWO_52).to_bits() ^ TWO_52.to_bits();
        }
    } else {
        for (out, &x) in out.iter_mut().zip(quotients) {
            // The conversion rounds down and ends at 2^64 - 1, also for an infinite quotient.
            *out = (x as u64).saturating_add(1);
        }
    }
}

/// Numbers that are converted together.
pub(super) const TILE: usize = 64;

impl Number for &Geometric {
    type Value = u64;
    const WORDS: usize = 1;
    const VALUES: usize = 1;

    #[inline(always)]
    fn convert(&self, words: &[u64], out: &mut [u64]) -> bool {
        for (out, words) in out.chunks_mut(TILE).zip(words.chunks(TILE)) {
            let mut made = [0.0; TILE];
            let made = &mut made[..words.len()];
            ExponentialF64.convert(words, made);
            for made in &mut *made {
                *made /= self.rate;
            }
            counts(made, out);
        }
        false
    }
}
