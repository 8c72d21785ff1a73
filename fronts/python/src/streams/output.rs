//! The place of a call's result: a number, a new array, or the argument `out`.
//!
//! All three are memory for elements of one type, so a method finds its place first, and errors in
//! the arguments come before the first number is drawn.

use super::args::Shape;
use super::array::Array;
use super::dtype::{self, Dtype, Protocols};
use super::memory::{Memory, Out};
use headwater_streams::Error;
use headwater_streams::kinds::{self, Kind};
use pyo3::exceptions::{PyImportError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyComplex, PyFloat};

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
    /// Finds the place for numbers of a kind. The first of the kind's types is the default.
    pub(crate) fn of(wanted: Wanted<'a, 'py>, kind: Kind) -> PyResult<Place<'a, 'py>> {
        Place::find(wanted, kind.types().iter().map(|one| one.dtype))
    }

    /// Finds the place for numbers that may have these types, the first of which is the default.
    pub(crate) fn find(
        wanted: Wanted<'a, 'py>,
        mut types: impl Iterator<Item = Dtype> + Clone,
    ) -> PyResult<Place<'a, 'py>> {
        let Wanted { shape, dtype, out } = wanted;
        let dtype = dtype.map(dtype::dtype).transpose()?;
        if let Some(dtype) = dtype {
            dtype::one_of(dtype, types.clone(), "dtype")?;
        }
        let Some(object) = out else {
            let to = shape.map_or(To::Number, To::New);
            let dtype = dtype.or_else(|| types.next()).unwrap_or(Dtype::F64);
            return Ok(Place { dtype, to });
        };
        let out = Out::open(object, "out")?;
        let held = dtype::one_of(out.memory().dtype(), types, "out")?;
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

    /// Returns the shape of the result, unless it is one number.
    pub(crate) fn shape(&self) -> Option<&Shape> {
        match &self.to {
            To::Number => None,
            To::New(shape) => Some(shape),
            To::Out(_, out) => Some(out.shape()),
        }
    }

    /// Has `draw` write the values, and returns them as Python has them.
    pub(crate) fn draw(
        self,
        py: Python<'py>,
        draw: impl FnOnce(kinds::Out<'_>) -> Result<(), Error> + Send,
    ) -> PyResult<Bound<'py, PyAny>> {
        // SAFETY: `write` owns the place, and hands its memory to this function alone, once, so no
        // other reference to it is in use.
        self.write(py, |memory| draw(unsafe { memory.out() }))
    }

    /// Has `draw` write the values before a border and those after it, each with the number of the
    /// first one, and returns all of them as Python has them. Without a border they are one piece.
    pub(crate) fn draw_in_two(
        self,
        py: Python<'py>,
        border: Option<usize>,
        mut draw: impl FnMut(usize, kinds::Out<'_>) -> Result<(), Error> + Send,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.write(py, |memory| {
            let mut part = |start: usize, len: usize| {
                // SAFETY: `write` owns the place, and hands its memory to this function alone. The
                // parts are drawn one after the other, so no two references are in use.
                draw(start, unsafe { memory.part(start, len).out() })
            };
            let end = memory.len();
            let border = border.unwrap_or(end);
            part(0, border)?;
            if border < end { part(border, end - border) } else { Ok(()) }
        })
    }

    /// Has `write` write the values, and returns them as Python has them.
    pub(crate) fn write(
        self,
        py: Python<'py>,
        write: impl FnOnce(Memory) -> Result<(), Error> + Send,
    ) -> PyResult<Bound<'py, PyAny>> {
        match self.to {
            To::Number => {
                let mut one = [0_u64; 2];
                // SAFETY: the two words are sixteen bytes, which hold one element of any type,
                // aligned for all of them. They outlive `memory`.
                let memory = unsafe { Memory::new(one.as_mut_ptr().cast(), 1, self.dtype) };
                write(memory).map_err(refused)?;
                number(py, memory, 0)
            }
            // NumPy has no bfloat16.
            To::New(shape) => match numpy(py)?.filter(|_| self.dtype != Dtype::Bf16) {
                Some(empty) => {
                    if let Some((array, memory)) = super::numpy::array(py, &shape, self.dtype)? {
                        run(py, memory, write)?;
                        return Ok(array);
                    }
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

/// Returns an element as a Python number.
pub(crate) fn number(py: Python<'_>, memory: Memory, place: usize) -> PyResult<Bound<'_, PyAny>> {
    macro_rules! number {
        ($type:ty) => {
            // SAFETY: the match says that the elements are of this type, and any bits are one.
            Ok(unsafe { memory.read::<$type>(place) }.into_pyobject(py)?.into_any())
        };
    }
    let real = |value: f64| Ok(PyFloat::new(py, value).into_any());
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
        // SAFETY: a binary16 has the size of a `u16`, which takes any bits.
        Dtype::F16 => real(binary16(unsafe { memory.read::<u16>(place) })),
        // SAFETY: a bfloat16 has the size of a `u16`, which takes any bits.
        Dtype::Bf16 => real(bfloat16(unsafe { memory.read::<u16>(place) })),
        Dtype::C128 => {
            // SAFETY: the element is two doubles, which take any bits.
            let [real, imaginary] = unsafe { memory.read::<[f64; 2]>(place) };
            Ok(PyComplex::from_doubles(py, real, imaginary).into_any())
        }
        Dtype::C64 => {
            // SAFETY: the element is two floats, which take any bits.
            let [real, imaginary] = unsafe { memory.read::<[f32; 2]>(place) };
            Ok(PyComplex::from_doubles(py, real.into(), imaginary.into()).into_any())
        }
    }
}

/// Returns the number that has these bits in binary16.
fn binary16(bits: u16) -> f64 {
    let exponent = i32::from(bits >> 10 & 31);
    let fraction = f64::from(bits & 1023);
    let size = match exponent {
        0 => fraction * 2_f64.powi(-24),
        31 if fraction > 0.0 => f64::NAN,
        31 => f64::INFINITY,
        _ => (1024.0 + fraction) * 2_f64.powi(exponent - 25),
    };
    if bits >> 15 == 1 { -size } else { size }
}

/// Returns the number that has these bits in bfloat16, which is the upper half of a float32.
fn bfloat16(bits: u16) -> f64 {
    f32::from_bits(u32::from(bits) << 16).into()
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
