//! The edge itself: pointers that C gives, and errors as C is told of them.

use core::ffi::{c_int, c_void};
use core::mem::MaybeUninit;
use core_headwater::Error;

/// Sets errno and gives the -1 that goes with it.
#[cold]
#[inline(never)]
pub(crate) fn fail(errno: c_int) -> c_int {
    // SAFETY: the C library's own place for it, one for each thread.
    unsafe { *libc::__errno_location() = errno };
    -1
}

/// As [`fail`], for what headwater says.
pub(crate) fn refused(error: Error) -> c_int {
    fail(errno(error))
}

/// Each error has an errno: those that no system call gave are EIO, which getrandom(2) never answers.
pub(crate) fn errno(error: Error) -> c_int {
    error.errno().unwrap_or(libc::EIO)
}

/// The buffer that C means by a pointer and a length. `None` where no buffer can be: null with a length, or more bytes
/// than any object has, for which the kernel would say EFAULT.
///
/// # Safety
///
/// If it is not null, `buf` is valid for writes of `len` bytes, and nobody else uses them meanwhile.
#[inline(always)]
pub(crate) unsafe fn buffer<'a>(buf: *mut c_void, len: usize) -> Option<&'a mut [MaybeUninit<u8>]> {
    if len == 0 {
        return Some(&mut []);
    }
    if buf.is_null() || isize::try_from(len).is_err() {
        return None;
    }
    // SAFETY: the caller's promise; `MaybeUninit`, because C may give memory that nobody has written to.
    Some(unsafe { core::slice::from_raw_parts_mut(buf.cast(), len) })
}
