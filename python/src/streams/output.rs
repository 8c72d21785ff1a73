//! The place of a call's result: a number, a new array, or the argument `out`.

use super::args::Shape;
use super::array::Array;
use super::dtype::{self, Dtype};
use super::memory::{Memory, Out};
use headwater_streams::Error;
use pyo3::exceptions::{PyImportError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

/// Bytes above which a call lets other Python threads run. For fewer bytes the switch would take
/// longer than the work.
pub(crate) const WORTH_A_SWITCH: usize = 8 << 10;

/// The arguments that say where a call's values go.
pub(crate) struct Wanted<'a, 'py> {
    pub(crate) shape: Option<Shape>,
    pub(crate) dtype: Option<&'a Bound<'py, PyAny>>,
    pub(crate) out: Option<&'a Bound<'py, PyAny>>,
}

/// The place of a call's values.
pub(crate) struct Place<'a, 'py> {
    dtype: Dtype,
    to: To<'a, 'py>,
}

enum To<'a, 'py> {
    Number,
    New(Shape),
    Out(&'a Bound<'py, PyAny>, Out),
}

impl<'a, 'py> Place<'a, 'py> {
    /// Finds the place. The first of `kinds`, the types that the numbers may have, is the default.
    pub(crate) fn find(wanted: Wanted<'a, 'py>, kinds: &[Dtype]) -> PyResult<Place<'a, 'py>> {
        let Wanted { shape, dtype, out } = wanted;
        let dtype = dtype.map(dtype::dtype).transpose()?;
        if let Some(dtype) = dtype {
            dtype::one_of(dtype, kinds, "dtype")?;
        }
        let Some(object) = out else {
            let to = shape.map_or(To::Number, To::New);
            return Ok(Place { dtype: dtype.unwrap_or(kinds[0]), to });
        };
        let out = Out::open(object, "out")?;
        let held = dtype::one_of(out.memory().dtype(), kinds, "out")?;
        if let Some(dtype) = dtype.filter(|&dtype| dtype != held) {
            let (dtype, held) = (dtype.name(), held.name());
            return Err(PyTypeError::new_err(format!("out must be of type {dtype}, not {held}")));
        }
        if let Some(shape) = shape.filter(|shape| shape != out.shape()) {
            return Err(PyValueError::new_err(format!(
                "out must have shape {shape}, not {}",
                out.shape()
            )));
        }
        Ok(Place { dtype: held, to: To::Out(object, out) })
    }

    pub(crate) fn dtype(&self) -> Dtype {
        self.dtype
    }

    /// Has `write` write the values, and returns them as Python has them.
    pub(crate) fn write(
        self,
        py: Python<'py>,
        write: impl FnOnce(Memory) -> Result<(), Error> + Send,
    ) -> PyResult<Bound<'py, PyAny>> {
        match self.to {
            To::Number => {
                let mut one = [0_u64];
                // SAFETY: eight bytes hold one element of any type.
                let memory = unsafe { Memory::new(one.as_mut_ptr().cast(), 1, self.dtype) };
                write(memory).map_err(refused)?;
                number(py, memory)
            }
            To::New(shape) => match numpy(py)? {
                Some(empty) => {
                    let dtype = self.dtype.numpy(py)?;
                    // NumPy's own errors for such a shape do not name it.
                    shape.len(self.dtype.size())?;
                    let array = match shape.dimensions() {
                        &[length] => empty.call1((length, dtype))?,
                        _ => empty.call1((shape.to_tuple(py)?, dtype))?,
                    };
                    let out = Out::open(&array, "the new array")?;
                    run(py, out.memory(), write)?;
                    drop(out);
                    Ok(array)
                }
                None => {
                    let array = Array::zeros(shape, self.dtype)?;
                    run(py, array.memory(), write)?;
                    Ok(Bound::new(py, array)?.into_any())
                }
            },
            To::Out(object, out) => {
                run(py, out.memory(), write)?;
                Ok(object.clone())
            }
        }
    }
}

/// Writes to memory, detached from Python if that is worth the time.
pub(crate) fn run(
    py: Python<'_>,
    memory: Memory,
    write: impl FnOnce(Memory) -> Result<(), Error> + Send,
) -> PyResult<()> {
    let done = match memory.bytes() > WORTH_A_SWITCH {
        true => py.detach(move || write(memory)),
        false => write(memory),
    };
    done.map_err(refused)
}

/// Turns an error of the streams, none of which has written anything, into a ValueError.
pub(crate) fn refused(error: Error) -> PyErr {
    let message = match error {
        Error::RangeTooLong { start, len } => format!(
            "start and indices must stay below 2^64 - 1, where a stream ends: {len} elements from \
             {start} on do not"
        ),
        Error::PastEnd { start, len, n } => format!(
            "out must end where the permutation ends: {len} elements from index {start} on are \
             more than a permutation of {n} has"
        ),
        error => error.to_string(),
    };
    PyValueError::new_err(message)
}

/// Returns the only element as a Python number.
fn number(py: Python<'_>, memory: Memory) -> PyResult<Bound<'_, PyAny>> {
    macro_rules! number {
        ($type:ty) => {
            // SAFETY: the memory holds an element of this type, and the caller's call is over.
            Ok(unsafe { memory.elements::<$type>() }[0].into_pyobject(py)?.into_any())
        };
    }
    match memory.dtype() {
        Dtype::F64 => number!(f64),
        Dtype::F32 => number!(f32),
        Dtype::I8 => number!(i8),
        Dtype::U8 => number!(u8),
        Dtype::I16 => number!(i16),
        Dtype::U16 => number!(u16),
        Dtype::I32 => number!(i32),
        Dtype::U32 => number!(u32),
        Dtype::I64 => number!(i64),
        Dtype::U64 => number!(u64),
    }
}

/// Returns `numpy.empty`, or nothing where NumPy is not installed. The first call decides for the
/// life of the process, because the import takes far longer than any small array.
pub(crate) fn numpy(py: Python<'_>) -> PyResult<Option<&Bound<'_, PyAny>>> {
    static EMPTY: PyOnceLock<Option<Py<PyAny>>> = PyOnceLock::new();
    let import = || match py.import("numpy") {
        Ok(numpy) => Ok(Some(numpy.getattr("empty")?.unbind())),
        Err(error) if error.is_instance_of::<PyImportError>(py) => Ok(None),
        Err(error) => Err(error),
    };
    Ok(EMPTY.get_or_try_init::<_, PyErr>(py, import)?.as_ref().map(|empty| empty.bind(py)))
}
