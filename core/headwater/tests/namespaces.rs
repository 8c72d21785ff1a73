//! Time namespaces: the kernel puts other pages of the vDSO's data under a process that enters one,
//! and up to Linux 6.14 the page with the reseed generation was among them, so that the generation
//! read 0 from then on.
#![cfg(target_os = "linux")]

mod common;
mod support;

use common::record::{self, add, draw, draw_all_kinds, draw_all_kinds_from, fork};
use common::{in_every_mode, isolated};
use headwater::testing::{Force, inject_generation};
use headwater::{Mode, ReseedGeneration, Rng, Source};
use seccompiler::{BpfProgram, SeccompAction, SeccompFilter};
use std::fs::{self, File};
use std::io::Error;
use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::thread;
use std::time::Duration;
use support::machine::{bind, cpus, reseed, skip};
use support::memory::buffered_words;
use support::rules::{assert_by_the_rules, force};

const CLONE_NEWTIME: libc::c_int = 0x80;

/// Runs `body` in a child, which has one thread: namespaces are a thread's, and libtest's process
/// has two. Then checks what all have drawn.
fn in_a_process_of_one_thread(body: impl FnOnce()) {
    record::open();
    fork(|| {
        body();
        record::wait_for_all();
        fork(assert_word_moves); // in the namespace that the body has made
        record::wait_for_all();
    });
    record::check();
}

/// Makes a time namespace for the children of this process, with clocks that differ from this
/// one's, so that the kernel must map pages of their own. False, with a report, where that is
/// forbidden or unknown.
fn unshare_time(test: &str) -> bool {
    // SAFETY: takes a number, and changes what children of this process are in.
    let unshared = unsafe {
        libc::unshare(CLONE_NEWTIME) == 0 || libc::unshare(libc::CLONE_NEWUSER | CLONE_NEWTIME) == 0
    };
    if !unshared {
        let error = Error::last_os_error();
        skip(test, &format!("CLONE_NEWTIME: {error}; what a new time namespace does is not seen"));
        return false;
    }
    fs::write("/proc/self/timens_offsets", "monotonic 1000000 0\nboottime 1000000 0\n").unwrap();
    true
}

/// Moves this process into a time namespace. The kernel refuses (EUSERS) while a thread is left,
/// which may have been joined and still be on its way out.
fn enter(namespace: &File) -> Result<(), Error> {
    for _ in 0..1_000 {
        // SAFETY: an open descriptor.
        if unsafe { libc::setns(namespace.as_raw_fd(), CLONE_NEWTIME) } == 0 {
            return Ok(());
        }
        if Error::last_os_error().raw_os_error() != Some(libc::EUSERS) {
            break;
        }
        thread::sleep(Duration::from_millis(1));
    }
    Err(Error::last_os_error())
}

/// Returns the clock that a namespace shifts, read by the vDSO, in seconds.
fn monotonic() -> i64 {
    // SAFETY: a place for a time, which zeros are.
    unsafe {
        let mut time: libc::timespec = std::mem::zeroed();
        assert_eq!(libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut time), 0);
        time.tv_sec
    }
}

/// Checks that this process is in the new namespace, whose clock is ahead of the time `outside`.
#[track_caller]
fn assert_shifted(outside: i64) {
    assert!(monotonic() - outside >= 999_000, "still in the old namespace");
}

/// Checks that the mode in use is right for this process.
#[track_caller]
fn assert_sound(mode: Mode) {
    let status = headwater::status();
    assert_by_the_rules(&status);
    if let ReseedGeneration::Live { value, .. } = status.reseed_generation {
        assert_eq!((status.mode, status.counters.tripwires), (mode, 0));
        assert_ne!(value, 0);
    } else {
        assert_ne!(status.mode, Mode::Buffered);
    }
}

/// Checks that a live word is the kernel's and moves with it. A test makes this check last: a
/// reseed voids all pages, and with them the bytes that could be drawn twice.
fn assert_word_moves() {
    let value = || match headwater::status().reseed_generation {
        ReseedGeneration::Live { value, .. } => Some(value),
        _ => None,
    };
    if let Some(before) = value()
        && reseed()
    {
        assert!(value() > Some(before), "the word stands still here");
        draw_all_kinds();
    }
}

/// Parent and child, each with draws before and after, and generations below; every process its own
/// bytes.
#[test]
fn a_child_in_a_new_time_namespace_draws_its_own() {
    let test = "a_child_in_a_new_time_namespace_draws_its_own";
    in_every_mode(test, |mode| {
        in_a_process_of_one_thread(|| {
            bind(&cpus()[..1]); // so that all meet the same slot
            let mut rng = Rng::new().unwrap();
            draw_all_kinds();
            draw_all_kinds_from(&mut rng);
            let outside = monotonic();
            if !unshare_time(test) {
                return;
            }
            draw_all_kinds();
            for draws_first in [false, true] {
                fork(|| {
                    if draws_first {
                        draw_all_kinds();
                    }
                    assert_shifted(outside);
                    draw_all_kinds_from(&mut rng);
                    assert_sound(mode);
                    fork(|| {
                        draw_all_kinds();
                        draw_all_kinds_from(&mut rng);
                    });
                    // A namespace in the namespace.
                    if unshare_time(test) {
                        fork(|| {
                            draw_all_kinds_from(&mut rng);
                            draw_all_kinds();
                            assert_sound(mode);
                        });
                    }
                    draw_all_kinds();
                    draw_all_kinds_from(&mut rng);
                    record::wait_for_all();
                });
                draw_all_kinds();
                draw_all_kinds_from(&mut rng);
            }
            assert_sound(mode);
        });
    });
}

/// The first draw of all, in the new namespace: set-up finds there what is there.
#[test]
fn set_up_in_a_new_time_namespace() {
    let test = "set_up_in_a_new_time_namespace";
    in_every_mode(test, |mode| {
        in_a_process_of_one_thread(|| {
            let outside = monotonic();
            if !unshare_time(test) {
                return;
            }
            for _ in 0..3 {
                fork(|| {
                    assert_shifted(outside);
                    draw_all_kinds();
                    draw_all_kinds_from(&mut Rng::new().unwrap());
                    assert_sound(mode);
                    fork(draw_all_kinds);
                    thread::scope(|scope| {
                        for _ in 0..3 {
                            scope.spawn(draw_all_kinds);
                        }
                    });
                    record::wait_for_all();
                });
            }
            draw_all_kinds();
        });
    });
}

/// A process moves over and back itself: the pages change under it between two draws, without a
/// fork. Only a process with one thread may.
#[test]
fn a_process_that_moves_between_time_namespaces() {
    let test = "a_process_that_moves_between_time_namespaces";
    in_every_mode(test, |mode| {
        in_a_process_of_one_thread(|| {
            let mut rng = Rng::new().unwrap();
            draw_all_kinds();
            draw_all_kinds_from(&mut rng);
            let outside = monotonic();
            let old = File::open("/proc/self/ns/time");
            if !unshare_time(test) {
                return;
            }
            let new = File::open("/proc/self/ns/time_for_children").unwrap();
            let (old, mut stamp) = (old.unwrap(), headwater::Stamp::new());
            for round in 0..20 {
                draw::<16>();
                add(&rng.next_u64().to_ne_bytes());
                let into = if round % 2 == 0 { &new } else { &old };
                if let Err(error) = enter(into) {
                    return skip(
                        test,
                        &format!("setns {round}: {error}; this move and later ones are not seen"),
                    );
                }
                if round % 2 == 0 {
                    assert_shifted(outside);
                }
                draw::<16>();
                add(&rng.next_u64().to_ne_bytes());
                stamp.check();
                draw_all_kinds();
                draw_all_kinds_from(&mut rng);
                assert_sound(mode);
                fork(draw_all_kinds);
                thread::scope(|scope| {
                    for _ in 0..2 {
                        scope.spawn(draw_all_kinds);
                    }
                });
                record::wait_for_all();
            }
        });
    });
}

/// Threads draw all the while; fifty children at a time, each in the new namespace from its first
/// instruction on.
#[test]
fn a_fork_storm_into_a_time_namespace_under_drawing_threads() {
    static DONE: AtomicBool = AtomicBool::new(false);
    let test = "a_fork_storm_into_a_time_namespace_under_drawing_threads";
    in_every_mode(test, |mode| {
        in_a_process_of_one_thread(|| {
            draw_all_kinds();
            let outside = monotonic();
            thread::scope(|scope| {
                for _ in 0..3 {
                    scope.spawn(|| {
                        for round in 0.. {
                            if round < 2_000 {
                                draw::<16>();
                                draw::<64>();
                            } else if DONE.load(SeqCst) {
                                break;
                            } else {
                                headwater::u64().unwrap();
                            }
                        }
                    });
                }
                // No thread can be started from here on: it would be in another namespace than its
                // process.
                if unshare_time(test) {
                    for round in 0..5 {
                        for _ in 0..50 {
                            fork(|| {
                                draw::<8>();
                                assert_shifted(outside);
                                draw_all_kinds();
                                if round == 0 {
                                    assert_sound(mode);
                                }
                                fork(draw::<256>);
                                record::wait_for_all();
                            });
                            draw::<16>();
                        }
                        record::wait_for_all();
                    }
                }
                DONE.store(true, SeqCst);
            });
        });
    });
}

/// The view of Linux up to 6.14 in a new time namespace, made by an injected generation: it reads
/// 0, and the vDSO cannot say that this is wrong, since it has no key. Zero is also what a fork
/// leaves in the state of a page, so no page may ever be served under it.
#[test]
fn a_word_that_reads_zero_serves_nothing() {
    static ZERO: AtomicU64 = AtomicU64::new(0);
    let test = "a_word_that_reads_zero_serves_nothing";
    isolated(test, || {
        force(&[Force::VmgenidBound]);
        // Before the first draw: no state is ever keyed, so no state contradicts the generation.
        headwater::init().unwrap();
        if headwater::status().mode != Mode::Buffered {
            return skip(test, headwater::status().reason);
        }
        let arch = std::env::consts::ARCH.try_into().unwrap();
        let (allow, refuse) = (SeccompAction::Allow, SeccompAction::Errno(libc::ENOSYS as u32));
        let rules = [(libc::SYS_getrandom, Vec::new())];
        let filter = SeccompFilter::new(rules.into(), allow, refuse, arch).unwrap();
        let filter: BpfProgram = filter.try_into().unwrap();
        seccompiler::apply_filter(&filter).unwrap();
        inject_generation(&ZERO);
        let mut rng = Rng::new().unwrap();
        for by_handle in [false, true] {
            for _ in 0..10 {
                let buffered = buffered_words();
                let word = if by_handle { rng.next_u64() } else { headwater::u64().unwrap() };
                assert!(!buffered.contains(&word), "served under a word of 0, handle: {by_handle}");
            }
        }
        let status = headwater::status();
        assert_eq!((status.source, status.reseed_generation.name()), (Source::Urandom, "live"));
        // In a section's place stands a refill that puts no page; under a lock a key of its own.
        let by_sections = status.path == headwater::Path::Sections;
        assert!(by_sections || status.counters.fallbacks >= 10, "{:?}", status.counters);
    });
}
