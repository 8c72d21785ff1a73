//! As many threads as there are slots are stopped while they hold one, as if preempted.
#![cfg(target_os = "linux")]

mod common;
mod support;

use common::isolated_as;
use headwater::Mode;
use headwater::testing::{Force, Point, set_hook};
use std::cell::Cell;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::sync::{Condvar, Mutex};
use std::thread;
use std::time::Duration;
use support::children::{Ending, fork, wait};
use support::machine::{bind, skip};
use support::memory::{page_size, pools_kib};
use support::rules::{force, slots};

thread_local! {
    /// The point at which this thread stops, and how often it passes there before.
    static STOPS: Cell<Option<(Point, u32)>> = const { Cell::new(None) };
}
static STOPPED: AtomicU32 = AtomicU32::new(0);
static MAY_GO: Mutex<bool> = Mutex::new(false);
static GO: Condvar = Condvar::new();

/// With a slot in its hands.
const LOCKED: (Point, u32) = (Point::Locked, 0);
/// With a key in the page of the slot, where a refill for sections works.
const KEYED: (Point, u32) = (Point::Keyed, 1);

/// Stops a thread that asked for it, once.
fn stop(point: Point) {
    let Some((at, passes)) = STOPS.get().filter(|&(at, _)| at == point) else { return };
    STOPS.set(passes.checked_sub(1).map(|left| (at, left)));
    if passes == 0 {
        STOPPED.fetch_add(1, SeqCst);
        drop(GO.wait_while(MAY_GO.lock().unwrap(), |may_go| !*may_go).unwrap());
    }
}

/// Releases all threads when it is dropped, by a failed check as well.
struct Opens;

impl Drop for Opens {
    fn drop(&mut self) {
        *MAY_GO.lock().unwrap() = true;
        GO.notify_all();
    }
}

/// Starts threads on all CPUs in turn, until none finds a slot any more. Until then no draw may
/// fall back.
#[test]
fn no_draw_falls_back_before_the_last_slot_is_held() {
    const TEST: &str = "no_draw_falls_back_before_the_last_slot_is_held";
    let facts = [
        (&[][..], LOCKED),
        (&[], KEYED),
        (&[Force::NoSections], LOCKED),
        (&[Force::NoDroppable], LOCKED),
    ];
    let modes = [Mode::Buffered, Mode::Hedged];
    for ((facts, at), mode) in facts.into_iter().flat_map(|facts| modes.map(|mode| (facts, mode))) {
        let variables = [("HEADWATER_MODE", mode.name())];
        isolated_as(TEST, &format!("{mode}, {facts:?}, {at:?}"), &variables, || {
            force(facts);
            headwater::init().unwrap();
            let status = headwater::status();
            if status.mode != mode {
                return skip(TEST, &format!("mode {mode} cannot be used here"));
            }
            if at == KEYED && status.path != headwater::Path::Sections {
                return skip(
                    TEST,
                    "draws are no sections here: no refill works in a page of its own",
                );
            }
            set_hook(Some(stop));
            let held = hold_all(at);
            let (after, cpus) = (headwater::status(), configured());
            assert_eq!(status.pools.slots, slots(cpus, status.page));
            // Another CPU's own slot is out of a thread's reach.
            let out_of_reach = cpus as usize - support::machine::cpus().len();
            assert_eq!(held + out_of_reach, status.pools.slots as usize, "{facts:?}: {after:?}");
            assert_eq!(after.pools.taken, 0);
            // The mark of lost pages lies after the last page, and is none of them.
            if after.reseed_generation == status.reseed_generation {
                assert_eq!(after.generation, status.generation, "{facts:?}");
            }
        });
    }
}

/// A child of a process that has drawn has as many slots as a bank.
#[test]
fn a_forked_child_has_the_slots_of_a_bank() {
    isolated_as("a_forked_child_has_the_slots_of_a_bank", "only", &[], || {
        headwater::u64().unwrap();
        if headwater::status().pools.slots == 0 {
            return skip("a_forked_child_has_the_slots_of_a_bank", "nothing is buffered here");
        }
        let child = fork(|| {
            set_hook(Some(stop));
            let held = hold_all(LOCKED);
            assert_eq!(headwater::status().pools.slots, configured() + 64);
            assert_eq!(held, 64 + support::machine::cpus().len());
            0
        });
        assert!(matches!(wait(child), Ending::Exited(0)));
    });
}

/// Returns how many threads hold a slot when the next one on each CPU finds none. They are let go
/// then, and all words that were drawn differ.
fn hold_all(at: (Point, u32)) -> usize {
    let before = headwater::status().counters.fallbacks;
    let draw = || u128::from_ne_bytes(headwater::array().unwrap());
    thread::scope(|scope| {
        let opens = Opens;
        let (mut holders, mut words) = (Vec::new(), Vec::new());
        for cpu in support::machine::cpus() {
            loop {
                let thread = thread::Builder::new().stack_size(256 << 10);
                let hold = move || {
                    bind(&[cpu]);
                    STOPS.set(Some(at));
                    draw()
                };
                let thread = thread.spawn_scoped(scope, hold).unwrap();
                while STOPPED.load(SeqCst) as usize == holders.len() && !thread.is_finished() {
                    thread::sleep(Duration::from_micros(50));
                }
                let fell_back =
                    headwater::status().counters.fallbacks > before + words.len() as u64;
                assert_eq!(fell_back, STOPPED.load(SeqCst) as usize == holders.len());
                if fell_back {
                    words.push(thread.join().unwrap());
                    break;
                }
                holders.push(thread);
            }
        }
        let held = holders.len();
        if at == KEYED {
            // Each holder has written to a page, which is no other's.
            let pages_kib = (page_size() * held) as u64 / 1024;
            assert!(pools_kib() >= pages_kib, "{} KiB by {held} holders", pools_kib());
        }
        drop(opens);
        words.extend(holders.into_iter().map(|thread| thread.join().unwrap()));
        let drawn = words.len();
        words.sort_unstable();
        words.dedup();
        assert_eq!(words.len(), drawn);
        held
    })
}

/// Returns the number of CPUs that the machine may have.
fn configured() -> u32 {
    // SAFETY: reads a number of the system.
    unsafe { libc::sysconf(libc::_SC_NPROCESSORS_CONF) as u32 }
}
