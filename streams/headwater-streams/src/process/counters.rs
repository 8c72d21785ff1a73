//! The counters of one CPU, and the two ways to add to one.
//!
//! A counter is the whole state of a generator here: the engine turns each of its values into a
//! block, so a claim of `n` blocks is one addition. Addition and read are one instruction, which no
//! interrupt divides. So a thread that is preempted, killed or left by siglongjmp in the middle of
//! a draw holds nothing, and no draw ever waits or finds its counter taken.
//!
//! The two ways have counters of their own, because an addition with the lock prefix does not
//! exclude one without it.

#![allow(unsafe_code)]

use core::sync::atomic::{AtomicU64, Ordering};

/// The counters of one CPU. Zeros, which fresh memory holds and a child finds, are the first
/// values.
///
/// 128 bytes, because CPUs prefetch cache lines in pairs.
#[repr(C, align(128))]
pub(crate) struct Counters {
    /// Added to by sections of this CPU alone, without the lock prefix.
    #[cfg_attr(not(test), allow(dead_code))] // builds without sections
    pub(crate) own: AtomicU64,
    /// Added to by any thread, as one atomic operation.
    pub(crate) shared: AtomicU64,
}

/// A range of counter values that belongs to one draw alone.
#[derive(Clone, Copy)]
pub(crate) struct Claim {
    /// The first value.
    pub(crate) first: u64,
    /// The counter: twice the index of its CPU, and one more if it is the shared one.
    pub(crate) counter: u64,
}

impl Counters {
    /// Claims `blocks` values of the shared counter of the CPU with this index.
    #[inline(always)]
    pub(crate) fn claim_shared(&self, index: usize, blocks: u64) -> Claim {
        // Relaxed: the value is all that is shared, and an addition is atomic under any ordering.
        let first = self.shared.fetch_add(blocks, Ordering::Relaxed);
        Claim { first, counter: 2 * index as u64 + 1 }
    }
}
