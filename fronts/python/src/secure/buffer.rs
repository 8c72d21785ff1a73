//! `fill`: random bytes into memory of the caller's.

use super::draw;
use crate::streams::View;
use pyo3::PyErr;
use pyo3::exceptions::{PyBufferError, PyTypeError};
use pyo3::prelude::*;

/// Fills a writable buffer with random bytes: bytearray, memoryview, array, mmap, NumPy array.
///
/// The buffer is contiguous, in C or Fortran order. Its items may have any type but Python objects.
#[pyfunction]
pub(super) fn fill(py: Python<'_>, buffer: &Bound<'_, PyAny>) -> PyResult<()> {
    // We could ask for the right layout alone, but then each exporter would raise an error of its
    // own. So any layout is asked for, and one that does not serve is refused below by name.
    let view = View::readable(buffer).map_err(|error| refused(buffer, &error))?;
    if !view.is_writable() {
        let message = format!("buffer must be writable; {} is read-only", class(buffer));
        return Err(PyBufferError::new_err(message));
    }
    if !view.is_contiguous() {
        let message = "buffer must be contiguous; the bytes of this one do not follow each other";
        return Err(PyBufferError::new_err(message));
    }
    if view.holds_objects() {
        let message = "buffer must hold numbers or bytes; this one holds Python objects";
        return Err(PyTypeError::new_err(message));
    }
    // SAFETY: the view is writable and contiguous, as was checked, so its `len` bytes begin at
    // `buf`. The exporter neither moves nor frees them before the view is dropped, which is after
    // this call. Threads that use the memory meanwhile may see old and new bytes, as with
    // `readinto`.
    unsafe { draw::fill(py, view.start(), view.bytes()) }
}

#[cold]
fn refused(buffer: &Bound<'_, PyAny>, error: &PyErr) -> PyErr {
    let (py, class) = (buffer.py(), class(buffer));
    if error.is_instance_of::<PyTypeError>(py) {
        return PyTypeError::new_err(format!("buffer must be a writable buffer, not {class}"));
    }
    let reason = error.value(py);
    PyBufferError::new_err(format!("buffer must be a writable buffer: {class}: {reason}"))
}

fn class(object: &Bound<'_, PyAny>) -> String {
    let name = object.get_type().name();
    name.map_or_else(|_| "this object".into(), |name| format!("'{name}'"))
}
