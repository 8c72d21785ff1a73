//! One block of ars7, inlined into its caller, for short draws.
//!
//! The engine's own functions need target features that callers lack, so they are calls, and expand
//! the key each time. Instructions are VEX-coded: after code that left upper halves of registers
//! dirty, the first legacy SSE instruction costs 150 ns on Intel CPUs.

#![allow(unsafe_code)]

use crate::engine::Block;
use core::arch::x86_64::__m128i;

/// The keys of ars7: one before the first round, one for each of seven rounds.
pub(crate) type Keys = [Block; 8];

/// Computes the block of the counter `upper << 64 | lower`.
///
/// # Safety
///
/// The CPU has AES instructions and AVX, and the kernel saves AVX registers.
#[inline(always)]
unsafe fn block(keys: *const Keys, lower: u64, upper: u64) -> __m128i {
    let block;
    // SAFETY: eight keys of 16 bytes are read. A fork may clear them meanwhile; then the caller's
    // last look discards the block. The caller's promise covers the instructions.
    unsafe {
        core::arch::asm!(
            "vmovq {x}, {lower}",
            "vpinsrq {x}, {x}, {upper}, 1",
            "vpxor {x}, {x}, xmmword ptr [{keys}]",
            "vaesenc {x}, {x}, xmmword ptr [{keys} + 16]",
            "vaesenc {x}, {x}, xmmword ptr [{keys} + 32]",
            "vaesenc {x}, {x}, xmmword ptr [{keys} + 48]",
            "vaesenc {x}, {x}, xmmword ptr [{keys} + 64]",
            "vaesenc {x}, {x}, xmmword ptr [{keys} + 80]",
            "vaesenc {x}, {x}, xmmword ptr [{keys} + 96]",
            "vaesenclast {x}, {x}, xmmword ptr [{keys} + 112]",
            x = out(xmm_reg) block,
            lower = in(reg) lower, upper = in(reg) upper, keys = in(reg) keys,
            options(nostack, readonly, preserves_flags),
        );
    }
    block
}

/// Returns the lower half of a block.
///
/// # Safety
///
/// The promise of [`block`].
#[inline(always)]
pub(super) unsafe fn word(keys: *const Keys, lower: u64, upper: u64) -> u64 {
    let word;
    // SAFETY: the caller's promise. VEX-coded, as the rest: an intrinsic would be legacy SSE here.
    unsafe {
        core::arch::asm!(
            "vmovq {word}, {block}",
            word = out(reg) word, block = in(xmm_reg) block(keys, lower, upper),
            options(nomem, nostack, preserves_flags),
        );
    }
    word
}

/// Returns a whole block.
///
/// # Safety
///
/// The promise of [`block`].
#[inline(always)]
pub(super) unsafe fn bytes(keys: *const Keys, lower: u64, upper: u64) -> Block {
    // SAFETY: the caller's promise; a register is 16 bytes.
    unsafe { core::mem::transmute(block(keys, lower, upper)) }
}
