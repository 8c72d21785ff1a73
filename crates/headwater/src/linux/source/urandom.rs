//! /dev/urandom, for kernels without getrandom(2) and sandboxes that forbid it.
//!
//! /dev/urandom itself answers before the generator is seeded, so /dev/random is polled first: it
//! becomes readable when the generator is. Both are opened for each request and closed at once: a
//! descriptor kept open would be closed under us by daemons that close all, and then reused. This path
//! is slow and rare.

use super::fill_exactly;
use crate::linux::force::{Force, forced};
use crate::linux::raw::{Errno, Fd};

/// Waits for the generator to be seeded unless `wait` is false; EAGAIN then.
///
/// # Safety
///
/// `dst` is valid for writes of `len` bytes.
pub(super) unsafe fn fill(dst: *mut u8, len: usize, wait: bool) -> Result<(), Errno> {
    if forced(Force::UrandomAbsent) {
        return Err(Errno(libc::ENOENT));
    }
    let ready = Fd::open_read(c"/dev/random")?;
    loop {
        match ready.poll_readable(wait) {
            Ok(true) => break,
            Ok(false) if !wait => return Err(Errno(libc::EAGAIN)),
            Ok(false) | Err(Errno(libc::EINTR)) => {}
            Err(errno) => return Err(errno),
        }
    }
    let urandom = Fd::open_read(c"/dev/urandom")?;
    // SAFETY: the caller's promise; a read writes at most what it is told.
    unsafe { fill_exactly(dst, len, |at, len| urandom.read_raw(at, len)) }
}
