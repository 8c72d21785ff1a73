//! Owned generators.

use crate::edge::{buffer, fail, refused};
use core::ffi::{c_int, c_void};
use core::ptr::null_mut;
use core_headwater::Rng;
use libc::{EFAULT, ENOMEM, size_t};

/// A generator of one's own: a page (4 KiB) of random bytes that no other thread draws from, so that
/// no lock is taken. The fastest way to draw, under the same guards as headwater_fill().
///
/// For one thread at a time. A forked child may go on with its copy, and draws other bytes than its
/// parent.
#[allow(non_camel_case_types)] // a name of C
pub struct headwater_rng(Rng);

/// A new generator, to be freed by headwater_rng_free(); waits as headwater_fill() does.
///
/// Returns NULL with errno set on an error: ENOMEM, or as headwater_fill().
///
/// Not async-signal-safe: it calls malloc(3). Beyond 64 generators at a time it also maps memory.
#[unsafe(no_mangle)]
#[must_use]
pub extern "C" fn headwater_rng_new() -> *mut headwater_rng {
    const { assert!(align_of::<headwater_rng>() <= 16, "malloc aligns to 16 bytes") };
    let rng = match Rng::new() {
        Ok(rng) => headwater_rng(rng),
        Err(error) => {
            refused(error);
            return null_mut();
        }
    };
    // SAFETY: malloc takes any size.
    let place: *mut headwater_rng = unsafe { libc::malloc(size_of::<headwater_rng>()) }.cast();
    if place.is_null() {
        fail(ENOMEM);
        return null_mut();
    }
    // SAFETY: fresh memory of that size, aligned as malloc aligns.
    unsafe { place.write(rng) };
    place
}

/// Erases and frees a generator. NULL is fine.
///
/// Not async-signal-safe: it calls free(3).
///
/// # Safety
///
/// `rng` is NULL, or came from headwater_rng_new() and is not used afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn headwater_rng_free(rng: *mut headwater_rng) {
    if !rng.is_null() {
        // SAFETY: the caller's promise.
        unsafe {
            rng.drop_in_place();
            libc::free(rng.cast());
        }
    }
}

/// Fills `buf` with `len` random bytes from a generator of one's own.
///
/// Returns 0, or -1 with errno set as headwater_fill() does; EFAULT also if `rng` is NULL.
///
/// Async-signal-safe for a generator that is the handler's own: a handler must not draw from one
/// that it may have interrupted.
///
/// # Safety
///
/// `rng` is NULL or a generator that nobody else uses meanwhile; `buf` as for headwater_fill().
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn headwater_rng_fill(
    rng: *mut headwater_rng,
    buf: *mut c_void,
    len: size_t,
) -> c_int {
    // SAFETY: the caller's promise, for both.
    let (Some(rng), Some(buf)) = (unsafe { (rng.as_mut(), buffer(buf, len)) }) else {
        return fail(EFAULT);
    };
    match rng.0.fill_uninit(buf) {
        Ok(_) => 0,
        Err(error) => refused(error),
    }
}
