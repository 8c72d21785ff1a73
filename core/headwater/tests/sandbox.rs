//! The draws of a process under real seccomp filters.
#![cfg(target_os = "linux")]

mod common;
mod support;

use common::isolated;
use headwater::testing::{Force, set};
use headwater::{Config, Mode, Rng, Source};
use seccompiler::{BpfProgram, SeccompAction, SeccompFilter};
use std::collections::BTreeMap;
use std::sync::Barrier;
use support::children::{Ending, fork, wait};
use support::draws::{Seen, draw_everything, lengths};
use support::machine::can_reseed;
use support::rules::{assert_by_the_rules, force};

/// Returns a filter that answers `listed` to these calls and `others` to every other call.
fn filter(calls: &[libc::c_long], listed: SeccompAction, others: SeccompAction) -> BpfProgram {
    let rules: BTreeMap<i64, _> = calls.iter().map(|&call| (call, Vec::new())).collect();
    let arch = std::env::consts::ARCH.try_into().unwrap();
    SeccompFilter::new(rules, others, listed, arch).unwrap().try_into().unwrap()
}

/// Makes getrandom(2) answer this errno from now on, for the vDSO's inner call as well.
fn refuse_getrandom(errno: i32) {
    let refuse = SeccompAction::Errno(errno as u32);
    let filter = filter(&[libc::SYS_getrandom], refuse, SeccompAction::Allow);
    seccompiler::apply_filter(&filter).unwrap();
    // SAFETY: writes nothing: no length.
    let answer = unsafe { libc::syscall(libc::SYS_getrandom, std::ptr::null_mut::<u8>(), 0, 0) };
    assert_eq!((answer, std::io::Error::last_os_error().raw_os_error()), (-1, Some(errno)));
}

macro_rules! refused {
    ($($name:ident: $errno:ident, $first:expr;)*) => {$(
        #[test]
        fn $name() {
            isolated(stringify!($name), || {
                if $first {
                    draw_everything();
                }
                refuse_getrandom(libc::$errno);
                // The vDSO continues with the keys it has until the kernel reseeds.
                let vdso_is_out = !$first || can_reseed(stringify!($name));
                for mode in [Mode::Auto, Mode::Strict, Mode::Kernel] {
                    headwater::init_with(Config::new().mode(mode)).unwrap();
                    draw_everything();
                    if vdso_is_out || mode == Mode::Kernel {
                        // A slow path must show.
                        assert_eq!(headwater::status().source, Source::Urandom, "{mode}");
                    }
                }
            });
        }
    )*};
}

refused! {
    enosys_before_set_up: ENOSYS, false;
    enosys_after_set_up: ENOSYS, true;
    eperm_before_set_up: EPERM, false;
    eperm_after_set_up: EPERM, true;
    eacces_before_set_up: EACCES, false;
    eacces_after_set_up: EACCES, true;
    einval_before_set_up: EINVAL, false;
    enomem_before_set_up: ENOMEM, false;
    eio_after_set_up: EIO, true;
}

/// The search of the vDSO's data asks rt_sigprocmask(2) which pages it may read. Under a filter
/// that answers in the call's place no page may be read on that answer's word.
#[test]
fn a_filter_that_answers_for_the_signal_mask_costs_the_generation_alone() {
    let name = "a_filter_that_answers_for_the_signal_mask_costs_the_generation_alone";
    isolated(name, || {
        for errno in [libc::EINVAL, libc::EFAULT, libc::EPERM] {
            let refuse = SeccompAction::Errno(errno as u32);
            let filter = filter(&[libc::SYS_rt_sigprocmask], refuse, SeccompAction::Allow);
            let child = fork(|| {
                seccompiler::apply_filter(&filter).unwrap();
                draw_everything();
                assert!(!matches!(
                    headwater::status().reseed_generation,
                    headwater::ReseedGeneration::Live { .. }
                ));
                0
            });
            assert_eq!(wait(child), Ending::Exited(0), "errno {errno}");
        }
    });
}

/// Draws, and an end.
const BARE: [libc::c_long; 2] = [libc::SYS_getrandom, libc::SYS_exit_group];

/// Makes draws of every kind without allocating: 64 KiB, `small` small ones, every length, and a
/// new handle.
fn draw_in_a_sandbox(small: usize, buffer: &mut [u8]) {
    headwater::fill(&mut buffer[..1 << 16]).unwrap();
    let mut rng = Rng::new().unwrap();
    for round in 0..small / 2 {
        headwater::fill(&mut buffer[..1 + round % 40]).unwrap();
        rng.next_u64();
    }
    for len in lengths() {
        headwater::fill(&mut buffer[..len]).unwrap();
        rng.fill(&mut buffer[..len]).unwrap();
    }
    drop(rng);
    headwater::u32().unwrap();
    headwater::generation();
    headwater::status();
    let mut stamp = headwater::Stamp::new();
    stamp.check();
}

fn every_mode_with_and_without_vdso() -> impl Iterator<Item = (Mode, bool)> {
    Mode::ALL.into_iter().flat_map(|mode| [(mode, true), (mode, false)])
}

/// After `init`, a filter that kills at any call but two: everything continues.
#[test]
fn nothing_but_getrandom_is_called() {
    isolated("nothing_but_getrandom_is_called", || {
        let filter = filter(&BARE, SeccompAction::Allow, SeccompAction::KillProcess);
        let mut buffer = vec![0; 2 << 20];
        for (mode, vdso) in every_mode_with_and_without_vdso() {
            let child = fork(|| {
                set(Force::NoVdso, !vdso);
                headwater::init_with(Config::new().mode(mode)).unwrap();
                seccompiler::apply_filter(&filter).unwrap();
                draw_in_a_sandbox(100_000, &mut buffer);
                0
            });
            assert_eq!(wait(child), Ending::Exited(0), "mode {mode}, vDSO: {vdso}");
        }
        // The filter does kill.
        let child = fork(|| {
            seccompiler::apply_filter(&filter).unwrap();
            // SAFETY: takes nothing and changes nothing.
            unsafe { libc::syscall(libc::SYS_getppid) };
            0
        });
        assert_eq!(wait(child), Ending::Killed(libc::SIGSYS));
    });
}

/// The calls that a thread of the standard library needs to meet others and to end.
const THREAD_ENDS: [libc::c_long; 6] = [
    libc::SYS_futex,
    libc::SYS_exit,
    libc::SYS_rt_sigprocmask,
    // Its alternate stack and its stack are unmapped.
    libc::SYS_sigaltstack,
    libc::SYS_munmap,
    libc::SYS_madvise,
];

/// Threads that were there before the filter draw under it and end, and at their very end, in a
/// destructor, they draw again.
#[test]
fn threads_draw_and_end_under_a_filter() {
    struct DrawsAtTheEnd;
    impl Drop for DrawsAtTheEnd {
        fn drop(&mut self) {
            headwater::fill(&mut [0; 100]).unwrap();
        }
    }
    thread_local!(static AT_THE_END: DrawsAtTheEnd = const { DrawsAtTheEnd });

    isolated("threads_draw_and_end_under_a_filter", || {
        const THREADS: usize = 6;
        let calls = [&BARE[..], &THREAD_ENDS].concat();
        let filter = filter(&calls, SeccompAction::Allow, SeccompAction::KillProcess);
        for (mode, vdso) in every_mode_with_and_without_vdso() {
            let child = fork(|| {
                set(Force::NoVdso, !vdso);
                headwater::init_with(Config::new().mode(mode)).unwrap();
                // Before the filter: new memory.
                let mut buffers = vec![vec![0; 2 << 20]; THREADS];
                let (started, begin) = (Barrier::new(THREADS + 1), Barrier::new(THREADS + 1));
                std::thread::scope(|scope| {
                    for buffer in &mut buffers {
                        scope.spawn(|| {
                            AT_THE_END.with(|_| {});
                            started.wait();
                            begin.wait();
                            draw_in_a_sandbox(5_000, buffer);
                        });
                    }
                    started.wait();
                    seccompiler::apply_filter_all_threads(&filter).unwrap();
                    begin.wait();
                });
                0
            });
            assert_eq!(wait(child), Ending::Exited(0), "mode {mode}, vDSO: {vdso}");
        }
    });
}

/// Calls of set-up that a sandbox may refuse, with any errno: all but the one that ends in an
/// error, by which memory is said to be readable that is not (EINVAL to rt_sigprocmask).
const REFUSED: [(&str, libc::c_long); 10] = [
    ("mmap", libc::SYS_mmap),
    ("munmap", libc::SYS_munmap),
    ("madvise", libc::SYS_madvise),
    ("mlock2", libc::SYS_mlock2),
    ("openat", libc::SYS_openat),
    ("read", libc::SYS_read),
    ("getdents64", libc::SYS_getdents64),
    ("ioctl", libc::SYS_ioctl),
    ("rt_sigprocmask", libc::SYS_rt_sigprocmask),
    ("sched_getaffinity", libc::SYS_sched_getaffinity),
];

/// Without any one of its calls set-up comes to a mode by the rules, and draws are sound; without
/// all of them, too.
#[test]
fn set_up_does_without_each_of_its_calls() {
    isolated("set_up_does_without_each_of_its_calls", || {
        let mut buffer = vec![0; 2 << 20];
        let all: Vec<libc::c_long> = REFUSED.iter().map(|&(_, call)| call).collect();
        let one = REFUSED.iter().map(|(name, call)| (*name, std::slice::from_ref(call)));
        for (name, calls) in one.chain([("all of them", &all[..])]) {
            for errno in [libc::EPERM, libc::ENOSYS, libc::EACCES] {
                let refuse = SeccompAction::Errno(errno as u32);
                let filter = filter(calls, refuse, SeccompAction::Allow);
                for facts in [&[][..], &[Force::NoDroppable]] {
                    let child = fork(|| {
                        force(facts);
                        seccompiler::apply_filter(&filter).unwrap();
                        draw_in_a_sandbox(100, &mut buffer);
                        let status = headwater::status();
                        assert_by_the_rules(&status);
                        // Without these no memory is available that a fork would clear.
                        let needed = ["mmap", "madvise", "all of them"];
                        assert_eq!(status.fork_detection, !needed.contains(&name));
                        0
                    });
                    assert_eq!(wait(child), Ending::Exited(0), "{name}: {errno}, {facts:?}");
                }
            }
        }
    });
}

/// A sandbox that answers success to any advice has promised nothing: forks are not detected there.
#[test]
fn advice_that_is_always_taken() {
    isolated("advice_that_is_always_taken", || {
        let answer = SeccompAction::Errno(0);
        let filter = filter(&[libc::SYS_madvise], answer, SeccompAction::Allow);
        seccompiler::apply_filter(&filter).unwrap();
        let status = headwater::status();
        assert_eq!((status.mode, status.fork_detection), (Mode::Kernel, false));
        assert_by_the_rules(&status);
        draw_everything();
    });
}

/// The devices refused as well: an error that says so, and zeros.
#[test]
fn no_source_at_all_before_and_after_set_up() {
    isolated("no_source_at_all_before_and_after_set_up", || {
        let calls = [libc::SYS_getrandom, libc::SYS_openat];
        let refuse = SeccompAction::Errno(libc::EPERM as u32);
        let filter = filter(&calls, refuse, SeccompAction::Allow);
        for set_up_before in [false, true] {
            let child = fork(|| {
                if set_up_before {
                    headwater::init_with(Config::new().mode(Mode::Kernel)).unwrap();
                }
                seccompiler::apply_filter(&filter).unwrap();
                for len in [1, 16, 100, 5000] {
                    let mut buf = vec![0x5A; len];
                    let error = headwater::fill(&mut buf).unwrap_err();
                    assert_eq!(error.errno(), Some(libc::EPERM));
                    assert!(error.to_string().contains("both failed"), "{error}");
                    assert!(buf.iter().all(|&byte| byte == 0));
                }
                0
            });
            assert_eq!(wait(child), Ending::Exited(0), "set up before: {set_up_before}");
        }
    });
}

/// Handles beyond the first group need a mapping: where that is forbidden, the slots serve.
#[test]
fn handles_without_mappings() {
    isolated("handles_without_mappings", || {
        headwater::init().unwrap();
        let refuse = SeccompAction::Errno(libc::EPERM as u32);
        let mut handles = Vec::with_capacity(200);
        let mut seen = Seen::default();
        let filter = filter(&[libc::SYS_mmap], refuse, SeccompAction::Allow);
        seccompiler::apply_filter(&filter).unwrap();
        for _ in 0..200 {
            handles.push(Rng::new().unwrap());
        }
        for rng in &mut handles {
            let mut bytes = [0; 64];
            rng.fill(&mut bytes).unwrap();
            seen.take(&bytes);
            seen.take(&rng.next_u64().to_ne_bytes());
        }
        seen.assert_no_repeats();
    });
}
