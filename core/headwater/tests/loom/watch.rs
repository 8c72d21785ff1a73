//! The words of the watcher's page, read while a watcher counts, dies, and is followed by another.

use crate::every_order;
use crate::linux::atomic::{AtomicU32, AtomicU64};
use crate::linux::sync::watch_words::WatchWords;
use loom::sync::Arc;
use loom::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use loom::thread;

/// The kernel stores this when the thread that `owner` names has ended.
const OWNER_DIED: u32 = 0x4000_0000;

/// The page, and two facts outside it.
struct Machine {
    words: WatchWords,
    /// 1 from the reseed of the kernel on.
    reseeded: AtomicU64,
    /// 1 in the copy.
    copied: AtomicU64,
}

fn watched_by(thread: u32) -> Arc<Machine> {
    let words = WatchWords {
        owner: AtomicU32::new(0),
        copies: AtomicU64::new(0),
        signals: AtomicU64::new(0),
        repairs: AtomicU64::new(0),
    };
    words.begin(thread, 1);
    Arc::new(Machine { words, reseeded: AtomicU64::new(0), copied: AtomicU64::new(0) })
}

/// A program that sees the count draws its next seed from the kernel, so the kernel has to be
/// reseeded by then.
#[test]
fn a_reader_that_sees_a_copy_counted_finds_the_kernel_reseeded() {
    every_order(|| {
        let machine = watched_by(1);
        let before = machine.words.now().number();
        let watcher = machine.clone();
        let watching = thread::spawn(move || {
            watcher.reseeded.store(1, Relaxed);
            watcher.words.count();
        });
        if machine.words.now().number() != before {
            assert_eq!(machine.reseeded.load(Relaxed), 1);
        }
        watching.join().unwrap();
        assert_ne!(machine.words.now().number(), before);
    });
}

/// A repair counts beside the watcher. No count is lost, and either word shows the reseed.
#[test]
fn a_repair_and_a_watcher_count_at_once() {
    every_order(|| {
        let machine = watched_by(1);
        let before = machine.words.now();
        let other = machine.clone();
        let repairing = thread::spawn(move || {
            other.reseeded.store(1, Relaxed);
            other.words.count_repair();
        });
        machine.words.count();
        if machine.words.now().repairs != before.repairs {
            assert_eq!(machine.reseeded.load(Relaxed), 1);
        }
        repairing.join().unwrap();
        let now = machine.words.now();
        assert_eq!((now.copies, now.repairs), (before.copies + 2, before.repairs + 1));
    });
}

/// No process counts a copy that is made after one watcher has died and before the next begins. A
/// reader in that copy must find a dead watcher or another count, and never the number it had.
#[test]
fn a_copy_between_two_watchers_is_not_missed() {
    every_order(|| {
        let machine = watched_by(1);
        let before = machine.words.now().number();
        let world = machine.clone();
        let living = thread::spawn(move || {
            world.words.owner.store(OWNER_DIED, Release);
            world.copied.store(1, Release);
            world.words.begin(2, 1);
        });
        if machine.copied.load(Acquire) == 1 {
            assert_ne!(machine.words.now().number(), before);
        }
        living.join().unwrap();
        let now = machine.words.now();
        assert!(now.is_alive && now.number() != before);
    });
}
