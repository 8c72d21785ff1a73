//! Masks of one block by words, where no assembly keeps them in vector registers.

/// XORs the mask of X = `r` into the 16 bytes at `dst`.
///
/// # Safety
///
/// `dst` is valid for reads and writes of 16 bytes; the rest is as for [`mask`](super::mask).
#[target_feature(enable = "aes,sse4.1")]
#[inline]
pub(super) unsafe fn mask_block(keys: *const u8, r: [u64; 2], dst: *mut u8) {
    // SAFETY: keys and CPU are as `mask` asks, and the 16 bytes at `dst` are the caller's.
    unsafe { xor_block(super::mask(keys, r), dst) };
}

/// XORs a mask into the 16 bytes at `dst`.
///
/// # Safety
///
/// `dst` is valid for reads and writes of 16 bytes.
#[inline]
pub(super) unsafe fn xor_block(mask: [u64; 2], dst: *mut u8) {
    // SAFETY: the 16 bytes at `dst` are the caller's.
    unsafe { super::xor(&mask, dst, 16) };
}
