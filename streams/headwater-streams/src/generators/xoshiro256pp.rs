//! xoshiro256++ 1.0, by Blackman and Vigna.
//!
//! Source: "Scrambled linear pseudorandom number generators" (ACM TOMS 47, 2021) and the authors'
//! public-domain `xoshiro256plusplus.c`, with the same output and jumps, word for word.

use super::gf2::{self, Linear, Steps};
use super::rng::{self, impl_rng};
use crate::Key;

/// xoshiro256++: 256 bits of state, period 2^256 - 1, about a nanosecond a word. **Not for
/// secrets**: four outputs reveal the state.
///
/// Streams come from jumps, so they are disjoint by proof: `stream(i)` begins 2^128 `i` words
/// further on, and `node(n)` 2^192 `n` words. See [`Xoshiro256ppX8`](super::Xoshiro256ppX8) for
/// memory speed.
///
/// ```
/// use headwater_streams::{Key, generators::Xoshiro256pp};
///
/// let seed = Xoshiro256pp::from_key(&Key::from_seed("crowd simulation 3"));
/// let mut of_thread_5_on_node_2 = seed.node(2).stream(5);
/// let word = of_thread_5_on_node_2.next_u64();
/// # let _ = word;
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(
    feature = "serde",
    serde(into = "crate::form::StateForm", try_from = "crate::form::StateForm")
)]
pub struct Xoshiro256pp {
    state: [u64; 4],
}

/// The authors' `JUMP` and `LONG_JUMP`: `x^(2^128)` and `x^(2^192)`.
pub(crate) const JUMP: [u64; 4] =
    [0x180e_c6d3_3cfd_0aba, 0xd5a6_1266_f0c9_392c, 0xa958_2618_e03f_c9aa, 0x39ab_dc45_29b1_661c];
pub(crate) const LONG_JUMP: [u64; 4] =
    [0x76e1_5d3e_fefd_cbbf, 0xc500_4e44_1c52_2fb3, 0x7771_0069_854e_e241, 0x3910_9bb0_2acb_e635];

impl Linear<4> for Xoshiro256pp {
    const CHARACTERISTIC: [u64; 4] = [
        0x9d11_6f2b_b0f0_f001,
        0x0280_002b_cefd_1a5e,
        0x04b4_edcf_2625_9f85,
        0x0003_c03c_3f3e_cb19,
    ];

    #[inline(always)]
    fn step(s: &mut [u64; 4]) {
        let t = s[1] << 17;
        s[2] ^= s[0];
        s[3] ^= s[1];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= t;
        s[3] = s[3].rotate_left(45);
    }
}

/// Returns the next word of this state.
#[inline(always)]
pub(crate) fn next(s: &mut [u64; 4]) -> u64 {
    let word = s[0].wrapping_add(s[3]).rotate_left(23).wrapping_add(s[0]);
    Xoshiro256pp::step(s);
    word
}

impl Xoshiro256pp {
    /// Returns the generator with this state; `None` if it is zero everywhere, which the generator
    /// would never leave.
    pub fn from_state(state: [u64; 4]) -> Option<Xoshiro256pp> {
        (state != [0; 4]).then_some(Xoshiro256pp { state })
    }

    /// Returns the generator with the state that `key` determines: [`Key::expand`] of
    /// `"xoshiro256pp"`, little-endian.
    pub fn from_key(key: &Key) -> Xoshiro256pp {
        Xoshiro256pp { state: rng::state_of(key, "xoshiro256pp") }
    }

    /// Returns the generator with four words of splitmix64, as the authors advise; never a state of
    /// zeros.
    pub const fn from_u64(seed: u64) -> Xoshiro256pp {
        // At most one of any four words in a row of splitmix64 is zero.
        Xoshiro256pp { state: rng::splitmix64(seed) }
    }

    /// Returns the state, which is also the position.
    pub fn state(&self) -> [u64; 4] {
        self.state
    }

    /// Returns the next word.
    #[inline(always)]
    pub fn next_u64(&mut self) -> u64 {
        next(&mut self.state)
    }

    /// Skips 2^128 words.
    pub fn jump(&mut self) {
        gf2::apply::<Self, 4>(&mut self.state, &JUMP);
    }

    /// Skips 2^192 words.
    pub fn long_jump(&mut self) {
        gf2::apply::<Self, 4>(&mut self.state, &LONG_JUMP);
    }

    /// Skips `words`, in some ten microseconds however many they are.
    pub fn advance(&mut self, words: u128) {
        self.advance_by(Steps::times_2_to_64(words, 0));
    }

    /// Goes back by `words`.
    pub fn rewind(&mut self, words: u128) {
        if words != 0 {
            self.advance_by(Steps::back(words, 4));
        }
    }

    /// Returns the start of stream `index`: this state after so many [jumps](Self::jump). Each
    /// stream has 2^128 words.
    ///
    /// Use stream 0 for the first generator, and do not mix with [`jump`](Self::jump) from the same
    /// state.
    pub fn stream(&self, index: u64) -> Xoshiro256pp {
        self.after(JUMP, index)
    }

    /// Returns the start of node `index`: this state after so many [long jumps](Self::long_jump).
    /// Each node has 2^64 streams of 2^128 words.
    pub fn node(&self, index: u64) -> Xoshiro256pp {
        self.after(LONG_JUMP, index)
    }

    fn after(&self, jump: [u64; 4], times: u64) -> Xoshiro256pp {
        let mut there = self.clone();
        gf2::repeat::<Self, 4>(&mut there.state, jump, times);
        there
    }

    fn advance_by(&mut self, steps: Steps) {
        gf2::advance::<Self, 4>(&mut self.state, steps);
    }
}

impl_rng!(Xoshiro256pp);

#[cfg(feature = "rand_core")]
impl rand_core::SeedableRng for Xoshiro256pp {
    type Seed = [u8; 32];

    /// Reads the state from these bytes, little-endian. If all are zero, the state is that of
    /// [`from_u64`](Xoshiro256pp::from_u64) of 0.
    fn from_seed(seed: [u8; 32]) -> Self {
        Self::from_state(rng::words(&seed)).unwrap_or_else(|| Self::from_u64(0))
    }

    fn seed_from_u64(seed: u64) -> Self {
        Self::from_u64(seed)
    }
}
