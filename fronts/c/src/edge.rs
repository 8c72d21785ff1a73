//! The edge itself: pointers that come from C, and errors in the form that C expects.

use core::ffi::{CStr, c_char, c_int, c_void};
use core::mem::MaybeUninit;
use core::ops::Range;
use core_headwater::Error;
use libc::{EFAULT, EINVAL};

/// Sets errno and returns -1.
#[cold]
#[inline(never)]
pub(crate) fn fail(errno: c_int) -> c_int {
    // SAFETY: errno's address is valid in every thread.
    unsafe { *libc::__errno_location() = errno };
    -1
}

/// Sets errno for an error of the core and returns -1.
pub(crate) fn refused(error: Error) -> c_int {
    fail(errno(error))
}

/// Returns the errno of an error. An error that no system call caused is EIO, which getrandom(2)
/// never sets, so a caller can distinguish the two.
pub(crate) fn errno(error: Error) -> c_int {
    error.errno().unwrap_or(libc::EIO)
}

/// Returns the buffer of a pointer and a length. Returns `None` for a null pointer with a length,
/// and for more bytes than any object has, because the kernel answers both with EFAULT.
///
/// # Safety
///
/// If it is not null, `buf` is valid for writes of `len` bytes, and nothing else uses them
/// meanwhile.
#[inline(always)]
pub(crate) unsafe fn buffer<'a>(buf: *mut c_void, len: usize) -> Option<&'a mut [MaybeUninit<u8>]> {
    if len == 0 {
        return Some(&mut []);
    }
    if buf.is_null() || isize::try_from(len).is_err() {
        return None;
    }
    // SAFETY: `buf` is not null, and `len` is not more than an object can have: both were checked.
    // But that so many bytes are there, and that nothing else uses them, only the program can know,
    // so `# Safety` asks for it. `MaybeUninit`, because memory that C passes may be unwritten.
    Some(unsafe { core::slice::from_raw_parts_mut(buf.cast(), len) })
}

/// Returns the elements of a pointer and a count, or `None` if no such array can exist.
///
/// # Safety
///
/// If it is not null, `out` is aligned and valid for writes of `n` elements that nothing else uses
/// meanwhile.
pub(crate) unsafe fn output<'a, T>(out: *mut T, n: usize) -> Option<&'a mut [T]> {
    if n == 0 {
        return Some(&mut []);
    }
    if out.is_null() || n > isize::MAX as usize / size_of::<T>() {
        return None;
    }
    // SAFETY: `out` is not null, and `n` elements are not more than an object can have: both were
    // checked. Alignment and length only the program can know, so `# Safety` asks for them. C may
    // pass unwritten memory, and a reader would want `MaybeUninit` here, but the streams fill
    // slices of numbers. We may make one all the same, because this library is linked as machine
    // code, so the compiler cannot see that nothing was written, every bit pattern is a number, and
    // none is read.
    Some(unsafe { core::slice::from_raw_parts_mut(out, n) })
}

/// Returns the bytes of a pointer and a length, or `None` if no such object can exist.
///
/// # Safety
///
/// `at` is NULL or valid for reads of `len` bytes.
pub(crate) unsafe fn input<'a>(at: *const c_void, len: usize) -> Option<&'a [u8]> {
    // SAFETY: `elements` asks for aligned memory too, and bytes need no alignment.
    unsafe { elements(at.cast(), len) }
}

/// Returns the elements of a pointer and a count, or `None` if no such array can exist.
///
/// # Safety
///
/// `at` is NULL, or aligned and valid for reads of `n` elements.
pub(crate) unsafe fn elements<'a, T>(at: *const T, n: usize) -> Option<&'a [T]> {
    if n == 0 {
        return Some(&[]);
    }
    if at.is_null() || n > isize::MAX as usize / size_of::<T>() {
        return None;
    }
    // SAFETY: `at` is not null, and `n` elements are not more than an object can have: both were
    // checked. Alignment and length only the program can know, so `# Safety` asks for them.
    Some(unsafe { core::slice::from_raw_parts(at, n) })
}

/// Returns true if the memory for results holds a part of an argument. A C program may well pass
/// one array for both, as LAPACK allows, but a `&mut` beside a `&` of the same bytes is
/// undefined, and a result would lie where an argument is still to be read.
pub(crate) fn overlap<A, B>(argument: *const A, len: usize, out: *const B, n: usize) -> bool {
    // Arrays that cannot exist overlap nothing: they are refused as what they are.
    fn range<T>(at: *const T, len: usize) -> Option<Range<usize>> {
        let bytes = len.checked_mul(size_of::<T>()).filter(|bytes| isize::try_from(*bytes).is_ok());
        Some(at.addr()..at.addr().checked_add(bytes?)?).filter(|range| range.start != 0)
    }
    let (Some(argument), Some(out)) = (range(argument, len), range(out, n)) else { return false };
    argument.start < out.end && out.start < argument.end
}

/// Returns the text of a C string, or an errno if the string is null or not UTF-8.
///
/// # Safety
///
/// `at` is NULL or a C string.
pub(crate) unsafe fn text<'a>(at: *const c_char) -> Result<&'a str, c_int> {
    if at.is_null() {
        return Err(EFAULT);
    }
    // SAFETY: `at` is not null. A C string ends with a NUL, and the program keeps it for the call.
    unsafe { CStr::from_ptr(at) }.to_str().map_err(|_| EINVAL)
}
