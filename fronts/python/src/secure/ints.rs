//! Python's integers of bytes.
//!
//! The stable ABI of 3.11 has no call that makes an int of more than 64 bits. A reader would take
//! the method `int.from_bytes`, but it has to be found, and to read its arguments, which takes
//! longer than to make the int. Each CPython has a call for that alone, under a name of its own: a
//! public one since 3.13, and before that a private one, of releases that change no more. So we
//! look it up in the running program, by the version, and take the method where there is none.

use core::ffi::{CStr, c_int, c_void};
use core::mem::transmute;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyInt};
use pyo3::{ffi, intern};

/// `PyLong_FromUnsignedNativeBytes` of 3.13: bytes, their number, flags.
type Public = unsafe extern "C" fn(*const c_void, usize, c_int) -> *mut ffi::PyObject;
/// `_PyLong_FromByteArray` of 3.11 and 3.12: bytes, their number, whether the lowest byte comes
/// first, and whether a sign is meant.
type Private = unsafe extern "C" fn(*const u8, usize, c_int, c_int) -> *mut ffi::PyObject;

#[derive(Clone, Copy)]
enum Maker {
    Public(Public),
    Private(Private),
    Method,
}

impl Maker {
    /// Returns the maker of the running Python.
    fn get(py: Python<'_>) -> Maker {
        static MAKER: PyOnceLock<Maker> = PyOnceLock::new();
        *MAKER.get_or_init(py, || {
            let version = py.version_info();
            if version >= (3, 13) {
                // SAFETY: since this version the function is public, with these arguments.
                symbol(c"PyLong_FromUnsignedNativeBytes")
                    .map(|at| Maker::Public(unsafe { transmute::<*mut c_void, Public>(at) }))
            } else {
                // SAFETY: in 3.11 and 3.12, the only older ones, it has these arguments.
                symbol(c"_PyLong_FromByteArray")
                    .map(|at| Maker::Private(unsafe { transmute::<*mut c_void, Private>(at) }))
            }
            .unwrap_or(Maker::Method)
        })
    }
}

/// Returns the address of a function of the running program, or None.
fn symbol(name: &CStr) -> Option<*mut c_void> {
    // SAFETY: the name is a C string. The call only looks it up.
    let at = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
    (!at.is_null()).then_some(at)
}

/// Returns the int whose bytes are these, the lowest first.
#[inline]
pub(super) fn int_of<'py>(py: Python<'py>, bytes: &[u8]) -> PyResult<Bound<'py, PyAny>> {
    const LITTLE_ENDIAN: c_int = 1;
    // SAFETY: the pointer and the length are those of a slice, which the functions only read. Each
    // returns a new reference or sets an exception.
    unsafe {
        let int = match Maker::get(py) {
            Maker::Public(make) => make(bytes.as_ptr().cast(), bytes.len(), LITTLE_ENDIAN),
            Maker::Private(make) => make(bytes.as_ptr(), bytes.len(), LITTLE_ENDIAN, 0),
            Maker::Method => return int_of_object(&PyBytes::new(py, bytes)),
        };
        Bound::from_owned_ptr_or_err(py, int)
    }
}

/// Returns the int whose bytes are these, the lowest first.
pub(super) fn int_of_object<'py>(bytes: &Bound<'py, PyBytes>) -> PyResult<Bound<'py, PyAny>> {
    let py = bytes.py();
    let (method, order) = (intern!(py, "from_bytes"), intern!(py, "little"));
    py.get_type::<PyInt>().call_method1(method, (bytes, order))
}
