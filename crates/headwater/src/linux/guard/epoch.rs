//! The fork canary, and the epochs that keep an interrupted frame away from its child's pools.
//!
//! The canary lies in memory that the kernel clears in a forked child, however the fork was made; the
//! mirror beside it does not. A process is in epoch `e` when both hold `e`. A child finds the canary zero
//! and moves to an epoch that no frame before it was in; slots and pages are indexed by the epoch's last
//! four bits (a *bank*), so that a frame which the fork interrupted, and which goes on in the child,
//! works on a bank that nobody else there uses. Its last comparison then finds the canary changed, and
//! it starts again. Without banks such a frame served zeros, or its parent's bytes (DESIGN.md, "Why
//! sixteen banks").
//!
//! Limit: sixteen forks stacked on one interrupted frame, each within a handler that interrupted the
//! child before, bring a bank round again.

use crate::linux::force::{Point, hook};
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Banks of slots and pages; a power of two. Four were measured to be too few.
pub(crate) const BANKS: usize = 16;

/// The mirror of a process that has not chosen an epoch yet. Not 0, so that a cleared canary never agrees with
/// a mirror, and one comparison tells whether the epoch is settled.
pub(crate) const FIRST_MIRROR: u64 = 1;

/// Both halves of the epoch. All loads and stores are relaxed: the canary changes only by a fork, which is
/// in the past of the one thread that the child has.
#[derive(Clone, Copy)]
pub(crate) struct Epoch<'a> {
    /// In memory cleared by fork; 0 in a child that has not drawn yet.
    pub(crate) canary: &'a AtomicU64,
    /// In memory kept by fork; never 0.
    pub(crate) mirror: &'a AtomicU64,
}

impl Epoch<'_> {
    /// The current epoch, never 0; None if it has to be chosen first.
    #[inline(always)]
    pub(crate) fn settled(self) -> Option<u64> {
        let epoch = self.canary.load(Relaxed);
        // The mirror is compared too, although only `choose` writes it. Thread V may have chosen the canary
        // and not stored the mirror yet; thread T would take a slot in that epoch, and a child forked from
        // T's handler would find the old mirror and choose T's own bank. So T stores it first.
        (self.mirror.load(Relaxed) == epoch).then_some(epoch)
    }

    /// The current epoch, never 0.
    #[inline]
    pub(crate) fn get(self) -> u64 {
        match self.settled() {
            Some(epoch) => epoch,
            None => self.choose(),
        }
    }

    #[cold]
    #[inline(never)]
    fn choose(self) -> u64 {
        loop {
            if self.canary.load(Relaxed) == 0 {
                let next = self.mirror.load(Relaxed) + 1;
                // Lost to another thread or to a handler: theirs is as good.
                let _ = self.canary.compare_exchange(0, next, Relaxed, Relaxed);
            }
            let chosen = self.canary.load(Relaxed);
            hook(Point::EpochChosen);
            if chosen == 0 {
                continue; // a handler forked just now, and this is the child
            }
            self.mirror.store(chosen, Relaxed);
            // A frame of this function that was interrupted in an older epoch may set the mirror back; it
            // holds no slot, and the next call repairs it.
            if self.canary.load(Relaxed) == chosen && self.mirror.load(Relaxed) == chosen {
                return chosen;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_never_gets_an_epoch_again() {
        let (canary, mirror) = (AtomicU64::new(0), AtomicU64::new(FIRST_MIRROR));
        let epoch = Epoch {
            canary: &canary,
            mirror: &mirror,
        };
        assert_eq!(epoch.settled(), None);
        assert_eq!(epoch.get(), 2);
        assert_eq!(epoch.settled(), Some(2));
        canary.store(0, Relaxed); // what the kernel does in a child
        assert_eq!(epoch.settled(), None);
        assert_eq!(epoch.get(), 3);
        // Another thread has chosen and not yet stored the mirror.
        canary.store(4, Relaxed);
        assert_eq!(epoch.get(), 4);
        assert_eq!(mirror.load(Relaxed), 4);
        // A late store of an interrupted frame.
        mirror.store(3, Relaxed);
        assert_eq!(epoch.get(), 4);
        assert_eq!(mirror.load(Relaxed), 4);
    }
}
