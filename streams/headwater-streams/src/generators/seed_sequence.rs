//! NumPy's `SeedSequence`.
//!
//! Source: O'Neill, "Developing a seed_seq alternative" (pcg-random.org, 2015), and NumPy's
//! `bit_generator.pyx` (since 1.17), which promises its values to stay.

use crate::{Error, Seed};

/// Words of the pool.
const POOL: usize = 4;

/// NumPy's `SeedSequence`: any number of words, hashed to any number of words. It seeds the engines
/// of NumPy as NumPy does, but this crate seeds its own engines differently. **Not for secrets.**
///
/// ```
/// use headwater_streams::generators::{Pcg64Dxsm, SeedSequence};
///
/// // numpy.random.PCG64DXSM(numpy.random.SeedSequence(42).spawn(3)[2])
/// let mut worker = Pcg64Dxsm::from_seed_sequence(&SeedSequence::from(42u64).child(2));
/// # worker.next_u64();
/// ```
#[derive(Clone, Debug)]
pub struct SeedSequence {
    entropy: Vec<u32>,
    spawn_key: Vec<u32>,
}

impl SeedSequence {
    /// Returns `SeedSequence(list)` of Python integers below 2^32, or of an array of `uint32`.
    pub fn from_words(words: &[u32]) -> SeedSequence {
        SeedSequence { entropy: words.to_vec(), spawn_key: Vec::new() }
    }

    /// Returns the child with this number: child `index` of those that NumPy's `spawn` returns,
    /// counted from the first call. A pure function, so two threads that ask at the same time
    /// cannot get the same child.
    #[must_use]
    pub fn child(&self, index: u32) -> SeedSequence {
        let mut child = self.clone();
        child.spawn_key.push(index);
        child
    }

    /// Returns `generate_state(N, uint64)`.
    pub fn generate_u64<const N: usize>(&self) -> [u64; N] {
        let mut words = self.words();
        core::array::from_fn(|_| {
            let low = words.next().map_or(0, u64::from);
            words.next().map_or(0, u64::from) << 32 | low
        })
    }

    /// Returns `generate_state(N)`, words of 32 bits.
    pub fn generate_u32<const N: usize>(&self) -> [u32; N] {
        let mut words = self.words();
        core::array::from_fn(|_| words.next().unwrap_or(0))
    }

    /// Returns the words that `generate_state` takes, without end.
    fn words(&self) -> impl Iterator<Item = u32> {
        let mut hash = Hash { constant: 0x8b51_f9dd, multiplier: 0x58f3_8ded };
        self.pool().into_iter().cycle().map(move |word| hash.of(word))
    }

    fn pool(&self) -> [u32; POOL] {
        let entropy = self.assembled();
        let mut hash = Hash { constant: 0x43b0_d7e5, multiplier: 0x931e_8875 };
        let mut pool: [u32; POOL] =
            core::array::from_fn(|i| hash.of(entropy.get(i).copied().unwrap_or(0)));
        for source in 0..POOL {
            for target in 0..POOL {
                if source != target {
                    pool[target] = mix(pool[target], hash.of(pool[source]));
                }
            }
        }
        for word in entropy.iter().skip(POOL) {
            for target in &mut pool {
                *target = mix(*target, hash.of(*word));
            }
        }
        pool
    }

    /// Returns the entropy, then the spawn key. Zeros fill up the pool in between, or a child of a
    /// short seed would equal a longer seed.
    fn assembled(&self) -> Vec<u32> {
        let mut words = self.entropy.clone();
        if !self.spawn_key.is_empty() && words.len() < POOL {
            words.resize(POOL, 0);
        }
        words.extend_from_slice(&self.spawn_key);
        words
    }
}

/// `SeedSequence(integer)`.
impl From<u128> for SeedSequence {
    fn from(integer: u128) -> SeedSequence {
        // NumPy takes only as many words as the integer has. Zeros for the missing words change
        // nothing, because the pool of four words counts missing words as 0.
        let words: [u32; 4] = core::array::from_fn(|i| (integer >> (32 * i)) as u32);
        SeedSequence::from_words(&words)
    }
}

/// `SeedSequence(integer)`.
impl From<u64> for SeedSequence {
    fn from(integer: u64) -> SeedSequence {
        SeedSequence::from(u128::from(integer))
    }
}

/// `SeedSequence(integer)`, for a seed as typed.
///
/// [`Error::NotNumpys`] if it is a negative number, a text or bytes: NumPy makes nothing of those.
impl TryFrom<&Seed<'_>> for SeedSequence {
    type Error = Error;

    fn try_from(seed: &Seed<'_>) -> Result<SeedSequence, Error> {
        seed.natural().map(SeedSequence::from).ok_or(Error::NotNumpys)
    }
}

/// A multiplicative hash whose constant changes with each word.
struct Hash {
    constant: u32,
    multiplier: u32,
}

impl Hash {
    fn of(&mut self, word: u32) -> u32 {
        let word = word ^ self.constant;
        self.constant = self.constant.wrapping_mul(self.multiplier);
        let word = word.wrapping_mul(self.constant);
        word ^ (word >> 16)
    }
}

fn mix(x: u32, y: u32) -> u32 {
    let mixed = x.wrapping_mul(0xca01_f9dd).wrapping_sub(y.wrapping_mul(0x4973_f715));
    mixed ^ (mixed >> 16)
}
