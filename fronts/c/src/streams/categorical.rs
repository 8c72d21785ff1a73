//! Weighted choice among outcomes, by a table in the caller's memory.

use super::at::at;
use super::key::headwater_key;
use super::numbers::{errno, fill};
use crate::edge::{elements, fail, output, overlap};
use core::ffi::{c_double, c_int};
use headwater_streams::Error;
use headwater_streams::distributions::{Alias, Categorical};
use libc::{EFAULT, EINVAL, size_t};

/// A bucket of an alias table: its own number below the threshold, another outcome from there on.
///
/// headwater_stream_alias_table() makes tables. The members are public, so that programs can store
/// a table and send it.
#[repr(C)]
#[derive(Clone, Copy)]
#[allow(non_camel_case_types)] // a name of C
pub struct headwater_alias {
    /// The share of the bucket's own outcome, times 2^64.
    pub threshold: u64,
    /// The number of the other outcome.
    pub other: u64,
}

// The library's own type has the same members, so a table of one is a table of the other.
const _: () = assert!(size_of::<headwater_alias>() == size_of::<Alias>());
const _: () =
    assert!(core::mem::offset_of!(headwater_alias, other) == core::mem::offset_of!(Alias, other));

/// Builds the alias table of `outcomes` weights, the same on every machine. The weights need not
/// add up to 1. Building takes a few ns for each outcome, and allocates nothing.
///
/// Returns 0, or -1 with errno set and `table` unchanged: EINVAL unless there are 1 to 2^32
/// weights, all of them finite and not below 0, and one of them above 0, in another place than
/// `table`; EFAULT if `weights` or
/// `table` is NULL, or the arrays take more than SSIZE_MAX bytes. Async-signal-safe.
///
/// # Safety
///
/// `weights` is NULL, or aligned and valid for reads of `outcomes` numbers; `table` is NULL, or
/// aligned and valid for writes of as many buckets that nothing else uses meanwhile.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn headwater_stream_alias_table(
    weights: *const c_double,
    outcomes: size_t,
    table: *mut headwater_alias,
) -> c_int {
    if overlap(weights, outcomes, table, outcomes) {
        return fail(EINVAL);
    }
    // SAFETY: `# Safety` grants `outcomes` readable weights and as many writable buckets. A bucket
    // of C is one of Rust, as the assertions above show, and `elements` and `output` refuse NULL.
    let (weights, table) =
        unsafe { (elements(weights, outcomes), output(table.cast::<Alias>(), outcomes)) };
    let (Some(weights), Some(table)) = (weights, table) else { return fail(EFAULT) };
    match Categorical::build(weights, table) {
        Ok(_) => 0,
        Err(error) => fail(errno(&error)),
    }
}

/// Writes numbers from 0 to below `outcomes`, with the weights of a table by
/// headwater_stream_alias_table(). Arguments and errors are those of headwater_stream_fill_u8();
/// EINVAL also means that `outcomes` is 0 or above 2^32, or that `table` is NULL or overlaps `out`.
/// Not for secrets.
///
/// # Safety
///
/// The promise of [`headwater_stream_fill_u8`](super::numbers::headwater_stream_fill_u8), and
/// `table` is NULL, or aligned and valid for reads of `outcomes` buckets.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn headwater_stream_fill_categorical_u64(
    key: *const headwater_key,
    stream: u64,
    table: *const headwater_alias,
    outcomes: size_t,
    start: u64,
    out: *mut u64,
    n: size_t,
) -> c_int {
    // SAFETY: `# Safety` grants a readable `key` and `n` writable u64 at `out`, as `fill` asks, and
    // `outcomes` readable buckets, as `of` does. Both refuse NULL.
    unsafe {
        fill(key, stream, out, n, |stream, out| {
            stream.fill_distribution(&of(table, outcomes, out)?, start, out)
        })
    }
}

/// Writes the elements of headwater_stream_fill_categorical_u64() with the numbers in `indices`.
/// Arguments and errors are those of headwater_stream_u8_at(); EINVAL also means that `outcomes` is
/// 0 or above 2^32, or that `table` is NULL or overlaps `out`. Not for secrets.
///
/// # Safety
///
/// The promise of [`headwater_stream_u8_at`](super::at::headwater_stream_u8_at), and `table` is
/// NULL, or aligned and valid for reads of `outcomes` buckets.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn headwater_stream_categorical_u64_at(
    key: *const headwater_key,
    stream: u64,
    table: *const headwater_alias,
    outcomes: size_t,
    indices: *const u64,
    out: *mut u64,
    n: size_t,
) -> c_int {
    // SAFETY: `# Safety` grants a readable `key`, `n` indices, and `n` writable u64 at `out` apart
    // from them, as `at` asks, and `outcomes` readable buckets, as `of` does. All refuse NULL.
    unsafe {
        at(key, stream, indices, out, n, |stream, i, out| {
            stream.distribution_at(&of(table, outcomes, out)?, i, out)
        })
    }
}

/// Returns the distribution of a table, whose numbers are written to `out`.
///
/// # Safety
///
/// If it is not null, `table` is aligned and valid for reads of `outcomes` buckets.
unsafe fn of<'a>(
    table: *const headwater_alias,
    outcomes: usize,
    out: &[u64],
) -> Result<Categorical<&'a [Alias]>, Error> {
    if overlap(table, outcomes, out.as_ptr(), out.len()) {
        return Categorical::from_table(&[]); // the error of no table
    }
    // SAFETY: `table` is NULL or has `outcomes` readable buckets, as `# Safety` says. A bucket of C
    // is one of Rust, as the assertions above show.
    let table = unsafe { elements(table.cast::<Alias>(), outcomes) };
    // A missing table has no buckets, which is the error.
    Categorical::from_table(table.unwrap_or_default())
}
