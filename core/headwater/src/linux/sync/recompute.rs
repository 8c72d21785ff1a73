//! A conclusion from facts that several threads change.

use crate::linux::atomic::{AtomicPtr, AtomicU8, Ordering};

/// An atomic that a conclusion is stored in.
pub(crate) trait Conclusion {
    type Value: Copy + PartialEq;

    /// Stores `value`. Acquires what the exchange before it released, and releases.
    fn exchange(&self, value: Self::Value);
}

impl Conclusion for AtomicU8 {
    type Value = u8;

    fn exchange(&self, value: u8) {
        self.swap(value, Ordering::AcqRel);
    }
}

impl<T> Conclusion for AtomicPtr<T> {
    type Value = *mut T;

    fn exchange(&self, value: *mut T) {
        self.swap(value, Ordering::AcqRel);
    }
}

/// Stores what `conclude` makes of the facts, after the caller has changed one of them.
///
/// Two threads may do so at once, each having changed something. The later exchange acquires what
/// the earlier one released, so the thread that stores last has seen every fact, or concludes
/// again.
pub(crate) fn recompute<C: Conclusion>(conclusion: &C, conclude: impl Fn() -> C::Value) {
    loop {
        let value = conclude();
        conclusion.exchange(value);
        if conclude() == value {
            return;
        }
    }
}
