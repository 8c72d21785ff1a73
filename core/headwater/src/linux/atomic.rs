//! The atomics under one name: `tests/loom` compiles the same files with the model checker's in
//! their place.

pub(crate) use core::sync::atomic::{AtomicPtr, AtomicU8, AtomicU32, AtomicU64, Ordering, fence};
