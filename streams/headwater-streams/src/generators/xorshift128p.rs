//! xorshift128+, by Vigna, with the shifts 23, 18, 5.
//!
//! Source: "Further scramblings of Marsaglia's xorshift generators" (Journal of Computational and
//! Applied Mathematics 315, 2017) and the author's public-domain `xorshift128plus.c` of 2015, from
//! which the Solaris Porting Layer took its `random_get_pseudo_bytes()`: a word is the sum of the
//! state *after* the step. The page that replaced that file sums before the step, so its words come
//! one earlier.

use super::gf2::{self, Linear, Steps};
use super::rng::{self, impl_rng};
use crate::Key;

/// xorshift128+: 128 bits of state, period 2^128 - 1. **Not for secrets, and not for new work**:
/// take [`Xoshiro256pp`](super::Xoshiro256pp).
///
/// It is here because per-CPU streams by jumps began with it, and for comparisons. Its known
/// defects:
///
/// * Its lowest bit is a linear recurrence of 128 bits, so a linear-complexity test of it fails
///   in 10 ms, and PractRand at 32 MiB; the other low bits are little better.
/// * Reversed, its words fail the matrix-rank and linear-complexity tests of Crush (Lemire and
///   O'Neill, arXiv 1810.05313), and Vigna's test of Hamming-weight dependencies fails after 6 GB.
/// * A state of few ones stays so for a dozen words, and zero stays zero.
/// * Streams by jumps are 2^64 words each: fewer than a busy machine needs for ever.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(
    feature = "serde",
    serde(into = "crate::form::StateForm", try_from = "crate::form::StateForm")
)]
pub struct Xorshift128p {
    state: [u64; 2],
}

/// `x^(2^64)`: the author's constants, which hold for these shifts only.
pub(crate) const JUMP: [u64; 2] = [0x8a5c_d789_635d_2dff, 0x121f_d215_5c47_2f96];

impl Linear<2> for Xorshift128p {
    const CHARACTERISTIC: [u64; 2] = [0x024f_06fa_e9e6_1daf, 0x2844_c5d4_2caf_7db0];

    #[inline(always)]
    fn step(s: &mut [u64; 2]) {
        let [mut s1, s0] = *s;
        s1 ^= s1 << 23;
        *s = [s0, s1 ^ s0 ^ (s1 >> 18) ^ (s0 >> 5)];
    }
}

impl Xorshift128p {
    /// Returns the generator with this state; `None` if it is zero everywhere, which the generator
    /// would never leave.
    pub fn from_state(state: [u64; 2]) -> Option<Xorshift128p> {
        (state != [0; 2]).then_some(Xorshift128p { state })
    }

    /// Returns the generator with the state that `key` determines: [`Key::expand`] of
    /// `"xorshift128p"`, little-endian.
    pub fn from_key(key: &Key) -> Xorshift128p {
        Xorshift128p { state: rng::state_of(key, "xorshift128p") }
    }

    /// Returns the generator with two words of splitmix64, as the author advises; never a state of
    /// zeros.
    pub const fn from_u64(seed: u64) -> Xorshift128p {
        Xorshift128p { state: rng::splitmix64(seed) }
    }

    /// Returns the state, which is also the position.
    pub fn state(&self) -> [u64; 2] {
        self.state
    }

    /// Returns the next word.
    #[inline(always)]
    pub fn next_u64(&mut self) -> u64 {
        Self::step(&mut self.state);
        self.state[0].wrapping_add(self.state[1])
    }

    /// Skips 2^64 words.
    pub fn jump(&mut self) {
        gf2::apply::<Self, 2>(&mut self.state, &JUMP);
    }

    /// Skips `words`, below the period of 2^128 - 1, in some microseconds however many they are.
    pub fn advance(&mut self, words: u128) {
        gf2::advance::<Self, 2>(&mut self.state, Steps::times_2_to_64(words, 0));
    }

    /// Goes back by `words`.
    pub fn rewind(&mut self, words: u128) {
        if words != 0 {
            gf2::advance::<Self, 2>(&mut self.state, Steps::back(words, 2));
        }
    }

    /// Returns the start of stream `index`: this state after so many [jumps](Self::jump). Each
    /// stream has 2^64 words.
    pub fn stream(&self, index: u64) -> Xorshift128p {
        let mut there = self.clone();
        gf2::repeat::<Self, 2>(&mut there.state, JUMP, index);
        there
    }
}

impl_rng!(Xorshift128p);

#[cfg(feature = "rand_core")]
impl rand_core::SeedableRng for Xorshift128p {
    type Seed = [u8; 16];

    /// Reads the state from these bytes, little-endian. If all are zero, the state is that of
    /// [`from_u64`](Xorshift128p::from_u64) of 0.
    fn from_seed(seed: [u8; 16]) -> Self {
        Self::from_state(rng::words(&seed)).unwrap_or_else(|| Self::from_u64(0))
    }

    fn seed_from_u64(seed: u64) -> Self {
        Self::from_u64(seed)
    }
}
