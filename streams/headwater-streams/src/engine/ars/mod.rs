//! ARS: AES rounds with a key that grows by additions, so that there is no schedule to keep.
//!
//! Source: J. K. Salmon, M. A. Moraes, R. O. Dror, D. E. Shaw, "Parallel random numbers: as easy as
//! 1, 2, 3", SC11, section 4.1, and the authors' Random123 1.14, `ars.h`. A block starts as the
//! counter XOR the key. Then each round applies AES's SubBytes, ShiftRows and (but for the last
//! round) MixColumns, and XORs the key in. If the key were the same each time, so would be the
//! rounds. So before each such XOR its two halves grow by constants: the fractions of the golden
//! ratio (lower half) and of the square root of 3 (upper half), times 2^64. AES's own key schedule
//! would do that as well, but additions can be made anew for each request.
//!
//! Checked against `reference`, through it against the authors' `kat_vectors`, and against the
//! authors' code where it is installed.

#[cfg(target_arch = "aarch64")]
pub(crate) mod arm;
pub(crate) mod bitsliced;
pub(crate) mod inverse;
#[cfg(target_arch = "x86_64")]
pub(crate) mod known_answer;
#[cfg(target_arch = "x86_64")]
mod x86;

#[cfg(target_arch = "x86_64")]
pub(crate) use x86::{aes, vaes256, vaes512};

use super::Block;

/// The constants that each round adds to the halves of the key, the lower half first.
const GROWTH: [u64; 2] = [0x9E37_79B9_7F4A_7C15, 0xBB67_AE85_84CA_A73B];
/// Returns the key before the first round, and the key of each round, of ars7.
pub(crate) fn keys(key: Block) -> [Block; KEYS] {
    let mut halves = [0, 8].map(|at| u64::from_le_bytes(core::array::from_fn(|i| key[at + i])));
    core::array::from_fn(|_| {
        let key = u128::from(halves[1]) << 64 | u128::from(halves[0]);
        halves = [0, 1].map(|half: usize| halves[half].wrapping_add(GROWTH[half]));
        key.to_le_bytes()
    })
}

/// Room for the keys of every number of rounds: one before the first round, one for each.
const KEYS: usize = 8;
