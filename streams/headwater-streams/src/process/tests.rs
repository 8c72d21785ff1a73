//! Interrupts draws at each of their steps: by draws, by forks, by draws in the child, by forks in
//! the child's handlers. No word may repeat.
//!
//! `both_ways` runs each test with sections and without, in processes of their own.

#![allow(unsafe_code)]

use super::hook::{HOOK, Point};
use super::{random_pseudo_bytes, random_pseudo_u64};
use core::cell::Cell;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicUsize, Ordering::SeqCst};

/// Words that all processes of a test have drawn: a counter, then the words, in memory that
/// children share.
struct Record(*mut AtomicUsize);

const CAPACITY: usize = 1 << 16;

thread_local! {
    /// The record to which handlers add the words that they draw.
    static RECORD: Cell<*mut AtomicUsize> = const { Cell::new(null_mut()) };
    /// The number of times that the hook may still act.
    static LEFT: Cell<u32> = const { Cell::new(0) };
    /// The point at which the hook acts.
    static PLACE: Cell<Point> = const { Cell::new(Point::Drawn) };
    /// True in a child that a hook or a test made. A child must end before the test does.
    static CHILD: Cell<bool> = const { Cell::new(false) };
}

/// Ends a child that panics with an error, because a panic would end its thread only.
impl Drop for Record {
    fn drop(&mut self) {
        if CHILD.get() {
            // SAFETY: ends the process.
            unsafe { libc::_exit(101) };
        }
    }
}

impl Record {
    fn open() -> Record {
        let (access, sharing) =
            (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED | libc::MAP_ANONYMOUS);
        // SAFETY: new memory at an address that the kernel picks.
        let at = unsafe { libc::mmap(null_mut(), 8 * (CAPACITY + 1), access, sharing, -1, 0) };
        assert!(at != libc::MAP_FAILED);
        RECORD.set(at.cast());
        Record(at.cast())
    }

    /// Waits for children and ends this process if it is a child. In the test's own process, checks
    /// that no word repeats.
    ///
    /// Some thousand words of sound generators hold a repeat with probability 2^-40.
    fn check(self) -> usize {
        let mut status = 0;
        // SAFETY: waits for whatever child there is; other tests' are in no hurry.
        while unsafe { libc::waitpid(-1, &raw mut status, libc::__WALL) } > 0 {
            assert_eq!(status, 0, "a child failed");
        }
        if CHILD.get() {
            // SAFETY: ends the process; a child of a test must not continue with the next.
            unsafe { libc::_exit(0) };
        }
        // SAFETY: the record is a counter, and so many words that were written after it.
        let words = unsafe {
            let count = (*self.0).load(SeqCst);
            core::slice::from_raw_parts_mut(self.0.add(1).cast::<u64>(), count)
        };
        words.sort_unstable();
        assert!(words.first() != Some(&0), "a word is zero");
        let twice = words.windows(2).filter(|pair| pair[0] == pair[1]).count();
        assert_eq!(twice, 0, "repeats among {} words", words.len());
        let count = words.len();
        // SAFETY: the mapping of `open`.
        unsafe { libc::munmap(self.0.cast(), 8 * (CAPACITY + 1)) };
        count
    }
}

fn record(word: u64) {
    let at = RECORD.get();
    // SAFETY: the record is a counter and words; the addition makes this word ours alone.
    unsafe {
        let index = (*at).fetch_add(1, SeqCst);
        assert!(index < CAPACITY);
        at.add(1 + index).cast::<u64>().write(word);
    }
}

/// Draws a word, three words, and enough for the wide path. Each draw is recorded before the next,
/// which may fork.
fn draw() {
    record(random_pseudo_u64().unwrap());
    bytes::<24>();
    bytes::<320>();
}

fn bytes<const N: usize>() {
    let mut drawn = [0; N];
    random_pseudo_bytes(&mut drawn).unwrap();
    for word in drawn.as_chunks().0 {
        record(u64::from_ne_bytes(*word));
    }
}

fn draws(n: usize) {
    (0..n).for_each(|_| draw());
}

fn fork() -> bool {
    // SAFETY: the child draws, writes to shared memory and ends by `_exit`.
    let child = unsafe { libc::fork() };
    assert!(child >= 0);
    if child == 0 {
        CHILD.set(true);
    }
    child == 0
}

/// Forks by the bare system call, so that the C library's fork handlers do not run.
fn raw_fork() -> bool {
    // SAFETY: as fork(2); no stack, no flags but the signal.
    let child = unsafe { libc::syscall(libc::SYS_clone, libc::SIGCHLD, 0, 0, 0, 0) };
    assert!(child >= 0);
    if child == 0 {
        CHILD.set(true);
    }
    child == 0
}

/// Returns whether the hook acts at this point, and counts the action.
fn is_due(point: Point) -> bool {
    let due = point == PLACE.get() && LEFT.get() > 0;
    if due {
        LEFT.set(LEFT.get() - 1);
    }
    due
}

const DRAW: fn(Point) = |point| {
    if is_due(point) {
        draw();
    }
};

/// Forks. The child does not draw before the interrupted frame continues in it.
const FORK: fn(Point) = |point| {
    if is_due(point) {
        raw_fork();
    }
};

/// Forks, and parent and child both draw before the interrupted frame continues.
const FORK_AND_DRAW: fn(Point) = |point| {
    if is_due(point) {
        fork();
        draw();
    }
};

/// The hooks. Their own draws are interrupted as well, until `LEFT` is 0.
const ALL: [fn(Point); 3] = [DRAW, FORK, FORK_AND_DRAW];

/// Interrupts draws at `place`, at the first draw of a process if `fresh`, `times` times on top of
/// each other.
fn interrupt(place: Point, hook: fn(Point), times: u32, fresh: bool) -> usize {
    let all = Record::open();
    // The test's own process has a pool now; a child has none yet.
    draws(3);
    if fresh && !fork() {
        return all.check();
    }
    PLACE.set(place);
    LEFT.set(times);
    HOOK.set(Some(hook));
    draws(5);
    HOOK.set(None);
    LEFT.set(0);
    draws(5);
    all.check()
}

#[test]
fn a_draw_that_is_interrupted_anywhere_repeats_nothing() {
    for place in [Point::Claimed, Point::Drawn] {
        for hook in ALL {
            for times in [1, 3] {
                for fresh in [false, true] {
                    interrupt(place, hook, times, fresh);
                }
            }
        }
    }
}

#[test]
fn a_set_up_that_is_interrupted_anywhere_repeats_nothing() {
    for place in [Point::Begun, Point::Seeded] {
        for hook in ALL {
            for times in [1, 3] {
                interrupt(place, hook, times, true);
            }
        }
    }
}

/// Forty generations of children of one frame are more than any number of banks could serve.
#[test]
fn forty_forks_on_top_of_one_frame_repeat_nothing() {
    for place in [Point::Claimed, Point::Drawn, Point::Seeded] {
        const DEEPER: fn(Point) = |point| {
            if is_due(point) {
                if fork() {
                    draw();
                } else {
                    LEFT.set(0); // deeper in the child alone: one line of forty
                }
            }
        };
        let words = interrupt(place, DEEPER, 40, true);
        assert!(words > 40 * 44 * 5, "{place:?}: only {words} words");
    }
}

/// Leaves a set-up in the middle, as siglongjmp does.
fn leave_a_set_up() {
    const LEAVE: fn(Point) = |point| {
        if point == Point::Begun {
            std::panic::resume_unwind(Box::new(()));
        }
    };
    HOOK.set(Some(LEAVE));
    assert!(std::panic::catch_unwind(random_pseudo_u64).is_err());
    HOOK.set(None);
}

/// A child's set-up that is left by a jump leaves its mark. The frame that the fork interrupted,
/// whose pool the fork has cleared, must not take that mark for its own.
#[test]
fn a_set_up_that_was_left_helps_no_other_to_publish() {
    const FORK_AND_LEAVE: fn(Point) = |point| {
        if is_due(point) && fork() {
            leave_a_set_up();
        }
    };
    let words = interrupt(Point::Seeded, FORK_AND_LEAVE, 2, true);
    assert!(words > 2 * 44 * 5, "only {words} words");
}

/// The next draw does not wait for a set-up that was left, and sets up itself.
#[test]
fn a_set_up_that_was_left_is_done_by_the_next_draw() {
    let all = Record::open();
    draw();
    if fork() {
        leave_a_set_up();
        assert!(super::pool::draw(super::pool::Pool::word).is_some());
        draw();
    }
    assert_eq!(all.check(), 2 * 44);
}

/// A draw that is interrupted holds nothing, so a handler's draw needs no other counter.
#[test]
fn a_handler_draws_while_a_draw_is_interrupted() {
    thread_local! {
        static DRAWN: Cell<bool> = const { Cell::new(false) };
    }
    const DRAW_AND_NOTE: fn(Point) = |point| {
        if is_due(point) {
            DRAWN.set(super::pool::draw(super::pool::Pool::word).is_some());
        }
    };
    for place in [Point::Claimed, Point::Drawn] {
        PLACE.set(place);
        LEFT.set(1);
        DRAWN.set(false);
        HOOK.set(Some(DRAW_AND_NOTE));
        random_pseudo_u64().unwrap();
        HOOK.set(None);
        assert!(DRAWN.get(), "{place:?}");
    }
}

/// sched_getcpu(3) returns -1 if the kernel does not report the CPU: without a vDSO, and under some
/// seccomp filters.
#[test]
fn whatever_the_cpu_is_called_there_is_a_counter_for_it() {
    for cpu in [-1, 0, 1, 255, 256, libc::c_int::MAX, libc::c_int::MIN] {
        assert!(super::pool::index_of(cpu) < 256, "CPU {cpu}");
    }
    assert_ne!(super::pool::index_of(0), super::pool::index_of(1));
}

/// The quick path of one block is the engine's function, and each length begins with the same
/// blocks.
#[test]
fn all_lengths_are_blocks_of_the_engine() {
    use crate::engine::{Backend, Block, Engine, ars7_keys};
    let features = crate::features::Features::detect();
    let backend = Backend::choose(Engine::Ars7, features);
    let (key, lower, upper) = ([0xA5; 16], 1 << 62, 0x0123_4567_89AB_CDEF);
    let mut expected = [Block::default()];
    backend.fill(Engine::Ars7, key, upper, lower, &mut expected);
    let keys = ars7_keys(key);
    assert_eq!(keys[0], key);
    if super::section::AVAILABLE && features.aes && features.avx2 {
        // SAFETY: the CPU has AES instructions and AVX.
        let (word, bytes) = unsafe {
            (super::block::word(&keys, lower, upper), super::block::bytes(&keys, lower, upper))
        };
        assert_eq!(bytes, expected[0]);
        assert_eq!(word.to_le_bytes(), bytes[..8]);
    } else {
        println!("skipped: the quick path of a block: this CPU or build has none");
    }
}

/// Each length is filled to its end, and no further.
#[test]
fn every_length_is_filled() {
    for len in (0..300).chain([1000, 4096, 65_537]) {
        let mut sum = vec![0; len];
        for _ in 0..16 {
            let mut drawn = vec![0; len + 1];
            random_pseudo_bytes(&mut drawn[..len]).unwrap();
            assert_eq!(drawn[len], 0);
            sum.iter_mut().zip(drawn).for_each(|(sum, byte)| *sum |= byte);
        }
        // A byte that is filled stays zero in 16 draws with probability 2^-128.
        assert!(sum.iter().all(|byte| *byte != 0), "{len} bytes");
    }
}

/// Zeros, which fresh memory and a child's cleared memory hold, are a free pool without sections.
#[test]
fn counters_are_claimed_once() {
    use super::counters::Counters;
    // SAFETY: counters are integers, for which zeros are valid.
    let counters: Counters = unsafe { core::mem::zeroed() };
    let claims = [3, 1, 2].map(|blocks| counters.claim_shared(5, blocks));
    assert_eq!(claims.map(|claim| claim.first), [0, 3, 4]);
    assert!(claims.iter().all(|claim| claim.counter == 11));
    assert_eq!(counters.own.load(SeqCst), 0);
}
