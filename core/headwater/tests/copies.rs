//! The count of copies moves with copies and with nothing else. The copies here are made of their
//! traces; those of CRIU itself are in `cargo xtask test --only "copies of warm processes"`.
#![cfg(target_os = "linux")]

mod common;
mod support;

use common::isolated;
use headwater::internal::watch_page::{
    BY_KERNEL, BY_VSOCK, BY_WALL_CLOCK, LEN, Layout, MAGIC, VERSION, WatchWords,
};
use headwater::testing::{Force, set, set_root};
use headwater::{Vmclock, copies};
use std::mem::offset_of;
use std::sync::atomic::{AtomicU64, Ordering::Acquire};
use support::children::{Ending, fork, wait};
use support::machine::skip;
use support::memory::mappings_with;
use support::root::{FakeClock, MARKER, Root, VM_GENERATION};

/// Returns a line of /proc/PID/stat.
fn stat(number: u32, parent: u32, born: u64) -> Vec<u8> {
    format!("{number} (a) b) S {parent} 5 5 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 {born} 8 9\n")
        .into_bytes()
}

/// Drops every droppable page of this process, as a want of memory does, and CRIU.
fn lose_pages() {
    for mapping in mappings_with(&["dp"]) {
        let (at, len) = (mapping.range.start, mapping.range.end - mapping.range.start);
        // SAFETY: headwater's own pages, which may become zeros at any instant.
        let done = unsafe { libc::madvise(at as *mut _, len as usize, libc::MADV_DONTNEED) };
        assert_eq!(done, 0);
    }
}

fn has_droppable(test: &str) -> bool {
    copies();
    let (processes, _) = headwater::internal::copies_seen();
    if !processes {
        skip(test, "this kernel has no droppable pages (Linux 6.11)");
    }
    processes
}

#[test]
fn forks_reseeds_and_lost_pages_are_no_copies() {
    isolated("forks_reseeds_and_lost_pages_are_no_copies", || {
        assert_eq!(copies(), 0);
        for _ in 0..200 {
            let child = fork(|| {
                assert_eq!(copies(), 0);
                let grandchild = fork(|| i32::try_from(copies()).unwrap());
                assert_eq!(wait(grandchild), Ending::Exited(0));
                0
            });
            assert_eq!(wait(child), Ending::Exited(0));
        }
        let before = headwater::generation();
        headwater::discard().unwrap();
        headwater::quiesce().unwrap();
        assert!(before.is_none() || headwater::generation() != before);
        for _ in 0..3 {
            lose_pages();
            assert_eq!(copies(), 0, "the process is the same");
        }
    });
}

#[test]
fn a_new_birth_under_the_old_number_is_a_copy() {
    let test = "a_new_birth_under_the_old_number_is_a_copy";
    isolated(test, || {
        let root = Root::new();
        let number = std::process::id();
        root.write("/proc/self/stat", &stat(number, 1, 5000));
        set_root(root.c_path());
        if !has_droppable(test) {
            return;
        }
        for (round, born) in [(1, 6000), (2, 7000)] {
            root.write("/proc/self/stat", &stat(number, 1, born));
            assert_eq!(copies(), round - 1, "nothing was lost yet");
            lose_pages();
            assert_eq!(copies(), round);
            lose_pages();
            assert_eq!(copies(), round, "a page that was dropped since");
        }
        // Without /proc a lost page has no explanation, and counts.
        std::fs::remove_file(root.at("/proc/self/stat")).unwrap();
        lose_pages();
        assert_eq!(copies(), 3);
    });
}

/// A server that was restored may fork before it draws, and its children would repeat.
#[test]
fn children_of_a_copy_that_has_not_looked_are_copies() {
    let test = "children_of_a_copy_that_has_not_looked_are_copies";
    isolated(test, || {
        let root = Root::new();
        let number = std::process::id();
        root.write("/proc/self/stat", &stat(number, 1, 5000));
        root.write(&format!("/proc/{number}/stat"), &stat(number, 1, 5000));
        set_root(root.c_path());
        if !has_droppable(test) {
            return;
        }
        let child = |expected: u64| {
            root.write("/proc/self/stat", &stat(number + 1, number, 9000));
            let child = fork(|| i32::from(copies() != expected));
            assert_eq!(wait(child), Ending::Exited(0));
            root.write("/proc/self/stat", &stat(number, 1, 5000));
        };
        child(0);
        root.write(&format!("/proc/{number}/stat"), &stat(number, 1, 6000));
        child(1); // the parent was restored: it is another one than set the word
        std::fs::remove_file(root.at(&format!("/proc/{number}/stat"))).unwrap();
        child(1); // it is not known
        // A parent that looks before the fork needs no file.
        headwater::internal::before_fork();
        child(0);
        headwater::internal::after_fork();
        child(1);
    });
}

#[test]
fn loaded_snapshots_of_vmclock_are_copies() {
    let test = "loaded_snapshots_of_vmclock_are_copies";
    isolated(test, || {
        for counts in [true, false] {
            let child = fork(|| {
                let root = Root::new();
                root.write("/proc/self/stat", &stat(std::process::id(), 1, 5000));
                let clock = FakeClock::new(&root, counts);
                set_root(root.c_path());
                assert_eq!(copies(), 0);
                if !matches!(headwater::status().vmclock, Vmclock::Mapped { .. }) {
                    return 77;
                }
                assert!(headwater::internal::copies_seen().1);
                // The marker moves at a live migration as well, which the count leaves out.
                clock.set_marker(MARKER + 1);
                assert_eq!(copies(), u64::from(!counts));
                clock.put(104, &(VM_GENERATION + 1).to_le_bytes());
                assert_eq!(copies(), 1);
                assert_eq!(copies(), 1);
                // Unmapped for a checkpoint, and mapped again.
                headwater::quiesce().unwrap();
                assert_eq!(copies(), 1);
                headwater::init_with(headwater::Config::new()).unwrap();
                assert_eq!(copies(), 1);
                0
            });
            match wait(child) {
                Ending::Exited(0) => {}
                Ending::Exited(77) => skip(test, "loads are slow on this machine"),
                other => panic!("{other:?}"),
            }
        }
    });
}

#[test]
fn the_count_of_an_exact_watcher_counts() {
    isolated("the_count_of_an_exact_watcher_counts", || {
        for (signals, expected) in [(BY_KERNEL, 1), (BY_VSOCK, 1), (BY_WALL_CLOCK, 0)] {
            let child = fork(|| {
                let root = Root::new();
                root.write("/proc/self/stat", &stat(std::process::id(), 1, 5000));
                let page = |copies: u64| {
                    let mut bytes = vec![0; LEN];
                    bytes[..8].copy_from_slice(&MAGIC);
                    bytes[8..12].copy_from_slice(&VERSION.to_ne_bytes());
                    let words = offset_of!(Layout, words);
                    let at = words + offset_of!(WatchWords, copies);
                    bytes[at..at + 8].copy_from_slice(&copies.to_ne_bytes());
                    let at = words + offset_of!(WatchWords, signals);
                    bytes[at..at + 8].copy_from_slice(&signals.to_ne_bytes());
                    root.write("/run/headwater/copies", &bytes);
                };
                page(3);
                set_root(root.c_path());
                assert_eq!(copies(), 0);
                page(4);
                assert_eq!(copies(), expected);
                // Unmapped for a checkpoint, and mapped again.
                headwater::quiesce().unwrap();
                assert_eq!(copies(), expected);
                headwater::init_with(headwater::Config::new()).unwrap();
                assert_eq!(copies(), expected);
                0
            });
            assert_eq!(wait(child), Ending::Exited(0));
        }
    });
}

#[test]
fn where_nothing_can_be_seen_it_says_so() {
    isolated("where_nothing_can_be_seen_it_says_so", || {
        let root = Root::new();
        set_root(root.c_path());
        set(Force::NoDroppable, true);
        assert_eq!(headwater::internal::copies_seen(), (false, false));
        assert_eq!(copies(), 0);
    });
}

/// Each thread may count a copy that all find at once, but each finds that the count moved.
#[test]
fn every_thread_finds_a_copy() {
    let test = "every_thread_finds_a_copy";
    isolated(test, || {
        let root = Root::new();
        let number = std::process::id();
        root.write("/proc/self/stat", &stat(number, 1, 1));
        set_root(root.c_path());
        if !has_droppable(test) {
            return;
        }
        for born in 2..200 {
            let before = copies();
            root.write("/proc/self/stat", &stat(number, 1, born));
            lose_pages();
            std::thread::scope(|scope| {
                for _ in 0..4 {
                    scope.spawn(|| assert_ne!(copies(), before));
                }
            });
        }
    });
}

/// A thread that reads the two words in place of a call, as code of a JVM does, never finds the
/// word set again and the count as it was.
#[test]
fn a_reader_finds_the_copy_that_another_thread_has_seen() {
    let test = "a_reader_finds_the_copy_that_another_thread_has_seen";
    isolated(test, || {
        let root = Root::new();
        let number = std::process::id();
        root.write("/proc/self/stat", &stat(number, 1, 1));
        set_root(root.c_path());
        if !has_droppable(test) {
            return;
        }
        let (word, count) =
            (headwater::internal::copies_word(), headwater::internal::copies_count());
        // SAFETY: both stay readable for ever, and are used as atomics by every thread.
        let (word, count) = unsafe {
            (AtomicU64::from_ptr(word.cast_mut()), AtomicU64::from_ptr(count.cast_mut()))
        };
        for born in 2..400 {
            let before = copies();
            assert_eq!((word.load(Acquire), count.load(Acquire)), (1, before));
            root.write("/proc/self/stat", &stat(number, 1, born));
            lose_pages();
            std::thread::scope(|scope| {
                for _ in 0..2 {
                    scope.spawn(|| {
                        while word.load(Acquire) != 1 {
                            std::hint::spin_loop();
                        }
                        assert_ne!(count.load(Acquire), before);
                    });
                }
                scope.spawn(copies);
            });
        }
    });
}
