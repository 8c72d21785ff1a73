//! Columns by row id, over the Arrow C data interface and its capsules.
//!
//! A plan says what to draw, from which stream; it is bytes, so that an engine can carry it to
//! wherever its rows are. `plan` makes and reads plans, `input` takes columns from other libraries,
//! `column` hands results to them, and `polars` has the C functions that Polars calls without
//! Python.

mod column;
mod input;
mod kinds;
mod plan;
mod polars;

use input::Input;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    // Under names of their own: `Array` is the array of streams.
    module.add("ArrowArray", module.py().get_type::<column::ArrowArray>())?;
    module.add("ArrowChunkedArray", module.py().get_type::<column::ArrowChunkedArray>())?;
    module.add_class::<plan::Plan>()?;
    module.add_function(wrap_pyfunction!(arrow_key_of, module)?)?;
    module.add("ARROW_KINDS", kinds::kinds(module.py())?)
}

/// Returns ids of the rows of columns, all of one length and with chunks of the same lengths.
#[pyfunction]
#[pyo3(signature = (columns, nulls, /))]
fn arrow_key_of<'py>(
    py: Python<'py>,
    columns: &Bound<'py, PyTuple>,
    nulls: plan::IfNull,
) -> PyResult<Bound<'py, PyAny>> {
    let inputs: Vec<Input> =
        columns.iter().map(|column| Input::read(&column, "columns")).collect::<PyResult<_>>()?;
    input::each(py, &inputs, "key", |columns| headwater_arrow::key_of(columns, nulls.0))
}
