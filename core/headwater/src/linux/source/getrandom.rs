//! The getrandom(2) system call (Linux 3.17).

use super::fill_exactly;
use crate::linux::failpoint::{Force, every_other_time, forced};
use crate::linux::sys::{self, Errno};

/// Waits for the generator to be seeded unless `wait` is false; EAGAIN then.
///
/// # Safety
///
/// `dst` is valid for writes of `len` bytes.
pub(super) unsafe fn fill(dst: *mut u8, len: usize, wait: bool) -> Result<(), Errno> {
    let flags = if wait { 0 } else { libc::GRND_NONBLOCK };
    // SAFETY: `dst` has `len` writable bytes, and `once` writes at most as many as it is asked for,
    // so `fill_exactly` may call it.
    unsafe { fill_exactly(dst, len, |at, len| once(at, len, flags)) }
}

/// Makes one call.
///
/// # Safety
///
/// `dst` is valid for writes of `len` bytes.
unsafe fn once(dst: *mut u8, len: usize, flags: u32) -> Result<usize, Errno> {
    if forced(Force::GetrandomEnosys) {
        return Err(Errno(libc::ENOSYS));
    }
    if forced(Force::GetrandomEperm) {
        return Err(Errno(libc::EPERM));
    }
    if forced(Force::GetrandomNotReady) && flags & libc::GRND_NONBLOCK != 0 {
        return Err(Errno(libc::EAGAIN));
    }
    if forced(Force::GetrandomEintr) && every_other_time() {
        return Err(Errno(libc::EINTR));
    }
    let len = if forced(Force::GetrandomShort) { len.min(5) } else { len };
    // SAFETY: `dst` is writable for `len` bytes, as `# Safety` asks, and a failpoint only shortens
    // them.
    unsafe { sys::getrandom(dst, len, flags) }
}
