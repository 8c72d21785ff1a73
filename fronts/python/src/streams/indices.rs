//! The argument `indices`: the numbers of single elements.

use super::args::{Shape, hides_a_mask, integer, listed, not_a, outside, room, zeros};
use super::dlpack::Tensor;
use super::dtype::{Dtype, one_of};
use super::memory::View;
use headwater_streams::kinds::Kind;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyByteArray, PyBytes, PyInt, PyList, PyRange, PyTuple};

/// A copy of the indices that a user passed, with their shape. No later write to their array
/// changes the copy, so an array may take the results for its own indices.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Indices {
    pub(crate) list: Vec<u64>,
    /// Nothing for a single integer.
    pub(crate) shape: Option<Shape>,
}

impl Indices {
    /// Reads an integer, a sequence of integers, or an array or a tensor of an integer type.
    pub(crate) fn read(value: &Bound<'_, PyAny>, name: &str) -> PyResult<Indices> {
        if value.is_instance_of::<PyInt>() {
            return Ok(Indices { list: vec![index(value, name)?], shape: None });
        }
        if let Ok(list) = value.cast::<PyList>() {
            return Indices::sequence(list.iter(), name);
        }
        if let Ok(tuple) = value.cast::<PyTuple>() {
            return Indices::sequence(tuple.iter(), name);
        }
        if value.is_instance_of::<PyRange>() {
            let mut list = room(value.len()?)?;
            for number in value.try_iter()? {
                list.push(index(&number?, name)?);
            }
            let shape = Some(Shape::new(vec![list.len()]));
            return Ok(Indices { list, shape });
        }
        if value.is_instance_of::<PyBytes>() || value.is_instance_of::<PyByteArray>() {
            return Err(not_a(value, name, "integers"));
        }
        if View::is_offered(value) {
            return Indices::buffer(value, name);
        }
        if Tensor::is_offered(value)? {
            return Indices::tensor(value, name);
        }
        if value.hasattr("__index__")? {
            return Ok(Indices { list: vec![index(value, name)?], shape: None });
        }
        Err(not_a(value, name, "an integer, a sequence of integers or an array of them"))
    }

    fn sequence<'py>(
        values: impl ExactSizeIterator<Item = Bound<'py, PyAny>>,
        name: &str,
    ) -> PyResult<Indices> {
        let shape = Some(Shape::new(vec![values.len()]));
        let mut list = room(values.len())?;
        for value in values {
            // Python has booleans as 0 and 1, so that a mask would be the numbers of two elements.
            if value.is_instance_of::<PyBool>() {
                return Err(PyTypeError::new_err(format!(
                    "{name} must be integers, not booleans: numpy.flatnonzero() makes them of a \
                     mask"
                )));
            }
            list.push(index(&value, name)?);
        }
        Ok(Indices { list, shape })
    }

    fn buffer(value: &Bound<'_, PyAny>, name: &str) -> PyResult<Indices> {
        // An element would be drawn for an index that is missing.
        if hides_a_mask(value)? {
            return Err(PyTypeError::new_err(format!(
                "{name} are a masked array, whose mask is not part of it: pass its compressed()"
            )));
        }
        let view = View::readable(value)?;
        let Some(dtype) = view.dtype() else {
            let format = String::from_utf8_lossy(view.format());
            return Err(PyTypeError::new_err(format!(
                "{name} must be integers in the machine's byte order, not items of format \
                 {format:?}"
            )));
        };
        one_of(dtype, integers(), name)?;
        let mut bytes = zeros(view.bytes())?;
        view.copy_to(value.py(), &mut bytes)?;
        let shape = Some(view.shape()).filter(|shape| !shape.dimensions().is_empty());
        Ok(Indices { list: list(&bytes, dtype, name)?, shape })
    }

    fn tensor(value: &Bound<'_, PyAny>, name: &str) -> PyResult<Indices> {
        let tensor = Tensor::open(value, name)?;
        let dtype = one_of(tensor.dtype(name)?, integers(), name)?;
        let shape = tensor.shape()?;
        let bytes = shape.len(dtype.size())? * dtype.size();
        let start = tensor.contiguous(name)?;
        let bytes = match bytes {
            // A tensor without elements may have no memory.
            0 => &[],
            // SAFETY: the tensor is contiguous, so it has so many bytes at `start`, and it is held
            // until they are copied; above, no bytes are an empty slice, since `start` may then be
            // null.
            bytes => unsafe { std::slice::from_raw_parts(start, bytes) },
        };
        let shape = Some(shape).filter(|shape| !shape.dimensions().is_empty());
        Ok(Indices { list: list(bytes, dtype, name)?, shape })
    }
}

/// Returns the number of an element. 2^64 - 1 is none, because every stream has ended there.
fn index(value: &Bound<'_, PyAny>, name: &str) -> PyResult<u64> {
    let integer = integer(value, name)?;
    let index = integer.extract::<u64>().ok().filter(|&index| index < u64::MAX);
    index.ok_or_else(|| outside(&integer, name, "from 0 to 2^64 - 2"))
}

/// Returns the types that indices may have: all integers.
fn integers() -> impl Iterator<Item = Dtype> + Clone {
    Kind::Integers.types().iter().map(|one| one.dtype)
}

/// Converts the bytes of integers.
fn list(bytes: &[u8], dtype: Dtype, name: &str) -> PyResult<Vec<u64>> {
    macro_rules! converted {
        ($type:ty) => {{
            let (items, _) = bytes.as_chunks::<{ size_of::<$type>() }>();
            let items = items.iter().map(|item| <$type>::from_ne_bytes(*item));
            // A pass without an exit first: it is made of vector instructions.
            let wrong = items.clone().fold(false, |wrong, i| wrong | (u64::try_from(i).is_err()));
            match wrong.then(|| items.clone().find(|&i| u64::try_from(i).is_err())).flatten() {
                Some(negative) => Err(i128::from(negative)),
                None => Ok(listed(items.map(|item| item as u64))?),
            }
        }};
    }
    let list: Result<Vec<u64>, i128> = match dtype {
        Dtype::I8 => converted!(i8),
        Dtype::I16 => converted!(i16),
        Dtype::I32 => converted!(i32),
        Dtype::I64 => converted!(i64),
        Dtype::U8 => converted!(u8),
        Dtype::U16 => converted!(u16),
        Dtype::U32 => converted!(u32),
        Dtype::U64 => converted!(u64),
        Dtype::F64 | Dtype::F32 | Dtype::F16 | Dtype::Bf16 | Dtype::C128 | Dtype::C64 => {
            Ok(Vec::new())
        }
    };
    let last = i128::from(u64::MAX);
    let wrong =
        |index| PyValueError::new_err(format!("{name} must be from 0 to 2^64 - 2, not {index}"));
    let list = list.map_err(wrong)?;
    if list.contains(&u64::MAX) { Err(wrong(last)) } else { Ok(list) }
}
