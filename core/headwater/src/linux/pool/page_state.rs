//! The state of a page, which decides which bytes may leave.

use crate::linux::atomic::{AtomicU32, AtomicU64, Ordering};
use core::sync::atomic::compiler_fence;

/// The state of a page. All zeros stand for a page that was never filled.
///
/// Plain fields, as relaxed atomics: the owner alone writes them, but a fork clears them in the
/// middle of a frame, which then continues in the child. Each load is therefore made once, and used
/// as loaded.
#[derive(Default)]
#[repr(C)]
pub(crate) struct PageState {
    /// Bytes left; a multiple of 8.
    pub(crate) remaining: AtomicU32,
    /// 1 if the last refill left a hedge key in the page.
    pub(crate) hedge_key: AtomicU32,
    /// Number of the last refill; 0 if there was none.
    pub(crate) number: AtomicU64,
    /// The reseed generation at the last refill; not 0 if bytes are left.
    pub(crate) generation: AtomicU64,
    /// VMClock's marker at the last refill.
    pub(crate) marker: AtomicU64,
}

impl PageState {
    /// Returns an empty state whose first refill has the number after this.
    pub(crate) fn starting_at(number: u64) -> PageState {
        PageState { number: AtomicU64::new(number), ..PageState::default() }
    }

    /// Withdraws `len` bytes and returns the count before; None if too few are left.
    ///
    /// The count shrinks before the bytes are read. In the other order, a handler that leaves by
    /// siglongjmp in between would have the bytes served twice; so it only loses them.
    #[inline(always)]
    pub(crate) fn withdraw(&self, len: u32) -> Option<u32> {
        let remaining = self.remaining.load(Ordering::Relaxed);
        if remaining < len {
            return None;
        }
        self.remaining.store(remaining - len, Ordering::Relaxed);
        compiler_fence(Ordering::SeqCst);
        Some(remaining)
    }
}
