//! The crate's own file, compiled with the model checker's atomics.

/// Takes the place of `src/process/atomic.rs`.
pub(crate) mod atomic {
    pub(crate) use loom::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};
}

#[path = "../../src/process/hook.rs"]
mod hook;
#[path = "../../src/process/races.rs"]
pub(crate) mod races;
