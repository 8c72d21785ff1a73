//! Secure bytes: headwater's own call, and getrandom and getentropy over the same pools.

use crate::edge::{buffer, fail, refused};
use core::ffi::{c_int, c_uint, c_void};
use core_headwater as headwater;
use libc::{EAGAIN, EFAULT, EINVAL, EIO};
use libc::{GRND_INSECURE, GRND_NONBLOCK, GRND_RANDOM, size_t, ssize_t};

/// POSIX limits one getentropy(3) request to 256 bytes.
const GETENTROPY_LIMIT: size_t = 256;

/// Fills `buf` with `len` random bytes. Waits, once after boot, until the kernel's generator is
/// seeded.
///
/// The length is not limited, and a request is never served in part. With `len` 0 the call does
/// nothing, and `buf` may be NULL.
///
/// Returns 0, or -1 with errno set and `buf` all zeros:
///
///     EFAULT  `buf` is NULL and `len` is not 0, or `len` is above SSIZE_MAX
///     other   getrandom(2) and /dev/urandom both failed; errno is that of /dev/urandom
///
/// Async-signal-safe. On success errno keeps its value.
///
/// # Safety
///
/// `buf` is NULL, or valid for writes of `len` bytes that nothing else uses meanwhile.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn headwater_fill(buf: *mut c_void, len: size_t) -> c_int {
    // SAFETY: headwater.h asks for a buffer of `len` bytes that nothing else uses; `buffer` refuses
    // null and a length that no object has.
    let Some(buf) = (unsafe { buffer(buf, len) }) else { return fail(EFAULT) };
    match headwater::fill_uninit(buf) {
        Ok(_) => 0,
        Err(error) => refused(error),
    }
}

/// Does what getrandom(2) does, from headwater's pools.
///
/// `flags` are those of <sys/random.h>:
///
///     GRND_NONBLOCK (1)  fails with EAGAIN if the kernel's generator is not seeded
///     GRND_RANDOM (2)    changes nothing: Linux has had one generator since 5.6
///     GRND_INSECURE (4)  fails with EAGAIN if the kernel's generator is not seeded, because
///                        headwater never returns weaker bytes
///
/// Returns `len`, or -1 with errno set and `buf` all zeros (with EINVAL, `buf` is unchanged):
///
///     EAGAIN  the generator is not seeded, and `flags` forbid to wait
///     EFAULT  `buf` is NULL and `len` is not 0, or `len` is above SSIZE_MAX
///     EINVAL  unknown flags, or GRND_RANDOM together with GRND_INSECURE
///     other   the errors of headwater_fill(); never EINTR
///
/// Async-signal-safe. On success errno keeps its value.
///
/// # Safety
///
/// The promise of [`headwater_fill`].
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
    // SAFETY: a program that would call getrandom(2) has a buffer of `len` bytes; what can be
    // checked of that, `buffer` checks.
    let Some(buf) = (unsafe { buffer(buf, len) }) else { return fail(EFAULT) as ssize_t };
    let waits = flags & (GRND_NONBLOCK | GRND_INSECURE) == 0;
    let drawn = if waits { headwater::fill_uninit(buf) } else { headwater::try_fill_uninit(buf) };
    match drawn {
        Ok(filled) => filled.len() as ssize_t, // `buffer` lets no more pass than fit
        Err(error) if error.is_not_ready() => fail(EAGAIN) as ssize_t,
        Err(error) => refused(error) as ssize_t,
    }
}

/// Does what getentropy(3) does, from headwater's pools. Waits as headwater_fill() does.
///
/// Returns 0, or -1 with errno set:
///
///     EIO     `len` is above 256; `buf` is unchanged
///     other   the errors of headwater_fill()
///
/// Async-signal-safe. On success errno keeps its value.
///
/// # Safety
///
/// The promise of [`headwater_fill`].
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn headwater_getentropy(buf: *mut c_void, len: size_t) -> c_int {
    if len > GETENTROPY_LIMIT {
        return fail(EIO);
    }
    // SAFETY: `headwater_fill` takes the same arguments under the same conditions.
    unsafe { headwater_fill(buf, len) }
}
