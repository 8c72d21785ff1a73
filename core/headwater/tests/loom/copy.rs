//! A copy against the kernel, which replaces the page meanwhile.
//!
//! The library's `seqlock_read` runs; the page is a tag and two words, loaded relaxed as
//! `PageRef::is_present` and `Words::take` load them. To a program an address is replaced at one
//! instant, so for every pair of loads of it that are in order the later one sees the new page if
//! the earlier one did. Two stores with a release fence between them are the weakest thing that
//! keeps this promise for one pair: tag before bytes for a copy that comes late, bytes before tag
//! for one that comes early. Each fence of the copy makes one pair.

use crate::every_order;
use crate::linux::sync::seqlock::{Void, seqlock_read};
use loom::sync::Arc;
use loom::sync::atomic::{AtomicU64, Ordering::Relaxed, Ordering::Release, fence};
use loom::thread;

/// The number of the page that the state knows.
const NUMBER: u64 = 9;
/// The contents of that page.
const BYTES: [u64; 2] = [91, 92];

struct Page {
    tag: AtomicU64,
    words: [AtomicU64; 2],
}

impl Page {
    fn holding(tag: u64, words: [u64; 2]) -> Arc<Page> {
        Arc::new(Page { tag: AtomicU64::new(tag), words: words.map(AtomicU64::new) })
    }

    /// Copies as `PageRef::copy_words`, without the guards that lie elsewhere.
    fn copy(&self) -> Result<[u64; 2], Void> {
        let is_present = || self.tag.load(Relaxed) == NUMBER;
        seqlock_read!(is_present(), self.take(), is_present())
    }

    /// Takes as `Words::take`: reads, then erases. Without the tripwire, which would hide the
    /// purpose of the last comparison.
    fn take(&self) -> Option<[u64; 2]> {
        let words = [self.words[0].load(Relaxed), self.words[1].load(Relaxed)];
        self.words.iter().for_each(|word| word.store(0, Relaxed));
        Some(words)
    }
}

/// The kernel drops the page: it reads as zeros.
#[test]
fn a_copy_of_a_page_that_the_kernel_drops_is_its_bytes_or_refused() {
    every_order(|| {
        let page = Page::holding(NUMBER, BYTES);
        let dropped = page.clone();
        let kernel = thread::spawn(move || {
            dropped.tag.store(0, Relaxed);
            fence(Release);
            dropped.words.iter().for_each(|word| word.store(0, Relaxed));
        });
        if let Ok(copied) = page.copy() {
            assert_eq!(copied, BYTES);
        }
        kernel.join().unwrap();
    });
}

/// The page was dropped and filled again under the state's number, on another CPU; this one
/// sees the old page for a while. Its bytes have been served, or are void.
#[test]
fn a_copy_by_a_cpu_that_sees_the_old_page_is_the_new_pages_bytes_or_refused() {
    every_order(|| {
        let page = Page::holding(NUMBER - 1, [81, 82]);
        let replaced = page.clone();
        let kernel = thread::spawn(move || {
            for (word, new) in replaced.words.iter().zip(BYTES) {
                word.store(new, Relaxed);
            }
            fence(Release);
            replaced.tag.store(NUMBER, Relaxed);
        });
        if let Ok(copied) = page.copy() {
            assert_eq!(copied, BYTES);
        }
        kernel.join().unwrap();
    });
}

/// The guards that lie outside the page: one that moved before the page was filled with the new
/// bytes (here a snapshot's, marked by 0) is seen by the last comparison.
#[test]
fn a_guard_that_moves_before_the_bytes_change_refuses_the_copy() {
    every_order(|| {
        let page = Page::holding(NUMBER, BYTES);
        let word = Arc::new(AtomicU64::new(5));
        let (moved, restored) = (word.clone(), page.clone());
        let kernel = thread::spawn(move || {
            moved.store(6, Relaxed);
            fence(Release);
            restored.words.iter().for_each(|word| word.store(0, Relaxed));
        });
        let copied: Result<_, Void> = seqlock_read!(true, page.take(), word.load(Relaxed) == 5);
        if let Ok(copied) = copied {
            assert_eq!(copied, BYTES);
        }
        kernel.join().unwrap();
    });
}
