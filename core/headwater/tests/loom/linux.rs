//! The library's own files, compiled with the model checker's atomics.

/// Stands for `src/linux/atomic.rs`.
pub(crate) mod atomic {
    pub(crate) use loom::sync::atomic::{
        AtomicPtr, AtomicU8, AtomicU32, AtomicU64, Ordering, fence,
    };
}

#[path = "../../src/linux/failpoint.rs"]
pub(crate) mod failpoint;
#[path = "../../src/linux/guards/fork.rs"]
pub(crate) mod fork;
#[path = "../../src/linux/pool/page_state.rs"]
pub(crate) mod page_state;
#[path = "../../src/linux/sync/mod.rs"]
pub(crate) mod sync;
