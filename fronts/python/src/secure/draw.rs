//! Draws into memory that Python owns, and the errors of a draw.

use crate::streams::WORTH_A_SWITCH;
use core::mem::MaybeUninit;
use pyo3::exceptions::{PyOSError, PyOverflowError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};
use pyo3::{PyErr, ffi};
use std::ffi::c_int;

const EIO: c_int = 5;
const ENOSYS: c_int = 38;

/// Converts the core's error to OSError. Python makes the subclass that the errno names, such as
/// PermissionError, from these two arguments.
#[cold]
pub(super) fn os_error(error: headwater::Error) -> PyErr {
    let errno = match error.errno() {
        Some(errno) => errno,
        None if error == headwater::Error::UNSUPPORTED => ENOSYS,
        None => EIO,
    };
    PyOSError::new_err((errno, error.to_string()))
}

/// Fills `len` bytes at `at`, and lets other Python threads run meanwhile if there are many.
///
/// # Safety
///
/// `at` is valid for writes of `len` bytes, and stays so while the GIL is released.
pub(super) unsafe fn fill(py: Python<'_>, at: *mut u8, len: usize) -> PyResult<()> {
    struct Target(*mut u8);
    // SAFETY: the pointer stays in this thread. `detach` asks for `Send` to keep Python's objects
    // out, and a pointer to bytes is none.
    unsafe impl Send for Target {}

    let draw = |target: Target| {
        // SAFETY: `at` is valid for writes of `len` bytes, with the GIL or without, as `# Safety`
        // asks. `MaybeUninit` makes no claim about the present contents.
        let target =
            unsafe { core::slice::from_raw_parts_mut(target.0.cast::<MaybeUninit<u8>>(), len) };
        headwater::fill_uninit(target).map(drop)
    };
    let target = Target(at);
    if len <= WORTH_A_SWITCH { draw(target) } else { py.detach(move || draw(target)) }
        .map_err(os_error)
}

/// Returns a new bytes object of `len` random bytes, which are written into it directly.
pub(super) fn new_bytes(py: Python<'_>, len: usize) -> PyResult<Bound<'_, PyBytes>> {
    let size = ffi::Py_ssize_t::try_from(len).map_err(|_| PyOverflowError::new_err(len))?;
    // SAFETY: a null pointer asks for an object with unset contents. The result is a new reference,
    // or null with MemoryError set, as `from_owned_ptr_or_err` expects.
    let object = unsafe {
        let object = ffi::PyBytes_FromStringAndSize(core::ptr::null(), size);
        Bound::from_owned_ptr_or_err(py, object)?
    };
    // SAFETY: the object is bytes of length `len`, new, and known to this function alone, so its
    // contents may be written, even without the GIL.
    unsafe {
        fill(py, ffi::PyBytes_AsString(object.as_ptr()).cast(), len)?;
        Ok(object.cast_into_unchecked())
    }
}

/// Returns a str of `text`, which is ASCII.
#[inline]
pub(super) fn new_str<'py>(py: Python<'py>, text: &[u8]) -> PyResult<Bound<'py, PyString>> {
    debug_assert!(text.is_ascii());
    // SAFETY: the pointer and the length are those of a slice, which the call copies. Latin-1 is
    // decoded faster than UTF-8, and no byte can be wrong, because each is a character of it.
    unsafe {
        let object = ffi::PyUnicode_DecodeLatin1(
            text.as_ptr().cast(),
            text.len() as ffi::Py_ssize_t,
            core::ptr::null(),
        );
        Ok(Bound::from_owned_ptr_or_err(py, object)?.cast_into_unchecked())
    }
}

/// Returns the argument `name` as a length: an int, or an object with `__index__`, from 0 to the
/// largest size that an object can have.
#[inline]
pub(super) fn length(name: &str, argument: &Bound<'_, PyAny>) -> PyResult<usize> {
    // SAFETY: the object is alive. If it is no int, the answer is -1, with an exception.
    let length = unsafe { ffi::PyLong_AsSsize_t(argument.as_ptr()) };
    usize::try_from(length).or_else(|_| length_of_any(name, argument))
}

#[cold]
fn length_of_any(name: &str, argument: &Bound<'_, PyAny>) -> PyResult<usize> {
    drop(PyErr::take(argument.py())); // does not name the argument; -1 itself has none
    let int = int(name, argument)?;
    // The object may have `__index__` alone. The limit is that of isize, and not of usize, because
    // no object of Python is larger.
    if let Some(length) = int.extract::<isize>().ok().and_then(|int| usize::try_from(int).ok()) {
        return Ok(length);
    }
    if int.lt(0)? {
        let message = format!("{name} must not be negative, got {}", shown(&int));
        return Err(PyValueError::new_err(message));
    }
    let message = format!("{name} must be at most {}, got {}", isize::MAX, shown(&int));
    Err(PyOverflowError::new_err(message))
}

/// Returns an int as text for a message. Python refuses to write more than 4,300 digits.
pub(super) fn shown(int: &Bound<'_, PyAny>) -> String {
    int.str().map_or_else(|_| "an int of thousands of digits".into(), |text| text.to_string())
}

/// Returns the argument `name` as an int. Calls `__index__` on an object that is not one.
#[cold]
pub(super) fn int<'py>(name: &str, argument: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = argument.py();
    // SAFETY: the object is alive; the call returns a new reference or sets an exception.
    let int = unsafe { Bound::from_owned_ptr_or_err(py, ffi::PyNumber_Index(argument.as_ptr())) };
    int.map_err(|error| {
        if !error.is_instance_of::<PyTypeError>(py) {
            return error; // raised by the object's own `__index__`
        }
        let class = argument.get_type();
        let class = class.name().map_or_else(|_| "object".into(), |name| name.to_string());
        PyTypeError::new_err(format!("{name} must be an int, not '{class}'"))
    })
}
