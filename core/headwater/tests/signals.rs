//! Draws in signal handlers, on top of draws, in storms: nothing is repeated, nothing is zero,
//! nothing hangs.

#![cfg(target_os = "linux")]

mod common;

use common::in_every_mode;
use common::record::{self, add, draw, fork, raw_fork};
use headwater::Rng;
use std::mem::zeroed;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::SeqCst};
use std::thread;
use std::time::{Duration, Instant};

/// Signals that have come to this process or to those it descends from.
static SIGNALS: AtomicU64 = AtomicU64::new(0);
/// Forks above this process that a handler made and returned from.
static DEPTH: AtomicU32 = AtomicU32::new(0);
/// Forks that this process may still make in handlers.
static FORKS_LEFT: AtomicU32 = AtomicU32::new(0);
/// The depth of a line of such children, each of which takes up the interrupted frame: lower than
/// the number of banks, for all may come on top of one frame if forking takes longer than a timer.
static DEEPEST: AtomicU32 = AtomicU32::new(1);

fn handle(signal: libc::c_int, handler: extern "C" fn(libc::c_int)) {
    // SAFETY: an action of zeros has no flags and an empty mask; the handler has the type that goes
    // with that.
    unsafe {
        let mut action: libc::sigaction = zeroed();
        action.sa_sigaction = handler as *const () as usize;
        action.sa_flags = libc::SA_RESTART;
        assert_eq!(libc::sigaction(signal, &raw const action, null_mut()), 0);
    }
}

/// Sends SIGALRM to this process every `microseconds` from now on, or never for 0. The function is
/// async-signal-safe.
fn alarm_every(microseconds: libc::suseconds_t) {
    let every = libc::timeval { tv_sec: 0, tv_usec: microseconds };
    let timer = libc::itimerval { it_interval: every, it_value: every };
    // SAFETY: a valid timer; the old one is not asked for.
    let done = unsafe { libc::setitimer(libc::ITIMER_REAL, &raw const timer, null_mut()) };
    assert_eq!(done, 0);
}

/// Runs `body` while SIGALRM waits.
fn without_alarms<T>(body: impl FnOnce() -> T) -> T {
    // SAFETY: a set of signals that is emptied before it is used, and a place for the old one.
    unsafe {
        let (mut alarm, mut before) = (zeroed(), zeroed());
        libc::sigemptyset(&raw mut alarm);
        libc::sigaddset(&raw mut alarm, libc::SIGALRM);
        libc::pthread_sigmask(libc::SIG_BLOCK, &raw const alarm, &raw mut before);
        let result = body();
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const before, null_mut());
        result
    }
}

const MICROSECONDS: libc::suseconds_t = 50;

/// Draws, and now and then forks: a child that ends in the handler, or one that returns from it and
/// continues what it interrupted, under a storm of its own.
extern "C" fn draw_and_fork(_: libc::c_int) {
    let count = SIGNALS.fetch_add(1, SeqCst);
    draw::<8>();
    draw::<24>();
    if count % 64 == 62 && raw_fork() {
        for _ in 0..50 {
            draw::<8>();
            draw::<40>();
        }
        record::end();
    }
    if count % 16 == 15 && FORKS_LEFT.load(SeqCst) > 0 {
        FORKS_LEFT.fetch_sub(1, SeqCst);
        if raw_fork() {
            let depth = DEPTH.fetch_add(1, SeqCst) + 1;
            let forks = match depth {
                _ if depth == DEEPEST.load(SeqCst) => 0,
                1 => 2,
                _ => 1,
            };
            FORKS_LEFT.store(forks, SeqCst);
            // Timers are not inherited.
            alarm_every(MICROSECONDS);
            // Enough draws to move the position in a page past the interrupted frame's.
            for _ in 0..7 + 30 * depth {
                draw::<8>();
            }
        }
    }
}

/// Draws, as a handler does that knows nothing of what it interrupts.
extern "C" fn draw_only(_: libc::c_int) {
    SIGNALS.fetch_add(1, SeqCst);
    draw::<8>();
    draw::<16>();
    draw::<256>();
}

/// Long ones among them, so that much of the time is spent in refills.
const LENS: [usize; 8] = [8, 256, 16, 256, 40, 256, 8, 256];
/// The part of each draw that is recorded.
const RECORDED: usize = 64;
const LARGE: usize = 64 << 10;

/// Draws that are recorded together, and the depth at which each was begun.
struct Round {
    rng: Rng,
    number: usize,
    bytes: [[u8; 256]; LENS.len()],
    depths: [u32; LENS.len()],
    large: Vec<u8>,
    large_depth: Option<u32>,
}

impl Round {
    fn new() -> Round {
        Round {
            large: vec![0; LARGE],
            rng: Rng::new().expect("a handle"),
            number: 0,
            bytes: [[0; 256]; LENS.len()],
            depths: [0; LENS.len()],
            large_depth: None,
        }
    }

    fn draw(&mut self) {
        self.number += 1;
        for (i, len) in LENS.into_iter().enumerate() {
            self.depths[i] = DEPTH.load(SeqCst);
            let buf = &mut self.bytes[i][..len];
            let drawn = match (i + self.number) % 3 {
                0 => self.rng.fill(buf),
                _ => headwater::fill(buf),
            };
            drawn.expect("random bytes");
            assert_no_zeros(buf);
        }
        self.large_depth = None;
        if self.number.is_multiple_of(64) {
            self.large_depth = Some(DEPTH.load(SeqCst));
            headwater::fill(&mut self.large).expect("random bytes");
            assert_no_zeros(&self.large);
        }
    }

    /// Records what was begun in this process. A draw that a fork interrupted or followed is the
    /// parent's to record: it may have been complete, and then both may have it.
    fn record(&self) {
        without_alarms(|| {
            let depth = DEPTH.load(SeqCst);
            for (i, len) in LENS.into_iter().enumerate() {
                if self.depths[i] == depth {
                    add(&self.bytes[i][..len.min(RECORDED)]);
                }
            }
            if self.large_depth == Some(depth) {
                add(&self.large[..RECORDED]);
                add(&self.large[LARGE - RECORDED..]);
            }
        });
    }
}

/// Checks that no word of the drawn bytes is zero. A sound word is zero with probability 2^-64; a
/// test draws fewer than 2^27.
fn assert_no_zeros(drawn: &[u8]) {
    assert!(drawn.chunks(8).all(|word| word != [0; 8]), "zeros");
}

/// Returns the time after which a storm is over, however few signals have come.
fn three_seconds_from_now() -> Instant {
    Instant::now() + Duration::from_secs(3)
}

/// Draws until so many signals have come, or the time is over; a child that is made meanwhile is
/// content with less.
fn draw_under_storm(signals: u64, until: Instant) {
    let depth = DEPTH.load(SeqCst);
    let mut round = Round::new();
    let (mut seen, mut to_record) = (0, 0);
    let mut rounds_as_child = 0;
    loop {
        round.draw();
        let now = SIGNALS.load(SeqCst);
        if now != seen {
            // Rounds far from any signal would fill the record and show nothing.
            (seen, to_record) = (now, 4);
        }
        if to_record > 0 {
            to_record -= 1;
            round.record();
        }
        rounds_as_child += u32::from(DEPTH.load(SeqCst) > depth);
        let is_over = round.number.is_multiple_of(64) && Instant::now() > until;
        if now >= signals || rounds_as_child == 100 || is_over {
            return;
        }
    }
}

/// Makes trees of children, one after the other, each of which grows while its root draws in a
/// storm. The process must have one thread, so that handlers run nowhere else.
fn timer_storm() {
    record::open();
    handle(libc::SIGALRM, draw_and_fork);
    DEEPEST.store(6, SeqCst);
    let until = three_seconds_from_now();
    for tree in 1..=24 {
        FORKS_LEFT.store(2, SeqCst);
        alarm_every(MICROSECONDS);
        draw_under_storm(tree * 200, until);
        alarm_every(0);
        if DEPTH.load(SeqCst) > 0 {
            return;
        }
        record::wait_for_all();
    }
    assert!(SIGNALS.load(SeqCst) > 0, "no signal came");
    record::check();
}

#[test]
fn handlers_draw_and_fork_in_a_storm_of_timers() {
    in_every_mode("handlers_draw_and_fork_in_a_storm_of_timers", |_| {
        fork(timer_storm);
        record::wait_for_all();
    });
}

/// The first draw of a process, with all of set-up in it, interrupted by handlers that draw first,
/// and fork.
#[test]
fn set_up_is_interrupted_in_a_storm_of_timers() {
    in_every_mode("set_up_is_interrupted_in_a_storm_of_timers", |_| {
        record::open();
        for process in 0..48_u64 {
            fork(|| {
                // With this count the fork comes with another signal each time.
                SIGNALS.store(process % 16, SeqCst);
                FORKS_LEFT.store(1, SeqCst);
                handle(libc::SIGALRM, draw_and_fork);
                alarm_every(MICROSECONDS);
                draw_under_storm(32, three_seconds_from_now());
                alarm_every(0);
            });
            if process % 8 == 7 {
                record::wait_for_all();
            }
        }
        record::check();
    });
}

#[test]
fn handlers_draw_while_another_thread_sends_signals() {
    let test = "handlers_draw_while_another_thread_sends_signals";
    in_every_mode(test, |_| {
        record::open();
        handle(libc::SIGALRM, draw_only);
        // SAFETY: asks for a number.
        let target = unsafe { libc::pthread_self() };
        let done = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| {
                while !done.load(SeqCst) {
                    // SAFETY: the thread ends after this one.
                    let sent = unsafe { libc::pthread_kill(target, libc::SIGALRM) };
                    assert_eq!(sent, 0);
                    headwater::u64().expect("a random word");
                }
            });
            draw_under_storm(10_000, three_seconds_from_now());
            done.store(true, SeqCst);
        });
        assert!(SIGNALS.load(SeqCst) > 0, "no signal came");
        record::check();
    });
}
