//! As many threads as there are slots are stopped while they hold one, as if preempted.
#![cfg(target_os = "linux")]

mod common;
mod support;

use common::isolated_as;
use headwater::Mode;
use headwater::testing::{Force, Point, set_hook};
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};
use std::thread;
use std::time::Duration;
use support::machine::{cpus, skip};
use support::rules::{force, slots};

thread_local! {
    static STOPS: Cell<bool> = const { Cell::new(false) };
}
static STOPPED: AtomicU32 = AtomicU32::new(0);
static GO: AtomicBool = AtomicBool::new(false);

/// Stops a thread that asked for it once, with a slot in its hands.
fn stop(point: Point) {
    if point == Point::Locked && STOPS.replace(false) {
        STOPPED.fetch_add(1, SeqCst);
        while !GO.load(SeqCst) {
            thread::sleep(Duration::from_millis(1));
        }
    }
}

/// Draws while all slots but one are held, and then while all are.
#[test]
fn no_draw_falls_back_before_the_last_slot_is_held() {
    const TEST: &str = "no_draw_falls_back_before_the_last_slot_is_held";
    let facts = [&[][..], &[Force::NoSections], &[Force::NoDroppable]];
    let modes = [Mode::Buffered, Mode::Hedged];
    for (facts, mode) in facts.into_iter().flat_map(|facts| modes.map(|mode| (facts, mode))) {
        let variables = [("HEADWATER_MODE", mode.name())];
        isolated_as(TEST, &format!("{mode}, {facts:?}"), &variables, || {
            force(facts);
            headwater::init().unwrap();
            let status = headwater::status();
            if status.mode != mode {
                return skip(TEST, &format!("mode {mode} cannot be used here"));
            }
            let cpus = *cpus().last().unwrap() as u32 + 1;
            assert!(status.pools.slots >= slots(cpus, status.page), "{status:?}");
            set_hook(Some(stop));
            let hold = || {
                STOPS.set(true);
                let mut bytes = [0; 16];
                headwater::fill(&mut bytes).unwrap();
                u128::from_ne_bytes(bytes)
            };
            let fallbacks = || headwater::status().counters.fallbacks - status.counters.fallbacks;
            thread::scope(|scope| {
                let mut threads = Vec::new();
                let mut start_one = || {
                    let at_once = thread::Builder::new().stack_size(256 << 10);
                    threads.push(at_once.spawn_scoped(scope, hold).unwrap());
                    while STOPPED.load(SeqCst) < threads.len() as u32 {
                        thread::sleep(Duration::from_micros(50));
                    }
                };
                (1..status.pools.slots).for_each(|_| start_one());
                let mut words = vec![draw()];
                assert_eq!(fallbacks(), 0, "{facts:?}: {:?}", headwater::status());
                if status.path == headwater::Path::Sections {
                    // The page that this CPU has now would serve further draws.
                    headwater::discard().unwrap();
                }
                start_one();
                assert_eq!(headwater::status().pools.taken, status.pools.slots);
                words.push(draw());
                assert!(fallbacks() > 0, "{facts:?}: {:?}", headwater::status());
                GO.store(true, SeqCst);
                words.extend(threads.into_iter().map(|thread| thread.join().unwrap()));
                words.sort_unstable();
                words.dedup();
                assert_eq!(words.len(), 2 + status.pools.slots as usize);
            });
            assert_eq!(headwater::status().pools.taken, 0);
        });
    }
}

fn draw() -> u128 {
    u128::from_ne_bytes(headwater::array().unwrap())
}
