//! Two threads that change at once what the mode depends on.
#![cfg(target_os = "linux")]

mod common;
mod support;

use common::isolated;
use headwater::testing::{Force, choose_mode, set};
use headwater::{Config, Mode};
use std::sync::Barrier;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

/// One thread chooses the mode anew, as a refill may; another quiesces. In an earlier form the
/// first could store a mode that it had chosen before the second's change: 12 times in 200,000
/// rounds the process continued to buffer.
#[test]
fn a_quiesce_is_never_lost() {
    isolated("a_quiesce_is_never_lost", || {
        set(Force::VmgenidBound, true);
        let config = Config::new().mode(Mode::Buffered);
        headwater::init_with(config).unwrap();
        if headwater::status().mode != Mode::Buffered {
            println!("skipped: nothing can be buffered here, so no quiesce can be lost");
            return;
        }
        const ROUNDS: u32 = 100_000;
        // Odd: both may go; even: the other thread is done.
        let turn = AtomicU32::new(0);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for round in 0..ROUNDS {
                    while turn.load(SeqCst) != 2 * round + 1 {
                        // On a busy machine a turn would otherwise last a time slice.
                        std::thread::yield_now();
                    }
                    // A few instructions earlier or later each time.
                    (0..round % 7).for_each(|_| std::hint::spin_loop());
                    choose_mode();
                    turn.store(2 * round + 2, SeqCst);
                }
            });
            let mut lost = 0;
            for round in 0..ROUNDS {
                headwater::init_with(config).unwrap();
                turn.store(2 * round + 1, SeqCst);
                headwater::quiesce().unwrap();
                while turn.load(SeqCst) != 2 * round + 2 {
                    std::thread::yield_now();
                }
                lost += u32::from(headwater::status().mode != Mode::Strict);
            }
            assert_eq!(lost, 0);
        });
    });
}

/// Two threads map one clock: one mapping is left, and none after a quiesce, or CRIU would refuse
/// the process.
#[test]
fn a_clock_is_armed_once() {
    isolated("a_clock_is_armed_once", || {
        let root = support::root::Root::new();
        let _clock = support::root::FakeClock::new(&root, false);
        headwater::testing::set_root(root.c_path());
        let mappings = || {
            let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
            maps.lines().filter(|line| line.ends_with("vmclock0")).count()
        };
        headwater::init().unwrap();
        if headwater::status().vmclock.name() != "mapped" {
            println!(
                "skipped: the clock's file is too slow here, setting it up twice is not tried"
            );
            return;
        }
        for round in 0..500 {
            headwater::quiesce().unwrap();
            assert_eq!(mappings(), 0, "round {round}");
            let both = Barrier::new(2);
            std::thread::scope(|scope| {
                for _ in 0..2 {
                    scope.spawn(|| {
                        both.wait();
                        headwater::init_with(Config::new()).unwrap();
                    });
                }
            });
            // On a busy machine the file's loads may look slow, and no page is mapped.
            assert!(mappings() <= 1, "round {round}");
        }
        headwater::quiesce().unwrap();
        assert_eq!(mappings(), 0);
    });
}
