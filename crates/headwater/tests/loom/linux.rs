//! The library's own files, compiled with the model checker's atomics.

/// Stands for `src/linux/atomic.rs`.
pub(crate) mod atomic {
    pub(crate) use loom::sync::atomic::{
        AtomicPtr, AtomicU8, AtomicU32, AtomicU64, Ordering, fence,
    };
}

#[path = "../../src/linux/guard/epoch.rs"]
pub(crate) mod epoch;
#[path = "../../src/linux/force.rs"]
pub(crate) mod force;
#[path = "../../src/linux/ledger.rs"]
pub(crate) mod ledger;
#[path = "../../src/linux/races/mod.rs"]
pub(crate) mod races;
