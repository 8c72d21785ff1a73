//! The kinds of numbers, and the elements of them that a call asks for.

use super::args::{outside, signed};
use super::dtype::Dtype;
use super::memory::Memory;
use headwater_streams::{Error, Stream};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// A kind of number. With an element type it names one function of the stream.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    /// The stream's bytes as they are, in integers without a sign.
    Words,
    Uniform,
    Normal,
    Exponential,
    ComplexNormal,
    /// Integers from `low` to `high`, both of which the element type holds.
    Integers {
        low: i128,
        high: i128,
    },
}

/// The elements that a call asks for.
#[derive(Clone, Copy)]
pub(crate) enum Elements<'a> {
    From { start: u64, threads: usize },
    At(&'a [u64]),
}

impl Kind {
    /// Writes the elements to `memory`, the type of which the kind has.
    pub(crate) fn write(
        self,
        stream: &Stream,
        elements: Elements<'_>,
        memory: Memory,
    ) -> Result<(), Error> {
        macro_rules! write {
            ($type:ty, $fill:ident, $at:ident $(, $range:expr)?) => {{
                // SAFETY: `dtype` says that the elements are of this type, all of whose values any
                // bits are, and the call that owns the memory makes one reference, this one.
                let out = unsafe { memory.elements::<$type>() };
                match elements {
                    Elements::From { start, threads } => {
                        stream.par(threads).$fill($($range,)? start, out)
                    }
                    Elements::At(indices) => stream.$at($($range,)? indices, out),
                }
            }};
        }
        use Dtype::{Bf16, C64, C128, F16, F32, F64, I8, I16, I32, I64, U8, U16, U32, U64};
        match (self, memory.dtype()) {
            (Kind::Words, U8) => write!(u8, fill_u8, u8_at),
            (Kind::Words, U32) => write!(u32, fill_u32, u32_at),
            (Kind::Words, U64) => write!(u64, fill_u64, u64_at),
            (Kind::Uniform, F64) => write!(f64, fill_f64, f64_at),
            (Kind::Uniform, F32) => write!(f32, fill_f32, f32_at),
            (Kind::Normal, F64) => write!(f64, fill_normal_f64, normal_f64_at),
            (Kind::Normal, F32) => write!(f32, fill_normal_f32, normal_f32_at),
            (Kind::Uniform, F16) => write!(u16, fill_f16_bits, f16_bits_at),
            (Kind::Uniform, Bf16) => write!(u16, fill_bf16_bits, bf16_bits_at),
            (Kind::Normal, F16) => write!(u16, fill_normal_f16_bits, normal_f16_bits_at),
            (Kind::Normal, Bf16) => write!(u16, fill_normal_bf16_bits, normal_bf16_bits_at),
            (Kind::ComplexNormal, C128) => {
                write!([f64; 2], fill_complex_normal_f64, complex_normal_f64_at)
            }
            (Kind::ComplexNormal, C64) => {
                write!([f32; 2], fill_complex_normal_f32, complex_normal_f32_at)
            }
            (Kind::Exponential, F64) => write!(f64, fill_exponential_f64, exponential_f64_at),
            (Kind::Integers { low, high }, dtype) => {
                macro_rules! range {
                    ($type:ty) => {
                        write!($type, fill_range, range_at, low as $type..=high as $type)
                    };
                }
                match dtype {
                    I8 => range!(i8),
                    U8 => range!(u8),
                    I16 => range!(i16),
                    U16 => range!(u16),
                    I32 => range!(i32),
                    U32 => range!(u32),
                    I64 => range!(i64),
                    U64 => range!(u64),
                    F64 | F32 | F16 | Bf16 | C128 | C64 => {
                        unreachable!("places of integers have integer types")
                    }
                }
            }
            (kind, dtype) => unreachable!("{kind:?} has no type {dtype:?}"),
        }
    }

    /// Reads the arguments of `integers`, as NumPy's generators have them: `low` alone is the end
    /// of a range from 0 on.
    pub(crate) fn integers(
        low: &Bound<'_, PyAny>,
        high: Option<&Bound<'_, PyAny>>,
        endpoint: bool,
        dtype: Dtype,
    ) -> PyResult<Kind> {
        let (first, last) = match high {
            Some(high) => (signed(low, "low")?, signed(high, "high")?),
            None => (0, signed(low, "low")?),
        };
        let (end, end_name) = match high {
            Some(high) => (high, "high"),
            None => (low, "low"),
        };
        let last = if endpoint { last } else { last - 1 };
        if first > last {
            let relation = if endpoint { "at least" } else { "greater than" };
            return Err(outside(end, end_name, &format!("{relation} {first}")));
        }
        let bits = 8 * dtype.size() as u32;
        let (least, most) = match dtype {
            Dtype::I8 | Dtype::I16 | Dtype::I32 | Dtype::I64 => {
                (-(1_i128 << (bits - 1)), (1_i128 << (bits - 1)) - 1)
            }
            _ => (0, (1_i128 << bits) - 1),
        };
        if first < least || last > most {
            let (value, name) = if first < least { (low, "low") } else { (end, end_name) };
            let written = value.str()?;
            return Err(PyValueError::new_err(format!(
                "{name} must stay within {least} to {most}, the values of {}, not {written}",
                dtype.name()
            )));
        }
        Ok(Kind::Integers { low: first, high: last })
    }
}
