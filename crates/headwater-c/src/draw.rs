//! Bytes: headwater's own call, and the two of the C library.

use crate::edge::{buffer, fail, refused};
use core::ffi::{c_int, c_uint, c_void};
use core_headwater as headwater;
use libc::{EAGAIN, EFAULT, EINVAL, EIO};
use libc::{GRND_INSECURE, GRND_NONBLOCK, GRND_RANDOM, size_t, ssize_t};

/// getentropy(3) gives no more at once, by POSIX.
const GETENTROPY_LIMIT: size_t = 256;

/// Fills `buf` with `len` random bytes; waits, once after boot, until the kernel's generator is seeded.
///
/// Any length, and never a part of it. With `len` 0 nothing happens, and `buf` may be NULL.
///
/// Returns 0, or -1 with errno set and `buf` all zeros:
///
///     EFAULT  `buf` is NULL and `len` is not 0, or `len` is above SSIZE_MAX
///     other   the kernel refuses random bytes altogether: getrandom(2) and /dev/urandom both
///             failed, and this is the errno of the latter
///
/// Async-signal-safe. errno is not touched on success.
///
/// # Safety
///
/// `buf` is NULL, or valid for writes of `len` bytes that nobody else uses meanwhile.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn headwater_fill(buf: *mut c_void, len: size_t) -> c_int {
    // SAFETY: the caller's promise.
    let Some(buf) = (unsafe { buffer(buf, len) }) else { return fail(EFAULT) };
    match headwater::fill_uninit(buf) {
        Ok(_) => 0,
        Err(error) => refused(error),
    }
}

/// As getrandom(2), from headwater's pools.
///
/// `flags` are those of <sys/random.h>:
///
///     GRND_NONBLOCK (1)  do not wait until the kernel's generator is seeded: EAGAIN instead
///     GRND_RANDOM (2)    the same bytes: Linux has had one generator since 5.6
///     GRND_INSECURE (4)  does not wait either. Where the kernel would give bytes of a generator
///                        that is not seeded, this says EAGAIN: there are no weaker bytes here
///
/// Returns `len`, always all of it, or -1 with errno set and `buf` all zeros (EINVAL: as it was):
///
///     EAGAIN  as said above
///     EFAULT  `buf` is NULL and `len` is not 0, or `len` is above SSIZE_MAX
///     EINVAL  unknown flags, or GRND_RANDOM together with GRND_INSECURE
///     other   as headwater_fill(); never EINTR
///
/// Async-signal-safe. errno is not touched on success.
///
/// # Safety
///
/// As [`headwater_fill`].
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn headwater_getrandom(
    buf: *mut c_void,
    len: size_t,
    flags: c_uint,
) -> ssize_t {
    const BOTH: c_uint = GRND_RANDOM | GRND_INSECURE;
    if flags & !(GRND_NONBLOCK | BOTH) != 0 || flags & BOTH == BOTH {
        return fail(EINVAL) as ssize_t;
    }
    // SAFETY: the caller's promise.
    let Some(buf) = (unsafe { buffer(buf, len) }) else { return fail(EFAULT) as ssize_t };
    let waits = flags & (GRND_NONBLOCK | GRND_INSECURE) == 0;
    let drawn = if waits { headwater::fill_uninit(buf) } else { headwater::try_fill_uninit(buf) };
    match drawn {
        Ok(filled) => filled.len() as ssize_t, // `buffer` lets no more pass than fit
        Err(error) if error.is_not_ready() => fail(EAGAIN) as ssize_t,
        Err(error) => refused(error) as ssize_t,
    }
}

/// As getentropy(3), from headwater's pools. Waits as headwater_fill() does.
///
/// Returns 0, or -1 with errno set:
///
///     EIO     `len` is above 256; `buf` is as it was
///     other   as headwater_fill()
///
/// Async-signal-safe. errno is not touched on success.
///
/// # Safety
///
/// As [`headwater_fill`].
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn headwater_getentropy(buf: *mut c_void, len: size_t) -> c_int {
    if len > GETENTROPY_LIMIT {
        return fail(EIO);
    }
    // SAFETY: the caller's promise.
    unsafe { headwater_fill(buf, len) }
}
