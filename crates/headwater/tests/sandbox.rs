//! The system calls that a process makes: under real seccomp filters, and counted by ptrace.
#![cfg(target_os = "linux")]

mod common;
mod support;

use common::isolated;
use headwater::testing::{Force, set};
use headwater::{Config, Mode, Rng, Source};
use seccompiler::{BpfProgram, SeccompAction, SeccompFilter};
use std::collections::BTreeMap;
use support::children::{Ending, fork, wait};
use support::draws::{Seen, draw_everything, lengths};
use support::machine::{can_reseed, skip};

/// A filter that answers `listed` to these calls and `others` to every other one.
fn filter(calls: &[libc::c_long], listed: SeccompAction, others: SeccompAction) -> BpfProgram {
    let rules: BTreeMap<i64, _> = calls.iter().map(|&call| (call, Vec::new())).collect();
    let arch = std::env::consts::ARCH.try_into().unwrap();
    SeccompFilter::new(rules, others, listed, arch).unwrap().try_into().unwrap()
}

/// getrandom(2) answers this errno, for the vDSO's inner call as well, from now on.
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
                // The vDSO goes on under the keys it has until the kernel reseeds.
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
}

const SANDBOXED: [libc::c_long; 3] = [libc::SYS_getrandom, libc::SYS_exit_group, libc::SYS_write];

/// Draws of every kind, without allocating: 64 KiB, so many small ones, every length, and a new handle.
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

/// After `init`, a filter that kills at any call but three: everything goes on.
#[test]
fn nothing_but_getrandom_is_called() {
    isolated("nothing_but_getrandom_is_called", || {
        let kill = SeccompAction::KillProcess;
        let filter = filter(&SANDBOXED, SeccompAction::Allow, kill);
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

/// The system calls of `body` in a child, between two marks, seen by a tracer. None if tracing is refused.
fn traced(body: impl FnOnce()) -> Option<Vec<u64>> {
    const MARK: libc::c_long = libc::SYS_getppid;
    let mark = || {
        // SAFETY: takes nothing and changes nothing.
        unsafe { libc::syscall(MARK) };
    };
    let child = fork(|| {
        // SAFETY: asks to be traced by the parent, then stops until the parent lets it go on.
        unsafe {
            if libc::ptrace(libc::PTRACE_TRACEME, 0, 0_usize, 0_usize) != 0 {
                return 77;
            }
            libc::raise(libc::SIGSTOP);
        }
        mark();
        body();
        mark();
        0
    });
    let mut calls = Vec::new();
    let mut marks = 0;
    loop {
        let mut status = 0;
        // SAFETY: `status` is an int that waitpid writes.
        assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
        if !libc::WIFSTOPPED(status) {
            return match Ending::of(status) {
                Ending::Exited(0) => Some(calls),
                Ending::Exited(77) => None,
                other => panic!("the traced child ended by {other:?}"),
            };
        }
        // SAFETY: the child is stopped; the structure is as large as the size that is given.
        unsafe {
            let mut info: libc::ptrace_syscall_info = std::mem::zeroed();
            let size = size_of_val(&info);
            // Without this option the kernel does not say that a stop is a system call's.
            libc::ptrace(libc::PTRACE_SETOPTIONS, child, 0_usize, libc::PTRACE_O_TRACESYSGOOD);
            libc::ptrace(libc::PTRACE_GET_SYSCALL_INFO, child, size, &raw mut info);
            if info.op == libc::PTRACE_SYSCALL_INFO_ENTRY {
                let call = info.u.entry.nr;
                if call == MARK as u64 {
                    marks += 1;
                } else if marks == 1 {
                    calls.push(call);
                }
            }
            libc::ptrace(libc::PTRACE_SYSCALL, child, 0_usize, 0_usize);
        }
    }
}

/// Counted from outside: getrandom(2) and nothing else, and in mode `buffered` hardly ever.
#[test]
fn the_calls_that_are_made() {
    isolated("the_calls_that_are_made", || {
        let mut buffer = vec![0; 2 << 20];
        for (mode, vdso) in every_mode_with_and_without_vdso() {
            set(Force::NoVdso, !vdso);
            let armed = armed_by(mode);
            // Where each draw is a call a few will do: a traced one is slow.
            let small = if armed == Mode::Buffered { 100_000 } else { 2_000 };
            let Some(calls) = traced(|| {
                headwater::init_with(Config::new().mode(mode)).unwrap();
                // SAFETY: takes nothing and changes nothing. What set-up did is before this.
                unsafe { libc::syscall(libc::SYS_getuid) };
                draw_in_a_sandbox(small, &mut buffer);
            }) else {
                return skip("the_calls_that_are_made", "ptrace is refused here");
            };
            let begin = calls.iter().position(|&call| call == libc::SYS_getuid as u64).unwrap();
            let calls = &calls[begin + 1..];
            let other = calls.iter().find(|&&call| call != libc::SYS_getrandom as u64);
            assert_eq!(other, None, "mode {mode}, vDSO: {vdso}");
            match armed {
                // A state is keyed once, and again after each reseed of the kernel: once a minute.
                Mode::Buffered => assert!(calls.len() < 100, "{mode}: {} calls", calls.len()),
                Mode::Kernel => assert!(calls.len() >= small, "{mode}: {} calls", calls.len()),
                _ => {}
            }
        }
    });
}

/// The mode that is armed when this one is asked for.
fn armed_by(mode: Mode) -> Mode {
    let child = fork(|| {
        headwater::init_with(Config::new().mode(mode)).unwrap();
        headwater::status().mode as i32
    });
    match wait(child) {
        Ending::Exited(armed) => Mode::ALL[armed as usize],
        killed => panic!("{killed:?}"),
    }
}
