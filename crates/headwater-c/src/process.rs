//! Set-up, checkpoints, version and status.

use crate::edge::{buffer, fail, refused};
use core::ffi::{c_char, c_int};
use core::mem::MaybeUninit;
use core_headwater as headwater;
use headwater_status::{Facts, Host};
use libc::{EFAULT, size_t, ssize_t};

/// Sets up now what the first draw would set up, and waits until the kernel's generator is seeded.
///
/// Call it before a sandbox (seccomp, chroot, a private /proc) is entered: afterwards the only
/// system call is getrandom(2). Further calls do nothing.
///
/// Returns 0, or -1 with errno set as headwater_fill() does. Async-signal-safe.
#[unsafe(no_mangle)]
#[must_use]
pub extern "C" fn headwater_init() -> c_int {
    match headwater::init() {
        Ok(()) => 0,
        Err(error) => refused(error),
    }
}

/// Makes the process checkpointable by CRIU, and lets the images differ: gives up the VMClock page
/// and every buffered byte. What is drawn afterwards is drawn afresh, in mode `strict`, for the rest
/// of the process.
///
/// Returns 0, or -1 with errno set if the kernel refuses: to replace the VMClock page, and nothing has
/// changed then; or to drop some pages, and the others are empty then. Not async-signal-safe.
#[unsafe(no_mangle)]
#[must_use]
pub extern "C" fn headwater_quiesce() -> c_int {
    match headwater::quiesce() {
        Ok(()) => 0,
        Err(error) => refused(error),
    }
}

/// The version of this header; headwater_version() tells that of the library.
pub const HEADWATER_VERSION_MAJOR: i32 = 0;
/// Its second part, which grows with every change that a program could notice while the first is 0.
pub const HEADWATER_VERSION_MINOR: i32 = 1;
/// Its third part.
pub const HEADWATER_VERSION_PATCH: i32 = 0;

/// The version of the library, such as "0.1.0". Async-signal-safe.
#[unsafe(no_mangle)]
#[must_use]
pub extern "C" fn headwater_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}

/// Writes the status of this process to `buf`: the JSON document that `headwater status --json`
/// prints (schema headwater.status/1), on one line, cut to `len` bytes, of which the last is a NUL.
///
/// As snprintf(3): returns the length of the whole document, without the NUL; if that is `len` or
/// more, it was cut. The length changes from call to call by a few digits; 4096 bytes always hold
/// it. With `len` 0, `buf` may be NULL. Returns -1 with errno EFAULT if `buf` is NULL and `len` is
/// not 0.
///
/// Reads a handful of files, the kernel's log among them, which takes milliseconds. It allocates
/// nothing, takes 9 KiB of stack, and draws 1 byte, for which it does not wait. Async-signal-safe.
/// errno is not touched on success.
///
/// # Safety
///
/// `buf` is NULL, or valid for writes of `len` bytes that nobody else uses meanwhile.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn headwater_status_json(buf: *mut c_char, len: size_t) -> ssize_t {
    // SAFETY: the caller's promise.
    let Some(buf) = (unsafe { buffer(buf.cast(), len) }) else { return fail(EFAULT) as ssize_t };
    // SAFETY: the C library's own place for it; that a file cannot be read is no error here.
    let errno = unsafe { *libc::__errno_location() };
    // Before the counters are read, so that they tell how it was served.
    let seeded = headwater::try_fill(&mut [0]).is_ok();
    let facts = Facts { status: &headwater::status(), host: &Host::read(), seeded };
    let mut whole = 0;
    headwater_status::write(&facts, &mut |piece| {
        for (at, &byte) in piece.iter().enumerate() {
            if let Some(place) = buf.get_mut(whole + at) {
                place.write(byte);
            }
        }
        whole += piece.len();
    });
    end(buf, whole);
    // SAFETY: as above.
    unsafe { *libc::__errno_location() = errno };
    whole as ssize_t
}

/// Puts the NUL behind `whole` bytes, or in place of the last that fits.
fn end(buf: &mut [MaybeUninit<u8>], whole: usize) {
    let last = whole.min(buf.len().saturating_sub(1));
    if let Some(place) = buf.get_mut(last) {
        place.write(0);
    }
}
