//! ARS on the AES instructions of Armv8.
//!
//! They divide a round differently from x86: AESE adds its key first, then does SubBytes and
//! ShiftRows; AESMC is MixColumns. So a round here begins with the key that would end x86's
//! previous round, and the last key is left over for a plain XOR.

#![allow(unsafe_code)]

use super::{GROWTH, KEYS};
use crate::engine::Block;
use core::arch::aarch64::*;

/// Blocks that go side by side.
const SIDE_BY_SIDE: usize = 8;

#[inline]
#[target_feature(enable = "neon")]
fn load(block: Block) -> uint8x16_t {
    // SAFETY: both types have the same size, and any bits are a register's.
    unsafe { core::mem::transmute(block) }
}

#[inline]
#[target_feature(enable = "neon")]
fn bytes(register: uint8x16_t) -> Block {
    // SAFETY: both types have the same size, and any bits are a block's.
    unsafe { core::mem::transmute(register) }
}

#[inline]
#[target_feature(enable = "neon,aes")]
fn permute<const ROUNDS: usize>(
    keys: &[uint8x16_t; KEYS],
    blocks: &mut [uint8x16_t; SIDE_BY_SIDE],
) {
    for key in &keys[..ROUNDS - 1] {
        for block in &mut *blocks {
            *block = vaesmcq_u8(vaeseq_u8(*block, *key));
        }
    }
    for block in blocks {
        *block = veorq_u8(vaeseq_u8(*block, keys[ROUNDS - 1]), keys[ROUNDS]);
    }
}

#[inline]
#[target_feature(enable = "neon")]
fn keys(key: Block) -> [uint8x16_t; KEYS] {
    let [lower, upper] = [0, 64].map(|bits| (u128::from_le_bytes(key) >> bits) as u64);
    core::array::from_fn(|round| {
        let grown = |half: u64, growth: u64| half.wrapping_add(growth.wrapping_mul(round as u64));
        load(halves([grown(lower, GROWTH[0]), grown(upper, GROWTH[1])]))
    })
}

/// Writes blocks from counter `upper << 64 | first` on; the lower halves do not wrap around.
#[target_feature(enable = "neon,aes")]
pub(crate) fn fill<const ROUNDS: usize>(key: Block, upper: u64, first: u64, out: &mut [Block]) {
    let keys = keys(key);
    for (strip, out) in (0..).zip(out.chunks_mut(SIDE_BY_SIDE)) {
        let first = first + strip * SIDE_BY_SIDE as u64;
        let mut blocks: [_; SIDE_BY_SIDE] =
            core::array::from_fn(|i| load(halves([first.wrapping_add(i as u64), upper])));
        permute::<ROUNDS>(&keys, &mut blocks);
        for (out, block) in out.iter_mut().zip(blocks) {
            *out = bytes(block);
        }
    }
}

/// Replaces each counter by its block.
#[target_feature(enable = "neon,aes")]
pub(crate) fn replace<const ROUNDS: usize>(key: Block, counters: &mut [Block]) {
    let keys = keys(key);
    for strip in counters.chunks_mut(SIDE_BY_SIDE) {
        let mut blocks = [load(Block::default()); SIDE_BY_SIDE];
        for (block, counter) in blocks.iter_mut().zip(&*strip) {
            *block = load(*counter);
        }
        permute::<ROUNDS>(&keys, &mut blocks);
        for (out, block) in strip.iter_mut().zip(blocks) {
            *out = bytes(block);
        }
    }
}

/// Returns two 64-bit numbers as a block, the lower one first.
#[inline(always)]
fn halves(halves: [u64; 2]) -> Block {
    (u128::from(halves[1]) << 64 | u128::from(halves[0])).to_le_bytes()
}
