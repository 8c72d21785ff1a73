//! The words of the page in which `headwater clones watch` counts the copies of a machine.
//!
//! One process writes them, beside a repair, and any number of processes read them without a lock.
//! A count alone would do as long as the writer lives. But a writer that died leaves a count that
//! stands still, which looks as if no copy was ever made. So a second word holds the number of the
//! writer's thread, and the kernel itself changes it when that thread ends, however it ends (a
//! robust futex, `kernel/futex/core.c`: `handle_futex_death`).

use crate::linux::atomic::{AtomicU32, AtomicU64, Ordering};

/// The bits of `owner` in which the kernel looks for the number of a thread (FUTEX_TID_MASK).
const THREAD: u32 = 0x3FFF_FFFF;

/// The words, as they lie in the page after its magic number and version.
#[repr(C)]
#[derive(Debug)]
pub struct WatchWords {
    /// The thread that watches. The kernel sets it to FUTEX_OWNER_DIED, without a number, when the
    /// thread ends.
    pub owner: AtomicU32,
    /// The number of copies that were seen, and of the times that none could have been seen.
    pub copies: AtomicU64,
    /// The signals that the watcher has, as bits.
    pub signals: AtomicU64,
    /// The copies among `copies` that a repair has counted. It runs in a copy, so these are
    /// certain, whereas a watcher that follows the wall clock counts steps with other reasons too.
    pub repairs: AtomicU64,
}

/// The words at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Watched {
    pub(crate) copies: u64,
    pub(crate) signals: u64,
    pub(crate) repairs: u64,
    /// The writer is alive, so a copy will be counted.
    pub(crate) is_alive: bool,
}

impl Watched {
    /// Returns a number that differs from every earlier one if a copy was counted meanwhile, or if
    /// the writer died.
    pub(crate) fn number(self) -> u64 {
        self.copies << 1 | u64::from(self.is_alive)
    }
}

impl WatchWords {
    /// Returns the words now.
    ///
    /// The owner first. A writer that takes over counts before it writes its number (`begin`), so a
    /// reader that finds the new owner finds the new count as well. In the other order, a reader
    /// that was stopped between the loads would join the old count to the new owner, and a copy
    /// that was made while no process watched would go unseen.
    pub(crate) fn now(&self) -> Watched {
        let owner = self.owner.load(Ordering::Acquire);
        Watched {
            copies: self.copies.load(Ordering::Acquire),
            signals: self.signals.load(Ordering::Relaxed),
            repairs: self.repairs.load(Ordering::Acquire),
            is_alive: owner & THREAD != 0,
        }
    }

    /// Begins to watch, as this thread. Counts once, because copies that were made while no process
    /// watched are seen by none.
    pub fn begin(&self, thread: u32, signals: u64) {
        self.copies.fetch_add(1, Ordering::Relaxed);
        self.signals.store(signals, Ordering::Relaxed);
        self.owner.store(thread & THREAD, Ordering::Release);
    }

    /// Counts a copy, and returns how many there are now. The release pairs with `now`: a reader
    /// that sees the count draws its next seed after everything that came before this call, and
    /// above all after the reseed of the kernel.
    pub fn count(&self) -> u64 {
        self.copies.fetch_add(1, Ordering::Release) + 1
    }

    /// Counts a copy that is certain, beside the writer, and returns how many copies there are now.
    /// The release of each word pairs with `now`, as above.
    pub fn count_repair(&self) -> u64 {
        self.repairs.fetch_add(1, Ordering::Release);
        self.count()
    }
}
