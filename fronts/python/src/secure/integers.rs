//! `randbelow`, `randbits`, `choice`, and the floats of `SystemRandom`.

use super::draw::{int, length, new_bytes, os_error, shown};
use super::encode;
use core::num::NonZeroU64;
use pyo3::exceptions::{PyIndexError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyInt;
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
    if bits <= 128 {
        let value = u128::from_ne_bytes(headwater::array().map_err(os_error)?);
        return int_of_u128(py, value >> (128 - bits));
    }
    if bits <= 8 * SHORT {
        return bits_short(py, bits);
    }
    let bytes = new_bytes(py, bits.div_ceil(8))?;
    let value = py
        .get_type::<PyInt>()
        .call_method1(intern!(py, "from_bytes"), (bytes, intern!(py, "little")))?;
    match bits % 8 {
        0 => Ok(value),
        used => value.rshift(8 - used),
    }
}

/// Bytes of ints that are made of hexadecimal digits.
const SHORT: usize = 64;

/// Returns an int of `bits` random bits, at most 8 times [`SHORT`].
///
/// By hexadecimal digits, because the stable ABI of 3.11 has no call for bytes. The method
/// `int.from_bytes` takes twice as long, most of it to find the method and to read its arguments.
fn bits_short(py: Python<'_>, bits: usize) -> PyResult<Bound<'_, PyAny>> {
    let len = bits.div_ceil(8);
    // One more byte: a zero ends the text.
    let (mut bytes, mut text) = ([0; SHORT], [0; 2 * SHORT + 1]);
    let (bytes, text) = (&mut bytes[..len], &mut text[..=2 * len]);
    headwater::fill(bytes).map_err(os_error)?;
    if let (Some(first), used @ 1..) = (bytes.first_mut(), bits % 8) {
        *first >>= 8 - used;
    }
    encode::hex(bytes, &mut text[..2 * len]);
    // SAFETY: the text is a C string of hexadecimal digits, which end before its last byte, a zero.
    // The call returns a new reference or sets an exception.
    unsafe {
        let end = std::ptr::null_mut();
        Bound::from_owned_ptr_or_err(py, ffi::PyLong_FromString(text.as_ptr().cast(), end, 16))
    }
}

/// Returns the int of 128 bits. The stable ABI has no call for more than 64.
#[inline]
pub(super) fn int_of_u128(py: Python<'_>, value: u128) -> PyResult<Bound<'_, PyAny>> {
    let high = ((value >> 64) as u64).into_pyobject(py)?;
    let low = (value as u64).into_pyobject(py)?;
    let half = 64u8.into_pyobject(py)?; // one of the small ints that Python keeps
    // SAFETY: the operands are ints; each call returns a new reference or sets an exception.
    unsafe {
        let high = ffi::PyNumber_Lshift(high.as_ptr(), half.as_ptr());
        let high = Bound::from_owned_ptr_or_err(py, high)?;
        Bound::from_owned_ptr_or_err(py, ffi::PyNumber_Or(high.as_ptr(), low.as_ptr()))
    }
}

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
