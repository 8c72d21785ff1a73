//! The range of `integers`, as NumPy's generators have it.

use super::args::{outside, signed};
use super::dtype::Dtype;
use headwater_streams::kinds::Value;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Reads the arguments of `integers`, and returns both ends, which the element type holds. `low`
/// alone is the end of a range from 0 on.
pub(crate) fn range(
    low: &Bound<'_, PyAny>,
    high: Option<&Bound<'_, PyAny>>,
    endpoint: bool,
    dtype: Dtype,
) -> PyResult<[Value<'static>; 2]> {
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
        // The end of a range that excludes it may be one more than the largest value.
        let most = if endpoint || first < least { most } else { most + 1 };
        return Err(PyValueError::new_err(format!(
            "{name} must stay within {least} to {most} for {}, not {written}",
            dtype.name()
        )));
    }
    Ok([Value::Integer(first), Value::Integer(last)])
}
