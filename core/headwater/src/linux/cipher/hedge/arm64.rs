//! The rounds of masks by the cryptographic extension of arm64.

use core::arch::aarch64::*;
use core::mem::transmute;

pub(super) use super::by_words::{mask_block, xor_block};

/// Returns AES-256_k(X) ^ X for X = `r`.
///
/// # Safety
///
/// 15 round keys, aligned to 16, are readable at `keys`; the CPU has AES instructions.
#[inline]
#[target_feature(enable = "neon,aes")]
pub(super) unsafe fn mask(keys: *const u8, r: [u64; 2]) -> [u64; 2] {
    // SAFETY: keys and CPU are the caller's.
    let [mask] = unsafe { masks(keys, [r]) };
    mask
}

/// XORs the masks of `N` blocks, of which block j has X = (r0, r1 ^ j), into the bytes at `dst`.
///
/// # Safety
///
/// `dst` is valid for reads and writes of 16 bytes a block; the rest is as for [`mask`].
#[inline]
#[target_feature(enable = "neon,aes")]
pub(super) unsafe fn mask_blocks<const N: usize>(keys: *const u8, r: [u64; 2], dst: *mut u8) {
    // SAFETY: keys and CPU are the caller's, and `dst` has room for the `N` blocks whose masks
    // these are.
    unsafe {
        let masks = masks(keys, core::array::from_fn::<_, N, _>(|j| [r[0], r[1] ^ j as u64]));
        super::xor(masks.as_flattened(), dst, 16 * N);
    }
}

/// Returns the masks of several values of X, whose rounds run side by side.
///
/// # Safety
///
/// As for [`mask`].
#[inline]
#[target_feature(enable = "neon,aes")]
unsafe fn masks<const N: usize>(keys: *const u8, x: [[u64; 2]; N]) -> [[u64; 2]; N] {
    let keys: *const uint8x16_t = keys.cast();
    // SAFETY: within the 15 round keys. Volatile: the kernel may drop the page between two of these
    // loads, and the compiler must neither merge nor move them past the check that would notice.
    let key = |round| unsafe { keys.add(round).read_volatile() };
    // SAFETY: the same 16 bytes in another shape.
    let x = x.map(|x| unsafe { transmute::<[u64; 2], uint8x16_t>(x) });
    let mut blocks = x;
    for round in 0..13 {
        let key = key(round);
        for block in &mut blocks {
            *block = vaesmcq_u8(vaeseq_u8(*block, key));
        }
    }
    let (before_last, last) = (key(13), key(14));
    let mut masks = [[0; 2]; N];
    for ((mask, block), x) in masks.iter_mut().zip(blocks).zip(x) {
        let sum = veorq_u8(veorq_u8(vaeseq_u8(block, before_last), last), x);
        // SAFETY: the same 16 bytes in another shape.
        *mask = unsafe { transmute::<uint8x16_t, [u64; 2]>(sum) };
    }
    masks
}
