//! The guard of lost pages: a mark in memory that the kernel may drop.
//!
//! A restored process may have lost every page that the kernel is allowed to drop: CRIU leaves them
//! out of its image from version 4.2 on. The pools notice this by themselves, because a page
//! without its tag serves nothing. But a caller that keeps random values in memory of its own
//! learns of it only by the public change counter, so the counter needs a word that is lost with
//! the pages.
//!
//! The word is a count of losses, in a page of its own after the pools' last one. It is 0 after a
//! loss, and the next reader stores a number that no loss before it had. The last number is kept in
//! memory that is not dropped, like that of [`fork`](super::fork)'s epochs, and for the same
//! reason: with the word alone, the first loss and the second would look alike.
//!
//! Where the kernel drops nothing (before Linux 6.11), a restore brings the word back as it was,
//! and the pools' bytes with it. The copy and its original are then equal in every byte, so a
//! process cannot know which of them it is: call `quiesce` before the dump. `discard` and
//! `quiesce` drop the pages, so both change the word everywhere.

use core::sync::atomic::{AtomicU64, Ordering};

/// The word, and the number beside it.
pub(crate) struct PageLoss<'a> {
    /// In a page that the kernel may drop, and that a fork clears.
    pub(crate) word: &'a AtomicU64,
    /// In memory that is kept: the last number that was reserved.
    pub(crate) reserved: &'a AtomicU64,
}

impl PageLoss<'_> {
    /// Returns a number that differs from all before the last loss.
    ///
    /// The number is returned as it was stored, and not loaded again: under memory pressure the
    /// kernel may drop the page between any two instructions, and a loop would have no bound.
    pub(crate) fn number(&self) -> u64 {
        let number = self.word.load(Ordering::Acquire);
        if number != 0 {
            return number;
        }
        let next = self.reserved.fetch_add(1, Ordering::Relaxed) + 1;
        // If the exchange fails, another thread has stored a number of the same loss.
        match self.word.compare_exchange(0, next, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => next,
            Err(other) => other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_loss_has_a_number_of_its_own() {
        let (word, reserved) = (AtomicU64::new(0), AtomicU64::new(0));
        let page = PageLoss { word: &word, reserved: &reserved };
        let mut seen = Vec::new();
        for _ in 0..3 {
            let number = page.number();
            assert_eq!(page.number(), number, "nothing was lost");
            assert!(!seen.contains(&number));
            seen.push(number);
            word.store(0, Ordering::Relaxed); // what the kernel does with a page that it drops
        }
    }
}
