//! Hooks in front of seeded generators, which renew them before their first draw in a copy.
//!
//! A hook compares one number, the count of copies ([`headwater::copies`]). Only if that moved does
//! it call Python: the handler that `headwater.clones` has installed renews all generators at once,
//! those without a hook included. So a draw pays for a comparison, and no generator has to be
//! found before a copy is.

mod method;
mod numpy;

use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use std::cell::Cell;

/// The count of copies for which the handler last ran.
static SEEN: AtomicU64 = AtomicU64::new(0);
static HANDLER: PyOnceLock<Py<PyAny>> = PyOnceLock::new();

thread_local! {
    /// True while this thread is in the handler, whose own draws must not call it again.
    static HANDLING: Cell<bool> = const { Cell::new(false) };
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(clones_begin, module)?)?;
    module.add_function(wrap_pyfunction!(clones_check, module)?)?;
    module.add_function(wrap_pyfunction!(copies, module)?)?;
    method::register(module)?;
    numpy::register(module)
}

/// Returns whether a copy was seen that the handler has not met.
#[inline(always)]
fn is_copied() -> bool {
    headwater::copies() != SEEN.load(Ordering::Acquire)
}

/// Runs the handler. An error is the draw's: it raises, since it would repeat otherwise.
///
/// Every thread that finds the count moved runs the handler to its end before it draws. If only one
/// did, the others would draw meanwhile; and if they waited, a handler that waits for them would
/// never end. To renew a generator twice does no harm.
#[cold]
#[inline(never)]
fn renew(py: Python<'_>) -> PyResult<()> {
    if HANDLING.get() {
        return Ok(());
    }
    let Some(handler) = HANDLER.get(py) else { return Ok(()) };
    // Read before the handler runs: a copy that is made meanwhile is another one.
    let now = headwater::copies();
    HANDLING.set(true);
    let done = handler.call0(py);
    HANDLING.set(false);
    done?;
    SEEN.store(now, Ordering::Release);
    Ok(())
}

/// Begins to count copies, and installs the handler. Returns whether copies of this process and of
/// its machine can be seen.
#[pyfunction]
fn clones_begin(py: Python<'_>, handler: Py<PyAny>) -> PyResult<(bool, bool)> {
    static HOOKED: AtomicBool = AtomicBool::new(false);
    let seen = headwater::internal::copies_seen();
    SEEN.store(headwater::copies(), Ordering::Release);
    HANDLER.set(py, handler).map_err(|_| PyRuntimeError::new_err("installed already"))?;
    if !HOOKED.swap(true, Ordering::AcqRel) {
        // SAFETY: three functions of this module, which Python never unloads. They take nothing,
        // and are async-signal-safe, as a child of a process with threads demands.
        let refused =
            unsafe { libc::pthread_atfork(Some(before_fork), Some(after_fork), Some(in_child)) };
        if refused != 0 {
            return Err(PyErr::from(std::io::Error::from_raw_os_error(refused)));
        }
    }
    Ok(seen)
}

extern "C" fn before_fork() {
    headwater::internal::before_fork();
}

extern "C" fn after_fork() {
    headwater::internal::after_fork();
}

/// Looks in the child at once, so that a copy of the child is seen although it has not drawn.
extern "C" fn in_child() {
    headwater::copies();
}

/// Renews what has to be renewed, if this is a copy; for generators that no hook precedes.
#[pyfunction]
fn clones_check(py: Python<'_>) -> PyResult<()> {
    if is_copied() { renew(py) } else { Ok(()) }
}

/// Returns how often this process, or its machine, was seen to be copied since the first call.
///
/// It moves at no fork and no reseed of the kernel, as generation() does. It is no identity: two
/// copies of one original have the same.
#[pyfunction]
fn copies() -> u64 {
    headwater::copies()
}
