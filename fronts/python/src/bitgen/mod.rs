//! The native half of `headwater.numpy` and `headwater.dask`.
//!
//! NumPy draws from a bit generator through a C structure, `bitgen_t`: a pointer to a state, and
//! four functions that take it. PyO3 cannot subclass NumPy's class itself, because its layout is
//! Cython's, and unknown to the stable ABI. So the classes of `headwater.numpy` are plain Python
//! subclasses of `numpy.random.BitGenerator`, whose structure [`interface`] fills.

pub(crate) use interface::BitGen;

mod block;
mod buffer;
mod interface;
mod region;
mod words;
mod xoshiro;

use headwater_streams::{Engine, Error, Key, Stream};
use pyo3::exceptions::{PyOverflowError, PyValueError};
use pyo3::prelude::*;

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<block::BlockBits>()?;
    module.add_class::<xoshiro::XoshiroBits>()?;
    module.add_function(wrap_pyfunction!(region::fill_region, module)?)
}

/// Returns the stream of an engine by its name, 16 bytes of a key and a number.
fn stream_of(engine: &str, key: &[u8], stream: u64) -> PyResult<Stream> {
    let key = key_of(engine, key)?;
    key.stream(stream)
        .map_err(|_| PyOverflowError::new_err(format!("stream must be below 2**48, not {stream}")))
}

/// Returns the key of an engine by its name and 16 bytes.
fn key_of(engine: &str, key: &[u8]) -> PyResult<Key> {
    let engine: Engine = engine.parse().map_err(|error: Error| value_error(&error))?;
    let len = key.len();
    let raw = key
        .try_into()
        .map_err(|_| PyValueError::new_err(format!("key must be 16 bytes, not {len}")))?;
    Ok(Key::from_raw(engine, raw))
}

fn value_error(error: &Error) -> PyErr {
    PyValueError::new_err(error.to_string())
}
