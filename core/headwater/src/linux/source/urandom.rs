//! /dev/urandom, for kernels without getrandom(2) and sandboxes that forbid it.
//!
//! /dev/urandom itself answers before the generator is seeded, so /dev/random is polled first, once
//! in a process. It would be faster to keep the descriptors, but daemons close all that they find,
//! and their next file gets the number; we would then read random bytes from that file. So each
//! device is opened for one use and closed at once. This path is rare and may be slow.

use super::fill_exactly;
use crate::linux::failpoint::{Force, forced};
use crate::linux::sys::{Errno, Fd};
use core::sync::atomic::{AtomicBool, Ordering};

/// Set once a poll of /dev/random has answered in this process, or in one that it was forked from.
///
/// Polling before each request would be wrong: until Linux 5.6 /dev/random is readable only while
/// the input pool counts 64 bits or more, so that a neighbour who drains /dev/random would make
/// every request wait. The first answer proves that the generator is seeded, and a seeded generator
/// stays so. Relaxed loads and stores are enough: the flag publishes nothing but itself, and a
/// thread that misses it polls once more.
static SEEDED: AtomicBool = AtomicBool::new(false);

/// Waits for the generator to be seeded unless `wait` is false; EAGAIN then.
///
/// # Safety
///
/// `dst` is valid for writes of `len` bytes.
pub(super) unsafe fn fill(dst: *mut u8, len: usize, wait: bool) -> Result<(), Errno> {
    if forced(Force::UrandomAbsent) {
        return Err(Errno(libc::ENOENT));
    }
    if !SEEDED.load(Ordering::Relaxed) {
        wait_until_seeded(wait)?;
        SEEDED.store(true, Ordering::Relaxed);
    }
    let urandom = Fd::open_read(c"/dev/urandom")?;
    // SAFETY: `dst` has `len` writable bytes, and a read writes at most as many as it is asked for,
    // so `fill_exactly` may call it.
    unsafe { fill_exactly(dst, len, |at, len| urandom.read_raw(at, len)) }
}

/// Polls /dev/random, which becomes readable when the generator is seeded.
fn wait_until_seeded(wait: bool) -> Result<(), Errno> {
    let random = Fd::open_read(c"/dev/random")?;
    loop {
        match random.poll_readable(wait).map(|ready| ready && !forced(Force::RandomDrained)) {
            Ok(true) => return Ok(()),
            Ok(false) if !wait => return Err(Errno(libc::EAGAIN)),
            Ok(false) | Err(Errno(libc::EINTR)) => {}
            Err(errno) => return Err(errno),
        }
    }
}
