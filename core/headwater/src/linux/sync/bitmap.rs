//! Ownership of 64 things, a bit each.

use crate::linux::atomic::{AtomicU64, Ordering};

/// One bit for each thing that is owned.
pub(crate) struct Bitmap(pub(crate) AtomicU64);

impl Bitmap {
    /// Takes the first free thing and returns its index.
    pub(crate) fn take(&self) -> Option<u32> {
        let mut owned = self.0.load(Ordering::Relaxed);
        while owned != u64::MAX {
            let index = owned.trailing_ones();
            let taken = self.0.compare_exchange_weak(
                owned,
                owned | 1 << index,
                // Pairs with the release in `give_back`: the former owner's writes are visible.
                Ordering::Acquire,
                Ordering::Relaxed,
            );
            match taken {
                Ok(_) => return Some(index),
                Err(now) => owned = now,
            }
        }
        None
    }

    /// Frees a thing that the caller owns.
    pub(crate) fn give_back(&self, index: u32) {
        self.0.fetch_and(!(1 << index), Ordering::Release);
    }

    /// Returns the number of owned things.
    pub(crate) fn count(&self) -> u32 {
        self.0.load(Ordering::Relaxed).count_ones()
    }
}
