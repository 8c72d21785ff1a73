//! Philox on any machine, a block at a time.

use super::{FACTORS, Key};
use crate::engine::Block;

/// Writes blocks from counter `upper << 64 | first` on; the lower halves do not wrap around.
pub(crate) fn fill(key: Block, upper: u64, first: u64, out: &mut [Block]) {
    let key = Key::new(key);
    for (i, out) in (0..).zip(out) {
        *out = block(&key, first + i, upper);
    }
}

/// Replaces each counter by its block.
pub(crate) fn replace(key: Block, counters: &mut [Block]) {
    let key = Key::new(key);
    for counter in counters {
        let halves = u128::from_le_bytes(*counter);
        *counter = block(&key, halves as u64, (halves >> 64) as u64);
    }
}

#[inline(always)]
fn block(key: &Key, lower: u64, upper: u64) -> Block {
    let upper = upper ^ key.upper;
    let mut c = [lower as u32, (lower >> 32) as u32, upper as u32, (upper >> 32) as u32];
    for round in key.rounds {
        let product0 = u64::from(c[0]) * u64::from(FACTORS[0]);
        let product2 = u64::from(c[2]) * u64::from(FACTORS[1]);
        c = [
            (product2 >> 32) as u32 ^ c[1] ^ round[0],
            product2 as u32,
            (product0 >> 32) as u32 ^ c[3] ^ round[1],
            product0 as u32,
        ];
    }
    let [lower, upper] = [0, 2].map(|i| u64::from(c[i + 1]) << 32 | u64::from(c[i]));
    (u128::from(upper) << 64 | u128::from(lower)).to_le_bytes()
}
