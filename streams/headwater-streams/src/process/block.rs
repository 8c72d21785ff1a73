//! One block of ars7, inlined into its caller, for short draws.
//!
//! A reader would call the engine's own functions. But they need target features that callers lack,
//! so they cannot be inlined, and they expand the key each time, for one block as for many. So the
//! rounds are written out here, over keys that the pool has expanded. All instructions are
//! VEX-coded, because after code that left upper halves of registers dirty, the first legacy SSE
//! instruction costs 150 ns on Intel CPUs.

#![allow(unsafe_code)]

use crate::engine::Block;
use core::arch::x86_64::__m128i;

/// The keys of ars7: one before the first round, one for each of seven rounds.
pub(crate) type Keys = [Block; 8];

/// Computes the block of the counter `upper << 64 | lower`.
///
/// # Safety
///
/// The CPU has AES instructions and AVX, the kernel saves AVX registers, and `keys` is valid for
/// reads.
#[inline(always)]
unsafe fn block(keys: *const Keys, lower: u64, upper: u64) -> __m128i {
    let block;
    // SAFETY: the instructions are there and `keys` has eight keys of 16 bytes, as `# Safety` asks.
    // VEX-coded instructions read them at any alignment. A fork may clear them meanwhile, but the
    // draw's last check then discards the block.
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
/// As of [`block`]: AES instructions, AVX, and readable keys.
#[inline(always)]
pub(super) unsafe fn word(keys: *const Keys, lower: u64, upper: u64) -> u64 {
    let word;
    // SAFETY: `# Safety` asks what `block` does, and AVX has this instruction, which touches no
    // memory. By hand, because an intrinsic would be legacy SSE here.
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
/// As of [`block`]: AES instructions, AVX, and readable keys.
#[inline(always)]
pub(super) unsafe fn bytes(keys: *const Keys, lower: u64, upper: u64) -> Block {
    // SAFETY: `# Safety` asks what `block` does. A register is 16 bytes, and any are a block.
    unsafe { core::mem::transmute(block(keys, lower, upper)) }
}
