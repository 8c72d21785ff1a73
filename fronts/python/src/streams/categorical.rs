//! Weighted choice whose table is made once.

use super::args::no_memory;
use super::parameters::Parameter;
use headwater_streams::Error;
use headwater_streams::distributions::{Alias, Categorical as Outcomes};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyList;
use std::sync::Arc;

/// The table of a weighted choice, shared by all calls that use it.
pub(crate) type Table = Arc<Outcomes<Vec<Alias>>>;

/// The weights of a choice, with the table that every draw reads.
///
/// `Stream.categorical` and the `p` of `Stream.choice` take it in place of weights. Numbers are the
/// same as with the weights themselves, and a call no longer makes the table.
#[pyclass(module = "headwater", frozen)]
pub(crate) struct Categorical {
    weights: Vec<f64>,
    table: Table,
}

impl Categorical {
    pub(crate) fn table(&self) -> &Table {
        &self.table
    }
}

/// Returns the table of weights; an error names the argument.
pub(crate) fn table(name: &str, weights: &[f64]) -> PyResult<Table> {
    match Outcomes::new(weights) {
        Ok(made) => Ok(Arc::new(made)),
        Err(Error::Parameter { need, .. }) => {
            Err(PyValueError::new_err(format!("{name} must be {need}")))
        }
        Err(Error::Memory { bytes }) => Err(no_memory(bytes)),
        Err(error) => Err(PyValueError::new_err(error.to_string())),
    }
}

#[pymethods]
impl Categorical {
    #[new]
    #[pyo3(signature = (weights, /))]
    fn new(weights: Parameter<'_>) -> PyResult<Categorical> {
        let weights = weights.list("weights")?;
        Ok(Categorical { table: table("weights", &weights)?, weights })
    }

    /// Returns the number of outcomes.
    fn __len__(&self) -> usize {
        self.weights.len()
    }

    fn __repr__(&self) -> String {
        format!("<headwater.Categorical of {} outcomes>", self.weights.len())
    }

    /// Returns whether the weights are equal, because equal weights make equal numbers.
    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Categorical>().is_ok_and(|other| other.get().weights == self.weights)
    }

    fn __hash__(&self) -> u64 {
        use std::hash::{DefaultHasher, Hash, Hasher};
        let mut hasher = DefaultHasher::new();
        // Both zeros are equal.
        self.weights.iter().for_each(|weight| (weight + 0.0).to_bits().hash(&mut hasher));
        hasher.finish()
    }

    /// Returns the parts of a pickle. A pickle holds the weights, and the table is made anew.
    fn __reduce__<'py>(
        slf: &Bound<'py, Categorical>,
    ) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyList>,))> {
        let py = slf.py();
        Ok((slf.get_type().into_any(), (PyList::new(py, &slf.get().weights)?,)))
    }
}
