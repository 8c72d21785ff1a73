//! `randbelow`, `randbits`, `choice`, and the floats of `SystemRandom`.

use super::draw::{int, length, new_bytes, os_error, shown};
use super::ints::{int_of, int_of_object};
use core::num::NonZeroU64;
use pyo3::exceptions::{PyIndexError, PyValueError};
use pyo3::prelude::*;
use pyo3::{PyErr, ffi, intern};

pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(randbelow, module)?)?;
    module.add_function(wrap_pyfunction!(randbelow_or_zero, module)?)?;
    module.add_function(wrap_pyfunction!(randbits, module)?)?;
    module.add_function(wrap_pyfunction!(choice, module)?)?;
    module.add_function(wrap_pyfunction!(random_float, module)?)
}

/// Returns a random int from 0 up to, not including, exclusive_upper_bound.
#[pyfunction]
fn randbelow<'py>(
    py: Python<'py>,
    exclusive_upper_bound: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let mut overflow = 0;
    let bound = exclusive_upper_bound.as_ptr();
    // SAFETY: the object is alive. If it is no int, the answer is -1, with an exception. We use
    // this conversion because others also raise one for an int that does not fit, which takes 1 us.
    let small = unsafe { ffi::PyLong_AsLongLongAndOverflow(bound, &mut overflow) };
    match u64::try_from(small).ok().and_then(NonZeroU64::new) {
        Some(small) => {
            let value = headwater::u64_below(small).map_err(os_error)?;
            Ok(value.into_pyobject(py)?.into_any())
        }
        None => below_any(exclusive_upper_bound),
    }
}

/// Serves the bounds that are no positive int of 63 bits.
#[cold]
fn below_any<'py>(bound: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = bound.py();
    drop(PyErr::take(py)); // does not name the argument
    let bound = int("exclusive_upper_bound", bound)?;
    if bound.le(0)? {
        let bound = shown(&bound);
        let message = format!("exclusive_upper_bound must be positive, got {bound}");
        return Err(PyValueError::new_err(message));
    }
    // Draws as many bits as the bound has, and again if they are not below it: two draws at most on
    // average.
    let bits = bound.call_method0(intern!(py, "bit_length"))?.extract()?;
    loop {
        let value = bits_large(py, bits)?;
        if value.lt(&bound)? {
            return Ok(value);
        }
    }
}

/// Returns randbelow(n), or 0 if n is 0: the contract of random.Random._randbelow().
///
/// The choice() of Python 3.11.1 and earlier needs the 0 to raise IndexError for an empty sequence.
#[pyfunction]
fn randbelow_or_zero<'py>(py: Python<'py>, n: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    if n.is_truthy()? { randbelow(py, n) } else { Ok(0u8.into_pyobject(py)?.into_any()) }
}

/// Returns an int of k random bits.
#[pyfunction]
fn randbits<'py>(py: Python<'py>, k: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    match length("k", k)? {
        0 => Ok(0u8.into_pyobject(py)?.into_any()),
        bits @ 1..=64 => {
            let value = headwater::u64().map_err(os_error)? >> (64 - bits);
            Ok(value.into_pyobject(py)?.into_any())
        }
        bits => bits_large(py, bits),
    }
}

/// Returns an int of `bits` random bits, of which there are one or more.
fn bits_large(py: Python<'_>, bits: usize) -> PyResult<Bound<'_, PyAny>> {
    let (len, unused) = (bits.div_ceil(8), bits.wrapping_neg() % 8);
    if len > SHORT {
        return int_of_object(&new_bytes(py, len)?)?.rshift(unused);
    }
    let mut bytes = [0; SHORT];
    let bytes = &mut bytes[..len];
    headwater::fill(bytes).map_err(os_error)?;
    if let Some(highest) = bytes.last_mut() {
        *highest >>= unused;
    }
    int_of(py, bytes)
}

/// Bytes of ints that are drawn on the stack.
const SHORT: usize = 64;

/// Returns a random item of a sequence that is not empty.
#[pyfunction]
fn choice<'py>(py: Python<'py>, seq: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let Some(len) = NonZeroU64::new(seq.len()? as u64) else {
        return Err(PyIndexError::new_err(
            "seq must not be empty: there is nothing to choose from",
        ));
    };
    let index = headwater::u64_below(len).map_err(os_error)?;
    seq.get_item(index.into_pyobject(py)?)
}

/// Returns a random float from 0.0 up to, not including, 1.0: a multiple of 2**-53.
#[pyfunction]
fn random_float() -> PyResult<f64> {
    let value = headwater::u64().map_err(os_error)?;
    Ok((value >> 11) as f64 * (1.0 / (1u64 << 53) as f64))
}
