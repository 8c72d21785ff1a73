//! Exponential numbers: mean 1.
//!
//! Method: the inverse of the distribution function, -ln u. One word for each number.

use super::Number;
use super::polynomials::minus_ln;

/// Element e is -ln of word e: never 0, and at most 44.4.
pub(crate) struct ExponentialF64;

impl Number for ExponentialF64 {
    type Value = f64;
    const WORDS: usize = 1;
    const VALUES: usize = 1;

    #[inline(always)]
    fn convert(&self, words: &[u64], out: &mut [f64]) -> bool {
        for (out, &word) in out.iter_mut().zip(words) {
            *out = minus_ln(word);
        }
        false
    }
}
