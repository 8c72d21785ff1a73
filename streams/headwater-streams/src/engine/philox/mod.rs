//! Philox4x32 with ten rounds: multiplications of 32 bits, and XORs of their halves.
//!
//! Source: J. K. Salmon, M. A. Moraes, R. O. Dror, D. E. Shaw, "Parallel random numbers: as easy as
//! 1, 2, 3", SC11, section 4.3, and the authors' Random123 1.14, `philox.h`. A round multiplies the
//! words c0 and c2 of the counter by a constant each. The high halves, with c1 or c3 and a word of
//! the key XORed in, and the low halves become the new words, crosswise, so that c1 and c3 are part
//! of a factor in the next round. No two rounds are equal, because the key's words grow by a
//! constant from one to the next.
//!
//! Checked against `reference`, through it against the authors' `kat_vectors`, and against the
//! authors' code where it is installed.

pub(crate) mod inverse;
pub(crate) mod portable;
#[cfg(target_arch = "x86_64")]
mod x86;

#[cfg(target_arch = "x86_64")]
pub(crate) use x86::{avx2, avx512, sse2};

use super::Block;

const ROUNDS: usize = 10;
/// The multipliers of c0 and c2.
const FACTORS: [u32; 2] = [0xD251_1F53, 0xCD9E_8D57];
/// The constants that each round adds to the key's words: the fractions of the golden ratio and of
/// the square root of 3, times 2^32.
const GROWTH: [u32; 2] = [0x9E37_79B9, 0xBB67_AE85];

/// A [`Key`](crate::Key) as Philox takes it.
#[derive(Clone, Copy)]
struct Key {
    /// The two words of each round.
    rounds: [[u32; 2]; ROUNDS],
    /// The value that is XORed into the upper half of each counter.
    upper: u64,
}

impl Key {
    #[inline(always)]
    fn new(key: Block) -> Key {
        let key = u128::from_le_bytes(key);
        let mut words = [key as u32, (key >> 32) as u32];
        let mut rounds = [words; ROUNDS];
        for round in &mut rounds[1..] {
            words = [words[0].wrapping_add(GROWTH[0]), words[1].wrapping_add(GROWTH[1])];
            *round = words;
        }
        Key { rounds, upper: (key >> 64) as u64 }
    }
}
