//! Signals of a timer, and the handler that draws, forks and jumps.

use super::draws::{DEPTH, draw_and_record, is_recording};
use super::forks::{self, DEEPEST};
use super::hooks;
use super::plan::Plan;
use super::record::{self, Event};
use headwater_testing::jump;
use std::mem::zeroed;
use std::ptr::null_mut;
use std::sync::atomic::{
    AtomicBool, AtomicU32, AtomicUsize,
    Ordering::{Relaxed, SeqCst},
};

/// Number of signals that this process and its ancestors received.
static SEEN: AtomicUsize = AtomicUsize::new(0);
/// The plan's settings, copied because a handler cannot reach the plan.
static PERIOD: AtomicU32 = AtomicU32::new(0);
static FORKS: AtomicBool = AtomicBool::new(false);
static JUMPS: AtomicBool = AtomicBool::new(false);

pub(crate) fn seen() -> usize {
    SEEN.load(Relaxed)
}

/// Unblocks or blocks SIGALRM in this thread. A child that a handler forks consists of this thread
/// alone, so only threads that draw and allocate nothing may receive the signal.
pub(crate) fn admit(come: bool) {
    let how = if come { libc::SIG_UNBLOCK } else { libc::SIG_BLOCK };
    // SAFETY: the set is emptied before use, and the null pointer requests no old set.
    unsafe {
        let mut alarm = zeroed();
        libc::sigemptyset(&raw mut alarm);
        libc::sigaddset(&raw mut alarm, libc::SIGALRM);
        libc::pthread_sigmask(how, &raw const alarm, null_mut());
    }
}

/// Installs the handler and starts the timer as the plan says. Signals stay blocked until
/// [`admit`].
pub(crate) fn install(plan: &Plan) {
    admit(false);
    PERIOD.store(plan.signals, SeqCst);
    FORKS.store(plan.forks, SeqCst);
    JUMPS.store(plan.jumps, SeqCst);
    if plan.signals > 0 {
        // SAFETY: an action of zeros has no flags and an empty mask; the handler has the type that
        // goes with it.
        let done = unsafe {
            let mut action: libc::sigaction = zeroed();
            action.sa_sigaction = handler as extern "C" fn(libc::c_int) as *const () as usize;
            action.sa_flags = libc::SA_RESTART;
            libc::sigaction(libc::SIGALRM, &raw const action, null_mut())
        };
        assert_eq!(done, 0);
        start(plan.signals);
    }
}

/// Starts a timer of this period, or stops it if the period is 0. Children do not inherit timers.
/// Async-signal-safe.
pub(crate) fn start(microseconds: u32) {
    let every = libc::timeval { tv_sec: 0, tv_usec: microseconds.into() };
    let timer = libc::itimerval { it_interval: every, it_value: every };
    // SAFETY: the timer is valid, and the null pointer requests no old one.
    unsafe { libc::setitimer(libc::ITIMER_REAL, &raw const timer, null_mut()) };
}

extern "C" fn handler(_: libc::c_int) {
    hooks::closed(handle);
    if JUMPS.load(Relaxed) && seen() % 8 == 3 && !is_recording() {
        jump::leave();
    }
}

fn handle() {
    let count = SEEN.fetch_add(1, Relaxed);
    record::count(Event::Signal);
    draw_and_record::<8>();
    draw_and_record::<24>();
    if is_recording() || record::is_over() {
        return;
    }
    if FORKS.load(Relaxed) && count % 32 == 13 && forks::raw_fork(Event::ForkInHandler) {
        // The child returns from the handler and continues the interrupted code under its own
        // timer. Every second child first takes its page past the place of the interrupted draw.
        start(PERIOD.load(Relaxed));
        if count % 64 == 13 {
            (0..40).for_each(|_| draw_and_record::<8>());
        }
        if DEPTH.load(SeqCst) == DEEPEST {
            forks::end();
        }
    }
}
