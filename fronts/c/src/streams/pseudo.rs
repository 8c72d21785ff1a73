//! Fast numbers that need not repeat and are not secret.

use crate::edge::{fail, output, refused};
use core::ffi::{c_int, c_void};
use libc::{EFAULT, size_t};

/// Fills `buf` with `len` fast random bytes, for sampling, backoff, jitter and test data. Not for
/// secrets.
///
/// Each process has one key, from headwater_fill(), and each CPU a counter. The engine ars7 turns
/// counters into blocks (Philox where the CPU has no AES instructions), so no block of a process
/// repeats. A forked child makes a key of its own, but a cloned or restored virtual machine repeats
/// the numbers.
///
/// Returns 0, or -1 with errno set as headwater_fill() does, and `buf` all zeros.
/// Async-signal-safe. On success errno keeps its value.
///
/// # Safety
///
/// `buf` is NULL, or valid for writes of `len` bytes that nothing else uses meanwhile.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn headwater_random_pseudo_bytes(buf: *mut c_void, len: size_t) -> c_int {
    // SAFETY: `# Safety` grants `len` bytes at `buf` that nothing else uses; bytes need no
    // alignment, and `output` refuses NULL and a length that no object has.
    let Some(buf) = (unsafe { output(buf.cast(), len) }) else { return fail(EFAULT) };
    match headwater_streams::random_pseudo_bytes(buf) {
        Ok(()) => 0,
        Err(error) => refused(error),
    }
}
