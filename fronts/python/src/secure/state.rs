//! Events after which kept values must be drawn again, and the status of the process.

use super::draw::os_error;
use core::sync::atomic::AtomicU64;
use core::sync::atomic::Ordering::Relaxed;
use pyo3::prelude::*;
use pyo3::types::PyString;
use pyo3::{Borrowed, intern};

pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Stamp>()?;
    module.add_function(wrap_pyfunction!(generation, module)?)?;
    module.add_function(wrap_pyfunction!(quiesce, module)?)?;
    module.add_function(wrap_pyfunction!(status_json, module)?)
}

/// Returns an int that changes at every reseed of the kernel, clone of the VM, fork, and restore of
/// this process without its pages (CRIU 4.2).
///
/// It is no identity: compare it with an earlier one of the same copy, for inequality only. Returns
/// None if this machine cannot detect clones of itself.
#[pyfunction]
fn generation() -> Option<u64> {
    headwater::generation().map(core::num::NonZeroU64::get)
}

/// Discards every buffered byte and unmaps VMClock, so that CRIU can checkpoint the process.
#[pyfunction]
fn quiesce(py: Python<'_>) -> PyResult<()> {
    py.detach(headwater::quiesce).map_err(os_error)
}

/// Returns the document of `headwater status --json` as text.
#[pyfunction]
fn status_json(py: Python<'_>) -> String {
    // Without the GIL, because the kernel's log is read, which takes milliseconds.
    py.detach(|| {
        let mut text = Vec::new();
        headwater_status::write_now(&mut |piece| text.extend_from_slice(piece));
        String::from_utf8_lossy(&text).into_owned()
    })
}

/// A mark of the time of a draw, to be checked before kept values are used.
///
/// One thread at a time may use a stamp and the values that it guards.
// The number is kept in an atomic: a lock that another thread holds during a fork would never be
// free in the child.
#[pyclass(frozen, module = "headwater")]
struct Stamp(AtomicU64);

#[pymethods]
impl Stamp {
    /// Returns a stamp that is stale at its first check.
    #[new]
    fn new() -> Stamp {
        Stamp(AtomicU64::new(0))
    }

    /// Returns "fresh", "stale" or "unknown", and brings the stamp up to date.
    fn check<'py>(&self, py: Python<'py>) -> Borrowed<'py, 'py, PyString> {
        let mut number = self.0.load(Relaxed);
        let freshness = headwater::internal::check_stamp(&mut number);
        self.0.store(number, Relaxed);
        let name = match freshness {
            headwater::Freshness::Fresh => intern!(py, "fresh"),
            headwater::Freshness::Stale => intern!(py, "stale"),
            headwater::Freshness::Unknown => intern!(py, "unknown"),
        };
        name.as_borrowed()
    }

    /// Pickles and copies as a new stamp, which is stale: a number of another process or time says
    /// nothing about the values that travel with it.
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> (Bound<'py, PyAny>, ()) {
        (slf.get_type().into_any(), ())
    }

    fn __repr__(&self) -> &'static str {
        "headwater.Stamp()"
    }
}
