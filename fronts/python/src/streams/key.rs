//! `Key`: a seed's root, and its children and streams.

use super::args::{integer, no_memory, not_a, outside, room, unsigned, zeros};
use super::memory::View;
use super::stream::Stream;
use headwater_streams::{Engine, Seed};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyMemoryView, PyString, PyTuple, PyType};

/// An engine and 128 bits, made from a seed: everything that the numbers of 2^48 streams depend on.
///
/// `seed` is an integer, bytes or a text. 7, b"7" and "7" are three seeds.
/// Keys are not for secrets: use `headwater.token_bytes` for these.
#[pyclass(frozen, eq, hash, module = "headwater")]
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Key(pub(crate) headwater_streams::Key);

/// Reads the argument `engine`.
fn engine(name: &str) -> PyResult<Engine> {
    name.parse().map_err(|_| {
        let names: Vec<_> = Engine::ALL.iter().map(|engine| engine.name()).collect();
        PyValueError::new_err(format!("engine must be one of {}, not {name:?}", names.join(", ")))
    })
}

/// The argument `num`: a number of keys.
struct Many(usize);

impl<'py> FromPyObject<'_, 'py> for Many {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Many> {
        let integer = integer(&value, "num")?;
        let num = integer.extract().map(Many);
        num.map_err(|_| outside(&integer, "num", "a number of keys from 0 to 2^64 - 1"))
    }
}

/// Hands a seed or a label to `read`.
fn seed<R>(value: &Bound<'_, PyAny>, name: &str, read: impl FnOnce(Seed<'_>) -> R) -> PyResult<R> {
    if let Ok(text) = value.cast::<PyString>() {
        return Ok(read(text.to_str()?.into()));
    }
    if let Ok(bytes) = value.cast::<PyBytes>() {
        return Ok(read(bytes.as_bytes().into()));
    }
    if value.is_instance_of::<PyByteArray>() || value.is_instance_of::<PyMemoryView>() {
        let view = View::readable(value)?;
        let mut bytes = zeros(view.bytes())?;
        view.copy_to(value.py(), &mut bytes)?;
        return Ok(read(bytes.into()));
    }
    if !value.hasattr(pyo3::intern!(value.py(), "__index__"))? {
        return Err(not_a(value, name, "an integer, bytes or str"));
    }
    let integer = integer(value, name)?;
    if let Ok(n) = integer.extract::<u128>() {
        return Ok(read(n.into()));
    }
    // A negative number is -1 - n.
    let negative = integer.lt(0)?;
    let n = if negative { integer.call_method0("__invert__")? } else { integer.into_any() };
    let len = n.call_method0("bit_length")?.extract::<usize>()?.div_ceil(8);
    let bytes = n.call_method1("to_bytes", (len, "little"))?;
    Ok(read(Seed::integer(negative, bytes.cast::<PyBytes>()?.as_bytes())))
}

/// Hands a label to `read`.
pub(crate) fn labelled<R>(
    label: &Bound<'_, PyAny>,
    read: impl FnOnce(Seed<'_>) -> R,
) -> PyResult<R> {
    seed(label, "label", read)
}

#[pymethods]
impl Key {
    #[new]
    #[pyo3(signature = (seed, /, *, engine="ars7"))]
    fn new(seed: &Bound<'_, PyAny>, engine: &str) -> PyResult<Key> {
        let engine = self::engine(engine)?;
        self::seed(seed, "seed", |seed| Key(headwater_streams::Key::with_engine(engine, seed)))
    }

    /// Returns the key of a seed as command lines have it: `42`, `-1`, `0x2a`, `hex:00ff`,
    /// `text:anything`.
    #[staticmethod]
    #[pyo3(signature = (text, /, *, engine="ars7"))]
    fn parse(text: &str, engine: &str) -> PyResult<Key> {
        let seed: Seed<'_> = text.parse().map_err(|error: headwater_streams::Error| {
            PyValueError::new_err(format!("text must be a seed: {error}"))
        })?;
        Ok(Key(headwater_streams::Key::with_engine(self::engine(engine)?, seed)))
    }

    /// Returns the key made of 16 bytes as they are: those of `raw`.
    #[staticmethod]
    #[pyo3(signature = (raw, /, *, engine="ars7"))]
    fn from_raw(raw: &[u8], engine: &str) -> PyResult<Key> {
        let bytes = raw.try_into().map_err(|_| {
            PyValueError::new_err(format!("raw must have 16 bytes, not {}", raw.len()))
        })?;
        Ok(Key(headwater_streams::Key::from_raw(self::engine(engine)?, bytes)))
    }

    /// Returns the key of the child called `label`: an integer, bytes or a text.
    #[pyo3(signature = (label, /))]
    fn child(&self, label: &Bound<'_, PyAny>) -> PyResult<Key> {
        seed(label, "label", |label| Key(self.0.child(label)))
    }

    /// Returns `num` keys, as JAX's `split` does. They are the children 0, 1 and so on of the child
    /// called "split", so none of them is a key that `fold_in` or `child` makes of a number.
    #[pyo3(signature = (num=Many(2), /), text_signature = "($self, num=2, /)")]
    fn split(&self, num: Many) -> PyResult<Vec<Key>> {
        let Many(num) = num;
        let parent = self.0.child("split");
        let mut keys = room(num)?;
        keys.extend((0..num as u64).map(|i| Key(parent.child(i))));
        Ok(keys)
    }

    /// Returns the key for this number or name, as JAX's `fold_in` does: the same as `child`.
    #[pyo3(signature = (data, /))]
    fn fold_in(&self, data: &Bound<'_, PyAny>) -> PyResult<Key> {
        self.child(data)
    }

    /// Returns stream number `id` of this key, from 0 to 2^48 - 1.
    #[pyo3(signature = (id, /))]
    pub(crate) fn stream(&self, id: &Bound<'_, PyAny>) -> PyResult<Stream> {
        let integer = integer(id, "id")?;
        let stream = integer.extract::<u64>().ok().and_then(|id| self.0.stream(id).ok());
        stream.map(Stream).ok_or_else(|| outside(&integer, "id", "from 0 to 2^48 - 1"))
    }

    /// Returns `n` bytes for the generator called `label`: the material of another generator's
    /// state.
    #[pyo3(signature = (label, n, /))]
    fn expand<'py>(
        &self,
        py: Python<'py>,
        label: &Bound<'py, PyAny>,
        n: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        // A length above this one is no `Py_ssize_t`, so `PyBytes` would ask for a negative one.
        let n = unsigned(n, "n")? as usize;
        if n > isize::MAX as usize {
            return Err(no_memory(n));
        }
        seed(label, "label", |label| {
            PyBytes::new_with(py, n, |out| {
                self.0.expand(label, out);
                Ok(())
            })
        })?
    }

    /// Returns the engine's block of 128 bits for this counter.
    #[pyo3(signature = (counter, /))]
    fn block(&self, counter: &Bound<'_, PyAny>) -> PyResult<u128> {
        let integer = integer(counter, "counter")?;
        let counter = integer.extract();
        counter
            .map(|counter| self.0.block(counter))
            .map_err(|_| outside(&integer, "counter", "from 0 to 2^128 - 1"))
    }

    /// Returns the name of the engine: `ars7`, `ars5` or `philox4x32`.
    #[getter]
    fn engine(&self) -> &'static str {
        self.0.engine().name()
    }

    /// Returns the key's 16 bytes, from which `from_raw` makes the key again.
    #[getter]
    fn raw<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.to_raw())
    }

    pub(crate) fn __repr__(&self) -> String {
        let digits: String = self.0.to_raw().iter().map(|byte| format!("{byte:02x}")).collect();
        format!("Key.from_raw(bytes.fromhex('{digits}'), engine='{}')", self.engine())
    }

    fn __copy__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    fn __deepcopy__<'py>(slf: Bound<'py, Self>, _memo: &Bound<'py, PyAny>) -> Bound<'py, Self> {
        slf
    }

    fn __reduce__<'py>(
        slf: &Bound<'py, Self>,
    ) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let (py, key) = (slf.py(), slf.get());
        let make = slf.get_type().getattr("_unpickle")?;
        Ok((make, (key.raw(py), key.engine()).into_pyobject(py)?))
    }

    /// Returns the key of these bytes; `pickle` calls it.
    #[classmethod]
    #[pyo3(signature = (raw, engine, /))]
    fn _unpickle(_class: &Bound<'_, PyType>, raw: &[u8], engine: &str) -> PyResult<Key> {
        Key::from_raw(raw, engine)
    }
}

/// Returns the names of the engines, the default first.
pub(crate) fn engines(py: Python<'_>) -> PyResult<Bound<'_, PyTuple>> {
    PyTuple::new(py, Engine::ALL.iter().map(|engine| engine.name()))
}

/// Returns the key that `value` is.
pub(crate) fn key(value: &Bound<'_, PyAny>) -> PyResult<headwater_streams::Key> {
    match value.cast::<Key>() {
        Ok(key) => Ok(key.get().0),
        Err(_) => Err(PyTypeError::new_err(format!(
            "key must be a headwater.Key, not {}",
            value.get_type().qualname()?
        ))),
    }
}
