//! AES-256-CTR by RustCrypto's `aes`, for CPUs with AES instructions but without VAES.

use super::Start;
use aes::Aes256Enc;
use aes::cipher::{Array, BlockCipherEncrypt, KeyInit};
use core::ptr;
use zeroize::Zeroize;

const BLOCK: usize = 16;
/// Blocks made at a time: enough for every unrolling of the crate, and 1 KiB of stack.
const BLOCKS: usize = 64;

/// # Safety
///
/// `out` is valid for writes of `len` bytes.
#[inline(never)] // its frame is below the one that scrubs the stack
pub(super) unsafe fn keystream(key: &[u8; 32], start: Start, out: *mut u8, len: usize) {
    let cipher = Aes256Enc::new(key.into());
    let mut counter = u128::from_be_bytes(start);
    // Never in the page itself: that memory may change under us, which a `&mut` must not.
    let mut scratch = [[0; BLOCK]; BLOCKS];
    let mut done = 0;
    while done < len {
        let step = (len - done).min(BLOCK * BLOCKS);
        let blocks = &mut scratch[..step.div_ceil(BLOCK)];
        for block in blocks.iter_mut() {
            *block = counter.to_be_bytes();
            counter = counter.wrapping_add(1);
        }
        cipher.encrypt_blocks(Array::cast_slice_from_core_mut(blocks));
        // SAFETY: `step` bytes are initialised in `scratch`, and `done + step` is at most `len`.
        unsafe { ptr::copy_nonoverlapping(scratch.as_ptr().cast(), out.add(done), step) };
        done += step;
    }
    scratch.zeroize();
}
