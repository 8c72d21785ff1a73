//! Normal numbers: mean 0, standard deviation 1.
//!
//! Method: G. E. P. Box and M. E. Muller, "A Note on the Generation of Random Normal Deviates",
//! Annals of Mathematical Statistics 29(2), 1958. A reader would try a ziggurat, the usual method.
//! But it takes a varying number of words, so the number of an element would not be enough to
//! compute it, and it gathers from tables, so with vectors it was half as fast. Box and Muller take
//! exactly one pair of words for each pair of numbers, without branches, so compilers make vector
//! code of a loop.

use super::Number;
use super::polynomials::{direction, direction_f32, minus_ln, minus_ln_f32};
use super::root::{sqrt_f32, sqrt_f64};
use super::uniform::halves;

/// Normal doubles. Elements 2j and 2j + 1 are the coordinates of one point: its distance from word
/// 2j, its direction from word 2j + 1. No element is farther out than 9.42.
pub(crate) struct NormalF64;

/// Normal floats, in the same way from the `u32`s 2j and 2j + 1. No element is farther out than
/// 6.67; an exact distribution has one in 4e10 there.
pub(crate) struct NormalF32;

impl Number for NormalF64 {
    type Value = f64;
    const WORDS: usize = 2;
    const VALUES: usize = 2;

    #[inline(always)]
    fn convert(&self, words: &[u64], out: &mut [f64]) -> bool {
        for (out, words) in out.as_chunks_mut::<2>().0.iter_mut().zip(words.as_chunks::<2>().0) {
            let distance = sqrt_f64(2.0 * minus_ln(words[0]));
            let (x, y) = direction(words[1]);
            *out = [distance * x, distance * y];
        }
        false
    }
}

impl Number for NormalF32 {
    type Value = f32;
    const WORDS: usize = 1;
    const VALUES: usize = 2;

    #[inline(always)]
    fn convert(&self, words: &[u64], out: &mut [f32]) -> bool {
        for (out, &word) in out.as_chunks_mut::<2>().0.iter_mut().zip(words) {
            let words = halves(word);
            let distance = sqrt_f32(2.0 * minus_ln_f32(words[0]));
            let (x, y) = direction_f32(words[1]);
            *out = [distance * x, distance * y];
        }
        false
    }
}
