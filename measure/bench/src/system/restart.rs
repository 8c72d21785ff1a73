//! Starting this program again, as a child that is measured or that serves requests.

use std::sync::atomic::{AtomicBool, Ordering};

/// The argument that makes this program serve another one's requests, as headwater without
/// restartable sequences.
pub(crate) const HELPER: &str = "--headwater-bench-helper";

/// Reports whether this program may be started again.
pub(crate) fn starts_again() -> bool {
    STARTS_AGAIN.load(Ordering::Relaxed)
}

/// The flag is set in programs that look for [`ARGUMENT`] and [`HELPER`] when they start.
pub(crate) static STARTS_AGAIN: AtomicBool = AtomicBool::new(false);
