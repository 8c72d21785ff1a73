//! Backtraces from signal handlers: what a profiler and a crash reporter see of a draw.
//!
//! The kernel aborts a section before it delivers a signal, so the handler of the signal finds the
//! thread at the section's abort handler. If no unwind information covered that place, most
//! backtraces would end there: 60 to 75 of 100 did. But some end inside a draw under locks as well,
//! because the vDSO's ChaCha20, which serves refills, has no unwind information. Their number
//! depends on the length and on the kernel, so draws under locks are the measure of draws in
//! sections.

#![cfg(all(target_os = "linux", target_arch = "x86_64", target_env = "gnu"))]

mod common;

use common::isolated_as;
use headwater::{Path, Rng};
use headwater_testing::children::{Ending, fork, wait};
use std::ffi::{c_int, c_void};
use std::hint::black_box;
use std::mem::zeroed;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering::SeqCst};

/// Sampled backtraces of each kind of draw.
const SAMPLES: u32 = 400;
/// Nanoseconds between two samples: an unoptimised unwinder takes a tenth of this.
const INTERVAL: libc::c_long = 200_000;

unsafe extern "C" {
    fn _Unwind_Backtrace(
        visit: extern "C" fn(*mut c_void, *mut c_void) -> c_int,
        argument: *mut c_void,
    ) -> c_int;
    fn _Unwind_GetRegionStart(context: *mut c_void) -> usize;
}

/// The function that a backtrace has to reach.
static CALLER: AtomicUsize = AtomicUsize::new(0);
/// Backtraces so far, and those that did not reach it.
static TAKEN: AtomicU32 = AtomicU32::new(0);
static LOST: AtomicU32 = AtomicU32::new(0);

/// Returns whether a backtrace from here passes through the function at `CALLER`.
fn reaches_the_caller() -> bool {
    extern "C" fn visit(context: *mut c_void, found: *mut c_void) -> c_int {
        // SAFETY: the unwinder passes a context, and `reaches_the_caller` the address of a bool
        // that outlives the walk.
        unsafe {
            if _Unwind_GetRegionStart(context) == CALLER.load(SeqCst) {
                *found.cast::<bool>() = true;
            }
        }
        0 // continue
    }
    let mut found = false;
    // SAFETY: `visit` has the type that the unwinder calls, and gets the address of a live bool.
    unsafe { _Unwind_Backtrace(visit, (&raw mut found).cast()) };
    found
}

extern "C" fn sample(_: c_int) {
    if !reaches_the_caller() {
        LOST.fetch_add(1, SeqCst);
    }
    TAKEN.fetch_add(1, SeqCst);
}

fn handle(signal: c_int, handler: extern "C" fn(c_int)) {
    // SAFETY: an action of zeros has no flags and an empty mask, and the handler has the type that
    // goes with no flags.
    unsafe {
        let mut action: libc::sigaction = zeroed();
        action.sa_sigaction = handler as *const () as usize;
        assert_eq!(libc::sigaction(signal, &raw const action, null_mut()), 0);
    }
}

/// Draws until enough samples were taken. The caller that the backtraces have to reach.
#[inline(never)]
fn draw_for_samples(draw: fn(&mut Rng), rng: &mut Rng) {
    while TAKEN.load(SeqCst) < SAMPLES {
        for _ in 0..64 {
            draw(rng);
        }
    }
    black_box(());
}

/// Draws once. The caller that the backtraces have to reach.
#[inline(never)]
fn draw_once(draw: fn(&mut Rng), rng: &mut Rng) {
    draw(rng);
    black_box(());
}

fn fill<const N: usize>(_: &mut Rng) {
    let mut bytes = [0; N];
    headwater::fill(black_box(&mut bytes)).expect("random bytes");
}

fn word(_: &mut Rng) {
    black_box(headwater::u64().expect("a random word"));
}

/// Starts a timer whose signals come to this thread, however many others the process has.
fn start_samples() -> libc::timer_t {
    handle(libc::SIGPROF, sample);
    let every = libc::timespec { tv_sec: 0, tv_nsec: INTERVAL };
    let times = libc::itimerspec { it_interval: every, it_value: every };
    // SAFETY: an event of zeros but for what is set, which names a thread of this process; the
    // timer's id is written before it is used.
    unsafe {
        let mut event: libc::sigevent = zeroed();
        event.sigev_notify = libc::SIGEV_THREAD_ID;
        event.sigev_signo = libc::SIGPROF;
        event.sigev_notify_thread_id = libc::gettid();
        let mut timer = null_mut();
        let made = libc::timer_create(libc::CLOCK_MONOTONIC, &raw mut event, &raw mut timer);
        assert_eq!(made, 0, "{}", std::io::Error::last_os_error());
        assert_eq!(libc::timer_settime(timer, 0, &raw const times, null_mut()), 0);
        timer
    }
}

/// Returns how many of [`SAMPLES`] backtraces do not reach the loop that draws.
fn lost_samples(draw: fn(&mut Rng)) -> u32 {
    let mut rng = Rng::new().expect("a handle");
    CALLER.store(draw_for_samples as *const () as usize, SeqCst);
    reaches_the_caller(); // loads what the unwinder loads once
    draw(&mut rng);
    TAKEN.store(0, SeqCst);
    LOST.store(0, SeqCst);
    let timer = start_samples();
    draw_for_samples(draw, &mut rng);
    // SAFETY: the timer was made above, and is deleted once.
    assert_eq!(unsafe { libc::timer_delete(timer) }, 0);
    LOST.load(SeqCst)
}

/// A draw and its name.
type Named = (&'static str, fn(&mut Rng));

/// The draws that are sampled.
const SAMPLED: [Named; 3] = [("u64", word), ("16 bytes", fill::<16>), ("256 bytes", fill::<256>)];

/// Runs `body` in two children that have not drawn yet: the first draws in sections, the second
/// under locks. Returns what each wrote, or None if this machine has no sections.
fn in_sections_and_under_locks<const N: usize>(
    body: impl Fn() -> [u32; N],
) -> Option<[[u32; N]; 2]> {
    let result = |is_locked: bool| {
        let size = size_of::<[u32; N]>();
        // SAFETY: new memory, which the child shares and which stays mapped; zeros are numbers.
        let shared = unsafe {
            let access = libc::PROT_READ | libc::PROT_WRITE;
            let kind = libc::MAP_SHARED | libc::MAP_ANONYMOUS;
            let at = libc::mmap(null_mut(), size, access, kind, -1, 0);
            assert_ne!(at, libc::MAP_FAILED);
            &mut *at.cast::<[u32; N]>()
        };
        let child = fork(|| {
            if is_locked {
                // SAFETY: the child has one thread, so no other reads the environment.
                unsafe { std::env::set_var("HEADWATER_NO_RSEQ", "1") };
            }
            let path = headwater::status().path;
            if is_locked == (path == Path::Sections) {
                return 77;
            }
            *shared = body();
            0
        });
        match wait(child) {
            Ending::Exited(0) => Some(*shared),
            Ending::Exited(77) => None,
            other => panic!("the child ended with {other:?}"),
        }
    };
    Some([result(false)?, result(true)?])
}

#[test]
fn a_profiler_sees_the_callers_of_a_draw() {
    let test = "a_profiler_sees_the_callers_of_a_draw";
    isolated_as(test, "buffered", &[("HEADWATER_MODE", "buffered")], || {
        let lost = in_sections_and_under_locks(|| SAMPLED.map(|(_, draw)| lost_samples(draw)));
        let Some([sections, locks]) = lost else {
            println!("{test}: skipped: this process draws under locks");
            return;
        };
        println!("lost of {SAMPLES} samples: in sections {sections:?}, under locks {locks:?}");
        for (i, (name, _)) in SAMPLED.into_iter().enumerate() {
            let (lost, limit) = (sections[i], locks[i] * 3 / 2 + SAMPLES / 10);
            assert!(
                lost <= limit,
                "{name}: {lost} of {SAMPLES} backtraces end inside the draw; under locks {}",
                locks[i]
            );
        }
    });
}

/// Ends the child with a status that says whether the backtrace reached the caller.
extern "C" fn report(_: c_int) {
    let code = if reaches_the_caller() { 10 } else { 11 };
    // SAFETY: ends the process from within a handler, as the function allows.
    unsafe { libc::_exit(code) }
}

/// Draws `N` bytes to a page that cannot be written to.
fn fault<const N: usize>(_: &mut Rng) {
    let bytes = unwritable();
    headwater::fill(&mut bytes[..N]).expect("the draw faults");
}

/// Draws `N` bytes by a handle to a page that cannot be written to.
fn fault_by_handle<const N: usize>(rng: &mut Rng) {
    let bytes = unwritable();
    rng.fill(&mut bytes[..N]).expect("the draw faults");
}

/// Returns memory on which every access faults.
fn unwritable() -> &'static mut [u8] {
    // SAFETY: new memory that stays mapped. The slice is never read nor written successfully: that
    // the first access raises a signal is what the test needs.
    unsafe {
        let kind = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        let at = libc::mmap(null_mut(), 8192, libc::PROT_NONE, kind, -1, 0);
        assert_ne!(at, libc::MAP_FAILED);
        std::slice::from_raw_parts_mut(black_box(at.cast()), 8192)
    }
}

#[test]
fn a_crash_report_shows_who_passed_a_bad_buffer() {
    let test = "a_crash_report_shows_who_passed_a_bad_buffer";
    const DRAWS: [Named; 7] = [
        ("8 bytes", fault::<8>),
        ("16 bytes", fault::<16>),
        ("40 bytes", fault::<40>),
        ("256 bytes", fault::<256>),
        ("1,024 bytes", fault::<1024>),
        ("4,096 bytes", fault::<4096>),
        ("256 bytes by a handle", fault_by_handle::<256>),
    ];
    isolated_as(test, "buffered", &[("HEADWATER_MODE", "buffered")], || {
        let seen = in_sections_and_under_locks(|| {
            let mut rng = Rng::new().expect("a handle");
            for (_, draw) in SAMPLED {
                draw(&mut rng);
            }
            CALLER.store(draw_once as *const () as usize, SeqCst);
            DRAWS.map(|(_, draw)| {
                let child = fork(|| {
                    // The child's first draw fills a page, and its second one is in a section.
                    word(&mut rng);
                    handle(libc::SIGSEGV, report);
                    draw_once(draw, &mut rng);
                    12
                });
                match wait(child) {
                    Ending::Exited(code) => code.cast_unsigned(),
                    Ending::Killed(signal) => 1000 + signal.cast_unsigned(),
                }
            })
        });
        let Some([sections, locks]) = seen else {
            println!("{test}: skipped: this process draws under locks");
            return;
        };
        for (i, (name, _)) in DRAWS.into_iter().enumerate() {
            assert_eq!(locks[i], 10, "under locks: {name}");
            assert_eq!(sections[i], 10, "in sections: {name}");
        }
    });
}
