//! `fill`: random bytes into memory of the caller's.

use super::draw;
use core::ffi::CStr;
use core::mem::MaybeUninit;
use pyo3::exceptions::{PyBufferError, PyTypeError};
use pyo3::prelude::*;
use pyo3::{PyErr, ffi};

/// Fills a writable buffer with random bytes: bytearray, memoryview, array, mmap, NumPy array.
///
/// The buffer is contiguous, in C or Fortran order. Its items may have any type but Python objects.
#[pyfunction]
pub(super) fn fill(py: Python<'_>, buffer: &Bound<'_, PyAny>) -> PyResult<()> {
    let view = View::of(buffer)?;
    if view.0.readonly != 0 {
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
    // SAFETY: the view is writable and contiguous, so that its `len` bytes begin at `buf`. The
    // exporter neither moves nor frees them before the view is dropped, which is after this call.
    // Threads that use the memory meanwhile may see old and new bytes, as with `readinto`.
    unsafe { draw::fill(py, view.0.buf.cast(), view.0.len as usize) }
}

/// A view of a buffer. PyO3's own requires a shape, which a single number does not have.
struct View(ffi::Py_buffer);

impl View {
    fn of(buffer: &Bound<'_, PyAny>) -> PyResult<View> {
        let mut view = MaybeUninit::uninit();
        // Any layout is asked for, and one that does not serve is refused above by name. If only
        // the right one were asked for, each exporter would raise an error of its own.
        let flags = ffi::PyBUF_FULL_RO;
        // SAFETY: the object is alive and `view` has room. After 0 the view is set; it is not
        // moved in the eyes of its exporter, who gets the address at the release only.
        unsafe {
            if ffi::PyObject_GetBuffer(buffer.as_ptr(), view.as_mut_ptr(), flags) == 0 {
                return Ok(View(view.assume_init()));
            }
        }
        Err(refused(buffer, &PyErr::fetch(buffer.py())))
    }

    fn is_contiguous(&self) -> bool {
        // SAFETY: the view is set. A is either order.
        unsafe { ffi::PyBuffer_IsContiguous(&self.0, b'A' as core::ffi::c_char) != 0 }
    }

    /// Returns whether items contain references to Python objects, which random bytes would make
    /// into wild pointers. The format is that of `struct`, where O is such a reference. Names of
    /// fields stand between colons and may contain any letter.
    fn holds_objects(&self) -> bool {
        if self.0.format.is_null() {
            return false; // unsigned bytes
        }
        // SAFETY: a format is a C string that lives as long as the view.
        let format = unsafe { CStr::from_ptr(self.0.format) }.to_bytes();
        format.split(|&letter| letter == b':').step_by(2).any(|codes| codes.contains(&b'O'))
    }
}

impl Drop for View {
    fn drop(&mut self) {
        // SAFETY: the view is set and is released once. `fill` holds the GIL here.
        unsafe { ffi::PyBuffer_Release(&mut self.0) }
    }
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
