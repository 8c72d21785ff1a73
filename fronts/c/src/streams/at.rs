//! Elements of a key's streams by their indices, in any order.

use super::key::headwater_key;
use super::numbers::{errno, stream_of};
use crate::edge::{elements, fail, output, overlap};
use core::ffi::c_int;
use headwater_streams::{Error, Stream};
use libc::{EFAULT, EINVAL, size_t};

/// Writes the `n` bytes with the numbers in `indices` of stream number `stream` of `*key` to `out`,
/// in the order of `indices`. An index may repeat. Byte i is byte i of headwater_stream_fill_u8().
/// Not for secrets.
///
/// Returns 0, or -1 with errno set and `out` unchanged:
///
///     EINVAL  the key's engine is unknown, or `out` overlaps `indices`
///     ERANGE  `stream` is 2^48 or more, or an index lies past the end of the stream
///     EFAULT  `key` is NULL, or `indices` or `out` is NULL and `n` is not 0, or `n` elements or
///             indices take more than SSIZE_MAX bytes
///
/// Async-signal-safe. On success errno keeps its value.
///
/// # Safety
///
/// `key` is NULL or valid for reads; `indices` is NULL, or aligned and valid for reads of `n`
/// numbers; `out` is NULL, or aligned and valid for writes of `n` elements that nothing else uses
/// meanwhile.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn headwater_stream_u8_at(
    key: *const headwater_key,
    stream: u64,
    indices: *const u64,
    out: *mut u8,
    n: size_t,
) -> c_int {
    // SAFETY: `# Safety` grants what `at` asks: a readable `key`, `n` indices, and `n`
    // writable bytes at `out`.
    unsafe { at(key, stream, indices, out, n, |stream, i, out| stream.u8_at(i, out)) }
}

/// Writes the elements of headwater_stream_fill_u32() with the numbers in `indices`. Arguments
/// and errors are those of headwater_stream_u8_at(). Not for secrets.
///
/// # Safety
///
/// The promise of [`headwater_stream_u8_at`].
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn headwater_stream_u32_at(
    key: *const headwater_key,
    stream: u64,
    indices: *const u64,
    out: *mut u32,
    n: size_t,
) -> c_int {
    // SAFETY: `# Safety` grants what `at` asks: a readable `key`, `n` indices, and `n`
    // writable u32 at `out`.
    unsafe { at(key, stream, indices, out, n, |stream, i, out| stream.u32_at(i, out)) }
}

/// Writes the elements of headwater_stream_fill_u64() with the numbers in `indices`. Arguments
/// and errors are those of headwater_stream_u8_at(). Not for secrets.
///
/// # Safety
///
/// The promise of [`headwater_stream_u8_at`].
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn headwater_stream_u64_at(
    key: *const headwater_key,
    stream: u64,
    indices: *const u64,
    out: *mut u64,
    n: size_t,
) -> c_int {
    // SAFETY: `# Safety` grants what `at` asks: a readable `key`, `n` indices, and `n`
    // writable u64 at `out`.
    unsafe { at(key, stream, indices, out, n, |stream, i, out| stream.u64_at(i, out)) }
}

/// Writes the elements of headwater_stream_fill_f32() with the numbers in `indices`. Arguments
/// and errors are those of headwater_stream_u8_at(). Not for secrets.
///
/// # Safety
///
/// The promise of [`headwater_stream_u8_at`].
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn headwater_stream_f32_at(
    key: *const headwater_key,
    stream: u64,
    indices: *const u64,
    out: *mut f32,
    n: size_t,
) -> c_int {
    // SAFETY: `# Safety` grants what `at` asks: a readable `key`, `n` indices, and `n`
    // writable floats at `out`.
    unsafe { at(key, stream, indices, out, n, |stream, i, out| stream.f32_at(i, out)) }
}

/// Writes the elements of headwater_stream_fill_f64() with the numbers in `indices`. Arguments
/// and errors are those of headwater_stream_u8_at(). Not for secrets.
///
/// # Safety
///
/// The promise of [`headwater_stream_u8_at`].
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn headwater_stream_f64_at(
    key: *const headwater_key,
    stream: u64,
    indices: *const u64,
    out: *mut f64,
    n: size_t,
) -> c_int {
    // SAFETY: `# Safety` grants what `at` asks: a readable `key`, `n` indices, and `n`
    // writable doubles at `out`.
    unsafe { at(key, stream, indices, out, n, |stream, i, out| stream.f64_at(i, out)) }
}

/// Writes the elements of headwater_stream_fill_normal_f32() with the numbers in `indices`.
/// Arguments and errors are those of headwater_stream_u8_at(). Not for secrets.
///
/// # Safety
///
/// The promise of [`headwater_stream_u8_at`].
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn headwater_stream_normal_f32_at(
    key: *const headwater_key,
    stream: u64,
    indices: *const u64,
    out: *mut f32,
    n: size_t,
) -> c_int {
    // SAFETY: `# Safety` grants what `at` asks: a readable `key`, `n` indices, and `n`
    // writable floats at `out`.
    unsafe { at(key, stream, indices, out, n, |stream, i, out| stream.normal_f32_at(i, out)) }
}

/// Writes the elements of headwater_stream_fill_normal_f64() with the numbers in `indices`.
/// Arguments and errors are those of headwater_stream_u8_at(). Not for secrets.
///
/// # Safety
///
/// The promise of [`headwater_stream_u8_at`].
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn headwater_stream_normal_f64_at(
    key: *const headwater_key,
    stream: u64,
    indices: *const u64,
    out: *mut f64,
    n: size_t,
) -> c_int {
    // SAFETY: `# Safety` grants what `at` asks: a readable `key`, `n` indices, and `n`
    // writable doubles at `out`.
    unsafe { at(key, stream, indices, out, n, |stream, i, out| stream.normal_f64_at(i, out)) }
}

/// Writes the elements of headwater_stream_fill_exponential_f64() with the numbers in `indices`.
/// Arguments and errors are those of headwater_stream_u8_at(). Not for secrets.
///
/// # Safety
///
/// The promise of [`headwater_stream_u8_at`].
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn headwater_stream_exponential_f64_at(
    key: *const headwater_key,
    stream: u64,
    indices: *const u64,
    out: *mut f64,
    n: size_t,
) -> c_int {
    // SAFETY: `# Safety` grants what `at` asks: a readable `key`, `n` indices, and `n`
    // writable doubles at `out`.
    unsafe { at(key, stream, indices, out, n, |stream, i, out| stream.exponential_f64_at(i, out)) }
}

/// Writes the elements of headwater_stream_fill_bounded_u64() with the numbers in `indices`.
/// Arguments and errors are those of headwater_stream_u8_at(); EINVAL also means that `bound` is 0.
/// Not for secrets.
///
/// # Safety
///
/// The promise of [`headwater_stream_u8_at`].
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn headwater_stream_bounded_u64_at(
    key: *const headwater_key,
    stream: u64,
    bound: u64,
    indices: *const u64,
    out: *mut u64,
    n: size_t,
) -> c_int {
    let by = |stream: Stream, i: &[u64], out: &mut [u64]| stream.bounded_u64_at(bound, i, out);
    // SAFETY: `# Safety` grants what `at` asks: a readable `key`, `n` indices, and `n`
    // writable u64 at `out`.
    unsafe { at(key, stream, indices, out, n, by) }
}

/// Writes the elements of headwater_stream_fill_perm() with the numbers in `indices`. Arguments and
/// errors are those of headwater_stream_u8_at(); ERANGE also means that an index is not below
/// `len`, and then nothing is written. Not for secrets.
///
/// # Safety
///
/// The promise of [`headwater_stream_u8_at`].
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn headwater_stream_perm_list_at(
    key: *const headwater_key,
    stream: u64,
    len: u64,
    indices: *const u64,
    out: *mut u64,
    n: size_t,
) -> c_int {
    let by = |stream: Stream, indices: &[u64], out: &mut [u64]| {
        if indices.iter().any(|&index| index >= len) {
            return Err(Error::PastEnd { start: len, len: indices.len(), n: len });
        }
        let permutation = stream.permutation(len);
        for (out, &index) in out.iter_mut().zip(indices) {
            *out = permutation.at(index).unwrap_or(0); // each exists, as was checked
        }
        Ok(())
    };
    // SAFETY: `# Safety` grants what `at` asks: a readable `key`, `n` indices, and `n`
    // writable u64 at `out`.
    unsafe { at(key, stream, indices, out, n, by) }
}

/// Writes the elements of headwater_stream_fill_bounded_u32() with the numbers in `indices`.
/// Arguments and errors are those of headwater_stream_bounded_u64_at(). Not for secrets.
///
/// # Safety
///
/// The promise of [`headwater_stream_u8_at`].
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn headwater_stream_bounded_u32_at(
    key: *const headwater_key,
    stream: u64,
    bound: u32,
    indices: *const u64,
    out: *mut u32,
    n: size_t,
) -> c_int {
    let by = |stream: Stream, i: &[u64], out: &mut [u32]| stream.bounded_u32_at(bound, i, out);
    // SAFETY: `# Safety` grants what `at` asks: a readable `key`, `n` indices, and `n`
    // writable u32 at `out`.
    unsafe { at(key, stream, indices, out, n, by) }
}

/// Has `by` write the `n` elements with these indices to `out`, as [`fill`](super::numbers::fill)
/// does those of a range.
///
/// # Safety
///
/// `key` is NULL or valid for reads; `indices` is NULL, or aligned and valid for reads of `n`
/// numbers; `out` is NULL, or aligned and valid for writes of `n` elements that nothing else uses
/// meanwhile.
#[inline(always)]
pub(super) unsafe fn at<T>(
    key: *const headwater_key,
    stream: u64,
    indices: *const u64,
    out: *mut T,
    n: usize,
    by: impl FnOnce(Stream, &[u64], &mut [T]) -> Result<(), Error>,
) -> c_int {
    if overlap(indices, n, out, n) {
        return fail(EINVAL);
    }
    // SAFETY: each of the three asks what the sentence above says of its pointer. Only `out` is
    // written, and it does not overlap `indices`, which was checked, so no two references reach the
    // same memory.
    let (stream, indices, out) =
        unsafe { (stream_of(key, stream), elements(indices, n), output(out, n)) };
    let stream = match stream {
        Ok(stream) => stream,
        Err(errno) => return fail(errno),
    };
    let (Some(indices), Some(out)) = (indices, out) else { return fail(EFAULT) };
    match by(stream, indices, out) {
        Ok(()) => 0,
        Err(error) => fail(errno(&error)),
    }
}
