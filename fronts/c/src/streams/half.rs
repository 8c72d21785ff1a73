//! Floats of 16 bits, as their bits, and complex normal numbers, as elements of a key's streams.

use super::at::at;
use super::key::headwater_key;
use super::numbers::fill;
use core::ffi::c_int;
use libc::size_t;

/// Writes numbers from 0 to below 1, multiples of 2^-11, as the bits of IEEE 754's binary16
/// (`_Float16`). Arguments and errors are those of headwater_stream_fill_u8(). Not for secrets.
///
/// # Safety
///
/// The promise of [`headwater_stream_fill_u8`](super::numbers::headwater_stream_fill_u8).
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn headwater_stream_fill_f16_bits(
    key: *const headwater_key,
    stream: u64,
    start: u64,
    out: *mut u16,
    n: size_t,
) -> c_int {
    // SAFETY: `# Safety` grants what `fill` asks: a readable `key`, `n` writable u16 at `out`.
    unsafe { fill(key, stream, out, n, |stream, out| stream.fill_f16_bits(start, out)) }
}

/// Writes the elements of headwater_stream_fill_f16_bits() with the numbers in `indices`. Arguments
/// and errors are those of headwater_stream_u8_at(). Not for secrets.
///
/// # Safety
///
/// The promise of [`headwater_stream_u8_at`](super::at::headwater_stream_u8_at).
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn headwater_stream_f16_bits_at(
    key: *const headwater_key,
    stream: u64,
    indices: *const u64,
    out: *mut u16,
    n: size_t,
) -> c_int {
    // SAFETY: `# Safety` grants what `at` asks: a readable `key`, `n` indices, and apart from them
    // `n` writable u16 at `out`.
    unsafe { at(key, stream, indices, out, n, |stream, i, out| stream.f16_bits_at(i, out)) }
}

/// Writes numbers from 0 to below 1, multiples of 2^-8, as the bits of bfloat16: the upper half of
/// a float's. Arguments and errors are those of headwater_stream_fill_u8(). Not for secrets.
///
/// # Safety
///
/// The promise of [`headwater_stream_fill_u8`](super::numbers::headwater_stream_fill_u8).
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn headwater_stream_fill_bf16_bits(
    key: *const headwater_key,
    stream: u64,
    start: u64,
    out: *mut u16,
    n: size_t,
) -> c_int {
    // SAFETY: `# Safety` grants what `fill` asks: a readable `key`, `n` writable u16 at `out`.
    unsafe { fill(key, stream, out, n, |stream, out| stream.fill_bf16_bits(start, out)) }
}

/// Writes the elements of headwater_stream_fill_bf16_bits() with the numbers in `indices`.
/// Arguments and errors are those of headwater_stream_u8_at(). Not for secrets.
///
/// # Safety
///
/// The promise of [`headwater_stream_u8_at`](super::at::headwater_stream_u8_at).
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn headwater_stream_bf16_bits_at(
    key: *const headwater_key,
    stream: u64,
    indices: *const u64,
    out: *mut u16,
    n: size_t,
) -> c_int {
    // SAFETY: `# Safety` grants what `at` asks: a readable `key`, `n` indices, and apart from them
    // `n` writable u16 at `out`.
    unsafe { at(key, stream, indices, out, n, |stream, i, out| stream.bf16_bits_at(i, out)) }
}

/// Writes the elements of headwater_stream_fill_normal_f32(), rounded to nearest, as the bits of
/// binary16. Arguments and errors are those of headwater_stream_fill_u8(). Not for secrets.
///
/// # Safety
///
/// The promise of [`headwater_stream_fill_u8`](super::numbers::headwater_stream_fill_u8).
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn headwater_stream_fill_normal_f16_bits(
    key: *const headwater_key,
    stream: u64,
    start: u64,
    out: *mut u16,
    n: size_t,
) -> c_int {
    // SAFETY: `# Safety` grants what `fill` asks: a readable `key`, `n` writable u16 at `out`.
    unsafe { fill(key, stream, out, n, |stream, out| stream.fill_normal_f16_bits(start, out)) }
}

/// Writes the elements of headwater_stream_fill_normal_f16_bits() with the numbers in `indices`.
/// Arguments and errors are those of headwater_stream_u8_at(). Not for secrets.
///
/// # Safety
///
/// The promise of [`headwater_stream_u8_at`](super::at::headwater_stream_u8_at).
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn headwater_stream_normal_f16_bits_at(
    key: *const headwater_key,
    stream: u64,
    indices: *const u64,
    out: *mut u16,
    n: size_t,
) -> c_int {
    // SAFETY: `# Safety` grants what `at` asks: a readable `key`, `n` indices, and apart from them
    // `n` writable u16 at `out`.
    unsafe { at(key, stream, indices, out, n, |stream, i, out| stream.normal_f16_bits_at(i, out)) }
}

/// Writes the elements of headwater_stream_fill_normal_f32(), rounded to nearest, as the bits of
/// bfloat16. Arguments and errors are those of headwater_stream_fill_u8(). Not for secrets.
///
/// # Safety
///
/// The promise of [`headwater_stream_fill_u8`](super::numbers::headwater_stream_fill_u8).
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn headwater_stream_fill_normal_bf16_bits(
    key: *const headwater_key,
    stream: u64,
    start: u64,
    out: *mut u16,
    n: size_t,
) -> c_int {
    // SAFETY: `# Safety` grants what `fill` asks: a readable `key`, `n` writable u16 at `out`.
    unsafe { fill(key, stream, out, n, |stream, out| stream.fill_normal_bf16_bits(start, out)) }
}

/// Writes the elements of headwater_stream_fill_normal_bf16_bits() with the numbers in `indices`.
/// Arguments and errors are those of headwater_stream_u8_at(). Not for secrets.
///
/// # Safety
///
/// The promise of [`headwater_stream_u8_at`](super::at::headwater_stream_u8_at).
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn headwater_stream_normal_bf16_bits_at(
    key: *const headwater_key,
    stream: u64,
    indices: *const u64,
    out: *mut u16,
    n: size_t,
) -> c_int {
    // SAFETY: `# Safety` grants what `at` asks: a readable `key`, `n` indices, and apart from them
    // `n` writable u16 at `out`.
    unsafe { at(key, stream, indices, out, n, |stream, i, out| stream.normal_bf16_bits_at(i, out)) }
}

/// Writes complex normal numbers, whose squared sizes have mean 1. Each takes two places of `out`,
/// the real part first, as an element of `double _Complex` does; `out` has room for 2 * `n`
/// numbers. Arguments and errors are those of headwater_stream_fill_u8(). Not for secrets.
///
/// # Safety
///
/// The promise of [`headwater_stream_fill_u8`](super::numbers::headwater_stream_fill_u8); `out` is
/// valid for writes of 2 * `n` numbers.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn headwater_stream_fill_complex_normal_f64(
    key: *const headwater_key,
    stream: u64,
    start: u64,
    out: *mut f64,
    n: size_t,
) -> c_int {
    // SAFETY: `# Safety` grants what `fill` asks: a readable `key`, 2 * `n` writable doubles at
    // `out`. An array of two has the alignment of one, so these are `n` pairs.
    unsafe {
        fill(key, stream, out.cast::<[f64; 2]>(), n, |stream, out| {
            stream.fill_complex_normal_f64(start, out)
        })
    }
}

/// Writes the elements of headwater_stream_fill_complex_normal_f64() with the numbers in `indices`.
/// Arguments and errors are those of headwater_stream_u8_at(). Not for secrets.
///
/// # Safety
///
/// The promise of [`headwater_stream_u8_at`](super::at::headwater_stream_u8_at); `out` is valid for
/// writes of 2 * `n` numbers.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn headwater_stream_complex_normal_f64_at(
    key: *const headwater_key,
    stream: u64,
    indices: *const u64,
    out: *mut f64,
    n: size_t,
) -> c_int {
    // SAFETY: `# Safety` grants what `at` asks: a readable `key`, `n` indices, and apart from them
    // 2 * `n` writable doubles at `out`. An array of two has the alignment of one, so these are `n`
    // pairs.
    unsafe {
        at(key, stream, indices, out.cast::<[f64; 2]>(), n, |stream, i, out| {
            stream.complex_normal_f64_at(i, out)
        })
    }
}

/// Writes complex normal numbers, whose squared sizes have mean 1. Each takes two places of `out`,
/// the real part first, as an element of `float _Complex` does; `out` has room for 2 * `n` numbers.
/// Arguments and errors are those of headwater_stream_fill_u8(). Not for secrets.
///
/// # Safety
///
/// The promise of [`headwater_stream_fill_u8`](super::numbers::headwater_stream_fill_u8); `out` is
/// valid for writes of 2 * `n` numbers.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn headwater_stream_fill_complex_normal_f32(
    key: *const headwater_key,
    stream: u64,
    start: u64,
    out: *mut f32,
    n: size_t,
) -> c_int {
    // SAFETY: `# Safety` grants what `fill` asks: a readable `key`, 2 * `n` writable floats at
    // `out`. An array of two has the alignment of one, so these are `n` pairs.
    unsafe {
        fill(key, stream, out.cast::<[f32; 2]>(), n, |stream, out| {
            stream.fill_complex_normal_f32(start, out)
        })
    }
}

/// Writes the elements of headwater_stream_fill_complex_normal_f32() with the numbers in `indices`.
/// Arguments and errors are those of headwater_stream_u8_at(). Not for secrets.
///
/// # Safety
///
/// The promise of [`headwater_stream_u8_at`](super::at::headwater_stream_u8_at); `out` is valid for
/// writes of 2 * `n` numbers.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn headwater_stream_complex_normal_f32_at(
    key: *const headwater_key,
    stream: u64,
    indices: *const u64,
    out: *mut f32,
    n: size_t,
) -> c_int {
    // SAFETY: `# Safety` grants what `at` asks: a readable `key`, `n` indices, and apart from them
    // 2 * `n` writable floats at `out`. An array of two has the alignment of one, so these are `n`
    // pairs.
    unsafe {
        at(key, stream, indices, out.cast::<[f32; 2]>(), n, |stream, i, out| {
            stream.complex_normal_f32_at(i, out)
        })
    }
}
