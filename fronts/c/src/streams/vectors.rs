//! Distributions of vectors, as elements of a key's streams.

use super::key::headwater_key;
use super::numbers::{errno, stream_of};
use crate::edge::{elements, fail, output, overlap};
use core::ffi::{c_double, c_int};
use headwater_streams::Error;
use headwater_streams::distributions::{
    Dirichlet, Multinomial, MultivariateNormal, Sobol, VectorDistribution,
};
use libc::{EFAULT, EINVAL, size_t};

/// Writes Dirichlet vectors: `dimension` shares that add up to 1, whose means are in proportion to
/// `alpha`. Vector i + 1 follows vector i in `out`, which has room for `n` vectors. Arguments and
/// errors are those of headwater_stream_fill_u8(), with vectors as elements; EINVAL also means that
/// `dimension` is 0, `alpha` is NULL or overlaps `out`, or a number of it is not above 0 or above
/// 2^900. Not for secrets.
///
/// # Safety
///
/// `key` is NULL or valid for reads; `out` is NULL, or aligned and valid for writes of `n` vectors
/// that nothing else uses meanwhile. `alpha` is NULL, or aligned and valid for reads of `dimension`
/// numbers.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn headwater_stream_fill_dirichlet_f64(
    key: *const headwater_key,
    stream: u64,
    alpha: *const c_double,
    dimension: size_t,
    start: u64,
    out: *mut f64,
    n: size_t,
) -> c_int {
    // SAFETY: `alpha` is NULL or has `dimension` readable numbers, as `# Safety` says.
    let Some(vectors) = (unsafe { dirichlet(alpha, dimension, out, n) }) else {
        return fail(EINVAL);
    };
    // SAFETY: `# Safety` grants a readable `key` and `n` writable vectors at `out`, as asked there.
    unsafe { fill_vectors(key, stream, out, n, start, &vectors) }
}

/// Writes the vectors of headwater_stream_fill_dirichlet_f64() with the numbers in `indices`.
/// Arguments and errors are those of headwater_stream_u8_at(), with vectors as elements; EINVAL
/// also means that `dimension` is 0, `alpha` is NULL or overlaps `out`, or a number of it is not
/// above 0 or above 2^900. Not for secrets.
///
/// # Safety
///
/// The promise of [`headwater_stream_fill_dirichlet_f64`]; `indices` is NULL, or aligned and valid
/// for reads of `n` numbers.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn headwater_stream_dirichlet_f64_at(
    key: *const headwater_key,
    stream: u64,
    alpha: *const c_double,
    dimension: size_t,
    indices: *const u64,
    out: *mut f64,
    n: size_t,
) -> c_int {
    // SAFETY: `alpha` is NULL or has `dimension` readable numbers, as `# Safety` says.
    let Some(vectors) = (unsafe { dirichlet(alpha, dimension, out, n) }) else {
        return fail(EINVAL);
    };
    // SAFETY: `# Safety` grants a readable `key`, `n` indices, and `n` writable vectors at `out`,
    // as asked there.
    unsafe { vectors_at(key, stream, indices, out, n, &vectors) }
}

/// Makes the table of `outcomes` weights for headwater_stream_fill_multinomial_u64(), the same on
/// every machine. The weights need not add up to 1.
///
/// Returns 0, or -1 with errno set and `table` unchanged: EINVAL unless there is a weight, all are
/// finite and not below 0, their sum is finite and above 0, and `table` is another array; EFAULT if
/// `weights` or `table` is NULL, or an array takes more than SSIZE_MAX bytes. Async-signal-safe.
///
/// # Safety
///
/// `weights` is NULL, or aligned and valid for reads of `outcomes` numbers; `table` is NULL, or
/// aligned and valid for writes of as many that nothing else uses meanwhile.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn headwater_stream_multinomial_table(
    weights: *const c_double,
    outcomes: size_t,
    table: *mut f64,
) -> c_int {
    if overlap(weights, outcomes, table, outcomes) {
        return fail(EINVAL);
    }
    // SAFETY: `# Safety` grants `outcomes` readable weights and as many writable numbers at
    // `table`; `elements` and `output` refuse NULL.
    let (weights, table) = unsafe { (elements(weights, outcomes), output(table, outcomes)) };
    let (Some(weights), Some(table)) = (weights, table) else { return fail(EFAULT) };
    match Multinomial::build(0, weights, table) {
        Ok(_) => 0,
        Err(error) => fail(errno(&error)),
    }
}

/// Writes multinomial vectors: how many of `trials` trials have each of `outcomes` outcomes, with
/// the weights of a table by headwater_stream_multinomial_table(). Vector i + 1 follows vector i in
/// `out`, which has room for `n` vectors. Arguments and errors are those of
/// headwater_stream_fill_u8(), with vectors as elements; EINVAL also means that `outcomes` is 0,
/// `table` is NULL or overlaps `out`, or a number of it is not from 0 to 1. Not for secrets.
///
/// # Safety
///
/// `key` is NULL or valid for reads; `out` is NULL, or aligned and valid for writes of `n` vectors
/// that nothing else uses meanwhile. `table` is NULL, or aligned and valid for reads of `outcomes`
/// numbers.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn headwater_stream_fill_multinomial_u64(
    key: *const headwater_key,
    stream: u64,
    trials: u64,
    table: *const c_double,
    outcomes: size_t,
    start: u64,
    out: *mut u64,
    n: size_t,
) -> c_int {
    // SAFETY: `table` is NULL or has `outcomes` readable numbers, as `# Safety` says.
    let Some(vectors) = (unsafe { multinomial(trials, table, outcomes, out, n) }) else {
        return fail(EINVAL);
    };
    // SAFETY: `# Safety` grants a readable `key` and `n` writable vectors at `out`, as asked there.
    unsafe { fill_vectors(key, stream, out, n, start, &vectors) }
}

/// Writes the vectors of headwater_stream_fill_multinomial_u64() with the numbers in `indices`.
/// Arguments and errors are those of headwater_stream_u8_at(), with vectors as elements; EINVAL
/// also means that `outcomes` is 0, `table` is NULL or overlaps `out`, or a number of it is not
/// from 0 to 1. Not for secrets.
///
/// # Safety
///
/// The promise of [`headwater_stream_fill_multinomial_u64`]; `indices` is NULL, or aligned and
/// valid for reads of `n` numbers.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn headwater_stream_multinomial_u64_at(
    key: *const headwater_key,
    stream: u64,
    trials: u64,
    table: *const c_double,
    outcomes: size_t,
    indices: *const u64,
    out: *mut u64,
    n: size_t,
) -> c_int {
    // SAFETY: `table` is NULL or has `outcomes` readable numbers, as `# Safety` says.
    let Some(vectors) = (unsafe { multinomial(trials, table, outcomes, out, n) }) else {
        return fail(EINVAL);
    };
    // SAFETY: `# Safety` grants a readable `key`, `n` indices, and `n` writable vectors at `out`,
    // as asked there.
    unsafe { vectors_at(key, stream, indices, out, n, &vectors) }
}

/// Computes the Cholesky factor of a covariance for
/// headwater_stream_fill_multivariate_normal_f64(), the same on every machine. Both are squares of
/// `dimension` rows, one after the other. Since a covariance is symmetric, only its lower triangle
/// is read. It may be semidefinite. Row j of the factor has the weights of normal number j in each
/// component.
///
/// Returns 0, or -1 with errno set: EINVAL if `dimension` is 0, or the covariance is not finite or
/// not positive semidefinite, or `factor` overlaps it; EFAULT if a pointer is NULL, or a square
/// takes more than SSIZE_MAX bytes. `factor` has no meaning then. Async-signal-safe.
///
/// # Safety
///
/// `covariance` is NULL, or aligned and valid for reads of a square; `factor` is NULL, or aligned
/// and valid for writes of a square that nothing else uses meanwhile.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn headwater_stream_cholesky(
    covariance: *const c_double,
    dimension: size_t,
    factor: *mut f64,
) -> c_int {
    let Some(square) = dimension.checked_mul(dimension) else { return fail(EFAULT) };
    if overlap(covariance, square, factor, square) {
        return fail(EINVAL);
    }
    // SAFETY: `# Safety` grants a readable and a writable square, whose sizes did not overflow
    // above; `elements` and `output` refuse NULL.
    let (covariance, factor) = unsafe { (elements(covariance, square), output(factor, square)) };
    let (Some(covariance), Some(factor)) = (covariance, factor) else { return fail(EFAULT) };
    match MultivariateNormal::cholesky(covariance, dimension, factor) {
        Ok(()) => 0,
        Err(error) => fail(errno(&error)),
    }
}

/// Writes normal vectors of `dimension` components with this mean, and with a covariance whose
/// factor headwater_stream_cholesky() has computed. Vector i + 1 follows vector i in `out`, which
/// has room for `n` vectors. Arguments and errors are those of headwater_stream_fill_u8(), with
/// vectors as elements; EINVAL also means that `dimension` is 0, `mean` or `factor` is NULL or
/// overlaps `out`, or a number in them is not finite. Not for secrets.
///
/// # Safety
///
/// `key` is NULL or valid for reads; `out` is NULL, or aligned and valid for writes of `n` vectors
/// that nothing else uses meanwhile. `mean` is NULL, or aligned and valid for reads of `dimension`
/// numbers, and `factor` of a square.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn headwater_stream_fill_multivariate_normal_f64(
    key: *const headwater_key,
    stream: u64,
    mean: *const c_double,
    factor: *const c_double,
    dimension: size_t,
    start: u64,
    out: *mut f64,
    n: size_t,
) -> c_int {
    // SAFETY: `mean` and `factor` are NULL or have `dimension` readable numbers and a square of
    // them.
    let Some(vectors) = (unsafe { multivariate_normal(mean, factor, dimension, out, n) }) else {
        return fail(EINVAL);
    };
    // SAFETY: `# Safety` grants a readable `key` and `n` writable vectors at `out`, as asked there.
    unsafe { fill_vectors(key, stream, out, n, start, &vectors) }
}

/// Writes the vectors of headwater_stream_fill_multivariate_normal_f64() with the numbers in
/// `indices`. Arguments and errors are those of headwater_stream_u8_at(), with vectors as elements;
/// EINVAL also means that `dimension` is 0, `mean` or `factor` is NULL or overlaps `out`, or a
/// number in them is not finite. Not for secrets.
///
/// # Safety
///
/// The promise of [`headwater_stream_fill_multivariate_normal_f64`]; `indices` is NULL, or aligned
/// and valid for reads of `n` numbers.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn headwater_stream_multivariate_normal_f64_at(
    key: *const headwater_key,
    stream: u64,
    mean: *const c_double,
    factor: *const c_double,
    dimension: size_t,
    indices: *const u64,
    out: *mut f64,
    n: size_t,
) -> c_int {
    // SAFETY: `mean` and `factor` are NULL or have `dimension` readable numbers and a square of
    // them.
    let Some(vectors) = (unsafe { multivariate_normal(mean, factor, dimension, out, n) }) else {
        return fail(EINVAL);
    };
    // SAFETY: `# Safety` grants a readable `key`, `n` indices, and `n` writable vectors at `out`,
    // as asked there.
    unsafe { vectors_at(key, stream, indices, out, n, &vectors) }
}

/// Writes points of Sobol's sequence, scrambled by the stream if `scrambled` is not 0, and
/// otherwise the same for every stream. Vector i + 1 follows vector i in `out`, which has room for
/// `n` vectors. Arguments and errors are those of headwater_stream_fill_u8(), with vectors as
/// elements; EINVAL also means that `dimension` is not from 1 to 1111, and ERANGE a point from 2^53
/// on. Not for secrets.
///
/// # Safety
///
/// `key` is NULL or valid for reads; `out` is NULL, or aligned and valid for writes of `n` vectors
/// that nothing else uses meanwhile.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn headwater_stream_fill_sobol_f64(
    key: *const headwater_key,
    stream: u64,
    dimension: size_t,
    scrambled: c_int,
    start: u64,
    out: *mut f64,
    n: size_t,
) -> c_int {
    let Ok(vectors) = sobol(dimension, scrambled) else { return fail(EINVAL) };
    // SAFETY: `# Safety` grants a readable `key` and `n` writable vectors at `out`, as asked there.
    unsafe { fill_vectors(key, stream, out, n, start, &vectors) }
}

/// Writes the vectors of headwater_stream_fill_sobol_f64() with the numbers in `indices`. Arguments
/// and errors are those of headwater_stream_u8_at(), with vectors as elements; EINVAL also means
/// that `dimension` is not from 1 to 1111, and ERANGE a point from 2^53 on. Not for secrets.
///
/// # Safety
///
/// The promise of [`headwater_stream_fill_sobol_f64`]; `indices` is NULL, or aligned and valid for
/// reads of `n` numbers.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn headwater_stream_sobol_f64_at(
    key: *const headwater_key,
    stream: u64,
    dimension: size_t,
    scrambled: c_int,
    indices: *const u64,
    out: *mut f64,
    n: size_t,
) -> c_int {
    let Ok(vectors) = sobol(dimension, scrambled) else { return fail(EINVAL) };
    // SAFETY: `# Safety` grants a readable `key`, `n` indices, and `n` writable vectors at `out`,
    // as asked there.
    unsafe { vectors_at(key, stream, indices, out, n, &vectors) }
}

/// Returns the sequence.
fn sobol(dimension: usize, scrambled: c_int) -> Result<Sobol, Error> {
    if scrambled != 0 { Sobol::new(dimension) } else { Sobol::plain(dimension) }
}

/// Returns the distribution of a list that C holds, if it is one and `n` vectors at `out` overlap
/// no part of it.
///
/// # Safety
///
/// If it is not null, `alpha` is aligned and valid for reads of `dimension` numbers.
unsafe fn dirichlet<'a>(
    alpha: *const f64,
    dimension: usize,
    out: *const f64,
    n: usize,
) -> Option<Dirichlet<'a>> {
    if overlap(alpha, dimension, out, n.saturating_mul(dimension)) {
        return None;
    }
    // SAFETY: `elements` asks what the sentence above says of `alpha`. A missing list is empty, and
    // an empty one is the error.
    Dirichlet::new(unsafe { elements(alpha, dimension) }.unwrap_or_default()).ok()
}

/// Returns the distribution of a table that C holds, if it is one and `n` vectors at `out` overlap
/// no part of it.
///
/// # Safety
///
/// If it is not null, `table` is aligned and valid for reads of `outcomes` numbers.
unsafe fn multinomial<'a>(
    trials: u64,
    table: *const f64,
    outcomes: usize,
    out: *const u64,
    n: usize,
) -> Option<Multinomial<&'a [f64]>> {
    if overlap(table, outcomes, out, n.saturating_mul(outcomes)) {
        return None;
    }
    // SAFETY: `elements` asks what the sentence above says of `table`. A missing list is empty, and
    // an empty one is the error.
    Multinomial::from_table(trials, unsafe { elements(table, outcomes) }.unwrap_or_default()).ok()
}

/// Returns the distribution of a mean and a factor that C holds, if they are one and `n` vectors at
/// `out` overlap no part of them.
///
/// # Safety
///
/// If they are not null, `mean` is aligned and valid for reads of `dimension` numbers, and `factor`
/// of a square.
unsafe fn multivariate_normal<'a>(
    mean: *const f64,
    factor: *const f64,
    dimension: usize,
    out: *const f64,
    n: usize,
) -> Option<MultivariateNormal<'a>> {
    let square = dimension.checked_mul(dimension).unwrap_or_default();
    let room = n.saturating_mul(dimension);
    if overlap(mean, dimension, out, room) || overlap(factor, square, out, room) {
        return None;
    }
    // SAFETY: `elements` asks what the sentence above says of each pointer. A square that overflows
    // is read as empty, and so is a missing list: an empty one is the error.
    let (mean, factor) = unsafe { (elements(mean, dimension), elements(factor, square)) };
    MultivariateNormal::new(mean.unwrap_or_default(), factor.unwrap_or_default()).ok()
}

/// Writes `n` vectors of a range to `out`.
///
/// # Safety
///
/// `key` is NULL or valid for reads; `out` is NULL, or aligned and valid for writes of `n` vectors
/// that nothing else uses meanwhile.
unsafe fn fill_vectors<D: VectorDistribution>(
    key: *const headwater_key,
    stream: u64,
    out: *mut D::Value,
    n: usize,
    start: u64,
    vectors: &D,
) -> c_int {
    let Some(room) = n.checked_mul(vectors.dimension().get()) else { return fail(EFAULT) };
    // SAFETY: `n` vectors are `room` numbers, so `fill` asks of `out` what the sentence above says.
    // Its `key` is ours.
    unsafe {
        super::numbers::fill(key, stream, out, room, |stream, out| {
            stream.fill_vectors(vectors, start, out)
        })
    }
}

/// Writes the `n` vectors with these indices to `out`.
///
/// # Safety
///
/// As of [`fill_vectors`]; `indices` is NULL, or aligned and valid for reads of `n` numbers.
unsafe fn vectors_at<D: VectorDistribution>(
    key: *const headwater_key,
    stream: u64,
    indices: *const u64,
    out: *mut D::Value,
    n: usize,
    vectors: &D,
) -> c_int {
    let Some(room) = n.checked_mul(vectors.dimension().get()) else { return fail(EFAULT) };
    if overlap(indices, n, out, room) {
        return fail(EINVAL);
    }
    // SAFETY: `n` vectors are `room` numbers, so each of the three asks what the sentence above
    // says of its pointer. `out` does not overlap `indices`, which was checked, so no two
    // references reach the same memory.
    let (stream, indices, out) =
        unsafe { (stream_of(key, stream), elements(indices, n), output(out, room)) };
    let stream = match stream {
        Ok(stream) => stream,
        Err(errno) => return fail(errno),
    };
    let (Some(indices), Some(out)) = (indices, out) else { return fail(EFAULT) };
    match stream.vectors_at(vectors, indices, out) {
        Ok(()) => 0,
        Err(error) => fail(errno(&error)),
    }
}
