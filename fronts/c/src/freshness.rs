//! Change detection for programs that keep random values: reseeds, clones, restores and forks.

use crate::edge::fail;
use core::ffi::c_int;
use core_headwater::{self as headwater, Freshness};

/// Returns a number that changes at every event after which kept random values must be discarded: a
/// reseed of the kernel (once a minute, or on request), a clone of the VM, a fork, a restore of
/// this process. Returns 0 if this machine cannot detect clones of itself.
///
/// The number is no identity, because two copies may have the same one. So compare it with an
/// earlier number of the same copy, and for inequality only. A process that is restored with every
/// page it had (CRIU before 4.2, Linux before 6.11) has its old number too, so call
/// headwater_quiesce() before such a dump.
///
/// Async-signal-safe. The first call of a process does what headwater_init() does; later calls take
/// a few loads. errno keeps its value.
#[unsafe(no_mangle)]
#[must_use]
pub extern "C" fn headwater_generation() -> u64 {
    headwater::generation().map_or(0, core::num::NonZeroU64::get)
}

/// Compares `*stamp` with the number of headwater_generation() and stores the present one in it.
///
/// The function serves batches and short-lived caches of random values. Start the stamp at 0, call
/// the function before each use of the cache, and draw the cache again unless it returns 0:
///
///     static uint64_t stamp;
///     if (headwater_stale(&stamp) != 0)
///         draw_them_again();
///
/// A program may keep several stamps and may copy them. In a forked child every stamp is stale. A
/// stamp of 0 is always stale, and so is an uninitialised one, except with probability 2^-64.
///
/// Returns 1 if an event happened since the last call with this stamp, 0 if none did, and -1 if
/// none was seen but this machine cannot detect clones of itself, so that no random value may be
/// kept (errno keeps its value), or if `stamp` is NULL (errno is EFAULT).
///
/// Async-signal-safe. Only one thread at a time may use a stamp and the values it guards.
///
/// # Safety
///
/// `stamp` is NULL or valid for reads and writes.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn headwater_stale(stamp: *mut u64) -> c_int {
    // SAFETY: `as_mut` refuses null. Otherwise `stamp` is a number of the program's, which
    // headwater.h lets one thread use at a time, so no other reference to it exists.
    let Some(stamp) = (unsafe { stamp.as_mut() }) else { return fail(libc::EFAULT) };
    match headwater::internal::check_stamp(stamp) {
        Freshness::Fresh => 0,
        Freshness::Stale => 1,
        Freshness::Unknown => -1,
    }
}
