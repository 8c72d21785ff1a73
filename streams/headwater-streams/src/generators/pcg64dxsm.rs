//! PCG64DXSM, by O'Neill, as NumPy has it.
//!
//! Source: "PCG: A family of simple fast space-efficient statistically good algorithms for random
//! number generation" (HMC-CS-2014-0905); the "DXSM" output with the cheap multiplier is from her
//! `pcg-cpp`, and NumPy's `PCG64DXSM` (since 1.21) fixes seeding and order: the word is made of the
//! state *before* the step.

use super::SeedSequence;
use super::rng::impl_rng;

/// PCG64DXSM: 128 bits of state and 127 that choose the increment; period 2^128. **Not for
/// secrets.** It serves programs that come from NumPy, because the words are those of
/// `numpy.random.PCG64DXSM` from the same [`SeedSequence`].
///
/// Increments must come from a hash, as in a `SeedSequence`: streams whose increments were chosen
/// by hand can be correlated.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(
    feature = "serde",
    serde(into = "crate::form::StateForm", try_from = "crate::form::StateForm")
)]
pub struct Pcg64Dxsm {
    state: u128,
    increment: u128,
}

/// The multiplier of each step, and of the output.
const CHEAP: u64 = 0xda94_2042_e4dd_58b5;
/// PCG's usual multiplier of 128 bits, which NumPy's seeding uses for this variant as well.
const USUAL: u128 = 0x2360_ed05_1fc6_5da4_4385_df64_9fcc_f645;

impl Pcg64Dxsm {
    /// Returns the generator of `numpy.random.PCG64DXSM(seed_sequence)`.
    pub fn from_seed_sequence(seeds: &SeedSequence) -> Pcg64Dxsm {
        let [state_high, state_low, stream_high, stream_low] = seeds.generate_u64();
        let wide = |high, low| u128::from(high) << 64 | u128::from(low);
        Self::seeded(wide(state_high, state_low), wide(stream_high, stream_low))
    }

    /// Seeds like `pcg64_srandom`: `stream` chooses the increment, but for its highest bit.
    fn seeded(state: u128, stream: u128) -> Pcg64Dxsm {
        let increment = stream << 1 | 1;
        let state = increment.wrapping_add(state).wrapping_mul(USUAL).wrapping_add(increment);
        Pcg64Dxsm { state, increment }
    }

    /// Returns the generator with this state and increment, as NumPy's `state` shows them; `None`
    /// if the increment is even.
    pub fn from_state(state: u128, increment: u128) -> Option<Pcg64Dxsm> {
        (increment & 1 == 1).then_some(Pcg64Dxsm { state, increment })
    }

    /// Returns state and increment.
    pub fn state(&self) -> (u128, u128) {
        (self.state, self.increment)
    }

    /// Returns the next word.
    #[inline(always)]
    pub fn next_u64(&mut self) -> u64 {
        let (mut high, low) = ((self.state >> 64) as u64, self.state as u64 | 1);
        high ^= high >> 32;
        high = high.wrapping_mul(CHEAP);
        high ^= high >> 48;
        self.state = self.state.wrapping_mul(u128::from(CHEAP)).wrapping_add(self.increment);
        high.wrapping_mul(low)
    }

    /// Skips `words`, modulo the period of 2^128, like NumPy's `advance`. To go back by `n`,
    /// advance by `n.wrapping_neg()`.
    ///
    /// The method is Brown's, "Random number generation with arbitrary strides" (1994): a step is
    /// `s -> a s + c`, and two such maps in a row are one of them.
    pub fn advance(&mut self, words: u128) {
        let (mut factor, mut offset) = (1u128, 0u128);
        let (mut a, mut c) = (u128::from(CHEAP), self.increment);
        let mut left = words;
        while left != 0 {
            if left & 1 == 1 {
                factor = factor.wrapping_mul(a);
                offset = offset.wrapping_mul(a).wrapping_add(c);
            }
            c = c.wrapping_mul(a.wrapping_add(1));
            a = a.wrapping_mul(a);
            left >>= 1;
        }
        self.state = self.state.wrapping_mul(factor).wrapping_add(offset);
    }
}

impl_rng!(Pcg64Dxsm);

#[cfg(feature = "rand_core")]
impl rand_core::SeedableRng for Pcg64Dxsm {
    type Seed = [u8; 32];

    /// Reads the state and then the stream, each little-endian, in the order in which
    /// [`from_seed_sequence`](Pcg64Dxsm::from_seed_sequence) takes them from its hash.
    fn from_seed(seed: [u8; 32]) -> Self {
        let [state_low, state_high, stream_low, stream_high] = super::rng::words(&seed);
        let wide = |high, low| u128::from(high) << 64 | u128::from(low);
        Self::seeded(wide(state_high, state_low), wide(stream_high, stream_low))
    }

    /// Returns the generator of `numpy.random.PCG64DXSM(seed)`.
    fn seed_from_u64(seed: u64) -> Self {
        Self::from_seed_sequence(&SeedSequence::from(seed))
    }
}
