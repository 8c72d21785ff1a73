//! Reproducible streams: functions of a key, a stream's number and an element's, and a state for each CPU beside them.

use crate::edge::{fail, refused};
use core::ffi::{CStr, c_char, c_int, c_void};
use headwater_streams::{Engine, Error, Key, Seed, Stream};
use libc::{EFAULT, EINVAL, ERANGE, size_t};

/// Engine `ars7`, the default: AES rounds, the fastest where the CPU has AES.
pub const HEADWATER_ARS7: u32 = 0;

/// Engine `ars5`: the same with five rounds, as Intel's MKL has it.
pub const HEADWATER_ARS5: u32 = 1;

/// Engine `philox4x32`: Philox4x32-10, the fastest where the CPU has no AES.
pub const HEADWATER_PHILOX4X32: u32 = 2;

/// What the numbers of 2^48 streams depend on. Not for secrets.
///
/// A value: it may be copied, compared by its members, stored and sent. Nothing is to be freed, and
/// no function keeps a pointer to it. Make one with headwater_stream_key_from_seed() and the like;
/// by hand only to go on with one that was kept.
#[repr(C)]
#[derive(Clone, Copy)]
#[allow(non_camel_case_types)] // a name of C
pub struct headwater_key {
    /// HEADWATER_ARS7, HEADWATER_ARS5 or HEADWATER_PHILOX4X32.
    pub engine: u32,
    /// 128 bits, the lowest byte first.
    pub bytes: [u8; 16],
}

/// Makes `*key` the key of a whole number, with the engine `engine`: the numbers that
/// `headwater stream --seed` gives for it. Not for secrets.
///
/// Returns 0, or -1 with errno set and `*key` as it was: EINVAL if there is no such engine, EFAULT
/// if `key` is NULL. Async-signal-safe.
///
/// # Safety
///
/// `key` is NULL or valid for writes.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn headwater_stream_key_from_seed(
    key: *mut headwater_key,
    engine: u32,
    seed: u64,
) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { from_seed(key, engine, seed.into()) }
}

/// Makes `*key` the key of `len` bytes, as of headwater stream --seed hex:... Not for secrets.
///
/// Returns as headwater_stream_key_from_seed(); EFAULT also if `seed` is NULL and `len` is not 0.
/// Async-signal-safe.
///
/// # Safety
///
/// As there, and `seed` is NULL or valid for reads of `len` bytes.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn headwater_stream_key_from_bytes(
    key: *mut headwater_key,
    engine: u32,
    seed: *const c_void,
    len: size_t,
) -> c_int {
    // SAFETY: the caller's promise.
    let Some(seed) = (unsafe { input(seed, len) }) else { return fail(EFAULT) };
    // SAFETY: the caller's promise.
    unsafe { from_seed(key, engine, seed.into()) }
}

/// Makes `*key` the key of a text, as of headwater stream --seed text:... Not for secrets.
///
/// Returns as headwater_stream_key_from_seed(); EFAULT also if `seed` is NULL, EINVAL also if it is
/// not UTF-8. Async-signal-safe.
///
/// # Safety
///
/// As there, and `seed` is NULL or a string of C.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn headwater_stream_key_from_text(
    key: *mut headwater_key,
    engine: u32,
    seed: *const c_char,
) -> c_int {
    // SAFETY: the caller's promise.
    match unsafe { text(seed) } {
        // SAFETY: the caller's promise.
        Ok(seed) => unsafe { from_seed(key, engine, seed.into()) },
        Err(errno) => fail(errno),
    }
}

/// Makes `*child` the child number `label` of `*parent`, a function of the two and nothing else: for
/// each part of a program that wants numbers of its own. `child` and `parent` may be the same. Not
/// for secrets.
///
/// Returns 0, or -1 with errno set and `*child` as it was: EINVAL if the parent's engine does not
/// exist, EFAULT if a pointer is NULL. Async-signal-safe.
///
/// # Safety
///
/// `child` is NULL or valid for writes, and `parent` for reads.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn headwater_stream_key_child(
    child: *mut headwater_key,
    parent: *const headwater_key,
    label: u64,
) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { child_of(child, parent, label.into()) }
}

/// Makes `*child` the child of `*parent` with this name, which no number is equal to. Not for
/// secrets.
///
/// Returns as headwater_stream_key_child(); EFAULT also if `label` is NULL, EINVAL also if it is not
/// UTF-8. Async-signal-safe.
///
/// # Safety
///
/// As there, and `label` is NULL or a string of C.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn headwater_stream_key_child_text(
    child: *mut headwater_key,
    parent: *const headwater_key,
    label: *const c_char,
) -> c_int {
    // SAFETY: the caller's promise.
    match unsafe { text(label) } {
        // SAFETY: the caller's promise.
        Ok(label) => unsafe { child_of(child, parent, label.into()) },
        Err(errno) => fail(errno),
    }
}

/// Writes bytes `start` to `start + n - 1` of stream number `stream` of `*key` to `out`. Element i
/// is a function of key, stream and i, whatever range is asked for, by whom, in what order. Not for
/// secrets.
///
/// Returns 0, or -1 with errno set and `out` as it was:
///
///     EINVAL  the key's engine does not exist
///     ERANGE  `stream` is 2^48 or more, or the range ends past 2^64 - 1
///     EFAULT  `key` is NULL, or `out` is and `n` is not 0, or `n` elements are above SSIZE_MAX bytes
///
/// Async-signal-safe. errno is not touched on success.
///
/// # Safety
///
/// `key` is NULL or valid for reads; `out` is NULL, or aligned and valid for writes of `n` elements
/// that nobody else uses meanwhile.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn headwater_stream_fill_u8(
    key: *const headwater_key,
    stream: u64,
    start: u64,
    out: *mut u8,
    n: size_t,
) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { fill(key, stream, out, n, |stream, out| stream.fill_u8(start, out)) }
}

/// As headwater_stream_fill_u8(), 32 bits each: the same bytes, the lowest first. Not for secrets.
///
/// # Safety
///
/// As [`headwater_stream_fill_u8`].
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn headwater_stream_fill_u32(
    key: *const headwater_key,
    stream: u64,
    start: u64,
    out: *mut u32,
    n: size_t,
) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { fill(key, stream, out, n, |stream, out| stream.fill_u32(start, out)) }
}

/// As headwater_stream_fill_u8(), 64 bits each: the same bytes, the lowest first. Not for secrets.
///
/// # Safety
///
/// As [`headwater_stream_fill_u8`].
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn headwater_stream_fill_u64(
    key: *const headwater_key,
    stream: u64,
    start: u64,
    out: *mut u64,
    n: size_t,
) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { fill(key, stream, out, n, |stream, out| stream.fill_u64(start, out)) }
}

/// As headwater_stream_fill_u8(), numbers from 0 to below 1, multiples of 2^-24. Not for secrets.
///
/// # Safety
///
/// As [`headwater_stream_fill_u8`].
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn headwater_stream_fill_f32(
    key: *const headwater_key,
    stream: u64,
    start: u64,
    out: *mut f32,
    n: size_t,
) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { fill(key, stream, out, n, |stream, out| stream.fill_f32(start, out)) }
}

/// As headwater_stream_fill_u8(), numbers from 0 to below 1, multiples of 2^-53. Not for secrets.
///
/// # Safety
///
/// As [`headwater_stream_fill_u8`].
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn headwater_stream_fill_f64(
    key: *const headwater_key,
    stream: u64,
    start: u64,
    out: *mut f64,
    n: size_t,
) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { fill(key, stream, out, n, |stream, out| stream.fill_f64(start, out)) }
}

/// As headwater_stream_fill_u8(), normal numbers, mean 0 and variance 1 (Box and Muller), the same
/// bits on every machine. Not for secrets.
///
/// # Safety
///
/// As [`headwater_stream_fill_u8`].
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn headwater_stream_fill_normal_f32(
    key: *const headwater_key,
    stream: u64,
    start: u64,
    out: *mut f32,
    n: size_t,
) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { fill(key, stream, out, n, |stream, out| stream.fill_normal_f32(start, out)) }
}

/// As headwater_stream_fill_normal_f32(), doubles. Not for secrets.
///
/// # Safety
///
/// As [`headwater_stream_fill_u8`].
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn headwater_stream_fill_normal_f64(
    key: *const headwater_key,
    stream: u64,
    start: u64,
    out: *mut f64,
    n: size_t,
) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { fill(key, stream, out, n, |stream, out| stream.fill_normal_f64(start, out)) }
}

/// As headwater_stream_fill_u8(), exponential numbers with mean 1, the same bits on every machine.
/// Not for secrets.
///
/// # Safety
///
/// As [`headwater_stream_fill_u8`].
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn headwater_stream_fill_exponential_f64(
    key: *const headwater_key,
    stream: u64,
    start: u64,
    out: *mut f64,
    n: size_t,
) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { fill(key, stream, out, n, |stream, out| stream.fill_exponential_f64(start, out)) }
}

/// As headwater_stream_fill_u8(), whole numbers below `bound`, each equally likely; EINVAL also if
/// `bound` is 0. Not for secrets.
///
/// # Safety
///
/// As [`headwater_stream_fill_u8`].
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
    // SAFETY: the caller's promise.
    unsafe { fill(key, stream, out, n, |stream, out| stream.fill_bounded_u64(bound, start, out)) }
}

/// Writes to `*value` where element `i` goes in the stream's permutation of the numbers below `n`,
/// without making a list of the others: each of these comes for exactly one `i`. Not for secrets.
///
/// Returns 0, or -1 with errno set and `*value` as it was: ERANGE also if `i` is not below `n`,
/// otherwise as headwater_stream_fill_u8(). Async-signal-safe; each call prepares the permutation
/// anew, which takes a hundred nanoseconds or two.
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
    // SAFETY: the caller's promise.
    match unsafe { stream_of(key, stream) } {
        Ok(stream) => match stream.permutation(n).at(i) {
            Some(at) => {
                // SAFETY: the caller's promise, and not null.
                unsafe { value.write(at) };
                0
            }
            None => fail(ERANGE),
        },
        Err(errno) => fail(errno),
    }
}

/// Fills `buf` with `len` bytes that nobody has to repeat and nobody has to be kept from guessing,
/// as quickly as a generator of one's own, with nothing to keep: for sampling, backoff, jitter, test
/// data. Not for secrets: whoever sees 32 bytes in a row can compute the next.
///
/// One state of xoshiro256++ for each CPU, all seeded once by headwater_fill() and 2^192 words
/// apart. A forked child starts its own from fresh seeds; a virtual machine that is cloned or
/// restored repeats them.
///
/// Returns 0, or -1 with errno set as headwater_fill() does, and `buf` all zeros.
/// Async-signal-safe. errno is not touched on success.
///
/// # Safety
///
/// `buf` is NULL, or valid for writes of `len` bytes that nobody else uses meanwhile.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn headwater_random_pseudo_bytes(buf: *mut c_void, len: size_t) -> c_int {
    // SAFETY: the caller's promise.
    let Some(buf) = (unsafe { output(buf.cast(), len) }) else { return fail(EFAULT) };
    match headwater_streams::random_pseudo_bytes(buf) {
        Ok(()) => 0,
        Err(error) => refused(error),
    }
}

/// Each error of a request has an errno.
fn errno(error: &Error) -> c_int {
    match error {
        Error::RangeTooLong { .. } | Error::PastEnd { .. } | Error::StreamId(_) => ERANGE,
        _ => EINVAL,
    }
}

fn engine(number: u32) -> Option<Engine> {
    match number {
        HEADWATER_ARS7 => Some(Engine::Ars7),
        HEADWATER_ARS5 => Some(Engine::Ars5),
        HEADWATER_PHILOX4X32 => Some(Engine::Philox4x32),
        _ => None,
    }
}

/// # Safety
///
/// `key` is NULL or valid for writes.
unsafe fn from_seed(key: *mut headwater_key, number: u32, seed: Seed<'_>) -> c_int {
    if key.is_null() {
        return fail(EFAULT);
    }
    let Some(engine) = engine(number) else { return fail(EINVAL) };
    let bytes = Key::with_engine(engine, seed).to_raw();
    // SAFETY: the caller's promise, and not null.
    unsafe { key.write(headwater_key { engine: number, bytes }) };
    0
}

/// # Safety
///
/// `child` is NULL or valid for writes, and `parent` for reads.
unsafe fn child_of(
    child: *mut headwater_key,
    parent: *const headwater_key,
    label: Seed<'_>,
) -> c_int {
    if child.is_null() {
        return fail(EFAULT);
    }
    // SAFETY: the caller's promise.
    match unsafe { key_of(parent) } {
        Ok((number, key)) => {
            let bytes = key.child(label).to_raw();
            // SAFETY: the caller's promise, and not null.
            unsafe { child.write(headwater_key { engine: number, bytes }) };
            0
        }
        Err(errno) => fail(errno),
    }
}

/// The key that C means, and the number of its engine; or an errno.
///
/// # Safety
///
/// `key` is NULL or valid for reads.
unsafe fn key_of(key: *const headwater_key) -> Result<(u32, Key), c_int> {
    // SAFETY: the caller's promise.
    let key = unsafe { key.as_ref() }.ok_or(EFAULT)?;
    let engine = engine(key.engine).ok_or(EINVAL)?;
    Ok((key.engine, Key::from_raw(engine, key.bytes)))
}

/// # Safety
///
/// As [`key_of`].
unsafe fn stream_of(key: *const headwater_key, stream: u64) -> Result<Stream, c_int> {
    // SAFETY: the caller's promise.
    let (_, key) = unsafe { key_of(key) }?;
    key.stream(stream).map_err(|error| errno(&error))
}

/// # Safety
///
/// As [`headwater_stream_fill_u8`].
#[inline(always)]
unsafe fn fill<T>(
    key: *const headwater_key,
    stream: u64,
    out: *mut T,
    n: usize,
    by: impl FnOnce(Stream, &mut [T]) -> Result<(), Error>,
) -> c_int {
    // SAFETY: the caller's promise, for both.
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

/// The elements that C means by a pointer and a number; `None` where there can be no such.
///
/// # Safety
///
/// As [`headwater_stream_fill_u8`] for `out`.
unsafe fn output<'a, T>(out: *mut T, n: usize) -> Option<&'a mut [T]> {
    if n == 0 {
        return Some(&mut []);
    }
    if out.is_null() || n > isize::MAX as usize / size_of::<T>() {
        return None;
    }
    // SAFETY: the caller's promise. C may give memory that it has not written to; for a library that is linked as
    // machine code it has some value nevertheless, any of which is a number, and none of which is read.
    Some(unsafe { core::slice::from_raw_parts_mut(out, n) })
}

/// The bytes that C means by a pointer and a length; `None` where there can be no such.
///
/// # Safety
///
/// `at` is NULL or valid for reads of `len` bytes.
unsafe fn input<'a>(at: *const c_void, len: usize) -> Option<&'a [u8]> {
    if len == 0 {
        return Some(&[]);
    }
    if at.is_null() || isize::try_from(len).is_err() {
        return None;
    }
    // SAFETY: the caller's promise.
    Some(unsafe { core::slice::from_raw_parts(at.cast(), len) })
}

/// # Safety
///
/// `at` is NULL or a string of C.
unsafe fn text<'a>(at: *const c_char) -> Result<&'a str, c_int> {
    if at.is_null() {
        return Err(EFAULT);
    }
    // SAFETY: the caller's promise.
    unsafe { CStr::from_ptr(at) }.to_str().map_err(|_| EINVAL)
}
