//! UUIDs as objects of the module `uuid`, as bytes and as text.

use super::draw::{length, new_str, os_error};
use super::encode;
use super::ints::int_of;
use pyo3::exceptions::PyMemoryError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyList, PyString, PyType};
use pyo3::{PyErr, ffi, intern};

/// UUIDs of a batch whose bytes are drawn together: 4 KiB, which stay in the cache.
const TOGETHER: usize = 256;

pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(uuid4, module)?)?;
    module.add_function(wrap_pyfunction!(uuid7, module)?)?;
    module.add_function(wrap_pyfunction!(uuid4_bytes, module)?)?;
    module.add_function(wrap_pyfunction!(uuid4_str, module)?)?;
    module.add_function(wrap_pyfunction!(uuid4_batch, module)?)
}

/// Returns a random uuid.UUID (version 4, RFC 9562).
#[pyfunction]
fn uuid4(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    class(py)?.make(py, draw4)
}

/// Returns a time-ordered uuid.UUID (version 7, RFC 9562).
///
/// It holds the milliseconds since 1970, the fraction of the millisecond in 12 bits, and 62 random
/// bits.
#[pyfunction]
fn uuid7(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    class(py)?.make(py, || Ok(headwater::uuid::v7().map_err(os_error)?.into_bytes()))
}

/// Returns the 16 bytes of a random UUID.
#[pyfunction]
fn uuid4_bytes(py: Python<'_>) -> PyResult<Bound<'_, PyBytes>> {
    Ok(PyBytes::new(py, &draw4()?))
}

/// Returns a random UUID as text, equal to str(uuid4()) in form.
#[pyfunction]
fn uuid4_str(py: Python<'_>) -> PyResult<Bound<'_, PyString>> {
    new_str(py, &encode::uuid(&draw4()?))
}

/// Returns a list of n random UUIDs: uuid.UUID objects, or str if as_str is true.
#[pyfunction]
#[pyo3(signature = (n, as_str=false))]
fn uuid4_batch<'py>(
    py: Python<'py>,
    n: &Bound<'py, PyAny>,
    as_str: bool,
) -> PyResult<Bound<'py, PyList>> {
    let count = length("n", n)?;
    if as_str {
        let mut drawn = Together::new();
        return batch(py, count, |left| {
            Ok(new_str(py, &encode::uuid(&version4(drawn.next(left)?)))?.into_any())
        });
    }
    // Not drawn together: no bytes may wait while Python code can run, which `make` explains.
    let class = class(py)?;
    batch(py, count, |_| class.make(py, draw4))
}

/// Random bytes of the next texts. No Python code may run while some are left: see [`Class::make`].
struct Together {
    bytes: [[u8; 16]; TOGETHER],
    used: usize,
}

impl Together {
    fn new() -> Together {
        Together { bytes: [[0; 16]; TOGETHER], used: TOGETHER }
    }

    /// Returns the bytes of one UUID, of which `left` are still wanted.
    fn next(&mut self, left: usize) -> PyResult<[u8; 16]> {
        if self.used == TOGETHER {
            let first = TOGETHER - left.min(TOGETHER);
            headwater::fill(self.bytes[first..].as_flattened_mut()).map_err(os_error)?;
            self.used = first;
        }
        self.used += 1;
        Ok(self.bytes[self.used - 1])
    }
}

/// Returns a list of `count` objects. `make` gets the number of those that are still wanted.
///
/// The list is made last: `make` may run Python code, which could find a list with empty places.
fn batch<'py>(
    py: Python<'py>,
    count: usize,
    mut make: impl FnMut(usize) -> PyResult<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyList>> {
    let mut made = Vec::new();
    made.try_reserve_exact(count).map_err(|_| PyMemoryError::new_err(()))?;
    for left in (1..=count).rev() {
        made.push(make(left)?);
    }
    PyList::new(py, made)
}

/// Draws the bytes of a UUID of version 4.
#[inline]
fn draw4() -> PyResult<[u8; 16]> {
    Ok(version4(headwater::array().map_err(os_error)?))
}

/// Sets the version and the variant of RFC 9562 section 5.4.
#[inline]
fn version4(mut bytes: [u8; 16]) -> [u8; 16] {
    bytes[6] = bytes[6] & 0x0F | 0x40;
    bytes[8] = bytes[8] & 0x3F | 0x80;
    bytes
}

/// The class uuid.UUID, and the way to make its objects.
struct Class {
    class: Py<PyType>,
    /// The slots of the class as CPython 3.11 to 3.14 has it; None if it is built otherwise.
    slots: Option<Slots>,
}

/// The two slots of a UUID. Its own `__init__` would parse and check one of six arguments, which
/// takes 1 us.
struct Slots {
    int: Slot,
    is_safe: Slot,
    /// `uuid.SafeUUID.unknown`, the value that uuid.uuid4() sets.
    unknown: Py<PyAny>,
}

/// A slot's descriptor, and its function that sets the slot of an object.
struct Slot {
    descriptor: Py<PyAny>,
    set: ffi::descrsetfunc,
}

/// Returns the class. The first call imports `uuid`, which takes 25 ms.
#[inline]
fn class(py: Python<'_>) -> PyResult<&Class> {
    static CLASS: PyOnceLock<Class> = PyOnceLock::new();
    CLASS.get_or_try_init(py, || Class::find(py))
}

impl Class {
    #[cold]
    fn find(py: Python<'_>) -> PyResult<Class> {
        let module = py.import(intern!(py, "uuid"))?;
        let class = module.getattr(intern!(py, "UUID"))?.cast_into::<PyType>()?;
        let unknown = module.getattr(intern!(py, "SafeUUID"))?.getattr(intern!(py, "unknown"))?;
        let slots = match (Slot::of(&class, "int")?, Slot::of(&class, "is_safe")?) {
            (Some(int), Some(is_safe)) => Some(Slots { int, is_safe, unknown: unknown.unbind() }),
            _ => None,
        };
        Ok(Class { class: class.unbind(), slots })
    }

    /// Returns a UUID of the bytes that `draw` returns.
    ///
    /// The object is made before its bytes are drawn, which looks like the wrong order. But a new
    /// object may start the garbage collector, which may run a finalizer, which may fork, and then
    /// bytes from before the fork would become a UUID in both processes. The ints that are made
    /// after the draw are no concern of the collector.
    fn make<'py>(
        &self,
        py: Python<'py>,
        draw: impl FnOnce() -> PyResult<[u8; 16]>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let class = self.class.bind(py);
        let Some(slots) = &self.slots else {
            return class.call((py.None(), PyBytes::new(py, &draw()?)), None);
        };
        // SAFETY: the class is a heap type without a `tp_alloc` of its own, for which this call is
        // what `object.__new__` runs. Its slots are empty until they are set here.
        let uuid = unsafe {
            let uuid = ffi::PyType_GenericAlloc(class.as_type_ptr(), 0);
            Bound::from_owned_ptr_or_err(py, uuid)?
        };
        let mut bytes = draw()?;
        bytes.reverse();
        let int = int_of(py, &bytes)?;
        slots.int.set(&uuid, &int)?;
        slots.is_safe.set(&uuid, slots.unknown.bind(py))?;
        Ok(uuid)
    }
}

impl Slot {
    /// Returns the slot `name` of `class`; None if the attribute is no slot.
    fn of(class: &Bound<'_, PyType>, name: &str) -> PyResult<Option<Slot>> {
        let py = class.py();
        let members = py.import(intern!(py, "types"))?.getattr("MemberDescriptorType")?;
        let Ok(descriptor) = class.getattr(name) else { return Ok(None) };
        if !descriptor.get_type().is(&members) {
            return Ok(None);
        }
        // SAFETY: for `Py_tp_descr_set` the answer is null or a `descrsetfunc`, and a null pointer
        // is that type's None.
        let set: Option<ffi::descrsetfunc> = unsafe {
            core::mem::transmute(ffi::PyType_GetSlot(
                descriptor.get_type().as_type_ptr(),
                ffi::Py_tp_descr_set,
            ))
        };
        Ok(set.map(|set| Slot { descriptor: descriptor.unbind(), set }))
    }

    /// Sets the slot past `UUID.__setattr__`, which refuses all changes.
    #[inline]
    fn set(&self, uuid: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        // SAFETY: the three objects are alive; the descriptor checks that it belongs to the object.
        let done = unsafe { (self.set)(self.descriptor.as_ptr(), uuid.as_ptr(), value.as_ptr()) };
        if done == 0 { Ok(()) } else { Err(PyErr::fetch(uuid.py())) }
    }
}
