//! Pages of handles go from owner to owner.

use crate::linux::sync::bitmap::Bitmap;
use crate::most_orders;
use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::sync::atomic::AtomicU64;
use loom::thread;

/// The bits of `owned::Group`, with all pages but the last two taken.
struct Group {
    owned: Bitmap,
    pages: [UnsafeCell<u32>; 2],
}

const FREE: u32 = 62;

impl Group {
    fn new(free: u32) -> Arc<Group> {
        Arc::new(Group {
            owned: Bitmap(AtomicU64::new(u64::MAX >> free)),
            pages: [UnsafeCell::new(0), UnsafeCell::new(0)],
        })
    }

    /// Makes, uses and drops a handle. Returns how many handles used its page before, or None if no
    /// page is free. The page is plain memory: the checker fails if two threads touch it unordered.
    fn handle(&self) -> Option<u32> {
        let index = self.owned.take()?;
        // SAFETY: the page is ours; the checker watches.
        let before = self.pages[(index - FREE) as usize].with_mut(|page| unsafe {
            *page += 1;
            *page - 1
        });
        self.owned.give_back(index);
        Some(before)
    }
}

#[test]
fn the_next_owner_of_a_page_sees_what_the_former_did() {
    most_orders(|| {
        let group = Group::new(1);
        let threads =
            [group.clone(), group.clone()].map(|group| thread::spawn(move || group.handle()));
        let mine = group.handle();
        let mut seen: Vec<u32> = threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .chain([mine])
            .flatten()
            .collect();
        seen.sort_unstable();
        assert!(seen.iter().enumerate().all(|(i, &before)| before == i as u32), "{seen:?}");
        assert_eq!(group.owned.count(), 63);
    });
}

#[test]
fn two_pages_for_three_handles_never_have_two_owners() {
    most_orders(|| {
        let group = Group::new(2);
        let threads =
            [group.clone(), group.clone()].map(|group| thread::spawn(move || group.owned.take()));
        let mine = group.owned.take();
        let mut taken: Vec<u32> = threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .chain([mine])
            .flatten()
            .collect();
        taken.sort_unstable();
        assert_eq!(taken, [FREE, FREE + 1]);
    });
}

/// Two handles are dropped while a third is made: its page stays its own.
#[test]
fn a_page_that_is_given_back_is_no_other_page() {
    most_orders(|| {
        let group = Group::new(2);
        let threads =
            [group.clone(), group.clone()].map(|group| thread::spawn(move || group.handle()));
        let mine = group.owned.take();
        for thread in threads {
            thread.join().unwrap();
        }
        assert_eq!(group.owned.count(), FREE + mine.map_or(0, |_| 1));
    });
}
