//! The atomics of `races`, by one name: `tests/loom` has the model checker's in their place.

pub(crate) use core::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};
