//! ChaCha20 by RustCrypto's `chacha20`, for CPUs without AES instructions.

use super::Start;
use chacha20::ChaCha20;
use chacha20::cipher::{Array, KeyIvInit, StreamCipher, StreamCipherSeek};
use core::ptr;
use zeroize::Zeroize;

/// # Safety
///
/// `out` is valid for writes of `len` bytes.
pub(super) unsafe fn keystream(key: &[u8; 32], start: Start, out: *mut u8, len: usize) {
    let (counter, nonce) = start.split_first_chunk::<4>().expect("16 bytes are more than 4");
    let mut nonce_bytes = [0; 12];
    nonce_bytes.copy_from_slice(nonce);
    let mut cipher = ChaCha20::new(&Array(*key), &Array(nonce_bytes));
    cipher.seek(u64::from(u32::from_le_bytes(*counter)) * 64);
    // Never in the page itself: that memory may change under us, which a `&mut` must not.
    let mut scratch = [0; 1024];
    let mut done = 0;
    while done < len {
        let step = (len - done).min(scratch.len());
        scratch[..step].fill(0);
        cipher.apply_keystream(&mut scratch[..step]);
        // SAFETY: `step` bytes are initialised in `scratch`, and `done + step` is at most `len`.
        unsafe { ptr::copy_nonoverlapping(scratch.as_ptr(), out.add(done), step) };
        done += step;
    }
    scratch.zeroize();
}
