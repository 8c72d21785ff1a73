//! The native half of the Python package `headwater`: secure bytes, reproducible streams, the bit
//! generators for NumPy, and the hooks that renew generators in copies.
//!
//! Each module registers its functions and classes. The package's Python files import them from
//! `headwater._native`, and no user does.

mod arrow;
mod bitgen;
mod clones;
mod secure;
mod streams;

use pyo3::prelude::*;

#[pymodule(gil_used = false)]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    secure::register(module)?;
    streams::register(module)?;
    bitgen::register(module)?;
    arrow::register(module)?;
    clones::register(module)
}
