//! The rounds of masks by intrinsics, which an interpreter can follow.

use core::arch::x86_64::*;

pub(super) use super::by_words::{mask_block, xor_block};

/// Returns AES-256_k(X) ^ X for X = `r`.
///
/// # Safety
///
/// 15 round keys, aligned to 16, are readable at `keys`.
#[inline]
#[target_feature(enable = "aes,sse4.1")]
pub(super) unsafe fn mask(keys: *const u8, [low, high]: [u64; 2]) -> [u64; 2] {
    let keys: *const __m128i = keys.cast();
    // SAFETY: within the 15 round keys. Volatile: the kernel may drop the page between two of these
    // loads, and the compiler must neither merge nor move them past the check that would notice.
    let key = |round| unsafe { keys.add(round).read_volatile() };
    let x = _mm_set_epi64x(high as i64, low as i64);
    let block =
        (1..14).fold(_mm_xor_si128(x, key(0)), |block, round| _mm_aesenc_si128(block, key(round)));
    let mask = _mm_xor_si128(_mm_aesenclast_si128(block, key(14)), x);
    [_mm_cvtsi128_si64(mask) as u64, _mm_extract_epi64(mask, 1) as u64]
}

/// XORs the masks of `N` blocks, of which block j has X = (r0, r1 ^ j), into the bytes at `dst`.
///
/// # Safety
///
/// `dst` is valid for reads and writes of 16 bytes a block; the rest is as for [`mask`].
#[inline]
#[target_feature(enable = "aes,sse4.1")]
pub(super) unsafe fn mask_blocks<const N: usize>(keys: *const u8, r: [u64; 2], dst: *mut u8) {
    for block in 0..N {
        // SAFETY: keys and CPU are the caller's, and block `block` of `N` lies at `dst`.
        unsafe {
            let mask = mask(keys, [r[0], r[1] ^ block as u64]);
            super::xor(&mask, dst.add(16 * block), 16);
        }
    }
}
