//! A request that a handler interrupts, which forks: at every point of the code where it makes a
//! difference, for every kind of request, in every mode.
//!
//! The handler is the hook of the feature `testing`, called where a signal could come. The child
//! draws in it, so that everything the fork has cleared is in use again, and returns; then the
//! interrupted frame continues in both processes. From there on the hook may draw at each point, as
//! further signals on the same frame would.

#![cfg(target_os = "linux")]

mod common;
mod support;

use common::record::{self, add, draw, raw_fork};
use common::{in_every_mode, isolated_as};
use headwater::testing::{self, Force, Point};
use headwater::{Freshness, Mode, Rng, Source, Stamp};
use std::cell::Cell;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use support::children::{Ending, fork, wait};
use support::machine::{bind, cpus, skip};

const POINTS: [Point; 7] = [
    Point::SetUp,
    Point::EpochChosen,
    Point::Locked,
    Point::Keyed,
    Point::MidCopy,
    Point::Copied,
    Point::LargeChunk,
];

/// Banks of slots in the core. So many forks on one frame bring the frame's own bank round again.
/// Nothing but the comparison of the epochs detects it then, and it comes too late for a signal
/// that draws before it.
const BANKS: u32 = 16;

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Function,
    Handle,
}

/// The interrupted draw, the place, and the number of interruptions.
#[derive(Clone, Copy)]
struct Case {
    kind: Kind,
    len: usize,
    /// True if bytes were drawn before, so that the page is part used; else the request is the
    /// first of its process, and set-up and refill are in it.
    warm: bool,
    point: Point,
    /// Forks on top of each other: the child forks in its turn before it returns, and so on.
    depth: u32,
    /// All slots of the bank are taken, so that the request works in one for a crowd.
    crowd: bool,
}

thread_local! {
    /// The hook's task. Without a destructor and constant at first, so reading it takes no lock.
    static NEXT: Cell<Option<(Point, u32)>> = const { Cell::new(None) };
}
/// The hook is at work: what it draws comes by the points, too.
static INSIDE: AtomicBool = AtomicBool::new(false);
static FORKED: AtomicBool = AtomicBool::new(false);
/// The hook draws at all points after the fork, too.
static COMES_AGAIN: AtomicBool = AtomicBool::new(false);
/// Set in every process but the first.
static IS_CHILD: AtomicBool = AtomicBool::new(false);

fn handler(point: Point) {
    if INSIDE.swap(true, SeqCst) {
        return;
    }
    match NEXT.get() {
        Some((wanted, depth)) if wanted == point => {
            NEXT.set(None);
            FORKED.store(true, SeqCst);
            COMES_AGAIN.store(depth < BANKS, SeqCst);
            for _ in 0..depth {
                if !raw_fork() {
                    break;
                }
                IS_CHILD.store(true, SeqCst);
                draw_in_handler(); // which moves to the next epoch
            }
        }
        _ if COMES_AGAIN.load(SeqCst) => draw_in_handler(),
        _ => {}
    }
    INSIDE.store(false, SeqCst);
}

/// Draws more than the interrupted frame had drawn from its page, and less than a page.
fn draw_in_handler() {
    for _ in 0..10 {
        draw::<8>();
        draw::<24>();
    }
    draw::<256>();
}

/// Draws 400 times.
fn go_on(rng: &mut Rng) {
    for _ in 0..50 {
        draw::<8>();
        draw::<16>();
        draw::<40>();
        draw::<256>();
        add(&rng.next_u64().to_ne_bytes());
        add(&rng.next_u64().to_ne_bytes());
        let mut bytes = [0; 136];
        rng.fill(&mut bytes[..16]).expect("random bytes");
        add(&bytes[..16]);
        rng.fill(&mut bytes).expect("random bytes");
        add(&bytes);
    }
}

/// Runs one case in this process, which has not drawn yet. Returns whether its point was reached.
fn run(case: Case, forced: Option<Force>) -> bool {
    // One slot for all, so that what the child draws meets what was interrupted on whichever CPU it
    // runs.
    testing::set(Force::OneCpu, true);
    if let Some(fact) = forced {
        testing::set(fact, true);
    }
    record::open();
    if case.crowd {
        headwater::init().expect("set-up");
        testing::leak_a_bank();
    }
    let mut bytes = vec![0; case.len];
    let mut rng = None;
    if case.warm {
        let rng = rng.insert(Rng::new().expect("a handle"));
        for _ in 0..10 {
            draw::<8>();
            add(&rng.next_u64().to_ne_bytes());
        }
    }
    NEXT.set(Some((case.point, case.depth)));
    testing::set_hook(Some(handler));
    match case.kind {
        Kind::Function => headwater::fill(&mut bytes).expect("random bytes"),
        Kind::Handle => rng
            .get_or_insert_with(|| Rng::new().expect("a handle"))
            .fill(&mut bytes)
            .expect("random bytes"),
    }
    testing::set_hook(None);
    add(&bytes);
    go_on(rng.get_or_insert_with(|| Rng::new().expect("a handle")));
    // A page that the fork has cleared counts as never filled, not as one that went wrong. Only
    // where the banks come round may the frame meet a page that another has served from.
    assert!(case.depth == BANKS || headwater::status().counters.tripwires == 0, "tripwires");
    if IS_CHILD.load(SeqCst) {
        record::end();
    }
    record::check();
    FORKED.load(SeqCst)
}

/// Runs the cases of a kind, each in a process of its own. Checks that some case reaches each point
/// that the mode has.
fn run_all(mode: Mode, kind: Kind, lens: &[usize], forced: Option<Force>) {
    run_all_in(false, mode, kind, lens, forced);
}

/// Runs the cases as [`run_all`], in slots for a crowd if `crowd` is set. Set-up comes before them
/// then.
fn run_all_in(crowd: bool, mode: Mode, kind: Kind, lens: &[usize], forced: Option<Force>) {
    let reached: Vec<Point> = POINTS
        .into_iter()
        .filter(|&point| {
            let mut reached = false;
            for &len in lens {
                for warm in [false, true] {
                    if (warm || crowd) && matches!(point, Point::SetUp | Point::EpochChosen) {
                        continue; // both come before a warm draw
                    }
                    for depth in [1, BANKS - 1, BANKS] {
                        // Sixteen copies of megabytes would test nothing that kilobytes do not.
                        if depth == 1 || len < 1 << 20 {
                            let case = Case { kind, len, warm, point, depth, crowd };
                            reached |= reaches(case, forced);
                        }
                    }
                }
            }
            reached
        })
        .collect();
    let vdso = headwater::status().source == Source::Vdso;
    let expected: Vec<Point> = POINTS
        .into_iter()
        .filter(|point| match (mode, point) {
            (_, Point::SetUp | Point::EpochChosen) => !crowd,
            (_, Point::LargeChunk) => true,
            (Mode::Kernel, _) | (Mode::Strict, Point::MidCopy | Point::Copied) => false,
            (Mode::Strict, Point::Locked) => vdso,
            // A handle that has a page takes no slot.
            (_, Point::Locked) => kind == Kind::Function,
            _ => true,
        })
        .collect();
    assert_eq!(reached, expected, "the points that were reached");
}

/// Runs a case in a child and passes its answer on.
fn reaches(case: Case, forced: Option<Force>) -> bool {
    let Case { len, warm, point, depth, .. } = case;
    // SAFETY: the child draws, records and ends; the other thread, libtest's, only waits for this
    // one.
    let child = unsafe { libc::fork() };
    assert!(child >= 0);
    if child == 0 {
        let reached = run(case, forced);
        // SAFETY: ends the process.
        unsafe { libc::_exit(reached.into()) };
    }
    let mut status = 0;
    // SAFETY: `status` is a valid place for one.
    assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
    assert!(
        libc::WIFEXITED(status) && libc::WEXITSTATUS(status) <= 1,
        "{len} bytes, warm: {warm}, {depth} forks at {point:?}: ended with {status:#x}"
    );
    libc::WEXITSTATUS(status) == 1
}

const LENS: [usize; 6] = [8, 16, 40, 256, 64 << 10, 3 << 20];

#[test]
fn a_function_is_interrupted_by_a_fork() {
    in_every_mode("a_function_is_interrupted_by_a_fork", |mode| {
        run_all(mode, Kind::Function, &LENS, None);
    });
}

#[test]
fn a_handle_is_interrupted_by_a_fork() {
    in_every_mode("a_handle_is_interrupted_by_a_fork", |mode| {
        run_all(mode, Kind::Handle, &LENS, None);
    });
}

/// Pages of memory that is only cleared on fork, as kernels before 6.11 have it.
#[test]
fn a_function_is_interrupted_where_pages_are_not_droppable() {
    let test = "a_function_is_interrupted_where_pages_are_not_droppable";
    in_every_mode(test, |mode| {
        run_all(mode, Kind::Function, &[16, 256, 64 << 10], Some(Force::NoDroppable));
    });
}

#[test]
fn a_handle_is_interrupted_where_pages_are_not_droppable() {
    let test = "a_handle_is_interrupted_where_pages_are_not_droppable";
    in_every_mode(test, |mode| {
        run_all(mode, Kind::Handle, &[16, 256, 64 << 10], Some(Force::NoDroppable));
    });
}

/// The slots for a crowd lie in no bank: the children continue with a frame in one of them, and
/// draw from banks of their own.
#[test]
fn a_function_is_interrupted_in_a_slot_for_a_crowd() {
    const TEST: &str = "a_function_is_interrupted_in_a_slot_for_a_crowd";
    for (name, forced) in [("sections", None), ("locks", Some(Force::NoSections))] {
        for mode in [Mode::Buffered, Mode::Hedged, Mode::Strict] {
            let variables = [("HEADWATER_MODE", mode.name())];
            isolated_as(TEST, &format!("{mode}, {name}"), &variables, || {
                // Asked in a child, because each case is to begin before set-up.
                let has_crowd = fork(|| {
                    let status = headwater::status();
                    i32::from(status.mode == mode && status.pools.slots >= 512)
                });
                if !matches!(wait(has_crowd), Ending::Exited(1)) {
                    return skip(TEST, &format!("mode {mode} has no slots for a crowd here"));
                }
                run_all_in(true, mode, Kind::Function, &[16, 256, 64 << 10], forced);
            });
        }
    }
}

/// An epoch is chosen at the first draw in a child, and whatever handlers do meanwhile, no child
/// may come into an epoch that a parent of it was in: a stamp that a handler brought up to date
/// would look fresh there.
#[test]
fn stamps_are_stale_in_a_child_that_is_forked_while_an_epoch_is_chosen() {
    thread_local! {
        static STAMP: Cell<Stamp> = const { Cell::new(Stamp::new()) };
        static LEVEL: Cell<u32> = const { Cell::new(0) };
    }
    fn handler(point: Point) {
        if point != Point::EpochChosen || INSIDE.swap(true, SeqCst) {
            return;
        }
        let mut stamp = STAMP.get();
        // At the odd levels the fork comes before the handler has asked for anything, which would
        // settle the epoch that the interrupted frame is about to.
        if LEVEL.get().is_multiple_of(2) {
            stamp.check();
            draw_in_handler();
        }
        if LEVEL.get() < 4 && raw_fork() {
            LEVEL.set(LEVEL.get() + 1);
            IS_CHILD.store(true, SeqCst);
            let level = LEVEL.get();
            assert_eq!(stamp.check(), Freshness::Stale, "{level} forks deep");
            draw_in_handler();
        }
        STAMP.set(stamp);
        INSIDE.store(false, SeqCst);
    }
    let test = "stamps_are_stale_in_a_child_that_is_forked_while_an_epoch_is_chosen";
    in_every_mode(test, |mode| {
        if mode == Mode::Kernel {
            return; // no stamp can detect it
        }
        record::open();
        testing::set_hook(Some(handler));
        draw::<16>();
        testing::set_hook(None);
        draw_in_handler();
        if IS_CHILD.load(SeqCst) {
            record::end();
        }
        record::check();
        assert!(STAMP.get() != Stamp::new(), "no epoch was chosen");
    });
}

/// The epoch must be compared after a copy, although banks separate children: a frame that has
/// loaded its epoch when the fork comes takes, in the child, a slot of its parent's bank, and fills
/// the page from which an older frame is about to copy.
#[test]
fn a_slot_is_taken_in_the_parents_bank() {
    /// The hook's task at the next such point.
    static NEXT: Mutex<Option<Point>> = Mutex::new(None);
    fn hook(point: Point) {
        if NEXT.lock().unwrap().take_if(|next| *next == point).is_none() {
            return;
        }
        if point == Point::EpochLoaded {
            raw_fork();
        } else {
            *NEXT.lock().unwrap() = Some(Point::EpochLoaded);
            // More than was drawn from the page before, by half of the draws that follow.
            draw::<96>();
        }
    }
    common::isolated("a_slot_is_taken_in_the_parents_bank", || {
        bind(&cpus()[..1]);
        testing::set(Force::VmgenidBound, true);
        testing::set(Force::NoSections, true);
        record::open();
        for _ in 0..11 {
            draw::<8>();
        }
        let parent = std::process::id();
        testing::set_hook(Some(hook));
        *NEXT.lock().unwrap() = Some(Point::Locked);
        draw::<16>();
        assert_eq!(*NEXT.lock().unwrap(), None, "the points were not met");
        if std::process::id() != parent {
            record::end();
        }
        // The record refuses zeros, and zeros are what the 96 bytes have left.
        record::check();
    });
}
