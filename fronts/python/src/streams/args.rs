//! Arguments as Python passes them: integers and shapes, with errors that name the argument.

use pyo3::exceptions::{PyMemoryError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyInt, PyList, PyTuple};
use pyo3::{Borrowed, ffi};

/// Returns `value` as an integer, by its `__index__`. A float has none, even 3.0.
pub(crate) fn integer<'py>(value: &Bound<'py, PyAny>, name: &str) -> PyResult<Bound<'py, PyInt>> {
    if let Ok(exact) = value.cast_exact::<PyInt>() {
        return Ok(exact.clone());
    }
    // SAFETY: `value` is a Python object, and the result is a new reference or null with an error.
    let index =
        unsafe { Bound::from_owned_ptr_or_err(value.py(), ffi::PyNumber_Index(value.as_ptr())) };
    match index {
        Ok(index) => Ok(index.cast_into()?),
        Err(error) if error.is_instance_of::<PyTypeError>(value.py()) => {
            Err(not_a(value, name, "an integer"))
        }
        Err(error) => Err(error),
    }
}

/// Returns a TypeError that names the argument, its expected type and its type.
pub(crate) fn not_a(value: &Bound<'_, PyAny>, name: &str, expected: &str) -> PyErr {
    let found = value.get_type().qualname().map_or("this type".into(), |name| name.to_string());
    PyTypeError::new_err(format!("{name} must be {expected}, not {found}"))
}

/// Returns whether this is a masked array of NumPy's, which offers its values and hides its mask.
pub(crate) fn hides_a_mask(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    Ok(object.hasattr("_mask")? && object.hasattr("filled")?)
}

/// Returns a ValueError that names the argument, its domain and its value.
pub(crate) fn outside(value: &Bound<'_, PyAny>, name: &str, domain: &str) -> PyErr {
    // Python refuses to write integers of more than 4,300 digits.
    let written = value.str().map_or("a longer number".into(), |text| text.to_string());
    PyValueError::new_err(format!("{name} must be {domain}, not {written}"))
}

/// Returns an integer from 0 to 2^64 - 1.
pub(crate) fn unsigned(value: &Bound<'_, PyAny>, name: &str) -> PyResult<u64> {
    let integer = integer(value, name)?;
    integer.extract().map_err(|_| outside(&integer, name, "from 0 to 2^64 - 1"))
}

/// Returns an integer from -2^63 to 2^64: the ends of ranges of 64-bit types.
pub(crate) fn signed(value: &Bound<'_, PyAny>, name: &str) -> PyResult<i128> {
    let integer = integer(value, name)?;
    if let Ok(small) = integer.extract::<i64>() {
        return Ok(small.into());
    }
    // 2^64 itself ends the range of all values of uint64.
    let large = integer.extract::<i128>().ok().filter(|n| (i64::MIN.into()..=1 << 64).contains(n));
    large.ok_or_else(|| outside(&integer, name, "from -2^63 to 2^64"))
}

/// Returns an empty list with room for `len` items, or a MemoryError.
///
/// A list that grows by itself ends the process where memory ends. So every list whose length comes
/// from a caller begins here.
pub(crate) fn room<T>(len: usize) -> PyResult<Vec<T>> {
    let mut list = Vec::new();
    list.try_reserve_exact(len).map_err(|_| no_memory(len.saturating_mul(size_of::<T>())))?;
    Ok(list)
}

/// Returns a list of `len` zeros, or a MemoryError.
pub(crate) fn zeros<T: Copy + Default>(len: usize) -> PyResult<Vec<T>> {
    let mut list = room(len)?;
    list.resize(len, T::default());
    Ok(list)
}

/// Returns the items of an iterator that says how many it has, or a MemoryError.
pub(crate) fn listed<T>(items: impl ExactSizeIterator<Item = T>) -> PyResult<Vec<T>> {
    let mut list = room(items.len())?;
    list.extend(items);
    Ok(list)
}

/// Returns a MemoryError that says how many bytes were asked for.
pub(crate) fn no_memory(bytes: usize) -> PyErr {
    PyMemoryError::new_err(format!("there is no memory for {bytes} bytes"))
}

/// The argument `start`: the number of the first element.
#[derive(Clone, Copy)]
pub(crate) struct Start(pub(crate) u64);

impl<'py> FromPyObject<'_, 'py> for Start {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Start> {
        unsigned(&value, "start").map(Start)
    }
}

/// The argument `threads`: the number of threads, where 0 means one per CPU.
#[derive(Clone, Copy)]
pub(crate) struct Threads(pub(crate) usize);

impl<'py> FromPyObject<'_, 'py> for Threads {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Threads> {
        let integer = integer(&value, "threads")?;
        let threads = integer.extract().map(Threads);
        threads.map_err(|_| outside(&integer, "threads", "0 (one per CPU) or more"))
    }
}

/// The lengths of an array's dimensions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Shape(Vec<usize>);

impl Shape {
    pub(crate) fn new(dimensions: Vec<usize>) -> Shape {
        Shape(dimensions)
    }

    pub(crate) fn dimensions(&self) -> &[usize] {
        &self.0
    }

    /// Returns the number of elements of `item` bytes, unless they exceed the address space.
    pub(crate) fn len(&self, item: usize) -> PyResult<usize> {
        if self.0.contains(&0) {
            return Ok(0);
        }
        let len = self.0.iter().try_fold(1_usize, |all, &length| all.checked_mul(length));
        let fits = |len: &usize| len.checked_mul(item).is_some_and(|b| b <= isize::MAX as usize);
        len.filter(fits).ok_or_else(|| {
            PyMemoryError::new_err(format!("an array of shape {self} exceeds the address space"))
        })
    }

    pub(crate) fn to_tuple<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, &self.0)
    }
}

impl std::fmt::Display for Shape {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0[..] {
            [one] => write!(f, "({one},)"),
            _ => {
                let lengths: Vec<_> = self.0.iter().map(usize::to_string).collect();
                write!(f, "({})", lengths.join(", "))
            }
        }
    }
}

impl<'py> FromPyObject<'_, 'py> for Shape {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Shape> {
        Shape::read(&value, "shape")
    }
}

/// The argument `size`: a shape under the name that NumPy's generators have for it.
pub(crate) struct Size(pub(crate) Shape);

impl<'py> FromPyObject<'_, 'py> for Size {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Size> {
        Shape::read(&value, "size").map(Size)
    }
}

impl Shape {
    /// Reads an integer, or a tuple or list of integers.
    fn read(value: &Bound<'_, PyAny>, name: &str) -> PyResult<Shape> {
        // First, because most shapes are integers, and each question below takes time.
        if value.is_exact_instance_of::<PyInt>() {
            return dimension(value, name).map(|length| Shape(vec![length]));
        }
        if let Ok(tuple) = value.cast::<PyTuple>() {
            return tuple
                .iter()
                .map(|length| dimension(&length, name))
                .collect::<PyResult<_>>()
                .map(Shape);
        }
        if let Ok(list) = value.cast::<PyList>() {
            return list
                .iter()
                .map(|length| dimension(&length, name))
                .collect::<PyResult<_>>()
                .map(Shape);
        }
        // Python has booleans as 0 and 1, and no array has a length of yes.
        let is_bool = value.is_instance_of::<PyBool>();
        if is_bool || !value.hasattr(pyo3::intern!(value.py(), "__index__"))? {
            return Err(not_a(value, name, "an integer, a tuple or a list of integers"));
        }
        dimension(value, name).map(|length| Shape(vec![length]))
    }
}

fn dimension(length: &Bound<'_, PyAny>, name: &str) -> PyResult<usize> {
    let length = integer(length, name)?;
    length.extract().map_err(|_| outside(&length, name, "made of integers from 0 to 2^64 - 1"))
}
