//! Philox backwards. The multipliers are odd, so the low half of a product determines the factor.

use super::{FACTORS, Key};
use crate::engine::Block;

/// The numbers that undo a multiplication by [`FACTORS`] modulo 2^32.
const INVERSES: [u32; 2] = [inverse(FACTORS[0]), inverse(FACTORS[1])];

/// Returns the counter whose block under `key` is `block`.
pub(crate) fn counter(key: Block, block: Block) -> Block {
    let key = Key::new(key);
    let (words, _) = block.as_chunks::<4>();
    let mut c: [u32; 4] = core::array::from_fn(|i| u32::from_le_bytes(words[i]));
    for round in key.rounds.iter().rev() {
        let c0 = c[3].wrapping_mul(INVERSES[0]);
        let c2 = c[1].wrapping_mul(INVERSES[1]);
        let high = |word, factor| ((u64::from(word) * u64::from(factor)) >> 32) as u32;
        c = [
            c0,
            c[0] ^ high(c2, FACTORS[1]) ^ round[0],
            c2,
            c[2] ^ high(c0, FACTORS[0]) ^ round[1],
        ];
    }
    let [lower, upper] = [0, 2].map(|i| u64::from(c[i + 1]) << 32 | u64::from(c[i]));
    (u128::from(upper ^ key.upper) << 64 | u128::from(lower)).to_le_bytes()
}

/// Returns the inverse of an odd number modulo 2^32. Each of Newton's steps doubles the bits that
/// are right, beginning with three.
const fn inverse(odd: u32) -> u32 {
    let mut inverse = odd;
    let mut step = 0;
    while step < 4 {
        inverse = inverse.wrapping_mul(2_u32.wrapping_sub(odd.wrapping_mul(inverse)));
        step += 1;
    }
    inverse
}
