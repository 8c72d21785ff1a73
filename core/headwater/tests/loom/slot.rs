//! A slot goes from holder to holder: its lock, its page_state, and the plain memory of its page.

use crate::linux::page_state::PageState;
use crate::linux::sync::slot_lock::SlotLock;
use crate::{every_order, most_orders};
use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::sync::atomic::Ordering::Relaxed;
use loom::thread;

/// A page serves two words of 8 bytes.
const CAPACITY: u32 = 16;

/// The slot's line (`SlotLine`) and the page beside it. The page is plain memory: the checker fails
/// if two threads touch it unordered.
///
/// This checker cannot show that the slot is free at the end: a store (which frees) and an exchange
/// by a thread that finds the slot taken are in no order to it, and it would let the exchange be
/// the last.
#[derive(Default)]
struct Slot {
    lock: SlotLock,
    page_state: PageState,
    page: UnsafeCell<[u64; 2]>,
}

impl Slot {
    /// Draws as `QuickSlot::take`, `PageRef::copy_words` and `QuickSlot::release`.
    fn quick(&self) -> Option<u64> {
        let left = self.lock.take_with(8, CAPACITY)?;
        let word = self.erase(left);
        self.lock.free(left - 8);
        Some(word)
    }

    /// Draws two words, if they are left; otherwise releases the slot as it was.
    fn quick_pair(&self) -> [Option<u64>; 2] {
        let Some(left) = self.lock.take_with(16, CAPACITY) else {
            return [None; 2];
        };
        let words = [self.erase(left), self.erase(left - 8)];
        self.lock.free(left - 16);
        words.map(Some)
    }

    /// Draws as `Slot::take`, `PageRef::draw`, `PageRef::refill` if need be, and `Slot::drop`.
    fn slow(&self) -> Option<u64> {
        let left = self.lock.take()?;
        let page_state = &self.page_state;
        page_state.remaining.store(left, Relaxed);
        let withdrawn = page_state.withdraw(8).or_else(|| {
            self.refill();
            page_state.withdraw(8)
        });
        let word = self.erase(withdrawn.expect("a page was just filled"));
        self.lock.free(page_state.remaining.load(Relaxed));
        Some(word)
    }

    /// Fills the page with words that no other refill makes. A word shows the number of its refill,
    /// and which of the two words it is.
    fn refill(&self) {
        let number = self.page_state.number.load(Relaxed) + 1;
        self.page_state.number.store(number, Relaxed);
        // SAFETY: the slot is ours; the checker watches.
        self.page.with_mut(|page| unsafe { *page = [10 * number, 10 * number + 1] });
        self.page_state.remaining.store(CAPACITY, Relaxed);
    }

    /// Takes the first word of `left` bytes.
    fn erase(&self, left: u32) -> u64 {
        let index = ((CAPACITY - left) / 8) as usize;
        // SAFETY: the slot is ours; the checker watches.
        let word = self.page.with_mut(|page| unsafe { core::mem::take(&mut (*page)[index]) });
        assert_ne!(word, 0, "a word was served twice, or before the page was filled");
        word
    }
}

fn all_different(words: impl IntoIterator<Item = Option<u64>>) {
    let mut words: Vec<u64> = words.into_iter().flatten().collect();
    let drawn = words.len();
    words.sort_unstable();
    words.dedup();
    assert_eq!(words.len(), drawn, "two draws gave the same word");
}

#[test]
fn two_holders_never_see_the_same_bytes() {
    every_order(|| {
        let slot = Arc::new(Slot::default());
        let other = slot.clone();
        let thread = thread::spawn(move || [other.slow(), other.quick()]);
        let mine = [slot.slow(), slot.quick()];
        all_different(mine.into_iter().chain(thread.join().unwrap()));
    });
}

/// With three threads a word passes through a holder that neither filled the page nor draws last.
#[test]
fn a_third_holder_sees_what_the_first_two_did() {
    most_orders(|| {
        let slot = Arc::new(Slot::default());
        let threads = [slot.clone(), slot.clone()]
            .map(|slot| thread::spawn(move || slot.quick().or_else(|| slot.slow())));
        let mine = slot.slow();
        all_different(threads.into_iter().map(|thread| thread.join().unwrap()).chain([mine]));
    });
}

/// The slow path leaves one word: a draw of two finds too little, and the next draw finds that
/// word. A draw of two that finds the slot taken must not release it.
#[test]
fn a_draw_that_finds_too_little_leaves_the_slot_as_it_was() {
    every_order(|| {
        let alone = Slot::default();
        alone.slow();
        assert_eq!(alone.quick_pair(), [None; 2]);
        assert!(alone.quick().is_some());
        let slot = Arc::new(Slot::default());
        let first = slot.slow();
        let other = slot.clone();
        let thread = thread::spawn(move || other.quick_pair());
        let mine = [first, slot.quick(), slot.slow(), slot.slow()];
        all_different(mine.into_iter().chain(thread.join().unwrap()));
    });
}
