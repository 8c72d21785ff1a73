//! Draws that are interrupted at each of their steps: by draws, by forks, by draws in the child, by forks in the
//! child's handlers. Nothing may come twice.

#![allow(unsafe_code)]

use super::hook::{HOOK, Point};
use super::{random_pseudo_bytes, random_pseudo_u64};
use core::cell::Cell;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicUsize, Ordering::SeqCst};

/// Words that all processes of a test have drawn: a counter, then the words, in memory that children share.
struct Record(*mut AtomicUsize);

const CAPACITY: usize = 1 << 16;

thread_local! {
    /// Where handlers put what they draw.
    static RECORD: Cell<*mut AtomicUsize> = const { Cell::new(null_mut()) };
    /// What the handler does, how often it still may, and where.
    static LEFT: Cell<u32> = const { Cell::new(0) };
    static PLACE: Cell<Point> = const { Cell::new(Point::Drawn) };
    /// Whether this process is a child that a handler made, and so has to end before the test does.
    static CHILD: Cell<bool> = const { Cell::new(false) };
}

/// A child that panics must fail, and not only end this thread.
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

    /// Ends children, each after its own, and in the test's own process finds no word twice.
    ///
    /// Some thousand words of sound generators hold a repeat with probability 2^-40.
    fn check(self) -> usize {
        let mut status = 0;
        // SAFETY: waits for whatever child there is; other tests' are in no hurry.
        while unsafe { libc::waitpid(-1, &raw mut status, libc::__WALL) } > 0 {
            assert_eq!(status, 0, "a child failed");
        }
        if CHILD.get() {
            // SAFETY: ends the process; a child of a test must not go on to the next.
            unsafe { libc::_exit(0) };
        }
        // SAFETY: the record's counter, and so many words behind it.
        let words = unsafe {
            let count = (*self.0).load(SeqCst);
            core::slice::from_raw_parts_mut(self.0.add(1).cast::<u64>(), count)
        };
        words.sort_unstable();
        assert!(words.first() != Some(&0), "a zero came");
        let twice = words.windows(2).filter(|pair| pair[0] == pair[1]).count();
        assert_eq!(twice, 0, "of {} words so many came twice", words.len());
        let count = words.len();
        // SAFETY: the mapping of `open`.
        unsafe { libc::munmap(self.0.cast(), 8 * (CAPACITY + 1)) };
        count
    }
}

fn record(word: u64) {
    let at = RECORD.get();
    // SAFETY: the record's counter, and a word of its own behind it.
    unsafe {
        let index = (*at).fetch_add(1, SeqCst);
        assert!(index < CAPACITY);
        at.add(1 + index).cast::<u64>().write(word);
    }
}

/// A word, a few, and enough for the lanes; each recorded before the next draw, which may fork.
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

/// The same without the C library, whose fork handlers do not run then.
fn raw_fork() -> bool {
    // SAFETY: as fork(2); no stack, no flags but the signal.
    let child = unsafe { libc::syscall(libc::SYS_clone, libc::SIGCHLD, 0, 0, 0, 0) };
    assert!(child >= 0);
    if child == 0 {
        CHILD.set(true);
    }
    child == 0
}

/// Whether the hook is to act here, now.
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

/// The child does not draw before the interrupted frame goes on in it.
const FORK: fn(Point) = |point| {
    if is_due(point) {
        raw_fork();
    }
};

/// It draws first, so that what the frame has in its hands is taken once more.
const FORK_AND_DRAW: fn(Point) = |point| {
    if is_due(point) {
        fork();
        draw();
    }
};

/// And what it draws is interrupted, too, while a number is left.
const ALL: [fn(Point); 3] = [DRAW, FORK, FORK_AND_DRAW];

/// Interrupts draws at `place`, at the first draw of a process if `fresh`, `times` times on top of each other.
fn interrupt(place: Point, hook: fn(Point), times: u32, fresh: bool) -> usize {
    let all = Record::open();
    // In a child, which has no pool yet; the test's own process has.
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
    for place in [Point::Taken, Point::Stepped, Point::Drawn] {
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

/// Children of children of a frame: more than any number of banks.
#[test]
fn forty_forks_on_top_of_one_frame_repeat_nothing() {
    for place in [Point::Stepped, Point::Drawn, Point::Seeded] {
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

/// A child's set-up that is left by a jump leaves its mark. The frame that the fork interrupted, whose pool the fork has
/// cleared, must not take that mark for its own.
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

/// Nor is it waited for: the next draw sets up.
#[test]
fn a_set_up_that_was_left_is_done_by_the_next_draw() {
    let all = Record::open();
    draw();
    if fork() {
        leave_a_set_up();
        assert!(super::pool::draw(|slot, at| slot.fill(at, &mut [0; 8])).is_some());
        draw();
    }
    assert_eq!(all.check(), 2 * 44);
}

/// A handler that finds its slot taken takes another, and what it draws is not from the core.
#[test]
fn a_handler_draws_from_another_state() {
    thread_local! {
        static BUSY: Cell<[bool; 2]> = const { Cell::new([false; 2]) };
    }
    const LOOK: fn(Point) = |point| {
        if is_due(point) {
            let inner = super::pool::draw(|slot, at| slot.fill(at, &mut [0; 8]));
            BUSY.set([true, inner.is_some()]);
        }
    };
    for place in [Point::Taken, Point::Stepped] {
        PLACE.set(place);
        HOOK.set(Some(LOOK));
        // Other tests of this binary may hold all four for a moment, but not at each try.
        let found = (0..1000).any(|_| {
            BUSY.set([false; 2]);
            LEFT.set(1);
            random_pseudo_u64().unwrap();
            BUSY.get() == [true; 2]
        });
        HOOK.set(None);
        assert!(found, "{place:?}: no other state was free");
    }
}

/// sched_getcpu answers -1 where the kernel refuses to say: under some seccomp filters, where no vDSO says it.
#[test]
fn whatever_the_cpu_is_called_there_is_a_slot_for_it() {
    for cpu in [-1, 0, 1, 255, 256, libc::c_int::MAX, libc::c_int::MIN] {
        assert!(super::pool::first_slot(cpu).is_multiple_of(2), "CPU {cpu}");
        assert!(super::pool::first_slot(cpu) < 512, "CPU {cpu}");
    }
    assert_ne!(super::pool::first_slot(0), super::pool::first_slot(1));
}
