//! The fork canary, and the epochs that keep an interrupted frame out of its child's pools.
//!
//! The canary lies in memory that the kernel clears in a forked child, however the fork was made.
//! While it is set, its value is the epoch that the process is in; a child finds it zero and enters
//! an epoch that no frame before it was in. Slots and pages are indexed by the epoch's number
//! modulo [`BANKS`], so that a frame which the fork interrupted, and which continues in the child,
//! works on a bank that is not in use there. The frame's last comparison then finds the canary
//! changed, and the frame starts again. Without banks such a frame served zeros, or its parent's
//! bytes (DESIGN.md, "Why sixteen banks").
//!
//! A child in its parent's memory (vfork, or clone(2) with CLONE_VM) is no fork to the canary: as
//! there is one memory, nothing is cleared, and the child is in its parent's epoch. It needs no
//! bank, because a slot that an interrupted frame holds is locked for the child as well: to an
//! exchange on that memory it is one more thread. But to a section it is not, so the head of
//! `pool::section` says what keeps it apart there.
//!
//! Numbers are reserved before they are published, from a counter that the fork keeps: whatever
//! epoch a frame is in, every child forked from then on counts from a higher number. A number may
//! be reserved and lost that way, but then no process ever uses it, so nothing is wrong with that.
//!
//! Limit: sixteen forks stacked on one interrupted frame, each within a handler that interrupted
//! the child before, bring a bank round again.

use crate::linux::atomic::{AtomicU64, Ordering};
use crate::linux::failpoint::{Point, hook};

/// Banks of slots and pages; a power of two. Four were measured to be too few.
pub(crate) const BANKS: usize = 16;

/// Bits of an epoch that hold the index of its bank's first slot; the number is above them.
const INDEX_BITS: u32 = 16;

/// An epoch: its number and the first slot of its bank. Never 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Epoch(u64);

impl Epoch {
    fn new(number: u64, slots: u32) -> Epoch {
        // The process that does the set-up is number 1 and has the first bank, the only one to be
        // locked.
        let bank = number.wrapping_sub(1) % BANKS as u64;
        Epoch((number << INDEX_BITS) | (bank * u64::from(slots)))
    }

    /// Returns the index of the bank's first slot, among all slots of all banks.
    #[inline(always)]
    pub(crate) fn first_slot(self) -> usize {
        self.0 as usize & ((1 << INDEX_BITS) - 1)
    }

    pub(crate) fn get(self) -> u64 {
        self.0
    }
}

/// The canary, and the counter beside it.
#[derive(Clone, Copy)]
pub(crate) struct Canary<'a> {
    /// In memory cleared by fork; 0 in a child that has not drawn yet.
    pub(crate) epoch: &'a AtomicU64,
    /// In memory kept by fork: the last number that was reserved.
    pub(crate) reserved: &'a AtomicU64,
    /// Slots of a bank.
    pub(crate) slots: u32,
}

impl Canary<'_> {
    /// Returns the current epoch; None in a child that has not chosen one.
    ///
    /// Acquire: pairs with the release in `choose`, so that a child forked by this thread sees the
    /// number reserved.
    #[inline(always)]
    pub(crate) fn current(self) -> Option<Epoch> {
        match self.epoch.load(Ordering::Acquire) {
            0 => None,
            epoch => Some(Epoch(epoch)),
        }
    }

    /// Returns whether `epoch` is still the current one.
    #[inline(always)]
    pub(crate) fn is(self, epoch: Epoch) -> bool {
        self.epoch.load(Ordering::Relaxed) == epoch.0
    }

    /// Returns the current epoch, chosen now if there is none.
    #[cold]
    pub(crate) fn choose(self) -> Epoch {
        loop {
            if let Some(epoch) = self.current() {
                return epoch;
            }
            let number = self.reserved.fetch_add(1, Ordering::Relaxed) + 1;
            hook(Point::EpochChosen);
            let epoch = Epoch::new(number, self.slots).0;
            // If the exchange fails, another thread or a handler in a child has chosen: that epoch
            // is as good.
            let (release, relaxed) = (Ordering::Release, Ordering::Relaxed);
            let _ = self.epoch.compare_exchange(0, epoch, release, relaxed);
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_child_never_gets_an_epoch_again() {
        let (epoch, reserved) = (AtomicU64::new(0), AtomicU64::new(0));
        let canary = Canary { epoch: &epoch, reserved: &reserved, slots: 4 };
        assert_eq!(canary.current(), None);
        let first = canary.choose();
        assert_eq!((canary.choose(), canary.current()), (first, Some(first)));
        assert!(canary.is(first));
        epoch.store(0, Ordering::Relaxed); // what the kernel does in a child
        assert!(!canary.is(first));
        let second = canary.choose();
        assert_ne!(first, second);
        assert_ne!(first.first_slot(), second.first_slot());
        // A frame that had reserved a number, and continues in the child of its child.
        epoch.store(0, Ordering::Relaxed);
        reserved.fetch_add(1, Ordering::Relaxed);
        let third = canary.choose();
        assert!(third.get() >> INDEX_BITS > (second.get() >> INDEX_BITS) + 1);
    }

    #[test]
    fn banks_come_round_after_sixteen_and_stay_within_the_slots() {
        for slots in [0, 2, 4, 512] {
            for number in 1..100 {
                let first = Epoch::new(number, slots).first_slot();
                assert_eq!(first, (number as usize - 1) % BANKS * slots as usize);
                assert!(first <= (BANKS - 1) * slots as usize);
            }
        }
    }
}
