//! Results as Python objects, which a library that knows Arrow's capsules takes without a copy.

use super::input::{Input, Released, none};
use super::plan::raised;
use crate::streams::{Memory, Place, Shape, Wanted};
use headwater_arrow::{
    ArrowArray as RawArray, ArrowArrayStream, ArrowSchema, Column, Error, Output, schema,
};
use headwater_streams::kinds::Dtype;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyTuple};
use std::ffi::{CStr, c_char, c_int};
use std::ptr::NonNull;

/// Pieces of a column, and its name.
pub(super) struct Chunk {
    pub(super) name: String,
    pub(super) outputs: Vec<Output>,
}

/// A column in one piece. Arrow libraries take it by `__arrow_c_array__`, without a copy:
/// `pyarrow.array(column)`, `polars.Series(column)`. `to_numpy()` copies it.
#[pyclass(frozen, module = "headwater.arrow", name = "Array")]
pub(crate) struct ArrowArray(pub(super) Chunk);

/// A column in chunks, as many as the ids had. Arrow libraries take it by `__arrow_c_stream__`:
/// `pyarrow.chunked_array(column)`, `polars.Series(column)`.
#[pyclass(frozen, module = "headwater.arrow", name = "ChunkedArray")]
pub(crate) struct ArrowChunkedArray {
    chunk: Chunk,
    format: (&'static CStr, Option<usize>),
}

impl ArrowChunkedArray {
    pub(super) fn of(
        chunk: Chunk,
        inputs: &[Input],
        make: impl Fn(&[Column<'_>]) -> Result<Output, Error>,
    ) -> PyResult<ArrowChunkedArray> {
        let format = match chunk.outputs.first() {
            Some(output) => output.format(),
            None => none(inputs, make)?.format(),
        };
        Ok(ArrowChunkedArray { chunk, format })
    }
}

/// Puts a struct into a capsule, which releases it unless it is taken out.
fn capsule<T: Released>(py: Python<'_>, value: T) -> PyResult<Bound<'_, PyCapsule>> {
    unsafe extern "C" fn destroy<T: Released>(capsule: *mut ffi::PyObject) {
        // SAFETY: Python calls this once, with the capsule that `capsule` made, whose name did not
        // change; the pointer is that of its box.
        unsafe {
            let at = ffi::PyCapsule_GetPointer(capsule, T::CAPSULE.as_ptr()).cast::<T>();
            if let Some(at) = NonNull::new(at) {
                Box::from_raw(at.as_ptr()).release();
            }
        }
    }
    let at = NonNull::from(Box::leak(Box::new(value))).cast();
    // SAFETY: the pointer is that of a box of a `T`, which the destructor frees once.
    unsafe { PyCapsule::new_with_pointer_and_destructor(py, at, T::CAPSULE, Some(destroy::<T>)) }
}

/// Refuses a type that a consumer asks for, unless it is the column's: the interface allows the
/// column's own type as an answer, so nothing is cast.
type Requested<'a, 'py> = Option<&'a Bound<'py, PyAny>>;

#[pymethods]
impl ArrowArray {
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Requested<'_, 'py>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        let _ = requested_schema;
        let output = self.output()?;
        let schema = output.schema(&self.0.name).map_err(|error| raised(&error))?;
        let schema = capsule(py, schema)?;
        let array = capsule(py, output.array().map_err(|error| raised(&error))?)?;
        PyTuple::new(py, [schema, array])
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        capsule(py, self.output()?.schema(&self.0.name).map_err(|error| raised(&error))?)
    }

    fn __len__(&self) -> usize {
        self.0.len()
    }

    /// Returns the number of rows that are null.
    #[getter]
    fn null_count(&self) -> usize {
        self.0.null_count()
    }

    /// Returns a NumPy array of the values, and one of booleans that says which are null, or `None`
    /// if no row is. Values of null rows are 0.
    fn to_numpy<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyAny>, Option<Bound<'py, PyAny>>)> {
        self.0.to_numpy(py, self.output()?.format())
    }

    fn __repr__(&self) -> String {
        self.0.repr("Array")
    }
}

impl ArrowArray {
    fn output(&self) -> PyResult<&Output> {
        self.0.outputs.first().ok_or_else(|| PyValueError::new_err("the column is empty"))
    }
}

#[pymethods]
impl ArrowChunkedArray {
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Requested<'_, 'py>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        let chunks = Chunks {
            name: self.chunk.name.clone(),
            format: self.format,
            outputs: self.chunk.outputs.clone().into_iter(),
        };
        capsule(
            py,
            ArrowArrayStream {
                get_schema: Some(get_schema),
                get_next: Some(get_next),
                get_last_error: Some(get_last_error),
                release: Some(release_stream),
                private_data: Box::into_raw(Box::new(chunks)).cast(),
            },
        )
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let (format, list) = self.format;
        capsule(py, schema(format, list, &self.chunk.name).map_err(|error| raised(&error))?)
    }

    fn __len__(&self) -> usize {
        self.chunk.len()
    }

    /// Returns the number of chunks.
    #[getter]
    fn num_chunks(&self) -> usize {
        self.chunk.outputs.len()
    }

    /// Returns the number of rows that are null.
    #[getter]
    fn null_count(&self) -> usize {
        self.chunk.null_count()
    }

    /// Returns a NumPy array of the values, and one of booleans that says which are null, or `None`
    /// if no row is. Values of null rows are 0.
    fn to_numpy<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyAny>, Option<Bound<'py, PyAny>>)> {
        self.chunk.to_numpy(py, self.format)
    }

    fn __repr__(&self) -> String {
        self.chunk.repr("ChunkedArray")
    }
}

impl Chunk {
    fn len(&self) -> usize {
        self.outputs.iter().map(Output::len).sum()
    }

    fn null_count(&self) -> usize {
        self.outputs.iter().map(Output::null_count).sum()
    }

    fn repr(&self, class: &str) -> String {
        let (rows, nulls) = (self.len(), self.null_count());
        format!("<headwater.arrow.{class} {:?}, {rows} rows, {nulls} null>", self.name)
    }

    fn to_numpy<'py>(
        &self,
        py: Python<'py>,
        (format, list): (&'static CStr, Option<usize>),
    ) -> PyResult<(Bound<'py, PyAny>, Option<Bound<'py, PyAny>>)> {
        let is_bits = format == c"b";
        let dtype = match format.to_bytes() {
            b"b" => Some(Dtype::U8),
            _ => Dtype::ALL.into_iter().find(|dtype| {
                headwater_arrow::format_of(*dtype).is_ok_and(|of| of == (format, None))
            }),
        };
        let dtype = dtype.ok_or_else(|| PyTypeError::new_err("NumPy has no such type"))?;
        let mut shape = vec![self.len()];
        shape.extend(list);
        let values = self.filled(py, Shape::new(shape), dtype, |output, out| {
            let (_, values) = output.buffers();
            if is_bits {
                for (row, out) in out.iter_mut().enumerate() {
                    *out = u8::from(bit(values, row));
                }
                return;
            }
            // SAFETY: the column's rows are of `width` bytes, because it is not of bits, and `out`
            // is the part for exactly its rows. So its buffer has as many bytes as `out`.
            out.copy_from_slice(unsafe { std::slice::from_raw_parts(values.as_ptr(), out.len()) });
        })?;
        let boolean = |array: Bound<'py, PyAny>| array.call_method1("view", ("bool",));
        let values = if is_bits { boolean(values)? } else { values };
        if self.null_count() == 0 {
            return Ok((values, None));
        }
        let mask = self.filled(py, Shape::new(vec![self.len()]), Dtype::U8, |output, out| {
            let (valid, _) = output.buffers();
            for (row, out) in out.iter_mut().enumerate() {
                *out = u8::from(valid.is_some_and(|valid| !bit(valid, row)));
            }
        })?;
        Ok((values, Some(boolean(mask)?)))
    }

    /// Returns a NumPy array, of which `fill` writes each output's part.
    fn filled<'py>(
        &self,
        py: Python<'py>,
        shape: Shape,
        dtype: Dtype,
        fill: impl Fn(&Output, &mut [u8]) + Send + Sync,
    ) -> PyResult<Bound<'py, PyAny>> {
        let width = shape.dimensions().get(1).copied().unwrap_or(1) * dtype.size();
        let place = Place::find(
            Wanted { shape: Some(shape), dtype: None, out: None },
            [dtype].into_iter(),
        )?;
        let outputs = &self.outputs;
        place.write(py, |memory: Memory| {
            // SAFETY: the elements are bytes, which take any bits, and the array is new, so no
            // other reference to them is in use.
            let mut out = unsafe { memory.as_bytes().elements::<u8>() };
            for output in outputs {
                let (here, rest) = std::mem::take(&mut out).split_at_mut(output.len() * width);
                fill(output, here);
                out = rest;
            }
            Ok(())
        })
    }
}

/// Returns a bit of a buffer with a bit for each row of an output.
fn bit(bits: NonNull<u8>, row: usize) -> bool {
    // SAFETY: all callers pass a row of the output that has the buffer.
    unsafe { *bits.as_ptr().add(row / 8) >> (row % 8) & 1 == 1 }
}

/// The private data of a stream.
struct Chunks {
    name: String,
    format: (&'static CStr, Option<usize>),
    outputs: std::vec::IntoIter<Output>,
}

/// An errno that says that there is no memory.
const ENOMEM: c_int = 12;

unsafe extern "C" fn get_schema(stream: *mut ArrowArrayStream, out: *mut ArrowSchema) -> c_int {
    // SAFETY: the interface passes the stream of this function, which was not released, so its
    // data are `Chunks`; `out` is a place for a struct. One thread calls at a time.
    let chunks = unsafe { &*(*stream).private_data.cast::<Chunks>() };
    match schema(chunks.format.0, chunks.format.1, &chunks.name) {
        Ok(schema) => {
            // SAFETY: as above. The old content is not dropped, because it may be unwritten.
            unsafe { out.write(schema) };
            0
        }
        Err(_) => ENOMEM,
    }
}

unsafe extern "C" fn get_next(stream: *mut ArrowArrayStream, out: *mut RawArray) -> c_int {
    // SAFETY: as in `get_schema`.
    let chunks = unsafe { &mut *(*stream).private_data.cast::<Chunks>() };
    let array = match chunks.outputs.next() {
        Some(output) => output.array(),
        None => Ok(RawArray::empty()),
    };
    match array {
        Ok(array) => {
            // SAFETY: as in `get_schema`.
            unsafe { out.write(array) };
            0
        }
        Err(_) => ENOMEM,
    }
}

unsafe extern "C" fn get_last_error(_: *mut ArrowArrayStream) -> *const c_char {
    c"no memory for the column".as_ptr()
}

unsafe extern "C" fn release_stream(stream: *mut ArrowArrayStream) {
    // SAFETY: the interface passes the stream of this function, once; its data are a box of
    // `Chunks`.
    unsafe {
        drop(Box::from_raw((*stream).private_data.cast::<Chunks>()));
        (*stream).release = None;
    }
}
