//! The line of a slot: its lock, the state of its page, and its counters.

use crate::linux::pool::page_state::PageState;
use crate::linux::sync::slot_lock::SlotLock;
use core::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, Ordering::Relaxed};

/// A slot's line, in memory that a fork clears and the kernel never drops.
///
/// Two cache lines: with one, the adjacent-line prefetcher would make neighbouring CPUs share.
#[repr(C, align(128))]
pub(crate) struct SlotLine {
    pub(crate) lock: SlotLock,
    pub(crate) page_state: PageState,
    pub(crate) counters: SlotCounters,
    /// The page in which refills for sections work; null until one was exchanged. The slot's holder
    /// alone uses it.
    pub(crate) work: AtomicPtr<u8>,
    /// Refills in a row that left no page for later draws, though none was there.
    pub(crate) unput: AtomicU32,
}

const _: () = assert!(size_of::<SlotLine>() == 128);

/// The events at a slot. The slot's holder counts them; `busy` and `fallbacks` are counted without
/// it.
#[derive(Default)]
pub(crate) struct SlotCounters {
    pub(crate) refills: AtomicU64,
    pub(crate) discarded_bytes: AtomicU64,
    pub(crate) retries: AtomicU64,
    pub(crate) busy: AtomicU64,
    pub(crate) fallbacks: AtomicU64,
    pub(crate) tripwires: AtomicU64,
}

impl SlotCounters {
    /// Adds `n`, atomically: a handler may interrupt the holder and count at the same slot.
    #[inline]
    pub(crate) fn add(counter: &AtomicU64, n: u64) {
        counter.fetch_add(n, Relaxed);
    }
}
