//! Exponential numbers: mean 1.
//!
//! Method: the inverse of the distribution function, -ln u. It takes one word for each number, so
//! the number of an element is enough to compute it.

use super::Number;
use super::polynomials::{minus_ln, minus_ln_of_parts, minus_ln_parts};

/// Element e is -ln of word e: never 0, and at most 44.4.
pub(crate) struct ExponentialF64;

impl Number for ExponentialF64 {
    type Value = f64;
    const WORDS: usize = 1;
    const VALUES: usize = 1;

    #[inline(always)]
    fn convert(&self, words: &[u64], out: &mut [f64]) -> bool {
        const TILE: usize = 64;
        // Two loops, because one would wait for its divisions: the CPU can reorder a few hundred
        // instructions only. A few numbers are made before the array between the loops is cleared.
        let (tiles, few) = words.as_chunks::<TILE>();
        let (out, rest) = out.split_at_mut((tiles.len() * TILE).min(out.len()));
        for (out, words) in out.chunks_mut(TILE).zip(tiles) {
            let mut quotients = [0.0; TILE];
            for ((out, quotient), &word) in out.iter_mut().zip(&mut quotients).zip(words) {
                (*out, *quotient) = minus_ln_parts(word);
            }
            for (out, &quotient) in out.iter_mut().zip(&quotients) {
                *out = minus_ln_of_parts(*out, quotient);
            }
        }
        for (out, &word) in rest.iter_mut().zip(few) {
            *out = minus_ln(word);
        }
        false
    }
}
