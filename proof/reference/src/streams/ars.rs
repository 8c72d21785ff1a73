//! ARS4x32 of Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC11,
//! section 4.1.

use crate::secure::aes::{add_round_key, mix_columns, shift_rows, sub_bytes};

/// Returns one block: `rounds` rounds of AES, whose keys are `key` with a constant added to each
/// half before each round.
///
/// Counter, key and block are 128-bit numbers whose lowest byte is the first of AES's state, as in
/// the authors' Random123.
pub fn ars(rounds: u32, key: u128, counter: u128) -> u128 {
    let mut lower = key as u64;
    let mut upper = (key >> 64) as u64;
    let mut state = (counter ^ key).to_le_bytes();
    for round in 1..=rounds {
        // 2^64 times the fraction of (1 + sqrt(5)) / 2, and of sqrt(3).
        lower = lower.wrapping_add(0x9E37_79B9_7F4A_7C15);
        upper = upper.wrapping_add(0xBB67_AE85_84CA_A73B);
        let round_key = (u128::from(upper) << 64 | u128::from(lower)).to_le_bytes();
        state = shift_rows(sub_bytes(state));
        if round < rounds {
            state = mix_columns(state);
        }
        state = add_round_key(state, &round_key);
    }
    u128::from_le_bytes(state)
}
