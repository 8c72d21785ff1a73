//! Columns of other libraries: by the capsules of the Arrow C data interface, or as a buffer of
//! integers, which NumPy's arrays are.

use super::column::{ArrowArray as Array, ArrowChunkedArray, Chunk};
use super::plan::raised;
use crate::streams::{View, hides_a_mask};
use headwater_arrow::{ArrowArray, ArrowArrayStream, ArrowSchema, Column, Error, Ids, Output};
use headwater_streams::kinds::Dtype;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyTuple};
use std::ffi::CStr;

/// A column that a call borrows or owns.
pub(super) enum Input {
    Arrow {
        schema: Owned<ArrowSchema>,
        chunks: Vec<Owned<ArrowArray>>,
        is_chunked: bool,
    },
    /// The ids whose bit is 0 are null; without bits, none is.
    Buffer {
        view: View,
        format: &'static CStr,
        len: usize,
        valid: Option<Vec<u8>>,
    },
}

/// A struct of the interface that was moved here, and is released when dropped.
pub(super) struct Owned<T: Released>(T);

// SAFETY: the interface lets a struct be read and released by any thread.
unsafe impl<T: Released> Send for Owned<T> {}
// SAFETY: as above; a shared reference only reads.
unsafe impl<T: Released> Sync for Owned<T> {}

/// A struct with a release function.
pub(super) trait Released {
    const CAPSULE: &'static CStr;
    fn empty() -> Self;
    fn release(&mut self);
}

macro_rules! released {
    ($type:ident, $name:literal) => {
        impl Released for $type {
            const CAPSULE: &'static CStr = $name;

            fn empty() -> Self {
                $type::empty()
            }

            fn release(&mut self) {
                if let Some(release) = self.release {
                    // SAFETY: the struct is ours, because it was moved out of its capsule or
                    // written to our place, and its function is the one to call, once: the
                    // function sets it to null.
                    unsafe { release(self) };
                    self.release = None;
                }
            }
        }
    };
}

released!(ArrowSchema, c"arrow_schema");
released!(ArrowArray, c"arrow_array");
released!(ArrowArrayStream, c"arrow_array_stream");

impl<T: Released> Drop for Owned<T> {
    fn drop(&mut self) {
        self.0.release();
    }
}

impl<T: Released> Owned<T> {
    /// Moves a struct out of a capsule. The capsule's destructor finds an empty one there.
    fn take(object: &Bound<'_, PyAny>) -> PyResult<Owned<T>> {
        let capsule = object.cast::<PyCapsule>().map_err(|_| {
            PyTypeError::new_err("an Arrow method returned something else than a capsule")
        })?;
        // SAFETY: `capsule` is one, as its type says. The name is static.
        let at = unsafe { ffi::PyCapsule_GetPointer(capsule.as_ptr(), T::CAPSULE.as_ptr()) };
        if at.is_null() {
            return Err(PyErr::fetch(object.py()));
        }
        // SAFETY: a capsule of this name leads to such a struct, says Arrow's PyCapsule interface,
        // and a consumer moves it out and leaves an empty one. This thread is attached to Python,
        // and no other one has the capsule, which was made for this call.
        Ok(Owned(unsafe { std::mem::replace(&mut *at.cast::<T>(), T::empty()) }))
    }
}

impl Input {
    /// Reads a column of ids.
    pub(super) fn read(object: &Bound<'_, PyAny>, name: &str) -> PyResult<Input> {
        Input::of(object, name, false)
    }

    /// Reads a column of numbers, which floats may be.
    pub(super) fn numbers(object: &Bound<'_, PyAny>, name: &str) -> PyResult<Input> {
        Input::of(object, name, true)
    }

    fn of(object: &Bound<'_, PyAny>, name: &str, takes_floats: bool) -> PyResult<Input> {
        if object.hasattr("__arrow_c_array__")? {
            let pair = object.call_method0("__arrow_c_array__")?.cast_into::<PyTuple>()?;
            let schema = Owned::take(&pair.get_item(0)?)?;
            let chunks = vec![Owned::take(&pair.get_item(1)?)?];
            return Ok(Input::Arrow { schema, chunks, is_chunked: false });
        }
        if object.hasattr("__arrow_c_stream__")? {
            return Input::stream(&object.call_method0("__arrow_c_stream__")?);
        }
        if !View::is_offered(object) {
            return Err(PyTypeError::new_err(format!(
                "{name} must be an Arrow array, a Series or a NumPy array of integers, not {}",
                object.get_type().qualname()?
            )));
        }
        // A number would be drawn for the row of a missing id.
        if hides_a_mask(object)? {
            return Err(PyTypeError::new_err(format!(
                "{name} are a masked array, whose mask is not part of its buffer: pass \
                 pyarrow.array({name}), which makes nulls of the mask"
            )));
        }
        let view = View::readable(object).map_err(|error| {
            // NumPy has no buffers of dates and times, and says so in a sentence of its own.
            PyTypeError::new_err(format!(
                "{name} must hold integers, and key_of() makes them of dates and times: {}",
                error.value(object.py())
            ))
        })?;
        let is_bytes = object.is_instance_of::<pyo3::types::PyBytes>();
        if takes_floats && view.format() == b"?" && object.hasattr("astype")? {
            // Booleans are 0 and 1 where a parameter is a number. NumPy makes these of them, as a
            // byte of another program's may be any, and counts as 1 if it is not 0.
            return Input::of(&object.call_method1("astype", ("u1",))?, name, true);
        }
        let dtype = view.dtype().filter(|_| !is_bytes);
        let format = match dtype.map(headwater_arrow::format_of) {
            Some(Ok((format, None))) if dtype.is_some_and(|dtype| dtype != Dtype::F16) => format,
            _ => {
                let format = String::from_utf8_lossy(view.format()).into_owned();
                let need =
                    if takes_floats { "integers or floats of 32 or 64 bits" } else { "integers" };
                let found = match format.as_str() {
                    "O" => "objects of Python's: cast them, in pandas to 'Int64'".to_owned(),
                    "?" => "booleans: cast them to integers".to_owned(),
                    "e" => "floats of 16 bits: cast them".to_owned(),
                    other if other.starts_with(['>', '!']) => {
                        format!("items of format {other:?}, of another byte order: cast them")
                    }
                    other => format!("items of format {other:?}"),
                };
                return Err(PyTypeError::new_err(format!("{name} must hold {need}, not {found}")));
            }
        };
        if !takes_floats && matches!(dtype, Some(Dtype::F64 | Dtype::F32)) {
            return Err(PyTypeError::new_err(format!(
                "{name} must hold integers, not floats: a float above 2^53 is not one id. Cast \
                 them, in pandas to 'Int64' where values are missing"
            )));
        }
        let shape = view.shape();
        let &[len] = shape.dimensions() else {
            return Err(PyValueError::new_err(format!(
                "{name} must have one dimension, not {}",
                shape.dimensions().len()
            )));
        };
        if !view.is_contiguous() {
            return Err(PyValueError::new_err(format!(
                "{name} must be contiguous: pass a copy, as numpy.ascontiguousarray makes it"
            )));
        }
        Ok(Input::Buffer { view, format, len, valid: None })
    }

    /// Returns the column of a buffer with those of its rows null whose bit is 0.
    pub(super) fn with_validity(self, bits: Vec<u8>) -> PyResult<Input> {
        match self {
            Input::Buffer { view, format, len, .. } => {
                Ok(Input::Buffer { view, format, len, valid: Some(bits) })
            }
            Input::Arrow { .. } => {
                Err(PyTypeError::new_err("an Arrow column has bits of validity of its own"))
            }
        }
    }

    fn stream(capsule: &Bound<'_, PyAny>) -> PyResult<Input> {
        let mut stream: Owned<ArrowArrayStream> = Owned::take(capsule)?;
        let failed = |stream: &mut ArrowArrayStream, errno: i32| {
            let text = stream.get_last_error.map(|text| {
                // SAFETY: the function belongs to this stream, which was not released.
                unsafe { text(stream) }
            });
            let text = match text {
                Some(text) if !text.is_null() => {
                    // SAFETY: a text that is not null is a C string until the next call.
                    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
                }
                _ => format!("error {errno}"),
            };
            PyValueError::new_err(format!("the Arrow stream failed: {text}"))
        };
        let (Some(get_schema), Some(get_next)) = (stream.0.get_schema, stream.0.get_next) else {
            return Err(PyValueError::new_err("the Arrow stream was consumed before"));
        };
        let mut schema = Owned(ArrowSchema::empty());
        // SAFETY: the function belongs to this stream, which is not released yet, and `schema` is
        // empty, a place for the result.
        let errno = unsafe { get_schema(&mut stream.0, &mut schema.0) };
        if errno != 0 {
            return Err(failed(&mut stream.0, errno));
        }
        let mut chunks = Vec::new();
        loop {
            let mut chunk = Owned(ArrowArray::empty());
            // SAFETY: as above.
            let errno = unsafe { get_next(&mut stream.0, &mut chunk.0) };
            if errno != 0 {
                return Err(failed(&mut stream.0, errno));
            }
            if chunk.0.release.is_none() {
                return Ok(Input::Arrow { schema, chunks, is_chunked: true });
            }
            chunks.push(chunk);
        }
    }

    /// Returns the rows of each chunk. A negative number is refused with the chunk.
    fn lengths(&self) -> Vec<usize> {
        let length = |chunk: &Owned<ArrowArray>| usize::try_from(chunk.0.length).unwrap_or(0);
        match self {
            Input::Arrow { chunks, .. } => chunks.iter().map(length).collect(),
            Input::Buffer { len, .. } => vec![*len],
        }
    }
}

/// Has `make` make a column of the inputs, chunk by chunk, while other Python threads run.
pub(super) fn each<'py>(
    py: Python<'py>,
    inputs: &[Input],
    name: &str,
    make: impl Fn(&[Column<'_>]) -> Result<Output, Error> + Sync,
) -> PyResult<Bound<'py, PyAny>> {
    let lengths = inputs.first().map_or(vec![0], Input::lengths);
    let first = lengths.iter().sum();
    for input in inputs {
        let others = input.lengths();
        let other = others.iter().sum();
        // The rows of all chunks first: who has too few of them would rechunk them in vain.
        if first != other {
            return Err(raised(&Error::Rows { first, other }));
        }
        if lengths != others {
            return Err(PyValueError::new_err(
                "columns must have chunks of the same lengths: make one chunk of each, as \
                 combine_chunks() or rechunk() does",
            ));
        }
    }
    let is_chunked =
        inputs.iter().any(|input| matches!(input, Input::Arrow { is_chunked: true, .. }));
    let (mut outputs, mut before) = (Vec::new(), 0);
    for chunk in 0..lengths.len() {
        let mut buffers: Vec<Option<Ids<'_>>> = inputs
            .iter()
            .map(|input| match input {
                Input::Buffer { view, format, len, valid } => {
                    // SAFETY: the view holds the buffer, which has `len` items of this type,
                    // because it is contiguous and has one dimension, as `read` checked.
                    let ids = unsafe { Ids::from_raw(format, view.start().cast(), *len) };
                    Some(match valid {
                        Some(bits) => ids.with_validity(bits),
                        None => ids,
                    })
                }
                Input::Arrow { .. } => None,
            })
            .collect();
        let columns =
            inputs.iter().zip(&mut buffers).map(|(input, buffer)| match (input, buffer) {
                (Input::Arrow { schema, chunks, .. }, _) => {
                    // SAFETY: the structs are ours until `inputs` is dropped, after the columns,
                    // and their producer promised what the interface says.
                    unsafe { Column::new(&schema.0, &chunks[chunk].0) }
                }
                (_, Some(ids)) => ids.column(),
                _ => Err(Error::Malformed("no column")),
            });
        let columns: Vec<Column<'_>> =
            columns.collect::<Result<_, _>>().map_err(|error| raised(&error))?;
        let rows = columns.first().map_or(0, Column::len);
        // Short columns come from loops, in which the switch of threads would take longer.
        let output = match rows > 1024 {
            true => py.detach(|| make(&columns)),
            false => make(&columns),
        };
        outputs.push(output.map_err(|error| raised(&error.after(before)))?);
        before += rows;
    }
    let chunk = Chunk { name: name.to_owned(), outputs };
    match is_chunked {
        true => Ok(Bound::new(py, ArrowChunkedArray::of(chunk, inputs, make)?)?.into_any()),
        false => Ok(Bound::new(py, Array(chunk))?.into_any()),
    }
}

/// Returns the column of no rows of inputs that have no chunk, for its type.
pub(super) fn none(
    inputs: &[Input],
    make: impl Fn(&[Column<'_>]) -> Result<Output, Error>,
) -> PyResult<Output> {
    let mut arrays = Vec::new();
    let buffers = [std::ptr::null::<std::ffi::c_void>(); 3];
    // SAFETY: it touches nothing, as its arrays own nothing; it is unsafe because the type of
    // `release` is.
    unsafe extern "C" fn keep(_: *mut ArrowArray) {}
    for _ in inputs {
        arrays.push(ArrowArray {
            buffers: buffers.as_ptr().cast_mut(),
            release: Some(keep),
            ..ArrowArray::empty()
        });
    }
    let columns = inputs.iter().zip(&mut arrays).map(|(input, array)| {
        let Input::Arrow { schema, .. } = input else { return Err(Error::Malformed("no chunk")) };
        // The number of buffers is a matter of the type: two, three, or none for nulls.
        let tried = [2, 3, 0].into_iter().find(|&n_buffers| {
            array.n_buffers = n_buffers;
            // SAFETY: a column of no rows has no values; the list has three places.
            unsafe { Column::new(&schema.0, array) }.is_ok()
        });
        array.n_buffers = tried.unwrap_or(2);
        // SAFETY: as above.
        unsafe { Column::new(&schema.0, array) }
    });
    let columns: Vec<_> = columns.collect::<Result<_, _>>().map_err(|error| raised(&error))?;
    make(&columns).map_err(|error| raised(&error))
}
