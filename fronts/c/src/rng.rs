//! Owned generators.

use crate::edge::{buffer, fail, refused};
use core::ffi::{c_int, c_void};
use core::ptr::null_mut;
use core_headwater::Rng;
use libc::{EFAULT, ENOMEM, size_t};

/// A generator with a page (4 KiB) of random bytes of its own, which needs no lock. The fastest way
/// to draw, under the same guards as headwater_fill().
///
/// Only one thread at a time may use it. A forked child may use its copy, and draws other bytes
/// than its parent.
#[allow(non_camel_case_types)] // a name of C
pub struct headwater_rng(Rng);

/// Makes a generator, which headwater_rng_free() frees. Waits as headwater_fill() does.
///
/// Returns NULL with errno set on an error: ENOMEM, or an error of headwater_fill().
///
/// Not async-signal-safe, because it calls malloc(3). Each 64 generators it also maps memory.
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

/// Erases and frees a generator. Does nothing for NULL.
///
/// Not async-signal-safe, because it calls free(3).
///
/// # Safety
///
/// `rng` is NULL, or came from headwater_rng_new() and is not used afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn headwater_rng_free(rng: *mut headwater_rng) {
    if !rng.is_null() {
        // SAFETY: `rng` is not null, so it is memory of malloc's in which `headwater_rng_new` wrote
        // a generator. The program does not use it afterwards, so it is dropped once and freed
        // once.
        unsafe {
            rng.drop_in_place();
            libc::free(rng.cast());
        }
    }
}

/// Fills `buf` with `len` random bytes from an owned generator.
///
/// Returns 0, or -1 with errno set as headwater_fill() does. EFAULT also means that `rng` is NULL.
///
/// Async-signal-safe if the generator belongs to the handler. A handler must not draw from a
/// generator whose draw it may have interrupted.
///
/// # Safety
///
/// `rng` is NULL or a generator that nothing else uses meanwhile; `buf` as for headwater_fill().
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn headwater_rng_fill(
    rng: *mut headwater_rng,
    buf: *mut c_void,
    len: size_t,
) -> c_int {
    // SAFETY: `as_mut` and `buffer` refuse null. A generator of `headwater_rng_new` is aligned and
    // initialised, and headwater.h lets one thread use it at a time, so no other reference to it
    // exists; the bytes are the program's.
    let (Some(rng), Some(buf)) = (unsafe { (rng.as_mut(), buffer(buf, len)) }) else {
        return fail(EFAULT);
    };
    match rng.0.fill_uninit(buf) {
        Ok(_) => 0,
        Err(error) => refused(error),
    }
}
