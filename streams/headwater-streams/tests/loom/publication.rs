//! Several threads make a pool in private at once, and exactly one pool is published.

use crate::process::atomic::{AtomicPtr, AtomicUsize};
use crate::process::races::Place;
use crate::{every_order, most_orders};
use core::ptr::null_mut;
use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::thread;

/// The counterpart of `process::pool::Pool`: plain memory that is written before it is published,
/// and read by every thread afterwards.
struct Pool {
    start: UnsafeCell<u32>,
}

struct Process {
    current: Place<Pool>,
    marks: AtomicUsize,
}

impl Process {
    fn new() -> Arc<Process> {
        let current = Place(AtomicPtr::new(null_mut()));
        Arc::new(Process { current, marks: AtomicUsize::new(0) })
    }

    /// Models `pool::set_up`. Returns the start of the process's pool; `None` if other set-ups were
    /// faster each time.
    fn set_up(&self, start: u32) -> Option<u32> {
        let make = || {
            let pool = Box::into_raw(Box::new(Pool { start: UnsafeCell::new(0) }));
            // SAFETY: made here and not published yet; the checker watches.
            unsafe { (*pool).start.with_mut(|place| *place = start) };
            Some(pool)
        };
        // SAFETY: not published, so no other thread has seen it.
        let discard = |pool| drop(unsafe { Box::from_raw(pool) });
        self.current.set_up(&self.marks, make, discard).map(read)
    }

    /// Sets up like a thread that is killed, or that gets no memory: its mark stays.
    fn set_up_in_vain(&self) {
        self.current.set_up(&self.marks, || None, |_| unreachable!());
    }

    /// Models the first step of `pool::draw`.
    fn get(&self) -> Option<u32> {
        self.current.get().map(read)
    }
}

fn read(pool: *mut Pool) -> u32 {
    // SAFETY: published, and freed only with the process; the checker watches.
    unsafe { (*pool).start.with(|start| *start) }
}

impl Drop for Process {
    fn drop(&mut self) {
        if let Some(pool) = self.current.get() {
            // SAFETY: published by `set_up`, and no thread reads it any more.
            drop(unsafe { Box::from_raw(pool) });
        }
    }
}

#[test]
fn a_reader_sees_a_complete_pool_or_none() {
    every_order(|| {
        let process = Process::new();
        let other = process.clone();
        let making = thread::spawn(move || other.set_up(7));
        let other = process.clone();
        let reading = thread::spawn(move || assert!(matches!(other.get(), None | Some(7))));
        assert_eq!(making.join().unwrap(), Some(7));
        reading.join().unwrap();
        assert_eq!(process.get(), Some(7));
    });
}

#[test]
fn set_ups_that_race_all_end_with_one_pool() {
    most_orders(|| {
        let process = Process::new();
        let threads = [1, 2].map(|start| {
            let process = process.clone();
            thread::spawn(move || process.set_up(start))
        });
        let mine = process.set_up(3);
        let all = [mine].into_iter().chain(threads.map(|thread| thread.join().unwrap()));
        // The set-up that marks last publishes, so there is one pool, and no thread has another.
        let published = process.get().expect("a pool is there");
        assert!(all.into_iter().flatten().all(|start| start == published));
    });
}

#[test]
fn a_set_up_that_ends_in_the_middle_keeps_nobody_from_theirs() {
    every_order(|| {
        let process = Process::new();
        let other = process.clone();
        let thread = thread::spawn(move || other.set_up_in_vain());
        let mine = process.set_up(1);
        thread.join().unwrap();
        assert_eq!(mine.or_else(|| process.set_up(1)), Some(1));
        assert_eq!(process.get(), Some(1));
    });
}
