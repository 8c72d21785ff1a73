//! Uniform floats: multiples of 2^-53 (2^-24 for `f32`) in [0, 1), never 1.

use super::Number;

/// Element e is the upper 53 bits of word e.
pub(crate) struct UniformF64;

/// Element e is the upper 24 bits of the e-th `u32`.
pub(crate) struct UniformF32;

const TWO_POW_MINUS_64: f64 = 1.0 / (1u128 << 64) as f64;
/// The upper 53 bits of a word.
const UPPER_53: u64 = !((1 << 11) - 1);
const TWO_POW_MINUS_24: f32 = 1.0 / (1u32 << 24) as f32;

impl Number for UniformF64 {
    type Value = f64;
    const WORDS: usize = 1;
    const VALUES: usize = 1;

    #[inline(always)]
    fn convert(&self, words: &[u64], out: &mut [f64]) -> bool {
        for (out, word) in out.iter_mut().zip(words) {
            // The bits stay where they are: of a word whose highest bit is known to be zero, the
            // compiler makes a signed conversion, which AVX2 has for single numbers only.
            *out = (word & UPPER_53) as f64 * TWO_POW_MINUS_64;
        }
        false
    }
}

impl Number for UniformF32 {
    type Value = f32;
    const WORDS: usize = 1;
    const VALUES: usize = 2;

    #[inline(always)]
    fn convert(&self, words: &[u64], out: &mut [f32]) -> bool {
        for (out, &word) in out.as_chunks_mut::<2>().0.iter_mut().zip(words) {
            *out = halves(word).map(|half| (half >> 8) as f32 * TWO_POW_MINUS_24);
        }
        false
    }
}

/// Returns the two `u32` of a word, in the order of their bytes in the stream.
#[inline(always)]
pub(super) fn halves(word: u64) -> [u32; 2] {
    [word as u32, (word >> 32) as u32]
}
