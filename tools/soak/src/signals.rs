//! A timer's signals, and the handler that draws, forks and jumps.

use crate::draws::{DEPTH, draw_and_record, is_recording};
use crate::forks::{self, DEEPEST};
use crate::hooks;
use crate::plan::Plan;
use crate::record::{self, Event};
use headwater_testing::jump;
use std::mem::zeroed;
use std::ptr::null_mut;
use std::sync::atomic::{
    AtomicBool, AtomicU32, AtomicUsize,
    Ordering::{Relaxed, SeqCst},
};

/// Signals that have come to this process or to those it descends from.
static SEEN: AtomicUsize = AtomicUsize::new(0);
/// What the plan says.
static PERIOD: AtomicU32 = AtomicU32::new(0);
static FORKS: AtomicBool = AtomicBool::new(false);
static JUMPS: AtomicBool = AtomicBool::new(false);

pub(crate) fn seen() -> usize {
    SEEN.load(Relaxed)
}

/// Lets SIGALRM come to this thread, or not. A child that a handler forks has this thread alone, so signals come
/// only where that is enough: to threads that draw, and allocate nothing.
pub(crate) fn admit(come: bool) {
    let how = if come { libc::SIG_UNBLOCK } else { libc::SIG_BLOCK };
    // SAFETY: a set of signals that is emptied before it is used; the old one is not asked for.
    unsafe {
        let mut alarm = zeroed();
        libc::sigemptyset(&raw mut alarm);
        libc::sigaddset(&raw mut alarm, libc::SIGALRM);
        libc::pthread_sigmask(how, &raw const alarm, null_mut());
    }
}

/// What the plan says of signals; none comes before it is [admitted](admit).
pub(crate) fn arm(plan: &Plan) {
    admit(false);
    PERIOD.store(plan.signals, SeqCst);
    FORKS.store(plan.forks, SeqCst);
    JUMPS.store(plan.jumps, SeqCst);
    if plan.signals > 0 {
        // SAFETY: an action of zeros has no flags and an empty mask; the handler has the type that goes with it.
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

/// SIGALRM so often from now on; 0 for never. Timers are not inherited. Async-signal-safe.
pub(crate) fn start(microseconds: u32) {
    let every = libc::timeval { tv_sec: 0, tv_usec: microseconds.into() };
    let timer = libc::itimerval { it_interval: every, it_value: every };
    // SAFETY: a valid timer; the old one is not asked for.
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
        // The child returns from the handler and goes on with what was interrupted, under signals of its own;
        // every second one first takes its page past where that was.
        start(PERIOD.load(Relaxed));
        if count % 64 == 13 {
            (0..40).for_each(|_| draw_and_record::<8>());
        }
        if DEPTH.load(SeqCst) == DEEPEST {
            forks::end();
        }
    }
}
