//! Further distributions as elements of a key's streams: truncated normals and angles.

use super::at::at;
use super::key::headwater_key;
use super::numbers::fill;
use core::ffi::{c_double, c_int};
use headwater_streams::distributions::{TruncatedNormal, VonMises};
use libc::size_t;

/// Writes normal numbers of this mean and standard deviation, given that they are from `low` to
/// `high`. Either end may be infinite, and both may lie far from the mean. Arguments and errors are
/// those of headwater_stream_fill_u8(); EINVAL also means that `mean` is not finite, `deviation` is
/// not finite or not above 0, or `low` is not below `high`. Not for secrets.
///
/// # Safety
///
/// The promise of [`headwater_stream_fill_u8`](super::numbers::headwater_stream_fill_u8).
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn headwater_stream_fill_truncated_normal_f64(
    key: *const headwater_key,
    stream: u64,
    mean: c_double,
    deviation: c_double,
    low: c_double,
    high: c_double,
    start: u64,
    out: *mut f64,
    n: size_t,
) -> c_int {
    // SAFETY: the caller's promise.
    unsafe {
        fill(key, stream, out, n, |stream, out| {
            stream.fill_distribution(&TruncatedNormal::new(mean, deviation, low, high)?, start, out)
        })
    }
}

/// Writes the elements of headwater_stream_fill_truncated_normal_f64() with the numbers in
/// `indices`. Arguments and errors are those of headwater_stream_u8_at(); EINVAL also means that
/// `mean` is not finite, `deviation` is not finite or not above 0, or `low` is not below `high`.
/// Not for secrets.
///
/// # Safety
///
/// The promise of [`headwater_stream_u8_at`](super::at::headwater_stream_u8_at).
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn headwater_stream_truncated_normal_f64_at(
    key: *const headwater_key,
    stream: u64,
    mean: c_double,
    deviation: c_double,
    low: c_double,
    high: c_double,
    indices: *const u64,
    out: *mut f64,
    n: size_t,
) -> c_int {
    // SAFETY: the caller's promise.
    unsafe {
        at(key, stream, indices, out, n, |stream, i, out| {
            stream.distribution_at(&TruncatedNormal::new(mean, deviation, low, high)?, i, out)
        })
    }
}

/// Writes angles from -pi to pi of von Mises' distribution around `mu` with concentration `kappa`.
/// Arguments and errors are those of headwater_stream_fill_u8(); EINVAL also means that `mu` is not
/// from -pi to pi, or `kappa` is not finite or below 0. Not for secrets.
///
/// # Safety
///
/// The promise of [`headwater_stream_fill_u8`](super::numbers::headwater_stream_fill_u8).
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn headwater_stream_fill_von_mises_f64(
    key: *const headwater_key,
    stream: u64,
    mu: c_double,
    kappa: c_double,
    start: u64,
    out: *mut f64,
    n: size_t,
) -> c_int {
    // SAFETY: the caller's promise.
    unsafe {
        fill(key, stream, out, n, |stream, out| {
            stream.fill_distribution(&VonMises::new(mu, kappa)?, start, out)
        })
    }
}

/// Writes the elements of headwater_stream_fill_von_mises_f64() with the numbers in `indices`.
/// Arguments and errors are those of headwater_stream_u8_at(); EINVAL also means that `mu` is not
/// from -pi to pi, or `kappa` is not finite or below 0. Not for secrets.
///
/// # Safety
///
/// The promise of [`headwater_stream_u8_at`](super::at::headwater_stream_u8_at).
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn headwater_stream_von_mises_f64_at(
    key: *const headwater_key,
    stream: u64,
    mu: c_double,
    kappa: c_double,
    indices: *const u64,
    out: *mut f64,
    n: size_t,
) -> c_int {
    // SAFETY: the caller's promise.
    unsafe {
        at(key, stream, indices, out, n, |stream, i, out| {
            stream.distribution_at(&VonMises::new(mu, kappa)?, i, out)
        })
    }
}
