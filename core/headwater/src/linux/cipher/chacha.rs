//! ChaCha20 (RFC 8439) by RustCrypto's `chacha20`, for architectures without assembly
//! of ours.
//!
//! The crate's code decides for itself which registers and stack it uses. So each function here is
//! kept apart from its caller, and [`scrub`] clears the stack below it afterwards. That is not
//! enough: on arm64, which has assembly since, the crate's frames were deeper than what is
//! cleared, and some profiles left a whole key. No other architecture was searched.

#![allow(unsafe_code)]

use chacha20::ChaCha20;
use chacha20::cipher::{Array, KeyIvInit, StreamCipher, StreamCipherSeek};
use core::ptr;
use zeroize::Zeroize;

/// Bytes made at a time. Small, so that a refill fits an alternate signal stack.
const SCRATCH: usize = 256;

/// Derives a key from the 64 bytes at `seed`, erases the seed, and writes the key to `to`.
///
/// # Safety
///
/// `seed` is writable for 64 bytes, and `to` for 32.
pub(super) unsafe fn derive(seed: *mut u8, to: *mut u8) {
    // SAFETY: `seed` has 64 writable bytes and `to` 32, which is all that `derive_apart` touches.
    // The seed is erased only afterwards, as its last use is over then.
    unsafe {
        derive_apart(seed, to);
        super::wipe(seed, 64);
    }
    super::scrub();
}

/// # Safety
///
/// The promises of [`derive`].
#[inline(never)]
unsafe fn derive_apart(seed: *const u8, to: *mut u8) {
    // SAFETY: 64 readable bytes at `seed`; volatile, because a dropped page changes under the
    // reader.
    let mut seed = unsafe { seed.cast::<[[u8; 32]; 2]>().read_volatile() };
    for half in 0..2 {
        let (block, mut out) = (16 * half, [0; 16]);
        let mut start = [0; 16];
        start.copy_from_slice(&seed[1][block..][..16]);
        keystream(&seed[0], start, &mut out);
        // SAFETY: 16 of the 32 writable bytes at `to`.
        unsafe { to.add(block).cast::<[u8; 16]>().write_volatile(out) };
        out.zeroize();
    }
    seed.zeroize();
}

/// Writes the beginning of the keystream whose first block has words 12 to 15 from `start`.
fn keystream(key: &[u8; 32], start: [u8; 16], out: &mut [u8]) {
    let [a, b, c, d, nonce @ ..] = start;
    let mut cipher = ChaCha20::new(key.into(), &Array(nonce));
    // Both calls can fail, but only where the 32-bit counter would pass its end. Requests start
    // near zero and are at most 1 MiB long, and a derivation takes 16 bytes from any block, so
    // neither gets there.
    let sought = cipher.try_seek(u64::from(u32::from_le_bytes([a, b, c, d])) * 64);
    let applied = cipher.try_apply_keystream(out);
    debug_assert!(sought.is_ok() && applied.is_ok());
}

/// Writes `len` bytes of keystream from block `first` on, under the key at `key`.
///
/// # Safety
///
/// `key` is readable for 32 bytes, and `out` is writable for `len` bytes.
pub(super) unsafe fn stream(key: *const u8, first: [u64; 2], out: *mut u8, len: usize) {
    // SAFETY: `stream_apart` reads the 32 bytes of the key and writes `len` bytes, and the caller
    // has both.
    unsafe { stream_apart(key, first, out, len) };
    super::scrub();
}

/// # Safety
///
/// The promises of [`stream`].
#[inline(never)]
unsafe fn stream_apart(key: *const u8, [first, high]: [u64; 2], out: *mut u8, len: usize) {
    // SAFETY: 32 readable bytes; volatile, because a dropped page changes under the reader.
    let mut key = unsafe { key.cast::<[u8; 32]>().read_volatile() };
    let mut start = [0; 16];
    start[..4].copy_from_slice(&(first as u32).to_le_bytes());
    start[4..12].copy_from_slice(&high.to_le_bytes());
    // The page itself is never passed to the crate: that memory may change, which `&mut` forbids.
    let mut scratch = [0; SCRATCH];
    let mut done = 0;
    while done < len {
        let step = (len - done).min(SCRATCH);
        let counter = (first as u32).wrapping_add((done / 64) as u32);
        start[..4].copy_from_slice(&counter.to_le_bytes());
        scratch.fill(0);
        keystream(&key, start, &mut scratch);
        // SAFETY: `step` bytes are initialised in `scratch`, and `done + step` is at most `len`.
        unsafe { ptr::copy_nonoverlapping(scratch.as_ptr(), out.add(done), step) };
        done += step;
    }
    scratch.zeroize();
    key.zeroize();
}
