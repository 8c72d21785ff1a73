//! A slot's lock and the number of bytes left in its page, in one u32.

use crate::linux::atomic::{AtomicU32, Ordering};

/// The value while the slot is taken.
const TAKEN: u32 = u32::MAX;

/// The number of bytes left while the slot is free, so that one exchange takes the lock and returns
/// the place of the bytes. 0, which a fork leaves, is a free slot with nothing in it.
///
/// Each exchange is an acquire and pairs with the release that frees the slot: between them they
/// order page_state, page and vDSO state from holder to holder.
#[derive(Default)]
#[repr(transparent)]
pub(crate) struct SlotLock(AtomicU32);

impl SlotLock {
    /// Takes the slot if it is free, and returns the number of bytes left.
    #[inline(always)]
    pub(crate) fn take(&self) -> Option<u32> {
        let left = self.exchange();
        (left != TAKEN).then_some(left)
    }

    /// Takes the slot if it is free and at least `bytes` of `capacity` are left.
    #[inline(always)]
    pub(crate) fn take_with(&self, bytes: u32, capacity: u32) -> Option<u32> {
        let left = self.exchange();
        // One comparison for "taken" and for "not enough".
        if left.wrapping_sub(bytes) <= capacity - bytes {
            return Some(left);
        }
        if left != TAKEN {
            self.free(left);
        }
        None
    }

    /// Frees the slot, which the caller holds, with `left` bytes in it.
    #[inline(always)]
    pub(crate) fn free(&self, left: u32) {
        self.0.store(left, Ordering::Release);
    }

    /// Returns whether the slot is taken.
    pub(crate) fn is_taken(&self) -> bool {
        self.0.load(Ordering::Relaxed) == TAKEN
    }

    #[inline(always)]
    fn exchange(&self) -> u32 {
        self.0.swap(TAKEN, Ordering::Acquire)
    }
}
