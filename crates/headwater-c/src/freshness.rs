//! Whether something happened that no random bytes that a program keeps must survive.

use crate::edge::fail;
use core::ffi::c_int;
use core_headwater as headwater;

/// A number that changes when something happens that nothing random that a program keeps must
/// survive: a reseed of the kernel (once a minute, or on request), a clone or restore of the VM, a
/// fork. 0 if this machine cannot tell.
///
/// Compare it for inequality only. Async-signal-safe; a few loads, but for the first call of a
/// process, which sets up what headwater_init() does. errno is not touched.
#[unsafe(no_mangle)]
#[must_use]
pub extern "C" fn headwater_generation() -> u64 {
    headwater::generation().map_or(0, core::num::NonZeroU64::get)
}

/// Whether something happened, as headwater_generation() tells it, since `*stamp` was brought up to
/// date.
///
/// For batches and short-lived caches of random values. Make the stamp 0, check it before each use
/// of what was drawn, and on anything but 0 throw that away and draw again:
///
///     static uint64_t stamp;
///     if (headwater_stale(&stamp) != 0)
///         draw_them_again();
///
/// A copy of a stamp is a stamp, and several may be kept. In a forked child each is stale. A stamp
/// of 0 is always stale; any other first value is, but for a chance of 2^-64.
///
/// Returns 1: something happened, and the stamp is now up to date; 0: nothing did; or -1: this
/// machine cannot tell, and nothing random must be kept (errno is not touched), or `stamp` is NULL
/// (errno is EFAULT).
///
/// Async-signal-safe. A stamp is for one thread at a time, like what it guards.
///
/// # Safety
///
/// `stamp` is NULL or valid for reads and writes.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn headwater_stale(stamp: *mut u64) -> c_int {
    // SAFETY: the caller's promise.
    let Some(stamp) = (unsafe { stamp.as_mut() }) else { return fail(libc::EFAULT) };
    let now = headwater_generation();
    // 0 is stored as well: whatever comes later must not look like no change.
    let before = core::mem::replace(stamp, now);
    if now == 0 { -1 } else { c_int::from(now != before) }
}
