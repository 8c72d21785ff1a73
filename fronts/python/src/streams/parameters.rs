//! Parameters of distributions as Python passes them: numbers, lists and square matrices.
//!
//! A parameter is the same for all elements of an array. But NumPy's generators take an array of
//! parameters as well, so a user may try one here, and an array where a number belongs is an error
//! that says so.

use super::args::{hides_a_mask, listed, no_memory, not_a, room, unsigned, zeros};
use super::dtype::Dtype;
use super::memory::View;
use pyo3::Borrowed;
use pyo3::exceptions::{PyOverflowError, PyRuntimeWarning, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFloat, PyFrozenSet, PyInt, PyList, PySet, PyTuple};
use std::ffi::CStr;

/// A parameter that the caller passed, or its default.
pub(crate) enum Parameter<'py> {
    Given(Bound<'py, PyAny>),
    Default(f64),
}

impl<'py> FromPyObject<'_, 'py> for Parameter<'py> {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Parameter<'py>> {
        Ok(Parameter::Given(value.to_owned()))
    }
}

impl Parameter<'_> {
    /// Returns a real number.
    pub(crate) fn real(&self, name: &str) -> PyResult<f64> {
        match self {
            Parameter::Given(value) => real(value, name),
            Parameter::Default(value) => Ok(*value),
        }
    }

    /// Returns an integer from 0 to 2^64 - 1.
    pub(crate) fn count(&self, name: &str) -> PyResult<u64> {
        match self {
            Parameter::Given(value) => {
                no_array(value, name)?;
                unsigned(value, name)
            }
            Parameter::Default(value) => Ok(*value as u64),
        }
    }

    /// Returns a list of real numbers.
    pub(crate) fn list(&self, name: &str) -> PyResult<Vec<f64>> {
        let Parameter::Given(value) = self else { return Ok(Vec::new()) };
        let (list, dimensions) = reals(value, name, 1)?;
        match dimensions {
            1 => Ok(list),
            _ => Err(PyValueError::new_err(format!(
                "{name} must have one dimension, not {dimensions}"
            ))),
        }
    }

    /// Warns, as NumPy does, of a covariance that is not symmetric: one half of it is not read.
    pub(crate) fn is_symmetric(
        &self,
        matrix: &[f64],
        dimension: usize,
        name: &str,
    ) -> PyResult<()> {
        let Parameter::Given(value) = self else { return Ok(()) };
        let near = |i: usize, j: usize| {
            let (x, y) = (matrix[i * dimension + j], matrix[j * dimension + i]);
            (x - y).abs() <= 1e-8 + 1e-5 * y.abs() || x == y
        };
        if (0..dimension).all(|i| (0..i).all(|j| near(i, j))) {
            return Ok(());
        }
        let text = format!("{name} is not symmetric: its lower triangle is used\0");
        let text = CStr::from_bytes_with_nul(text.as_bytes()).unwrap_or(c"cov is not symmetric");
        PyErr::warn(value.py(), &value.py().get_type::<PyRuntimeWarning>(), text, 2)
    }

    /// Returns a square matrix of this dimension, row by row.
    pub(crate) fn square(&self, name: &str, dimension: usize) -> PyResult<Vec<f64>> {
        let Parameter::Given(value) = self else { return Ok(Vec::new()) };
        let (list, dimensions) = reals(value, name, 2)?;
        if dimensions == 2 && Some(list.len()) == dimension.checked_mul(dimension) {
            return Ok(list);
        }
        let message = format!("{name} must have shape ({dimension}, {dimension})");
        Err(PyValueError::new_err(message))
    }
}

/// Returns a float, or what `__float__` or `__index__` make of another number.
fn real(value: &Bound<'_, PyAny>, name: &str) -> PyResult<f64> {
    if let Ok(float) = value.cast::<PyFloat>() {
        return Ok(float.value());
    }
    no_array(value, name)?;
    let py = value.py();
    // A text has neither method. `float("1")` would take it all the same.
    let is_number = value.is_instance_of::<PyInt>()
        || value.hasattr(pyo3::intern!(py, "__float__"))?
        || value.hasattr(pyo3::intern!(py, "__index__"))?;
    if !is_number {
        return Err(not_a(value, name, "a number"));
    }
    value.extract().map_err(|error: PyErr| {
        let refused = match error.is_instance_of::<PyOverflowError>(py) {
            true => PyValueError::new_err(format!("{name} must be at most 1.8e308")),
            false => not_a(value, name, "a number"),
        };
        refused.set_cause(py, Some(error));
        refused
    })
}

/// Returns an error for a list or an array where a number belongs.
fn no_array(value: &Bound<'_, PyAny>, name: &str) -> PyResult<()> {
    // First, because the search for an attribute that an integer lacks takes 500 ns.
    if value.is_exact_instance_of::<PyInt>() {
        return Ok(());
    }
    let dimensions = match value.getattr_opt(pyo3::intern!(value.py(), "ndim"))? {
        Some(number) => number.extract::<usize>().unwrap_or(0),
        None => 0,
    };
    let is_list = value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>();
    if dimensions == 0 && !is_list {
        return Ok(());
    }
    let found = value.get_type().qualname().map_or("this type".into(), |name| name.to_string());
    Err(PyTypeError::new_err(format!(
        "{name} must be one number for all elements, not {found}: arrays are not supported"
    )))
}

/// Returns real numbers in C order and the number of their dimensions, at most `most`.
fn reals(value: &Bound<'_, PyAny>, name: &str, most: usize) -> PyResult<(Vec<f64>, usize)> {
    if View::is_offered(value) {
        return buffer(value, name);
    }
    // A frame of pandas is iterated over its labels, which may be numbers.
    let dimensions = value.getattr_opt("ndim")?.and_then(|ndim| ndim.extract::<usize>().ok());
    if dimensions.is_some_and(|dimensions| dimensions > 1) && value.hasattr("__array__")? {
        let values = value.py().import("numpy")?.call_method1("asarray", (value,))?;
        return buffer(&values, name);
    }
    let expected = match most {
        1 => "a sequence of numbers",
        _ => "a sequence of rows of numbers",
    };
    let is_text = value.is_instance_of::<pyo3::types::PyString>();
    // A dictionary's items would be its keys, and a set has no order.
    let is_text = is_text
        || value.is_instance_of::<PyDict>()
        || value.is_instance_of::<PySet>()
        || value.is_instance_of::<PyFrozenSet>();
    let Some(items) = value.try_iter().ok().filter(|_| !is_text) else {
        return Err(not_a(value, name, expected));
    };
    let mut list = room(value.len().unwrap_or(0))?;
    if most == 1 {
        for item in items {
            list.try_reserve(1).map_err(|_| no_memory(8 * list.len()))?;
            list.push(real(&item?, name)?);
        }
        return Ok((list, 1));
    }
    for (rows, row) in items.enumerate() {
        let (row, dimensions) = reals(&row?, name, most - 1)?;
        if dimensions != most - 1 || (rows > 0 && list.len() != rows * row.len()) {
            return Err(PyValueError::new_err(format!("{name} must have rows of one length")));
        }
        list.try_reserve(row.len()).map_err(|_| no_memory(8 * row.len()))?;
        list.extend(row);
    }
    Ok((list, most))
}

/// Copies the numbers of an array.
fn buffer(value: &Bound<'_, PyAny>, name: &str) -> PyResult<(Vec<f64>, usize)> {
    // A number that a mask hides would count.
    if hides_a_mask(value)? {
        return Err(PyTypeError::new_err(format!(
            "{name} must hold numbers, and a masked array hides some: pass its filled()"
        )));
    }
    let view = View::readable(value)?;
    let wrong = || {
        let format = String::from_utf8_lossy(view.format()).into_owned();
        PyTypeError::new_err(format!("{name} must hold numbers, not items of format {format:?}"))
    };
    // The format of bytes is that of small integers. A text of bytes is no list of weights.
    let is_bytes = value.is_instance_of::<pyo3::types::PyBytes>();
    let dtype = view.dtype().filter(|_| !is_bytes).ok_or_else(wrong)?;
    let mut bytes = zeros(view.bytes())?;
    view.copy_to(value.py(), &mut bytes)?;
    macro_rules! converted {
        ($type:ty) => {{
            let (items, _) = bytes.as_chunks::<{ size_of::<$type>() }>();
            listed(items.iter().map(|item| <$type>::from_ne_bytes(*item) as f64))?
        }};
    }
    let list = match dtype {
        Dtype::F64 => converted!(f64),
        Dtype::F32 => converted!(f32),
        Dtype::I8 => converted!(i8),
        Dtype::U8 => converted!(u8),
        Dtype::I16 => converted!(i16),
        Dtype::U16 => converted!(u16),
        Dtype::I32 => converted!(i32),
        Dtype::U32 => converted!(u32),
        Dtype::I64 => converted!(i64),
        Dtype::U64 => converted!(u64),
        Dtype::F16 | Dtype::Bf16 | Dtype::C64 | Dtype::C128 => return Err(wrong()),
    };
    Ok((list, view.shape().dimensions().len()))
}
