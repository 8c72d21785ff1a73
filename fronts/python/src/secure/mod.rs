//! Secure bytes: the functions of `secrets`, `uuid` and `random.SystemRandom` over the core.
//!
//! Nothing here imports a Python module before a call needs it, because `import headwater` has a
//! budget of 3 ms and `uuid` alone takes 25.

mod buffer;
mod bytes;
mod draw;
mod encode;
mod integers;
mod ints;
mod state;
mod uuids;

use pyo3::exceptions::PyImportError;
use pyo3::ffi;
use pyo3::prelude::*;

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    main_interpreter_only()?;
    bytes::register(module)?;
    module.add_function(wrap_pyfunction!(buffer::fill, module)?)?;
    integers::register(module)?;
    uuids::register(module)?;
    state::register(module)
}

/// Raises the ImportError with which Python 3.12 and later refuse this module in a subinterpreter.
/// Python 3.11 would load it, and `uuid.UUID` and the interned strings of the first interpreter,
/// which are kept, would then be used in the second.
fn main_interpreter_only() -> PyResult<()> {
    // SAFETY: the GIL is held, so there is a current interpreter. The first one has the number 0.
    if unsafe { ffi::PyInterpreterState_GetID(ffi::PyInterpreterState_Get()) } == 0 {
        return Ok(());
    }
    Err(PyImportError::new_err("module headwater does not support loading in subinterpreters"))
}
