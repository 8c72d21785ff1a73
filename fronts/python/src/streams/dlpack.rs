//! DLPack, the protocol of tensors, because PyTorch's have no buffer protocol.
//!
//! The layouts are those of dlpack.h 1.0. An exporter hands out a capsule that deletes the tensor
//! when it is destroyed. So a consumer takes the tensor out by renaming the capsule, whose
//! destructor then does nothing, and calls the deleter itself, once. If it did only one of the two,
//! the tensor would leak or be freed twice.

use super::args::Shape;
use super::array::Array;
use super::dtype::{Dtype, Protocols};
use pyo3::exceptions::{PyBufferError, PyTypeError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict, PyCapsule};
use std::ffi::{CStr, c_void};
use std::ptr::{NonNull, null_mut};

/// DLPack's number of the memory that CPUs address.
pub(crate) const CPU: i32 = 1;
const OLD: &CStr = c"dltensor";
const OLD_USED: &CStr = c"used_dltensor";
const VERSIONED: &CStr = c"dltensor_versioned";
const VERSIONED_USED: &CStr = c"used_dltensor_versioned";
/// The major version whose structures these are.
const MAJOR: u32 = 1;
const READ_ONLY: u64 = 1;
const COPIED: u64 = 2;

#[repr(C)]
#[derive(Clone, Copy)]
struct DlTensor {
    data: *mut c_void,
    device: [i32; 2],
    ndim: i32,
    code: u8,
    bits: u8,
    lanes: u16,
    shape: *mut i64,
    strides: *mut i64,
    byte_offset: u64,
}

/// `DLManagedTensor`, which has no flags.
#[repr(C)]
struct Old {
    tensor: DlTensor,
    context: *mut c_void,
    deleter: Option<unsafe extern "C" fn(*mut Old)>,
}

/// `DLManagedTensorVersioned`, of DLPack 1.0.
#[repr(C)]
struct Versioned {
    version: [u32; 2],
    context: *mut c_void,
    deleter: Option<unsafe extern "C" fn(*mut Versioned)>,
    flags: u64,
    tensor: DlTensor,
}

/// A tensor of another library, held until the value is dropped.
pub(crate) struct Tensor {
    tensor: DlTensor,
    flags: u64,
    owner: Owner,
}

enum Owner {
    Old(NonNull<Old>),
    Versioned(NonNull<Versioned>),
}

impl Tensor {
    pub(crate) fn is_offered(object: &Bound<'_, PyAny>) -> PyResult<bool> {
        object.hasattr(pyo3::intern!(object.py(), "__dlpack__"))
    }

    /// Takes the tensor that `object` exports, from the CPU's memory and without a copy.
    pub(crate) fn open(object: &Bound<'_, PyAny>, name: &str) -> PyResult<Tensor> {
        let py = object.py();
        let (kind, number): (i32, i32) = object.call_method0("__dlpack_device__")?.extract()?;
        if kind != CPU {
            return Err(PyBufferError::new_err(format!(
                "{name} must lie in the CPU's memory, not on device ({kind}, {number})"
            )));
        }
        let version = (MAJOR, 0_u32).into_pyobject(py)?.into_any();
        let copy = false.into_pyobject(py)?.to_owned().into_any();
        let options = [("max_version", version), ("copy", copy)].into_py_dict(py)?;
        // Exporters of DLPack before 1.0 know neither argument.
        let capsule = match object.call_method("__dlpack__", (), Some(&options)) {
            Err(error) if error.is_instance_of::<PyTypeError>(py) => {
                object.call_method0("__dlpack__")?
            }
            capsule => capsule?,
        };
        Tensor::from_capsule(&capsule.cast_into::<PyCapsule>()?, name)
    }

    fn from_capsule(capsule: &Bound<'_, PyCapsule>, name: &str) -> PyResult<Tensor> {
        if let Some(managed) = take::<Versioned>(capsule, VERSIONED, VERSIONED_USED)? {
            // SAFETY: the capsule's name says that it points to a versioned tensor, which is ours
            // since the renaming. Every version has this field in front, so it may be read before
            // we know the version.
            let major = unsafe { (*managed.as_ptr()).version[0] };
            let mut taken = Tensor { tensor: NONE, flags: 0, owner: Owner::Versioned(managed) };
            if major != MAJOR {
                return Err(PyBufferError::new_err(format!(
                    "{name} has DLPack version {major}; version {MAJOR} is known"
                )));
            }
            // SAFETY: the tensor is still ours, and its version is that of this structure, as was
            // checked, so the other fields are there too.
            (taken.tensor, taken.flags) =
                unsafe { ((*managed.as_ptr()).tensor, (*managed.as_ptr()).flags) };
            return Ok(taken);
        }
        match take::<Old>(capsule, OLD, OLD_USED)? {
            Some(managed) => {
                // SAFETY: the capsule's name says that it points to a tensor of this structure,
                // which is ours since the renaming.
                let tensor = unsafe { (*managed.as_ptr()).tensor };
                Ok(Tensor { tensor, flags: 0, owner: Owner::Old(managed) })
            }
            None => Err(PyBufferError::new_err(format!("{name} has no DLPack tensor to give"))),
        }
    }

    pub(crate) fn dtype(&self, name: &str) -> PyResult<Dtype> {
        let DlTensor { code, bits, lanes, .. } = self.tensor;
        let dtype = Dtype::from_dlpack(code, bits).filter(|_| lanes == 1);
        dtype.ok_or_else(|| {
            PyTypeError::new_err(format!(
                "{name} must hold integers, floats or complex numbers, not DLPack's type {code} \
                 of {bits} bits"
            ))
        })
    }

    /// Returns true for a tensor of booleans of a byte each, which are code 6 of DLPack 1.0.
    pub(crate) fn is_bool(&self) -> bool {
        let DlTensor { code, bits, lanes, .. } = self.tensor;
        (code, bits, lanes) == (6, 8, 1)
    }

    pub(crate) fn shape(&self) -> PyResult<Shape> {
        let lengths = self.lengths(self.tensor.shape).iter().map(|&length| length as usize);
        Ok(Shape::new(lengths.collect()))
    }

    fn lengths(&self, at: *const i64) -> &[i64] {
        if at.is_null() || self.tensor.ndim == 0 {
            return &[];
        }
        // SAFETY: `at` is the shape or the strides, not null, and DLPack says that each has `ndim`
        // entries, which live as long as the tensor, and so as `self`.
        unsafe { std::slice::from_raw_parts(at, self.tensor.ndim as usize) }
    }

    /// Returns the first element, if the elements lie in C order.
    pub(crate) fn contiguous(&self, name: &str) -> PyResult<*mut u8> {
        let (lengths, strides) = (self.lengths(self.tensor.shape), self.tensor.strides);
        let mut expected = 1;
        let in_order = lengths.iter().zip(self.lengths(strides)).rev().all(|(&length, &stride)| {
            let fits = length == 1 || stride == expected;
            expected *= length;
            fits
        });
        if !in_order && !lengths.contains(&0) {
            return Err(PyBufferError::new_err(format!("{name} must be C-contiguous")));
        }
        Ok(self.tensor.data.cast::<u8>().wrapping_add(self.tensor.byte_offset as usize))
    }

    /// Returns the first element, if the elements may be written to as well.
    pub(crate) fn writable(&self, name: &str) -> PyResult<*mut u8> {
        if self.flags & (READ_ONLY | COPIED) != 0 {
            return Err(PyBufferError::new_err(format!("{name} must be writable")));
        }
        self.contiguous(name)
    }
}

const NONE: DlTensor = DlTensor {
    data: null_mut(),
    device: [CPU, 0],
    ndim: 0,
    code: 0,
    bits: 0,
    lanes: 0,
    shape: null_mut(),
    strides: null_mut(),
    byte_offset: 0,
};

/// Takes the pointer out of a capsule of this name. The new name keeps the capsule from deleting
/// the tensor.
fn take<T>(
    capsule: &Bound<'_, PyCapsule>,
    name: &'static CStr,
    used: &'static CStr,
) -> PyResult<Option<NonNull<T>>> {
    // SAFETY: the type says that `capsule` is one. CPython keeps the pointer of a name, and both
    // names are static.
    unsafe {
        if ffi::PyCapsule_IsValid(capsule.as_ptr(), name.as_ptr()) == 0 {
            return Ok(None);
        }
        let pointer = ffi::PyCapsule_GetPointer(capsule.as_ptr(), name.as_ptr());
        match ffi::PyCapsule_SetName(capsule.as_ptr(), used.as_ptr()) {
            0 => Ok(NonNull::new(pointer.cast())),
            _ => Err(PyErr::fetch(capsule.py())),
        }
    }
}

impl Drop for Tensor {
    fn drop(&mut self) {
        // SAFETY: the tensor was taken out of its capsule, so we own it, and a drop runs once. The
        // deleter may need Python, to which this thread is attached during a call.
        unsafe {
            match self.owner {
                Owner::Old(managed) => delete_old(managed.as_ptr()),
                Owner::Versioned(managed) => delete_versioned(managed.as_ptr()),
            }
        }
    }
}

/// Calls the deleter, if there is one.
///
/// # Safety
///
/// `managed` is a tensor that the caller owns and does not use afterwards.
unsafe fn delete_old(managed: *mut Old) {
    // SAFETY: the tensor is alive and owned, as `# Safety` asks, so its deleter may be called,
    // once.
    unsafe {
        if let Some(deleter) = (*managed).deleter {
            deleter(managed);
        }
    }
}

/// Calls the deleter, if there is one.
///
/// # Safety
///
/// `managed` is a tensor that the caller owns and does not use afterwards.
unsafe fn delete_versioned(managed: *mut Versioned) {
    // SAFETY: the tensor is alive and owned, as `# Safety` asks, so its deleter may be called,
    // once.
    unsafe {
        if let Some(deleter) = (*managed).deleter {
            deleter(managed);
        }
    }
}

/// The array that an exported tensor keeps alive, with the lengths to which the tensor points.
struct Context {
    _array: Py<Array>,
    lengths: Vec<i64>,
    strides: Vec<i64>,
}

/// Exports an array: as DLPack 1.0 does, or in the older form without flags.
pub(crate) fn export<'py>(
    array: &Bound<'py, Array>,
    versioned: bool,
) -> PyResult<Bound<'py, PyCapsule>> {
    let (py, inner) = (array.py(), array.get());
    let lengths: Vec<i64> =
        inner.shape().dimensions().iter().map(|&length| length as i64).collect();
    let mut strides = vec![1; lengths.len()];
    for i in (1..lengths.len()).rev() {
        strides[i - 1] = strides[i] * lengths[i].max(1);
    }
    let context = Box::new(Context { _array: array.clone().unbind(), lengths, strides });
    let (code, bits) = inner.dtype().dlpack();
    let tensor = DlTensor {
        data: inner.start().cast(),
        device: [CPU, 0],
        ndim: context.lengths.len() as i32,
        code,
        bits,
        lanes: 1,
        shape: context.lengths.as_ptr().cast_mut(),
        strides: context.strides.as_ptr().cast_mut(),
        byte_offset: 0,
    };
    let context = Box::into_raw(context).cast();
    // SAFETY: the pointers come from boxes and are not null. The tensor points to its lengths,
    // which the context owns, so they live as long. The destructors call a deleter only if no
    // consumer has renamed the capsule, so the boxes are freed once.
    unsafe {
        let (pointer, name, destroy): (*mut c_void, _, ffi::PyCapsule_Destructor) = if versioned {
            let (version, deleter) = ([MAJOR, 0], Some(free_versioned as _));
            let managed = Versioned { version, context, deleter, flags: 0, tensor };
            (Box::into_raw(Box::new(managed)).cast(), VERSIONED, destroy_versioned)
        } else {
            let managed = Old { tensor, context, deleter: Some(free_old) };
            (Box::into_raw(Box::new(managed)).cast(), OLD, destroy_old)
        };
        let pointer = NonNull::new_unchecked(pointer);
        PyCapsule::new_with_pointer_and_destructor(py, pointer, name, Some(destroy))
    }
}

/// Frees an exported tensor. A consumer may call this from a thread without Python.
unsafe extern "C" fn free_old(managed: *mut Old) {
    // SAFETY: `export` made both boxes, and a tensor is deleted once: by the consumer that renamed
    // its capsule, or else by the capsule.
    unsafe { free_context(Box::from_raw(managed).context) }
}

/// Frees an exported tensor, as [`free_old`] does.
unsafe extern "C" fn free_versioned(managed: *mut Versioned) {
    // SAFETY: `export` made both boxes, and a tensor is deleted once, as in `free_old`.
    unsafe { free_context(Box::from_raw(managed).context) }
}

/// Frees the array of an exported tensor. Attaches to Python, because the thread may not be.
///
/// # Safety
///
/// `context` is that of a tensor of [`export`], and is not used afterwards.
unsafe fn free_context(context: *mut c_void) {
    // SAFETY: the pointer is that of `export`'s box, which nothing else frees.
    let context = unsafe { Box::from_raw(context.cast::<Context>()) };
    Python::attach(|_| drop(context));
}

unsafe extern "C" fn destroy_old(capsule: *mut ffi::PyObject) {
    // SAFETY: Python passes the capsule that it destroys. It has its old name only if no consumer
    // has taken the tensor, so the tensor is there and ours to free.
    unsafe {
        if ffi::PyCapsule_IsValid(capsule, OLD.as_ptr()) == 1 {
            free_old(ffi::PyCapsule_GetPointer(capsule, OLD.as_ptr()).cast());
        }
    }
}

unsafe extern "C" fn destroy_versioned(capsule: *mut ffi::PyObject) {
    // SAFETY: Python passes the capsule that it destroys, and as in `destroy_old` the name says
    // that no consumer has taken the tensor.
    unsafe {
        if ffi::PyCapsule_IsValid(capsule, VERSIONED.as_ptr()) == 1 {
            free_versioned(ffi::PyCapsule_GetPointer(capsule, VERSIONED.as_ptr()).cast());
        }
    }
}
