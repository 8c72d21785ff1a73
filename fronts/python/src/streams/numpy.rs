//! New arrays of NumPy's, by its C interface.
//!
//! A loop of small draws spends most of its time on arrays: `numpy.empty` reads its arguments, and
//! the buffer protocol then writes a description of the array, both of which take longer than ten
//! numbers. The C interface makes the array in one call, and its memory is a field of it. Every
//! extension of NumPy's uses the same table and the same field, so they are as stable as NumPy is.

use super::args::Shape;
use super::dtype::Dtype;
use super::memory::Memory;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyCapsule;
use std::ffi::{c_int, c_uint, c_void};
use std::ptr;

/// Dimensions of arrays that are made here. NumPy itself makes those of more.
const DIMENSIONS: usize = 8;

/// `PyArray_New`.
type New = unsafe extern "C" fn(
    *mut ffi::PyTypeObject,
    c_int,
    *const isize,
    c_int,
    *const isize,
    *mut c_void,
    c_int,
    c_int,
    *mut ffi::PyObject,
) -> *mut ffi::PyObject;

/// The parts of NumPy's C interface that a new array needs.
#[derive(Clone, Copy)]
struct Interface {
    class: *mut ffi::PyTypeObject,
    new: New,
}

// SAFETY: the addresses of a class and of a function, which NumPy never takes back: its module
// stays loaded as long as the process.
unsafe impl Send for Interface {}
// SAFETY: as above, and nothing is written through them here.
unsafe impl Sync for Interface {}

/// Returns an array of this shape, with any values, and its memory. Returns `None` for a shape or a
/// type that NumPy's own functions have to make.
pub(crate) fn array<'py>(
    py: Python<'py>,
    shape: &Shape,
    dtype: Dtype,
) -> PyResult<Option<(Bound<'py, PyAny>, Memory)>> {
    let dimensions = shape.dimensions();
    let Some(code) = code(dtype).filter(|_| dimensions.len() <= DIMENSIONS) else {
        return Ok(None);
    };
    let Some(Interface { class, new }) = interface(py) else { return Ok(None) };
    let len = shape.len(dtype.size())?;
    let mut lengths = [0; DIMENSIONS];
    for (length, &given) in lengths.iter_mut().zip(dimensions) {
        // As `shape.len` has shown, unless another length is 0.
        let Ok(given) = isize::try_from(given) else { return Ok(None) };
        *length = given;
    }
    // SAFETY: the function is NumPy's own for new arrays, of the type that its header has. The
    // thread is attached to Python; the lengths are as many as `many` says; without strides, data
    // and a template NumPy makes an array in C order, in memory of its own. The result is a new
    // reference, or null with an exception.
    let array = unsafe {
        let (none, data) = (ptr::null(), ptr::null_mut());
        let many = dimensions.len() as c_int;
        let array = new(class, many, lengths.as_ptr(), code, none, data, 0, 0, ptr::null_mut());
        Bound::from_owned_ptr_or_err(py, array)?
    };
    // SAFETY: the object is an array of NumPy's, whose first field after the head of every object
    // is the address of its data (`PyArrayObject_fields`, which `PyArray_DATA` reads in the same
    // way).
    let start = unsafe { *array.as_ptr().cast::<u8>().add(size_of::<ffi::PyObject>()).cast() };
    let start: *mut u8 = start;
    // A program may set an allocator of its own.
    if start.is_null() || !start.addr().is_multiple_of(dtype.align()) {
        return Ok(None);
    }
    // SAFETY: NumPy made `len` elements of this type there, and the address was found aligned. The
    // array owns them, no other code has seen it yet, and the caller keeps it beside the memory.
    let memory = unsafe { Memory::new(start, len, dtype) };
    Ok(Some((array, memory)))
}

/// Returns NumPy's number of a type.
fn code(dtype: Dtype) -> Option<c_int> {
    Some(match dtype {
        Dtype::I8 => 1,
        Dtype::U8 => 2,
        Dtype::I16 => 3,
        Dtype::U16 => 4,
        Dtype::I32 => 5,
        Dtype::U32 => 6,
        // `long`, which has 64 bits on each system that this package runs on.
        Dtype::I64 => 7,
        Dtype::U64 => 8,
        Dtype::F32 => 11,
        Dtype::F64 => 12,
        Dtype::C64 => 14,
        Dtype::C128 => 15,
        Dtype::F16 => 23,
        Dtype::Bf16 => return None,
    })
}

/// Returns the interface, or `None` where NumPy's is another one than this file was written for.
fn interface(py: Python<'_>) -> Option<Interface> {
    static INTERFACE: PyOnceLock<Option<Interface>> = PyOnceLock::new();
    *INTERFACE.get_or_init(py, || find(py).ok().flatten())
}

fn find(py: Python<'_>) -> PyResult<Option<Interface>> {
    /// Places in the table, as NumPy's `__multiarray_api.h` has them.
    const VERSION: usize = 0;
    const CLASS: usize = 2;
    const NEW: usize = 93;
    let module = py
        .import("numpy._core._multiarray_umath")
        .or_else(|_| py.import("numpy.core._multiarray_umath"))?;
    let capsule = module.getattr("_ARRAY_API")?.cast_into::<PyCapsule>()?;
    // SAFETY: the capsule is a Python object that is alive. It has no name, which the call checks.
    let table = unsafe { ffi::PyCapsule_GetPointer(capsule.as_ptr(), ptr::null()) };
    if table.is_null() {
        return Err(PyErr::fetch(py));
    }
    let table = table.cast::<*mut c_void>().cast_const();
    // SAFETY: the capsule holds the table of NumPy's C interface, a static array of addresses with
    // more than 200 places, of which place 0 has been this function in every version.
    let version = unsafe {
        let version = *table.add(VERSION);
        std::mem::transmute::<*mut c_void, extern "C" fn() -> c_uint>(version)()
    };
    // Major versions of the interface that have `PyArray_New` and the fields of an array as here.
    if !matches!(version >> 24, 1 | 2) {
        return Ok(None);
    }
    // SAFETY: the places are those of this major version's header, and the types are the header's.
    Ok(Some(unsafe {
        let new = std::mem::transmute::<*mut c_void, New>(*table.add(NEW));
        Interface { class: (*table.add(CLASS)).cast(), new }
    }))
}
