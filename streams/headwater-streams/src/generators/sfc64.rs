//! SFC64, by Doty-Humphrey, as NumPy has it.
//!
//! Source: PractRand's `sfc64` (public domain). NumPy's `SFC64` fixes the seeding: three words, a
//! counter that starts at 1, and twelve words that are discarded.

use super::SeedSequence;
use super::rng::impl_rng;

/// SFC64: 256 bits of state, of which 64 are a counter; the period is at least 2^64, and 2^255 on
/// average. **Not for secrets.** It serves programs that come from NumPy, because the words are
/// those of `numpy.random.SFC64` from the same [`SeedSequence`].
///
/// It cannot jump. Streams come from the hash of the seeds, so they are disjoint very probably, not
/// by proof.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(
    feature = "serde",
    serde(into = "crate::form::StateForm", try_from = "crate::form::StateForm")
)]
pub struct Sfc64 {
    a: u64,
    b: u64,
    c: u64,
    counter: u64,
}

impl Sfc64 {
    /// Returns the generator of `numpy.random.SFC64(seed_sequence)`.
    pub fn from_seed_sequence(seeds: &SeedSequence) -> Sfc64 {
        Self::seeded(seeds.generate_u64())
    }

    fn seeded([a, b, c]: [u64; 3]) -> Sfc64 {
        let mut fresh = Sfc64 { a, b, c, counter: 1 };
        for _ in 0..12 {
            fresh.next_u64();
        }
        fresh
    }

    /// Returns the generator with this state, as NumPy's `state` shows it: three words and the
    /// counter.
    pub fn from_state([a, b, c, counter]: [u64; 4]) -> Sfc64 {
        Sfc64 { a, b, c, counter }
    }

    /// Returns three words and the counter.
    pub fn state(&self) -> [u64; 4] {
        [self.a, self.b, self.c, self.counter]
    }

    /// Returns the next word.
    #[inline(always)]
    pub fn next_u64(&mut self) -> u64 {
        let word = self.a.wrapping_add(self.b).wrapping_add(self.counter);
        self.counter = self.counter.wrapping_add(1);
        self.a = self.b ^ (self.b >> 11);
        self.b = self.c.wrapping_add(self.c << 3);
        self.c = self.c.rotate_left(24).wrapping_add(word);
        word
    }
}

impl_rng!(Sfc64);

#[cfg(feature = "rand_core")]
impl rand_core::SeedableRng for Sfc64 {
    type Seed = [u8; 24];

    /// Reads the three words from these bytes, little-endian, and discards twelve words.
    fn from_seed(seed: [u8; 24]) -> Self {
        Self::seeded(super::rng::words(&seed))
    }

    /// Returns the generator of `numpy.random.SFC64(seed)`.
    fn seed_from_u64(seed: u64) -> Self {
        Self::from_seed_sequence(&SeedSequence::from(seed))
    }
}
