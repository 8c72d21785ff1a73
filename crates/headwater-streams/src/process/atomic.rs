//! The atomics of what threads race for, by one name: `tests/loom` has the model checker's in their place.

pub(crate) use core::sync::atomic::{AtomicPtr, AtomicU32, AtomicUsize, Ordering};
