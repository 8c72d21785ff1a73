//! The array that calls return where NumPy is not installed: memory with the buffer protocol.
//!
//! It is no replacement of NumPy. A program that computes with the numbers shares the memory with a
//! library that can, so the array has only what a sequence of Python has, and no arithmetic.

use super::args::Shape;
use super::choice::nested;
use super::dlpack;
use super::dtype::{Dtype, Protocols, dtype};
use super::memory::Memory;
use super::output::number;
use pyo3::basic::CompareOp;
use pyo3::exceptions::{PyBufferError, PyTypeError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule, PyMemoryView, PyTuple, PyType};
use std::ffi::c_int;
use std::ptr::null_mut;

/// Arrays begin with a cache line, because a vector store across two lines takes twice the time.
const ALIGNMENT: usize = 64;
/// Elements that a repr shows.
const SHOWN: usize = 6;

/// An array of numbers in C order. `memoryview`, NumPy (`numpy.asarray`), PyTorch
/// (`torch.from_dlpack`) and other libraries share its memory without a copy.
///
/// Streams return arrays of this type where NumPy is not installed, and take them as `out`.
#[pyclass(frozen, sequence, module = "headwater")]
pub(crate) struct Array {
    /// Zeros at first. Owns the memory, which never moves.
    memory: Box<[std::cell::UnsafeCell<u8>]>,
    /// Bytes before the first element.
    offset: usize,
    dtype: Dtype,
    shape: Shape,
    len: usize,
    lengths: Box<[ffi::Py_ssize_t]>,
    strides: Box<[ffi::Py_ssize_t]>,
}

// SAFETY: the fields do not change, but for the numbers, which are in cells. Threads share those as
// they share every buffer of Python, and Rust makes a reference to them only inside a call that was
// asked to read or write them.
unsafe impl Sync for Array {}

impl Array {
    /// Returns an array of zeros.
    pub(crate) fn zeros(shape: Shape, dtype: Dtype) -> PyResult<Array> {
        let len = shape.len(dtype.size())?;
        let bytes = len * dtype.size();
        let memory = zeroed(bytes + ALIGNMENT)?;
        let offset = memory.as_ptr().cast::<u8>().align_offset(ALIGNMENT);
        let lengths: Box<[_]> =
            shape.dimensions().iter().map(|&length| length as ffi::Py_ssize_t).collect();
        let mut strides = vec![dtype.size() as ffi::Py_ssize_t; lengths.len()];
        for i in (1..lengths.len()).rev() {
            strides[i - 1] = strides[i] * lengths[i].max(1);
        }
        Ok(Array { memory, offset, dtype, shape, len, lengths, strides: strides.into() })
    }

    pub(crate) fn start(&self) -> *mut u8 {
        self.memory[self.offset].get()
    }

    pub(crate) fn dtype(&self) -> Dtype {
        self.dtype
    }

    pub(crate) fn shape(&self) -> &Shape {
        &self.shape
    }

    pub(crate) fn memory(&self) -> Memory {
        // SAFETY: the cells hold `len` elements from `start` on, which is a cache line and so
        // aligned for any type. They live as long as the array, which the maker of the value keeps.
        unsafe { Memory::new(self.start(), self.len, self.dtype) }
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        // SAFETY: the array has so many bytes at `start`, zeros at first and so initialised, and
        // the reference ends with the copy.
        let bytes = unsafe { std::slice::from_raw_parts(self.start(), self.memory().bytes()) };
        PyBytes::new(py, bytes)
    }

    /// Returns the first elements as Python's numbers.
    fn items<'py>(&self, py: Python<'py>, many: usize) -> PyResult<Vec<Bound<'py, PyAny>>> {
        (0..many).map(|place| number(py, self.memory(), place)).collect()
    }

    fn copied(&self) -> PyResult<Array> {
        let copy = Array::zeros(self.shape.clone(), self.dtype)?;
        // SAFETY: both arrays have so many bytes, and they do not overlap, because the copy is new.
        unsafe { copy.start().copy_from_nonoverlapping(self.start(), self.memory().bytes()) };
        Ok(copy)
    }
}

/// Returns zeros. Long ones are pages that the kernel has cleared, and are not written here.
fn zeroed(bytes: usize) -> PyResult<Box<[std::cell::UnsafeCell<u8>]>> {
    let too_large = || {
        pyo3::exceptions::PyMemoryError::new_err(format!(
            "cannot allocate an array of {bytes} bytes"
        ))
    };
    let layout = std::alloc::Layout::array::<u8>(bytes).map_err(|_| too_large())?;
    // SAFETY: the layout is not empty, since it includes room to align the first element.
    let start = unsafe { std::alloc::alloc_zeroed(layout) };
    if start.is_null() {
        return Err(too_large());
    }
    let slice = std::ptr::slice_from_raw_parts_mut(start.cast(), bytes);
    // SAFETY: the memory was allocated with the layout of this slice, and zeros are bytes.
    Ok(unsafe { Box::from_raw(slice) })
}

#[pymethods]
impl Array {
    #[new]
    #[pyo3(signature = (shape, dtype=None), text_signature = "(shape, dtype='float64')")]
    fn new(shape: Shape, dtype: Option<&Bound<'_, PyAny>>) -> PyResult<Array> {
        Array::zeros(shape, dtype.map_or(Ok(Dtype::F64), self::dtype)?)
    }

    /// Returns the array made of these bytes; `pickle` calls it.
    #[classmethod]
    #[pyo3(signature = (data, shape, dtype, /))]
    fn _from_bytes(
        _class: &Bound<'_, PyType>,
        data: &[u8],
        shape: Shape,
        dtype: &Bound<'_, PyAny>,
    ) -> PyResult<Array> {
        let array = Array::zeros(shape, self::dtype(dtype)?)?;
        if array.memory().bytes() != data.len() {
            return Err(PyValueError::new_err(format!(
                "data must have {} bytes, not {}",
                array.memory().bytes(),
                data.len()
            )));
        }
        // SAFETY: both have so many bytes, and the array is new.
        unsafe { array.start().copy_from_nonoverlapping(data.as_ptr(), data.len()) };
        Ok(array)
    }

    /// Returns the lengths of the dimensions.
    #[getter(shape)]
    fn shape_of<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        self.shape.to_tuple(py)
    }

    /// Returns the name of the elements' type.
    #[getter(dtype)]
    fn dtype_of(&self) -> &'static str {
        self.dtype.name()
    }

    /// Returns the number of dimensions.
    #[getter]
    fn ndim(&self) -> usize {
        self.lengths.len()
    }

    /// Returns the number of elements.
    #[getter]
    fn size(&self) -> usize {
        self.len
    }

    /// Returns the number of bytes of an element.
    #[getter]
    fn itemsize(&self) -> usize {
        self.dtype.size()
    }

    /// Returns the number of bytes of all elements.
    #[getter]
    fn nbytes(&self) -> usize {
        self.memory().bytes()
    }

    /// Returns the elements as a list, or as nested lists if there are several dimensions.
    fn tolist<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let array = slf.get();
        if array.dtype.is_readable() {
            return PyMemoryView::from(slf)?.call_method0("tolist");
        }
        let items: PyResult<Vec<_>> = array.items(slf.py(), array.len);
        nested(slf.py(), array.shape.dimensions(), &mut items?.into_iter().map(Ok))
    }

    /// Returns the elements' bytes.
    fn tobytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        self.to_bytes(py)
    }

    fn __len__(&self) -> PyResult<usize> {
        let first = self.shape.dimensions().first().copied();
        first.ok_or_else(|| PyTypeError::new_err("an array without dimensions has no length"))
    }

    /// Returns an element, or a memoryview for a slice, as memoryviews do. A slice of a type that
    /// memoryviews do not read (float16, bfloat16, complex numbers) is a list.
    fn __getitem__<'py>(
        slf: &Bound<'py, Self>,
        key: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        if !slf.get().dtype.is_readable() {
            return Array::tolist(slf)?.get_item(key);
        }
        PyMemoryView::from(slf)?.get_item(key)
    }

    fn __setitem__(
        slf: &Bound<'_, Self>,
        key: &Bound<'_, PyAny>,
        value: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        PyMemoryView::from(slf)?.set_item(key, value)
    }

    fn __iter__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        Ok(Array::tolist(slf)?.try_iter()?.into_any())
    }

    fn __richcmp__(
        slf: &Bound<'_, Self>,
        other: &Bound<'_, PyAny>,
        op: CompareOp,
    ) -> PyResult<Py<PyAny>> {
        let py = slf.py();
        let Ok(other) = other.cast::<Array>() else { return Ok(py.NotImplemented()) };
        let (a, b) = (slf.get(), other.get());
        // By value, so that 0.0 and -0.0 are equal.
        let equal = || -> PyResult<bool> {
            Ok(a.dtype == b.dtype
                && a.shape == b.shape
                && match a.dtype.is_readable() {
                    true => PyMemoryView::from(slf)?.eq(PyMemoryView::from(other)?)?,
                    false => Array::tolist(slf)?.eq(Array::tolist(other)?)?,
                })
        };
        match op {
            CompareOp::Eq => Ok(equal()?.into_pyobject(py)?.to_owned().into_any().unbind()),
            CompareOp::Ne => Ok((!equal()?).into_pyobject(py)?.to_owned().into_any().unbind()),
            _ => Ok(py.NotImplemented()),
        }
    }

    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        let (array, py) = (slf.get(), slf.py());
        let values: Vec<String> = (array.items(py, array.len.min(SHOWN))?.iter())
            .map(|value| Ok(value.repr()?.to_string()))
            .collect::<PyResult<_>>()?;
        let more = if array.len > SHOWN { ", ..." } else { "" };
        let written = format!("[{}{more}]", values.join(", "));
        Ok(format!(
            "<headwater.Array {written}, shape={}, dtype='{}'>",
            array.shape,
            array.dtype.name()
        ))
    }

    fn __copy__(&self) -> PyResult<Array> {
        self.copied()
    }

    fn __deepcopy__(&self, _memo: &Bound<'_, PyAny>) -> PyResult<Array> {
        self.copied()
    }

    fn __reduce__<'py>(
        slf: &Bound<'py, Self>,
    ) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let (py, array) = (slf.py(), slf.get());
        let make = slf.get_type().getattr("_from_bytes")?;
        let state = (array.to_bytes(py), array.shape.to_tuple(py)?, array.dtype.name());
        Ok((make, state.into_pyobject(py)?))
    }

    /// Returns DLPack's device: the CPU.
    fn __dlpack_device__(&self) -> (i32, i32) {
        (dlpack::CPU, 0)
    }

    /// Returns the array as a DLPack capsule, of version 1 if the consumer knows that version.
    #[pyo3(signature = (*, stream=None, max_version=None, dl_device=None, copy=None))]
    fn __dlpack__<'py>(
        slf: &Bound<'py, Self>,
        stream: Option<&Bound<'py, PyAny>>,
        max_version: Option<(u32, u32)>,
        dl_device: Option<(i32, i32)>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        if stream.is_some() {
            return Err(PyBufferError::new_err("stream must be None: the array is the CPU's"));
        }
        if let Some(device) = dl_device.filter(|&device| device != (dlpack::CPU, 0)) {
            return Err(PyBufferError::new_err(format!(
                "dl_device must be (1, 0), the CPU, not {device:?}"
            )));
        }
        let versioned = max_version.is_some_and(|(major, _)| major >= 1);
        if copy == Some(true) {
            dlpack::export(&Bound::new(slf.py(), slf.get().copied()?)?, versioned)
        } else {
            dlpack::export(slf, versioned)
        }
    }

    /// Exports the memory. `memoryview` and NumPy call it.
    ///
    /// # Safety
    ///
    /// `view` is null or a buffer that Python passed.
    unsafe fn __getbuffer__(
        slf: Bound<'_, Self>,
        view: *mut ffi::Py_buffer,
        flags: c_int,
    ) -> PyResult<()> {
        if view.is_null() {
            return Err(PyBufferError::new_err("the view is null"));
        }
        let array = slf.get();
        let wants = |flag: c_int| flags & flag == flag;
        // `Fortran order alone` fits an array of one dimension only.
        if wants(ffi::PyBUF_F_CONTIGUOUS) && !wants(ffi::PyBUF_C_CONTIGUOUS) && array.ndim() > 1 {
            return Err(PyBufferError::new_err(
                "the array is C-contiguous, not Fortran-contiguous",
            ));
        }
        // SAFETY: Python passes a buffer to fill. All pointers lead into `array`, which the
        // reference in `obj` keeps alive, and which is never resized.
        unsafe {
            (*view).buf = array.start().cast();
            (*view).len = array.memory().bytes() as ffi::Py_ssize_t;
            (*view).readonly = 0;
            (*view).itemsize = array.dtype.size() as ffi::Py_ssize_t;
            (*view).format = match wants(ffi::PyBUF_FORMAT) {
                true => array.dtype.format().as_ptr().cast_mut(),
                false => null_mut(),
            };
            (*view).ndim = array.ndim() as c_int;
            (*view).shape = match wants(ffi::PyBUF_ND) {
                true => array.lengths.as_ptr().cast_mut(),
                false => null_mut(),
            };
            (*view).strides = match wants(ffi::PyBUF_STRIDES) {
                true => array.strides.as_ptr().cast_mut(),
                false => null_mut(),
            };
            (*view).suboffsets = null_mut();
            (*view).internal = null_mut();
            (*view).obj = slf.into_ptr();
        }
        Ok(())
    }
}
