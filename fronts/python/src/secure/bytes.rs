//! `token_bytes`, `token_hex`, `token_urlsafe`, and the functions under os.urandom.

use super::draw::{self, length, new_bytes, new_str};
use super::encode;
use pyo3::exceptions::PyMemoryError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};

/// The length that `secrets` takes if none is given.
const DEFAULT_ENTROPY: usize = 32;

/// Up to this length a text is encoded on the stack.
const SHORT: usize = 64;

pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(token_bytes, module)?)?;
    module.add_function(wrap_pyfunction!(token_hex, module)?)?;
    module.add_function(wrap_pyfunction!(token_urlsafe, module)?)?;
    module.add_function(wrap_pyfunction!(urandom, module)?)?;
    module.add_function(wrap_pyfunction!(randbytes, module)?)
}

/// Returns nbytes random bytes; 32 if nbytes is None.
#[pyfunction]
#[pyo3(signature = (nbytes=None))]
fn token_bytes<'py>(
    py: Python<'py>,
    nbytes: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyBytes>> {
    new_bytes(py, entropy(nbytes)?)
}

/// Returns nbytes random bytes as hexadecimal text, two digits for each byte.
#[pyfunction]
#[pyo3(signature = (nbytes=None))]
fn token_hex<'py>(
    py: Python<'py>,
    nbytes: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyString>> {
    let len = entropy(nbytes)?;
    if len <= SHORT {
        let (mut bytes, mut text) = ([0; SHORT], [0; 2 * SHORT]);
        headwater::fill(&mut bytes[..len]).map_err(draw::os_error)?;
        encode::hex(&bytes[..len], &mut text[..2 * len]);
        return new_str(py, &text[..2 * len]);
    }
    long_text(py, len, len.checked_mul(2), encode::hex)
}

/// Returns nbytes random bytes as URL-safe base64 text without padding.
#[pyfunction]
#[pyo3(signature = (nbytes=None))]
fn token_urlsafe<'py>(
    py: Python<'py>,
    nbytes: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyString>> {
    let len = entropy(nbytes)?;
    if len <= SHORT {
        let (mut bytes, mut text) = ([0; SHORT], [0; 2 * SHORT]);
        headwater::fill(&mut bytes[..len]).map_err(draw::os_error)?;
        let text = &mut text[..encode::base64_len(len)];
        encode::base64(&bytes[..len], text);
        return new_str(py, text);
    }
    long_text(py, len, Some(encode::base64_len(len)), encode::base64)
}

/// Returns size random bytes, as os.urandom() does.
#[pyfunction]
#[pyo3(signature = (size, /))]
fn urandom<'py>(py: Python<'py>, size: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
    new_bytes(py, length("size", size)?)
}

/// Returns n random bytes.
#[pyfunction]
fn randbytes<'py>(py: Python<'py>, n: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
    new_bytes(py, length("n", n)?)
}

fn entropy(nbytes: Option<&Bound<'_, PyAny>>) -> PyResult<usize> {
    nbytes.map_or(Ok(DEFAULT_ENTROPY), |nbytes| length("nbytes", nbytes))
}

/// Draws and encodes without the GIL, then makes a str.
#[cold]
fn long_text<'py>(
    py: Python<'py>,
    len: usize,
    text_len: Option<usize>,
    encode: fn(&[u8], &mut [u8]),
) -> PyResult<Bound<'py, PyString>> {
    let text = py.detach(|| {
        let mut bytes = zeros(Some(len))?;
        let mut text = zeros(text_len)?;
        let drawn = headwater::fill(&mut bytes);
        encode(&bytes, &mut text);
        Some(drawn.map(|()| text))
    });
    let text = text.ok_or_else(|| PyMemoryError::new_err(()))?;
    new_str(py, &text.map_err(draw::os_error)?)
}

/// Returns `len` zero bytes; None if there is no memory for them, for which `vec!` would abort.
fn zeros(len: Option<usize>) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(len?).ok()?;
    bytes.resize(len?, 0);
    Some(bytes)
}
