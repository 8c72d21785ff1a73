//! A process and its children, however they were made, never draw the same bytes.

#![cfg(target_os = "linux")]

mod common;

use common::in_every_mode;
use common::record::{self, add, draw, draw_all_kinds, draw_all_kinds_from, fork, raw_fork};
use headwater::{Freshness, Rng, Stamp};
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::{env, thread};

#[test]
fn a_child_draws_its_own() {
    in_every_mode("a_child_draws_its_own", |_| {
        record::open();
        fork(draw_all_kinds); // before the first draw: the child sets up for itself
        draw_all_kinds();
        for _ in 0..20 {
            fork(draw_all_kinds);
            draw_all_kinds();
        }
        assert_eq!(record::check(), 42 * 680);
    });
}

#[test]
fn grandchildren_draw_their_own() {
    in_every_mode("grandchildren_draw_their_own", |_| {
        record::open();
        draw_all_kinds();
        for draws_first in [false, true] {
            fork(|| {
                if draws_first {
                    draw_all_kinds();
                }
                fork(draw_all_kinds);
                fork(draw_all_kinds);
                draw_all_kinds();
            });
            draw_all_kinds();
        }
        record::check();
    });
}

/// Three levels below this process, each of which draws before and after it forks, or only after.
#[test]
fn every_level_draws_its_own() {
    fn level(depth: u32, draws_first: bool) {
        if draws_first {
            draw_all_kinds();
        }
        if depth < 3 {
            fork(|| level(depth + 1, draws_first));
            fork(|| level(depth + 1, !draws_first));
        }
        draw_all_kinds();
    }
    in_every_mode("every_level_draws_its_own", |_| {
        record::open();
        level(0, false);
        level(0, true);
        record::check();
    });
}

/// The C library's fork handlers do not run, so nothing may depend on them.
#[test]
fn a_raw_clone_draws_its_own() {
    in_every_mode("a_raw_clone_draws_its_own", |_| {
        record::open();
        draw_all_kinds();
        for _ in 0..20 {
            if raw_fork() {
                draw_all_kinds();
                if raw_fork() {
                    draw_all_kinds();
                    record::end();
                }
                draw_all_kinds();
                record::end();
            }
            draw_all_kinds();
        }
        record::check();
    });
}

/// A child that shares the memory of its parent, as vfork and posix_spawn make it, takes no copy of
/// the bytes: it draws as one more thread does. With and without a parent that waits for it.
#[test]
fn a_child_in_shared_memory_draws_its_own() {
    extern "C" fn child(_: *mut libc::c_void) -> libc::c_int {
        draw_all_kinds();
        record::end()
    }
    in_every_mode("a_child_in_shared_memory_draws_its_own", |_| {
        record::open();
        draw_all_kinds();
        let mut stacks = vec![[0_u128; 8192]; 10];
        for (i, stack) in stacks.iter_mut().enumerate() {
            let waits = if i % 2 == 0 { libc::CLONE_VFORK } else { 0 };
            // SAFETY: a stack of 128 KiB, aligned and used by this child alone, which ends without
            // returning to this frame and takes no lock of the C library.
            let pid = unsafe {
                libc::clone(
                    child,
                    stack.as_mut_ptr_range().end.cast(),
                    libc::CLONE_VM | waits | libc::SIGCHLD,
                    std::ptr::null_mut(),
                )
            };
            assert!(pid > 0);
            draw_all_kinds();
        }
        record::check();
    });
}

/// A program started by `Command`, with posix_spawn where possible, sets up anew.
#[test]
fn a_spawned_program_draws_its_own() {
    const SPAWNED: &str = "HEADWATER_TEST_SPAWNED";
    const DREW: &str = "drew ";
    let test = "a_spawned_program_draws_its_own";
    in_every_mode(test, |_| {
        if env::var_os(SPAWNED).is_some() {
            for _ in 0..200 {
                println!("{DREW}{}", headwater::u64().expect("a random word"));
            }
            return;
        }
        record::open();
        draw_all_kinds();
        for _ in 0..4 {
            let output = std::process::Command::new(env::current_exe().expect("a path"))
                .args(["--exact", test, "--nocapture", "--test-threads=1"])
                .env(SPAWNED, "")
                .output()
                .expect("this binary starts again");
            assert!(output.status.success());
            let text = String::from_utf8(output.stdout).expect("text");
            let drawn = text.lines().filter_map(|line| line.split_once(DREW));
            let mut count = 0;
            for (_, word) in drawn {
                add(&word.parse::<u64>().expect("a number").to_ne_bytes());
                count += 1;
            }
            assert_eq!(count, 200);
            draw_all_kinds();
        }
        record::check();
    });
}

#[test]
fn children_of_a_process_with_drawing_threads_draw_their_own() {
    static DONE: AtomicBool = AtomicBool::new(false);
    let test = "children_of_a_process_with_drawing_threads_draw_their_own";
    in_every_mode(test, |_| {
        record::open();
        thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    let mut draws = 0;
                    while !DONE.load(SeqCst) {
                        // Beyond these it draws only to hold slots while the others fork.
                        if draws < 5_000 {
                            draw::<16>();
                            draw::<64>();
                            draws += 1;
                        } else {
                            headwater::u64().expect("a random word");
                        }
                    }
                });
            }
            for _ in 0..50 {
                fork(draw_all_kinds);
                draw::<16>();
            }
            // The C library lets any thread fork.
            scope.spawn(|| fork(draw_all_kinds)).join().expect("a fork");
            DONE.store(true, SeqCst);
        });
        record::check();
    });
}

#[test]
fn fifty_processes_in_ten_rounds_draw_their_own() {
    in_every_mode("fifty_processes_in_ten_rounds_draw_their_own", |_| {
        record::open();
        for _ in 0..10 {
            draw::<16>();
            for _ in 0..50 {
                fork(|| {
                    for _ in 0..10 {
                        draw::<16>();
                    }
                    draw::<256>();
                });
            }
            record::wait_for_all();
        }
        assert_eq!(record::check(), 10 * (2 + 50 * (20 + 32)));
    });
}

/// A handle is plain memory, and its copy in the child must not be a copy of what it would hand
/// out.
#[test]
fn a_copied_handle_draws_its_own() {
    in_every_mode("a_copied_handle_draws_its_own", |_| {
        record::open();
        let mut used = Rng::new().expect("a handle");
        draw_all_kinds_from(&mut used);
        add(&used.next_u64().to_ne_bytes()); // something is left in its page
        let mut unused = Rng::new().expect("a handle");
        for _ in 0..10 {
            fork(|| {
                draw_all_kinds_from(&mut used);
                fork(|| {
                    draw_all_kinds_from(&mut used);
                    draw_all_kinds_from(&mut unused);
                    draw_all_kinds_from(&mut Rng::new().expect("a handle"));
                });
                draw_all_kinds_from(&mut unused);
                draw_all_kinds_from(&mut used);
                draw_all_kinds();
            });
            draw_all_kinds_from(&mut used);
            draw_all_kinds_from(&mut unused);
            draw_all_kinds();
        }
        record::check();
    });
}

/// Checks until nothing happened in between: once, but for a reseed of the kernel at that very
/// moment.
fn becomes_fresh(stamp: &mut Stamp) -> bool {
    (0..3).any(|_| stamp.check() == Freshness::Fresh)
}

#[test]
fn stamps_are_stale_in_every_child() {
    in_every_mode("stamps_are_stale_in_every_child", |_| {
        record::open();
        let mut stamp = Stamp::new();
        let Some(parents) = headwater::generation() else {
            assert_eq!(stamp.check(), Freshness::Stale, "a new stamp");
            assert_eq!(stamp.check(), Freshness::Unknown);
            fork(|| {
                let mut copy = stamp;
                assert_eq!(copy.check(), Freshness::Stale, "a fork is seen all the same");
                assert_eq!(copy.check(), Freshness::Unknown);
            });
            assert_eq!(stamp.check(), Freshness::Unknown, "the parent was not forked");
            return record::wait_for_all();
        };
        assert_eq!(stamp.check(), Freshness::Stale, "a new stamp");
        assert!(becomes_fresh(&mut stamp));
        for draws_first in [false, true] {
            fork(|| {
                if draws_first {
                    draw_all_kinds();
                }
                let mut copy = stamp;
                assert_eq!(copy.check(), Freshness::Stale, "in the child");
                assert!(becomes_fresh(&mut copy));
                draw_all_kinds();
                assert_eq!(stamp.check(), Freshness::Stale, "after the child drew");
                let own = headwater::generation().expect("as in the parent");
                assert_ne!(own, parents);
                fork(|| {
                    assert_eq!(copy.check(), Freshness::Stale, "in the grandchild");
                    let grandchilds = headwater::generation().expect("as in the parent");
                    assert!(grandchilds != own && grandchilds != parents);
                });
            });
            record::wait_for_all();
            assert!(becomes_fresh(&mut stamp), "in the parent nothing happened");
        }
    });
}
