//! Set-up, checkpoints, version and status.

use crate::edge::{buffer, fail, refused};
use core::ffi::{c_char, c_int};
use core::mem::MaybeUninit;
use core_headwater as headwater;
use libc::{EFAULT, size_t, ssize_t};

/// Does the set-up of the first draw now, and waits until the kernel's generator is seeded.
///
/// Call it before the process enters a sandbox (seccomp, chroot, a private /proc), because set-up
/// makes other system calls, and afterwards getrandom(2) is the only one of the library, except in
/// headwater_quiesce(), headwater_status_json(), headwater_rng_new() beyond 64 handles, and the
/// first call of headwater_random_pseudo_bytes(), which map memory or read files. Where a filter
/// ends the process, call the last one before it. Further calls of this function do nothing.
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

/// Prepares the process for a checkpoint by CRIU: unmaps the VMClock page and discards every
/// buffered byte. The process stays in mode `strict` afterwards, so that images of it draw
/// different bytes.
///
/// Returns 0, or -1 with errno set. If the kernel refused to replace the VMClock page, nothing
/// changed. If it refused to drop some pages, the other pages are empty. Not async-signal-safe.
#[unsafe(no_mangle)]
#[must_use]
pub extern "C" fn headwater_quiesce() -> c_int {
    match headwater::quiesce() {
        Ok(()) => 0,
        Err(error) => refused(error),
    }
}

/// Tests on demand what the set-up of the first draw tested: known answers of the cipher in use
/// (NIST SP 800-38A, F.5.5, or RFC 8439, 2.3.2) and of the key derivation, and the CPU's random
/// instruction where it is in use. Two draws of 32 bytes must differ.
///
/// No program needs it; it is for a rule that asks for a test after a time, or after a live
/// migration.
///
/// Returns 0, or -1 with errno set:
///     EIO     an answer is wrong: end the process, and start it with HEADWATER_MODE=kernel
///     others  as headwater_fill()
/// Async-signal-safe. After headwater_init(), getrandom(2) is its only system call.
#[unsafe(no_mangle)]
#[must_use]
pub extern "C" fn headwater_self_test() -> c_int {
    match headwater::self_test() {
        Ok(()) => 0,
        Err(error) => refused(error),
    }
}

/// Major version of this header; headwater_version() returns the version of the library.
pub const HEADWATER_VERSION_MAJOR: i32 = 0;
/// Minor version. While the major version is 0, every incompatible change increments it.
pub const HEADWATER_VERSION_MINOR: i32 = 2;
/// Patch version.
pub const HEADWATER_VERSION_PATCH: i32 = 0;

/// Returns the version of the library as MAJOR.MINOR.PATCH. Async-signal-safe.
#[unsafe(no_mangle)]
#[must_use]
pub extern "C" fn headwater_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}

/// Writes the status of this process to `buf`: the JSON document of `headwater status --json`
/// (schema headwater.status/1) on one line, with a NUL at the end.
///
/// The function truncates like snprintf(3). It returns the length of the whole document without the
/// NUL; if that is `len` or more, the document was truncated. The length varies by a few digits
/// from call to call, and 4096 bytes are always enough. With `len` 0, `buf` may be NULL. Returns -1
/// with errno EFAULT if `buf` is NULL and `len` is not 0.
///
/// The call reads a few files, the kernel's log among them, so it takes milliseconds. But it
/// allocates nothing, and draws 1 byte without waiting. Async-signal-safe. On success errno keeps
/// its value.
///
/// # Safety
///
/// `buf` is NULL, or valid for writes of `len` bytes that nothing else uses meanwhile.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn headwater_status_json(buf: *mut c_char, len: size_t) -> ssize_t {
    // SAFETY: headwater.h asks for `len` bytes that nothing else uses; `buffer` refuses null and a
    // length that no object has.
    let Some(buf) = (unsafe { buffer(buf.cast(), len) }) else { return fail(EFAULT) as ssize_t };
    // SAFETY: errno's address is valid. Saved, because an unreadable file is not an error here.
    let errno = unsafe { *libc::__errno_location() };
    let mut whole = 0;
    headwater_status::write_now(&mut |piece| {
        for (at, &byte) in piece.iter().enumerate() {
            if let Some(place) = buf.get_mut(whole + at) {
                place.write(byte);
            }
        }
        whole += piece.len();
    });
    end(buf, whole);
    // SAFETY: errno's address is valid in every thread, and this is the thread that read it.
    unsafe { *libc::__errno_location() = errno };
    whole as ssize_t
}

/// Writes the NUL after `whole` bytes, or over the last byte that fits.
fn end(buf: &mut [MaybeUninit<u8>], whole: usize) {
    let last = whole.min(buf.len().saturating_sub(1));
    if let Some(place) = buf.get_mut(last) {
        place.write(0);
    }
}
