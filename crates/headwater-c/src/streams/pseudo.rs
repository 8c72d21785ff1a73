//! Numbers that need not come again.

use crate::edge::{fail, output, refused};
use core::ffi::{c_int, c_void};
use libc::{EFAULT, size_t};

/// Fills `buf` with `len` bytes that nobody has to repeat and nobody has to be kept from guessing,
/// as quickly as a generator of one's own, with nothing to keep: for sampling, backoff, jitter, test
/// data. Not for secrets: whoever sees 32 bytes in a row can compute the next.
///
/// One state of xoshiro256++ for each CPU, all seeded once by headwater_fill() and 2^192 words
/// apart. A forked child starts its own from fresh seeds; a virtual machine that is cloned or
/// restored repeats them.
///
/// Returns 0, or -1 with errno set as headwater_fill() does, and `buf` all zeros.
/// Async-signal-safe. errno is not touched on success.
///
/// # Safety
///
/// `buf` is NULL, or valid for writes of `len` bytes that nobody else uses meanwhile.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn headwater_random_pseudo_bytes(buf: *mut c_void, len: size_t) -> c_int {
    // SAFETY: the caller's promise.
    let Some(buf) = (unsafe { output(buf.cast(), len) }) else { return fail(EFAULT) };
    match headwater_streams::random_pseudo_bytes(buf) {
        Ok(()) => 0,
        Err(error) => refused(error),
    }
}
