//! Distributions with parameters, as elements of a key's streams.

use super::at::at;
use super::key::headwater_key;
use super::numbers::fill;
use core::ffi::{c_double, c_int};
use headwater_streams::distributions::{
    Beta, Binomial, ChiSquare, Gamma, Geometric, LogNormal, Poisson, StudentT,
};
use libc::size_t;

/// Writes lognormal numbers: e to the power of `mu` + `sigma` * x, with the elements of
/// headwater_stream_fill_normal_f64() as x. Arguments and errors are those of
/// headwater_stream_fill_u8(); EINVAL also means that `mu` is not finite, or `sigma` is not finite
/// or below 0. Not for secrets.
///
/// # Safety
///
/// The promise of [`headwater_stream_fill_u8`](super::numbers::headwater_stream_fill_u8).
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn headwater_stream_fill_lognormal_f64(
    key: *const headwater_key,
    stream: u64,
    mu: c_double,
    sigma: c_double,
    start: u64,
    out: *mut f64,
    n: size_t,
) -> c_int {
    // SAFETY: the caller's promise.
    unsafe {
        fill(key, stream, out, n, |stream, out| {
            stream.fill_distribution(&LogNormal::new(mu, sigma)?, start, out)
        })
    }
}

/// Writes the elements of headwater_stream_fill_lognormal_f64() with the numbers in `indices`.
/// Arguments and errors are those of headwater_stream_u8_at(); EINVAL also means that `mu` is not
/// finite, or `sigma` is not finite or below 0. Not for secrets.
///
/// # Safety
///
/// The promise of [`headwater_stream_u8_at`](super::at::headwater_stream_u8_at).
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn headwater_stream_lognormal_f64_at(
    key: *const headwater_key,
    stream: u64,
    mu: c_double,
    sigma: c_double,
    indices: *const u64,
    out: *mut f64,
    n: size_t,
) -> c_int {
    // SAFETY: the caller's promise.
    unsafe {
        at(key, stream, indices, out, n, |stream, i, out| {
            stream.distribution_at(&LogNormal::new(mu, sigma)?, i, out)
        })
    }
}

/// Writes gamma numbers of this shape and scale 1. Arguments and errors are those of
/// headwater_stream_fill_u8(); EINVAL also means that `shape` is not finite or not above 0. Not for
/// secrets.
///
/// # Safety
///
/// The promise of [`headwater_stream_fill_u8`](super::numbers::headwater_stream_fill_u8).
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn headwater_stream_fill_gamma_f64(
    key: *const headwater_key,
    stream: u64,
    shape: c_double,
    start: u64,
    out: *mut f64,
    n: size_t,
) -> c_int {
    // SAFETY: the caller's promise.
    unsafe {
        fill(key, stream, out, n, |stream, out| {
            stream.fill_distribution(&Gamma::new(shape)?, start, out)
        })
    }
}

/// Writes the elements of headwater_stream_fill_gamma_f64() with the numbers in `indices`.
/// Arguments and errors are those of headwater_stream_u8_at(); EINVAL also means that `shape` is
/// not finite or not above 0. Not for secrets.
///
/// # Safety
///
/// The promise of [`headwater_stream_u8_at`](super::at::headwater_stream_u8_at).
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn headwater_stream_gamma_f64_at(
    key: *const headwater_key,
    stream: u64,
    shape: c_double,
    indices: *const u64,
    out: *mut f64,
    n: size_t,
) -> c_int {
    // SAFETY: the caller's promise.
    unsafe {
        at(key, stream, indices, out, n, |stream, i, out| {
            stream.distribution_at(&Gamma::new(shape)?, i, out)
        })
    }
}

/// Writes chi-square numbers of `k` degrees of freedom. Arguments and errors are those of
/// headwater_stream_fill_u8(); EINVAL also means that `k` is not finite or not above 0. Not for
/// secrets.
///
/// # Safety
///
/// The promise of [`headwater_stream_fill_u8`](super::numbers::headwater_stream_fill_u8).
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn headwater_stream_fill_chi_square_f64(
    key: *const headwater_key,
    stream: u64,
    k: c_double,
    start: u64,
    out: *mut f64,
    n: size_t,
) -> c_int {
    // SAFETY: the caller's promise.
    unsafe {
        fill(key, stream, out, n, |stream, out| {
            stream.fill_distribution(&ChiSquare::new(k)?, start, out)
        })
    }
}

/// Writes the elements of headwater_stream_fill_chi_square_f64() with the numbers in `indices`.
/// Arguments and errors are those of headwater_stream_u8_at(); EINVAL also means that `k` is not
/// finite or not above 0. Not for secrets.
///
/// # Safety
///
/// The promise of [`headwater_stream_u8_at`](super::at::headwater_stream_u8_at).
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn headwater_stream_chi_square_f64_at(
    key: *const headwater_key,
    stream: u64,
    k: c_double,
    indices: *const u64,
    out: *mut f64,
    n: size_t,
) -> c_int {
    // SAFETY: the caller's promise.
    unsafe {
        at(key, stream, indices, out, n, |stream, i, out| {
            stream.distribution_at(&ChiSquare::new(k)?, i, out)
        })
    }
}

/// Writes beta numbers of the shapes `a` and `b`, whose mean is a / (a + b). Arguments and errors
/// are those of headwater_stream_fill_u8(); EINVAL also means that `a` or `b` is not finite or not
/// above 0. Not for secrets.
///
/// # Safety
///
/// The promise of [`headwater_stream_fill_u8`](super::numbers::headwater_stream_fill_u8).
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn headwater_stream_fill_beta_f64(
    key: *const headwater_key,
    stream: u64,
    a: c_double,
    b: c_double,
    start: u64,
    out: *mut f64,
    n: size_t,
) -> c_int {
    // SAFETY: the caller's promise.
    unsafe {
        fill(key, stream, out, n, |stream, out| {
            stream.fill_distribution(&Beta::new(a, b)?, start, out)
        })
    }
}

/// Writes the elements of headwater_stream_fill_beta_f64() with the numbers in `indices`. Arguments
/// and errors are those of headwater_stream_u8_at(); EINVAL also means that `a` or `b` is not
/// finite or not above 0. Not for secrets.
///
/// # Safety
///
/// The promise of [`headwater_stream_u8_at`](super::at::headwater_stream_u8_at).
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn headwater_stream_beta_f64_at(
    key: *const headwater_key,
    stream: u64,
    a: c_double,
    b: c_double,
    indices: *const u64,
    out: *mut f64,
    n: size_t,
) -> c_int {
    // SAFETY: the caller's promise.
    unsafe {
        at(key, stream, indices, out, n, |stream, i, out| {
            stream.distribution_at(&Beta::new(a, b)?, i, out)
        })
    }
}

/// Writes numbers of Student's t distribution with `nu` degrees of freedom. Arguments and errors
/// are those of headwater_stream_fill_u8(); EINVAL also means that `nu` is not finite or not above
/// 0. Not for secrets.
///
/// # Safety
///
/// The promise of [`headwater_stream_fill_u8`](super::numbers::headwater_stream_fill_u8).
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn headwater_stream_fill_student_t_f64(
    key: *const headwater_key,
    stream: u64,
    nu: c_double,
    start: u64,
    out: *mut f64,
    n: size_t,
) -> c_int {
    // SAFETY: the caller's promise.
    unsafe {
        fill(key, stream, out, n, |stream, out| {
            stream.fill_distribution(&StudentT::new(nu)?, start, out)
        })
    }
}

/// Writes the elements of headwater_stream_fill_student_t_f64() with the numbers in `indices`.
/// Arguments and errors are those of headwater_stream_u8_at(); EINVAL also means that `nu` is not
/// finite or not above 0. Not for secrets.
///
/// # Safety
///
/// The promise of [`headwater_stream_u8_at`](super::at::headwater_stream_u8_at).
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn headwater_stream_student_t_f64_at(
    key: *const headwater_key,
    stream: u64,
    nu: c_double,
    indices: *const u64,
    out: *mut f64,
    n: size_t,
) -> c_int {
    // SAFETY: the caller's promise.
    unsafe {
        at(key, stream, indices, out, n, |stream, i, out| {
            stream.distribution_at(&StudentT::new(nu)?, i, out)
        })
    }
}

/// Writes geometric numbers, from 1: trials up to the first success, each of probability `p`.
/// Arguments and errors are those of headwater_stream_fill_u8(); EINVAL also means that `p` is not
/// above 0 or above 1. Not for secrets.
///
/// # Safety
///
/// The promise of [`headwater_stream_fill_u8`](super::numbers::headwater_stream_fill_u8).
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn headwater_stream_fill_geometric_u64(
    key: *const headwater_key,
    stream: u64,
    p: c_double,
    start: u64,
    out: *mut u64,
    n: size_t,
) -> c_int {
    // SAFETY: the caller's promise.
    unsafe {
        fill(key, stream, out, n, |stream, out| {
            stream.fill_distribution(&Geometric::new(p)?, start, out)
        })
    }
}

/// Writes the elements of headwater_stream_fill_geometric_u64() with the numbers in `indices`.
/// Arguments and errors are those of headwater_stream_u8_at(); EINVAL also means that `p` is not
/// above 0 or above 1. Not for secrets.
///
/// # Safety
///
/// The promise of [`headwater_stream_u8_at`](super::at::headwater_stream_u8_at).
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn headwater_stream_geometric_u64_at(
    key: *const headwater_key,
    stream: u64,
    p: c_double,
    indices: *const u64,
    out: *mut u64,
    n: size_t,
) -> c_int {
    // SAFETY: the caller's promise.
    unsafe {
        at(key, stream, indices, out, n, |stream, i, out| {
            stream.distribution_at(&Geometric::new(p)?, i, out)
        })
    }
}

/// Writes Poisson numbers of this mean. Arguments and errors are those of
/// headwater_stream_fill_u8(); EINVAL also means that `mean` is not from 0 to 2^63. Not for
/// secrets.
///
/// # Safety
///
/// The promise of [`headwater_stream_fill_u8`](super::numbers::headwater_stream_fill_u8).
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn headwater_stream_fill_poisson_u64(
    key: *const headwater_key,
    stream: u64,
    mean: c_double,
    start: u64,
    out: *mut u64,
    n: size_t,
) -> c_int {
    // SAFETY: the caller's promise.
    unsafe {
        fill(key, stream, out, n, |stream, out| {
            stream.fill_distribution(&Poisson::new(mean)?, start, out)
        })
    }
}

/// Writes the elements of headwater_stream_fill_poisson_u64() with the numbers in `indices`.
/// Arguments and errors are those of headwater_stream_u8_at(); EINVAL also means that `mean` is not
/// from 0 to 2^63. Not for secrets.
///
/// # Safety
///
/// The promise of [`headwater_stream_u8_at`](super::at::headwater_stream_u8_at).
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn headwater_stream_poisson_u64_at(
    key: *const headwater_key,
    stream: u64,
    mean: c_double,
    indices: *const u64,
    out: *mut u64,
    n: size_t,
) -> c_int {
    // SAFETY: the caller's promise.
    unsafe {
        at(key, stream, indices, out, n, |stream, i, out| {
            stream.distribution_at(&Poisson::new(mean)?, i, out)
        })
    }
}

/// Writes binomial numbers: successes among `trials` trials, each of probability `p`. Arguments and
/// errors are those of headwater_stream_fill_u8(); EINVAL also means that `p` is not from 0 to 1.
/// Not for secrets.
///
/// # Safety
///
/// The promise of [`headwater_stream_fill_u8`](super::numbers::headwater_stream_fill_u8).
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn headwater_stream_fill_binomial_u64(
    key: *const headwater_key,
    stream: u64,
    trials: u64,
    p: c_double,
    start: u64,
    out: *mut u64,
    n: size_t,
) -> c_int {
    // SAFETY: the caller's promise.
    unsafe {
        fill(key, stream, out, n, |stream, out| {
            stream.fill_distribution(&Binomial::new(trials, p)?, start, out)
        })
    }
}

/// Writes the elements of headwater_stream_fill_binomial_u64() with the numbers in `indices`.
/// Arguments and errors are those of headwater_stream_u8_at(); EINVAL also means that `p` is not
/// from 0 to 1. Not for secrets.
///
/// # Safety
///
/// The promise of [`headwater_stream_u8_at`](super::at::headwater_stream_u8_at).
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn headwater_stream_binomial_u64_at(
    key: *const headwater_key,
    stream: u64,
    trials: u64,
    p: c_double,
    indices: *const u64,
    out: *mut u64,
    n: size_t,
) -> c_int {
    // SAFETY: the caller's promise.
    unsafe {
        at(key, stream, indices, out, n, |stream, i, out| {
            stream.distribution_at(&Binomial::new(trials, p)?, i, out)
        })
    }
}
