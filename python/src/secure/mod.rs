//! Secure bytes: the functions of `secrets`, `uuid` and `random.SystemRandom` over the core.
//!
//! Nothing here imports a Python module before a call needs it, because `import headwater` has a
//! budget of 3 ms and `uuid` alone takes 25.

mod buffer;
mod bytes;
mod draw;
mod encode;
mod integers;
mod state;
mod uuids;

use pyo3::prelude::*;

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    bytes::register(module)?;
    module.add_function(wrap_pyfunction!(buffer::fill, module)?)?;
    integers::register(module)?;
    uuids::register(module)?;
    state::register(module)
}
