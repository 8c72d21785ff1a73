//! Numbers below a bound, and random orders, with errors that a program can handle.

use crate::edge::{fail, refused};
use core::ffi::{c_int, c_void};
use core::num::NonZeroU64;
use core_headwater as headwater;
use libc::{EFAULT, EINVAL, size_t};

/// Writes a random number below `upper_bound` to `*number`, each with the same probability.
///
/// Returns 0, or -1 with errno set and `*number` unchanged:
///
///     EINVAL  `upper_bound` is 0
///     EFAULT  `number` is NULL
///     other   the errors of headwater_fill()
///
/// Async-signal-safe. On success errno keeps its value.
///
/// Method: D. Lemire, "Fast Random Integer Generation in an Interval", ACM TOMACS 29(1), 2019.
///
/// # Safety
///
/// `number` is NULL, or aligned and valid for a write that nothing else sees meanwhile.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn headwater_uniform(upper_bound: u64, number: *mut u64) -> c_int {
    let Some(bound) = NonZeroU64::new(upper_bound) else { return fail(EINVAL) };
    if number.is_null() {
        return fail(EFAULT);
    }
    match headwater::u64_below(bound) {
        Ok(value) => {
            // SAFETY: not null, as was checked. Alignment, and that a number lies there, only the
            // program can know, so `# Safety` asks for them, as headwater.h does by the type.
            unsafe { number.write(value) };
            0
        }
        Err(error) => refused(error),
    }
}

/// Puts `n` items of `size` bytes each, which begin at `base`, in a random order: each order has
/// the same probability. The items are moved byte by byte, as qsort(3) moves them.
///
/// Returns 0, or -1 with errno set:
///
///     EFAULT  `base` is NULL and there is a byte, or the items have more bytes than SSIZE_MAX
///     other   the errors of headwater_fill(); the items may be in another order then, and all of
///             them are there
///
/// Async-signal-safe. On success errno keeps its value.
///
/// Method: R. A. Fisher and F. Yates, in the form of R. Durstenfeld, "Algorithm 235: Random
/// Permutation", Communications of the ACM 7(7), 1964.
///
/// # Safety
///
/// `base` is NULL, or valid for reads and writes of `n` times `size` bytes that nothing else uses
/// meanwhile.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn headwater_shuffle(base: *mut c_void, n: size_t, size: size_t) -> c_int {
    let Some(bytes) = n.checked_mul(size).filter(|&bytes| isize::try_from(bytes).is_ok()) else {
        return fail(EFAULT);
    };
    if bytes == 0 {
        return 0;
    }
    if base.is_null() {
        return fail(EFAULT);
    }
    let base = base.cast::<u8>();
    for last in (1..n).rev() {
        // The last of the items that have no place yet changes places with any of them.
        let Some(bound) = NonZeroU64::new(last as u64 + 1) else { break };
        let other = match headwater::u64_below(bound) {
            Ok(other) => other as usize,
            Err(error) => return refused(error),
        };
        if other != last {
            // SAFETY: both items lie among the n, since `other` is below the bound, which is at
            // most n; they are two, so they do not overlap. That so many bytes are there, and that
            // nothing else uses them, only the program can know, so `# Safety` asks for it.
            unsafe {
                core::ptr::swap_nonoverlapping(base.add(last * size), base.add(other * size), size);
            }
        }
    }
    0
}
