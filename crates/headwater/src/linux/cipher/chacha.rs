//! ChaCha20 by RustCrypto's `chacha20`, for CPUs without AES instructions.

use super::Start;
use chacha20::ChaCha20;
use chacha20::cipher::{Array, KeyIvInit, StreamCipher, StreamCipherSeek};
use core::ptr;
use zeroize::Zeroize;

/// # Safety
///
/// `out` is valid for writes of `len` bytes.
#[inline(never)] // its frame is below the one that scrubs the stack
pub(super) unsafe fn keystream(key: &[u8; 32], start: Start, out: *mut u8, len: usize) {
    let [a, b, c, d, nonce_bytes @ ..] = start;
    let counter = u32::from_le_bytes([a, b, c, d]);
    let mut cipher = ChaCha20::new(key.into(), &Array(nonce_bytes));
    cipher.seek(u64::from(counter) * 64);
    // Never in the page itself: that memory may change under us, which a `&mut` must not.
    let mut scratch = [0; 1024];
    let mut done = 0;
    while done < len {
        let step = (len - done).min(scratch.len());
        scratch[..step].fill(0);
        // It fails where the counter ends, and would leave zeros; but that is after 256 GiB, and a stream starts
        // near zero and has a chunk's length at most.
        let applied = cipher.try_apply_keystream(&mut scratch[..step]);
        debug_assert!(applied.is_ok());
        // SAFETY: `step` bytes are initialised in `scratch`, and `done + step` is at most `len`.
        unsafe { ptr::copy_nonoverlapping(scratch.as_ptr(), out.add(done), step) };
        done += step;
    }
    scratch.zeroize();
}
