//! The functions that all generators share: from seeds to states, and from words to draws.

use crate::Key;

/// Returns the first words of splitmix64 from this seed (Steele, Lea and Flood, OOPSLA 2014;
/// Vigna's `splitmix64.c`).
pub(crate) const fn splitmix64<const N: usize>(seed: u64) -> [u64; N] {
    let mut words = [0; N];
    let (mut state, mut i) = (seed, 0);
    while i < N {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        words[i] = z ^ (z >> 31);
        i += 1;
    }
    words
}

/// Returns the state that `key` determines: the little-endian words that [`Key::expand`] makes for
/// the generator's name. The state is never zero everywhere.
pub(crate) fn state_of<const N: usize>(key: &Key, name: &str) -> [u64; N] {
    let mut bytes = [[0; 8]; N];
    key.expand(name, bytes.as_flattened_mut());
    let state = bytes.map(u64::from_le_bytes);
    // This happens with one key in 2^128, or rarer.
    if state == [0; N] { splitmix64(0) } else { state }
}

/// Reads little-endian words.
#[cfg(feature = "rand_core")]
pub(crate) fn words<const N: usize>(bytes: &[u8]) -> [u64; N] {
    let (words, _) = bytes.as_chunks::<8>();
    core::array::from_fn(|i| u64::from_le_bytes(words[i]))
}

/// Fills `out` from whole words, little-endian, and drops the rest of the last word.
#[inline(always)]
pub(crate) fn fill_bytes(out: &mut [u8], mut next: impl FnMut() -> u64) {
    let (words, rest) = out.as_chunks_mut::<8>();
    for word in words {
        *word = next().to_le_bytes();
    }
    if !rest.is_empty() {
        rest.copy_from_slice(&next().to_le_bytes()[..rest.len()]);
    }
}

/// Returns a number in `[0, 1)` with 53 bits, as NumPy's `random()` makes it.
#[inline(always)]
pub(crate) fn to_f64(word: u64) -> f64 {
    (word >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
}

/// Implements the draws that every generator has, by its `next_u64`, and the traits of rand_core;
/// never `CryptoRng`.
macro_rules! impl_rng {
    ($engine:ty) => {
        impl $engine {
            /// Returns the upper half of the next word.
            #[inline(always)]
            pub fn next_u32(&mut self) -> u32 {
                (self.next_u64() >> 32) as u32
            }

            /// Returns a number in `[0, 1)` from the upper 53 bits of the next word.
            #[inline(always)]
            pub fn next_f64(&mut self) -> f64 {
                $crate::generators::rng::to_f64(self.next_u64())
            }

            /// Writes the next `out.len()` words.
            pub fn fill_u64(&mut self, out: &mut [u64]) {
                let mut engine = self.clone(); // in registers, where `out` cannot alias it
                out.iter_mut().for_each(|word| *word = engine.next_u64());
                *self = engine;
            }

            /// Fills `out` with the bytes of the next words, little-endian, and discards the rest
            /// of the last word.
            pub fn fill_bytes(&mut self, out: &mut [u8]) {
                let mut engine = self.clone();
                $crate::generators::rng::fill_bytes(out, || engine.next_u64());
                *self = engine;
            }
        }

        #[cfg(feature = "rand_core")]
        $crate::traits::impl_rand_core!($engine, fill_bytes);
    };
}

pub(crate) use impl_rng;
