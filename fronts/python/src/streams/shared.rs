//! A warning of two arrays of one stream that are made of the same words.
//!
//! A stream has no place, so uniform numbers and integers of one stream are the same words in two
//! forms, with a correlation of 0.9999. That is what makes an element a function of its number, so
//! no error can forbid it, but a newcomer rarely wants it. Python's development mode (`-X dev`)
//! remembers what was drawn of each stream, and warns of the second kind. In other modes a draw
//! looks at one flag.

use headwater_streams::Stream;
use headwater_streams::kinds::Kind;
use pyo3::exceptions::PyRuntimeWarning;
use pyo3::prelude::*;
use std::collections::HashMap;
use std::ffi::CString;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

static ON: AtomicBool = AtomicBool::new(false);
/// The kinds that were drawn of the words of a stream, a bit for each number of a kind.
static SEEN: Mutex<Option<HashMap<(Stream, u8), u64>>> = Mutex::new(None);
/// Streams after which the memory begins anew: a program with more of them has names for them.
const STREAMS: usize = 4096;

const _: () = assert!(Kind::ALL.len() <= 64);

/// Begins to warn, or stops.
#[pyfunction]
pub(crate) fn warn_of_shared_words(on: bool) {
    ON.store(on, Ordering::Relaxed);
    *SEEN.lock().unwrap_or_else(PoisonError::into_inner) = None;
}

/// Warns in Python's development mode.
pub(crate) fn set_up(py: Python<'_>) -> PyResult<()> {
    let flags = py.import("sys")?.getattr("flags")?;
    let on = flags.getattr("dev_mode").is_ok_and(|mode| mode.is_truthy().unwrap_or(false));
    ON.store(on, Ordering::Relaxed);
    Ok(())
}

/// Notes that numbers of a kind are drawn, and warns if another kind had the same words.
#[inline]
pub(crate) fn note(py: Python<'_>, stream: &Stream, kind: Kind) -> PyResult<()> {
    if ON.load(Ordering::Relaxed) { noted(py, stream, kind) } else { Ok(()) }
}

#[cold]
fn noted(py: Python<'_>, stream: &Stream, kind: Kind) -> PyResult<()> {
    let own = 1 << kind as u8;
    let before = {
        let mut seen = SEEN.lock().unwrap_or_else(PoisonError::into_inner);
        let seen = seen.get_or_insert_default();
        if seen.len() >= STREAMS {
            seen.clear();
        }
        let kinds = seen.entry((*stream, words(kind))).or_default();
        let before = *kinds;
        *kinds |= own;
        before
    };
    let other = Kind::ALL.into_iter().find(|&other| before & 1 << other as u8 != 0);
    let Some(other) = other.filter(|_| before & own == 0) else { return Ok(()) };
    let text = format!(
        "{} and {} numbers of one stream are made of the same words, so they correlate: draw one \
         of them from stream.child(\"a name\")",
        other.name(),
        kind.name()
    );
    let text = CString::new(text).unwrap_or_default();
    PyErr::warn(py, &py.get_type::<PyRuntimeWarning>(), &text, 1)
}

/// Returns a number that two kinds share if their elements are made of the same words.
fn words(kind: Kind) -> u8 {
    match kind {
        // Views of the words of draw 0.
        _ if kind.types().iter().any(|one| one.words > 0) => u8::MAX,
        Kind::Gamma | Kind::ScaledGamma | Kind::ChiSquare => Kind::Gamma as u8,
        _ => kind as u8,
    }
}
