//! The edge itself: pointers that C gives, and errors as C is told of them.

use core::ffi::{CStr, c_char, c_int, c_void};
use core::mem::MaybeUninit;
use core_headwater::Error;
use libc::{EFAULT, EINVAL};

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

/// The elements that C means by a pointer and a number; `None` where there can be no such.
///
/// # Safety
///
/// If it is not null, `out` is aligned and valid for writes of `n` elements that nobody else uses meanwhile.
pub(crate) unsafe fn output<'a, T>(out: *mut T, n: usize) -> Option<&'a mut [T]> {
    if n == 0 {
        return Some(&mut []);
    }
    if out.is_null() || n > isize::MAX as usize / size_of::<T>() {
        return None;
    }
    // SAFETY: the caller's promise. C may give memory that it has not written to; for a library that is linked as
    // machine code it has some value nevertheless, any of which is a number, and none of which is read.
    Some(unsafe { core::slice::from_raw_parts_mut(out, n) })
}

/// The bytes that C means by a pointer and a length; `None` where there can be no such.
///
/// # Safety
///
/// `at` is NULL or valid for reads of `len` bytes.
pub(crate) unsafe fn input<'a>(at: *const c_void, len: usize) -> Option<&'a [u8]> {
    if len == 0 {
        return Some(&[]);
    }
    if at.is_null() || isize::try_from(len).is_err() {
        return None;
    }
    // SAFETY: the caller's promise.
    Some(unsafe { core::slice::from_raw_parts(at.cast(), len) })
}

/// The text that C means; or an errno, where it is none.
///
/// # Safety
///
/// `at` is NULL or a string of C.
pub(crate) unsafe fn text<'a>(at: *const c_char) -> Result<&'a str, c_int> {
    if at.is_null() {
        return Err(EFAULT);
    }
    // SAFETY: the caller's promise.
    unsafe { CStr::from_ptr(at) }.to_str().map_err(|_| EINVAL)
}
