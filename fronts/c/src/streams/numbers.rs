//! Numbers of each kind, as elements of a key's streams.

use super::key::{headwater_key, key_of};
use crate::edge::{fail, output};
use core::ffi::c_int;
use headwater_streams::{Error, Stream};
use libc::{EFAULT, EINVAL, ERANGE, size_t};

/// Writes bytes `start` to `start + n - 1` of stream number `stream` of `*key` to `out`. Element i
/// depends on key, stream and i alone, never on the range or the order of calls. Not for secrets.
///
/// Returns 0, or -1 with errno set and `out` unchanged:
///
///     EINVAL  the key's engine is unknown
///     ERANGE  `stream` is 2^48 or more, or the range ends past 2^64 - 1
///     EFAULT  `key` is NULL, or `out` is NULL and `n` is not 0, or `n` elements take more than
///             SSIZE_MAX bytes
///
/// Async-signal-safe. On success errno keeps its value.
///
/// # Safety
///
/// `key` is NULL or valid for reads; `out` is NULL, or aligned and valid for writes of `n` elements
/// that nothing else uses meanwhile.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn headwater_stream_fill_u8(
    key: *const headwater_key,
    stream: u64,
    start: u64,
    out: *mut u8,
    n: size_t,
) -> c_int {
    // SAFETY: `# Safety` grants what `fill` asks: a readable `key`, `n` writable bytes at `out`.
    unsafe { fill(key, stream, out, n, |stream, out| stream.fill_u8(start, out)) }
}

/// Writes the bytes of headwater_stream_fill_u8() as numbers of 32 bits, lowest byte first. Not for
/// secrets.
///
/// # Safety
///
/// The promise of [`headwater_stream_fill_u8`].
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn headwater_stream_fill_u32(
    key: *const headwater_key,
    stream: u64,
    start: u64,
    out: *mut u32,
    n: size_t,
) -> c_int {
    // SAFETY: `# Safety` grants what `fill` asks: a readable `key`, `n` writable u32 at `out`.
    unsafe { fill(key, stream, out, n, |stream, out| stream.fill_u32(start, out)) }
}

/// Writes the bytes of headwater_stream_fill_u8() as numbers of 64 bits, lowest byte first. Not for
/// secrets.
///
/// # Safety
///
/// The promise of [`headwater_stream_fill_u8`].
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn headwater_stream_fill_u64(
    key: *const headwater_key,
    stream: u64,
    start: u64,
    out: *mut u64,
    n: size_t,
) -> c_int {
    // SAFETY: `# Safety` grants what `fill` asks: a readable `key`, `n` writable u64 at `out`.
    unsafe { fill(key, stream, out, n, |stream, out| stream.fill_u64(start, out)) }
}

/// Writes numbers from 0 to below 1, multiples of 2^-24. Arguments and errors are those of
/// headwater_stream_fill_u8(). Not for secrets.
///
/// # Safety
///
/// The promise of [`headwater_stream_fill_u8`].
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn headwater_stream_fill_f32(
    key: *const headwater_key,
    stream: u64,
    start: u64,
    out: *mut f32,
    n: size_t,
) -> c_int {
    // SAFETY: `# Safety` grants what `fill` asks: a readable `key`, `n` writable floats at `out`.
    unsafe { fill(key, stream, out, n, |stream, out| stream.fill_f32(start, out)) }
}

/// Writes numbers from 0 to below 1, multiples of 2^-53. Arguments and errors are those of
/// headwater_stream_fill_u8(). Not for secrets.
///
/// # Safety
///
/// The promise of [`headwater_stream_fill_u8`].
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn headwater_stream_fill_f64(
    key: *const headwater_key,
    stream: u64,
    start: u64,
    out: *mut f64,
    n: size_t,
) -> c_int {
    // SAFETY: `# Safety` grants what `fill` asks: a readable `key`, `n` writable doubles at `out`.
    unsafe { fill(key, stream, out, n, |stream, out| stream.fill_f64(start, out)) }
}

/// Writes normal numbers with mean 0 and variance 1 (Box and Muller), the same bits on every
/// machine. Arguments and errors are those of headwater_stream_fill_u8(). Not for secrets.
///
/// # Safety
///
/// The promise of [`headwater_stream_fill_u8`].
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn headwater_stream_fill_normal_f32(
    key: *const headwater_key,
    stream: u64,
    start: u64,
    out: *mut f32,
    n: size_t,
) -> c_int {
    // SAFETY: `# Safety` grants what `fill` asks: a readable `key`, `n` writable floats at `out`.
    unsafe { fill(key, stream, out, n, |stream, out| stream.fill_normal_f32(start, out)) }
}

/// Writes normal numbers as headwater_stream_fill_normal_f32() does, in doubles. Not for secrets.
///
/// # Safety
///
/// The promise of [`headwater_stream_fill_u8`].
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn headwater_stream_fill_normal_f64(
    key: *const headwater_key,
    stream: u64,
    start: u64,
    out: *mut f64,
    n: size_t,
) -> c_int {
    // SAFETY: `# Safety` grants what `fill` asks: a readable `key`, `n` writable doubles at `out`.
    unsafe { fill(key, stream, out, n, |stream, out| stream.fill_normal_f64(start, out)) }
}

/// Writes exponential numbers with mean 1, the same bits on every machine. Arguments and errors are
/// those of headwater_stream_fill_u8(). Not for secrets.
///
/// # Safety
///
/// The promise of [`headwater_stream_fill_u8`].
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn headwater_stream_fill_exponential_f64(
    key: *const headwater_key,
    stream: u64,
    start: u64,
    out: *mut f64,
    n: size_t,
) -> c_int {
    // SAFETY: `# Safety` grants what `fill` asks: a readable `key`, `n` writable doubles at `out`.
    unsafe { fill(key, stream, out, n, |stream, out| stream.fill_exponential_f64(start, out)) }
}

/// Writes whole numbers below `bound`, each with the same probability. Arguments and errors are
/// those of headwater_stream_fill_u8(); EINVAL also means that `bound` is 0. Not for secrets.
///
/// # Safety
///
/// The promise of [`headwater_stream_fill_u8`].
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn headwater_stream_fill_bounded_u64(
    key: *const headwater_key,
    stream: u64,
    bound: u64,
    start: u64,
    out: *mut u64,
    n: size_t,
) -> c_int {
    // SAFETY: `# Safety` grants what `fill` asks: a readable `key`, `n` writable u64 at `out`.
    unsafe { fill(key, stream, out, n, |stream, out| stream.fill_bounded_u64(bound, start, out)) }
}

/// Writes whole numbers below `bound` as headwater_stream_fill_bounded_u64() does, from 32 bits of
/// the stream each: other numbers, and twice as fast. Not for secrets.
///
/// # Safety
///
/// The promise of [`headwater_stream_fill_u8`].
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn headwater_stream_fill_bounded_u32(
    key: *const headwater_key,
    stream: u64,
    bound: u32,
    start: u64,
    out: *mut u32,
    n: size_t,
) -> c_int {
    // SAFETY: `# Safety` grants what `fill` asks: a readable `key`, `n` writable u32 at `out`.
    unsafe { fill(key, stream, out, n, |stream, out| stream.fill_bounded_u32(bound, start, out)) }
}

/// Writes elements `start` to `start + n - 1` of the stream's permutation of the numbers below
/// `len`, prepared once for all of them. Arguments and errors are those of
/// headwater_stream_fill_u8(); ERANGE also means that an element is not below `len`. Not for
/// secrets.
///
/// # Safety
///
/// The promise of [`headwater_stream_fill_u8`].
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn headwater_stream_fill_perm(
    key: *const headwater_key,
    stream: u64,
    len: u64,
    start: u64,
    out: *mut u64,
    n: size_t,
) -> c_int {
    // SAFETY: `# Safety` grants what `fill` asks: a readable `key`, `n` writable u64 at `out`.
    unsafe { fill(key, stream, out, n, |stream, out| stream.permutation(len).fill(start, out)) }
}

/// Writes element `i` of the stream's permutation of the numbers below `n` to `*value`, without a
/// list of the other elements. Not for secrets.
///
/// Returns 0, or -1 with errno set and `*value` unchanged. The errors are those of
/// headwater_stream_fill_u8(); ERANGE also means that `i` is not below `n`. Async-signal-safe. Each
/// call prepares the permutation anew, which takes 100 to 200 ns: for many elements there are
/// headwater_stream_fill_perm() and headwater_stream_perm_list_at().
///
/// # Safety
///
/// `key` is NULL or valid for reads, `value` NULL or valid for writes.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn headwater_stream_perm_at(
    key: *const headwater_key,
    stream: u64,
    n: u64,
    i: u64,
    value: *mut u64,
) -> c_int {
    if value.is_null() {
        return fail(EFAULT);
    }
    // SAFETY: `# Safety` grants a `key` that is NULL or readable, which is all that `stream_of`
    // asks.
    match unsafe { stream_of(key, stream) } {
        Ok(stream) => match stream.permutation(n).at(i) {
            Some(at) => {
                // SAFETY: `value` is not null, which was checked, so `# Safety` grants room for a
                // u64.
                unsafe { value.write(at) };
                0
            }
            None => fail(ERANGE),
        },
        Err(errno) => fail(errno),
    }
}

/// Returns the errno of a request's error.
pub(crate) fn errno(error: &Error) -> c_int {
    match error {
        Error::RangeTooLong { .. } | Error::PastEnd { .. } | Error::StreamId(_) => ERANGE,
        _ => EINVAL,
    }
}

/// Returns a stream of a key, or an errno.
///
/// # Safety
///
/// `key` is NULL or valid for reads.
pub(super) unsafe fn stream_of(key: *const headwater_key, stream: u64) -> Result<Stream, c_int> {
    // SAFETY: `key_of` asks the same of `key`, and refuses NULL.
    let (_, key) = unsafe { key_of(key) }?;
    key.stream(stream).map_err(|error| errno(&error))
}

/// Has `by` write `n` elements of a stream to `out`, and turns every error into an errno.
///
/// The functions of the header differ in `by` alone. So what their arguments have to be is said
/// here once, in the header's words, and a function that passes its own `key`, `out` and `n` on has
/// nothing to add.
///
/// # Safety
///
/// `key` is NULL or valid for reads; `out` is NULL, or aligned and valid for writes of `n` elements
/// that nothing else uses meanwhile.
#[inline(always)]
pub(super) unsafe fn fill<T>(
    key: *const headwater_key,
    stream: u64,
    out: *mut T,
    n: usize,
    by: impl FnOnce(Stream, &mut [T]) -> Result<(), Error>,
) -> c_int {
    // SAFETY: `stream_of` and `output` ask exactly this, the one of `key` and the other of `out`.
    // Both references end with this call, as the grant does.
    let (stream, out) = unsafe { (stream_of(key, stream), output(out, n)) };
    match (stream, out) {
        (Err(errno), _) => fail(errno),
        (_, None) => fail(EFAULT),
        (Ok(stream), Some(out)) => match by(stream, out) {
            Ok(()) => 0,
            Err(error) => fail(errno(&error)),
        },
    }
}
