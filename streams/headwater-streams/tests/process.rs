//! Storms on `random_pseudo_bytes`: more threads than CPUs, signals in the middle of draws,
//! children made in the middle of both. No word repeats, and none is zero.
//!
//! Each storm runs with restartable sequences and without. `src/process/tests.rs` steps into each
//! place of a draw by itself, which storms only do by chance.

#![cfg(target_os = "linux")]

mod ways;

use headwater_streams::{random_pseudo_bytes, random_pseudo_u64};
use headwater_testing::words::zeros_and_repeats;
use std::cell::Cell;
use std::mem::zeroed;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering::SeqCst};
use std::thread;
use ways::both_ways;

/// Words in the record; false alarms of all tests here: 2^48 / 2^65.
const CAPACITY: usize = 1 << 24;

/// The words that all threads, handlers and children have drawn: a counter, then the words, in
/// memory that children share.
static RECORD: AtomicPtr<AtomicUsize> = AtomicPtr::new(null_mut());

fn open() {
    let access = libc::PROT_READ | libc::PROT_WRITE;
    let sharing = libc::MAP_SHARED | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    // SAFETY: new memory at an address that the kernel picks.
    let at = unsafe { libc::mmap(null_mut(), 8 * (CAPACITY + 1), access, sharing, -1, 0) };
    assert!(at != libc::MAP_FAILED);
    RECORD.store(at.cast(), SeqCst);
}

/// Adds words to the record. Async-signal-safe.
fn record(words: &[u64]) {
    let at = RECORD.load(SeqCst);
    // SAFETY: the record is a counter and words; the addition makes these words ours alone.
    unsafe {
        let index = (*at).fetch_add(words.len(), SeqCst);
        if index + words.len() > CAPACITY {
            libc::abort();
        }
        at.add(1 + index).cast::<u64>().copy_from_nonoverlapping(words.as_ptr(), words.len());
    }
}

/// Returns true until the record is half full.
fn has_room() -> bool {
    // SAFETY: the record's counter.
    unsafe { (*RECORD.load(SeqCst)).load(SeqCst) < CAPACITY / 2 }
}

/// Waits for all children, each of which has to end well, and checks that no word repeats.
fn check() -> usize {
    wait_for_children();
    let at = RECORD.load(SeqCst);
    // SAFETY: the record is a counter, and so many words that were written after it; no other
    // process or thread is left.
    let words = unsafe {
        let count = (*at).load(SeqCst);
        std::slice::from_raw_parts_mut(at.add(1).cast::<u64>(), count)
    };
    let (zeros, twice) = zeros_and_repeats(words);
    assert_eq!(zeros, 0, "zeros came");
    let count = words.len();
    // SAFETY: the mapping of `open`.
    unsafe { libc::munmap(at.cast(), 8 * (CAPACITY + 1)) };
    assert_eq!(twice, 0, "of {count} words so many repeat");
    count
}

fn wait_for_children() {
    let mut status = 0;
    // SAFETY: waits for whatever child there is.
    while unsafe { libc::waitpid(-1, &raw mut status, libc::__WALL) } > 0 {
        assert_eq!(status, 0, "a child failed");
    }
}

/// Ends a child, after its own. Async-signal-safe.
fn end() -> ! {
    wait_for_children();
    // SAFETY: ends the process.
    unsafe { libc::_exit(0) }
}

/// Forks like fork(2), without the C library's handlers. Async-signal-safe.
fn raw_fork() -> bool {
    // SAFETY: no stack, no flags but the signal; the child draws, records and ends.
    let child = unsafe { libc::syscall(libc::SYS_clone, libc::SIGCHLD, 0, 0, 0, 0) };
    child == 0
}

/// Draws and records words by all ways: one, few, and enough for the lanes.
fn draw(rounds: usize) {
    for _ in 0..rounds {
        record(&[random_pseudo_u64().unwrap()]);
        bytes::<3>();
        bytes::<100>();
    }
}

fn bytes<const WORDS: usize>() {
    let mut drawn = [[0; 8]; WORDS];
    random_pseudo_bytes(drawn.as_flattened_mut()).unwrap();
    record(&drawn.map(u64::from_ne_bytes));
}

/// Binds this thread, and those it starts, to two of the CPUs that it may use.
fn bind_to_two_cpus() {
    // SAFETY: sets of the size that is named.
    unsafe {
        let (mut allowed, mut two): (libc::cpu_set_t, libc::cpu_set_t) = (zeroed(), zeroed());
        assert_eq!(libc::sched_getaffinity(0, size_of_val(&allowed), &raw mut allowed), 0);
        let cpus = (0..libc::CPU_SETSIZE as usize).filter(|cpu| libc::CPU_ISSET(*cpu, &allowed));
        cpus.take(2).for_each(|cpu| libc::CPU_SET(cpu, &mut two));
        assert_eq!(libc::sched_setaffinity(0, size_of_val(&two), &raw const two), 0);
    }
}

#[test]
fn eight_threads_on_two_cpus_repeat_nothing() {
    both_ways("eight_threads_on_two_cpus_repeat_nothing", |_| {
        open();
        let threads = [(); 8].map(|()| {
            thread::spawn(|| {
                bind_to_two_cpus();
                let mut words = vec![0; 1_000_000];
                words.iter_mut().for_each(|word| *word = random_pseudo_u64().unwrap());
                record(&words);
            })
        });
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        assert_eq!(check(), 8_000_000);
    });
}

#[test]
fn forks_among_threads_repeat_nothing() {
    both_ways("forks_among_threads_repeat_nothing", |_| {
        open();
        let done = AtomicBool::new(false);
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    while !done.load(SeqCst) && has_room() {
                        draw(10);
                        thread::yield_now();
                    }
                });
            }
            for round in 0..200 {
                if raw_fork() {
                    draw(2);
                    if round % 4 == 0 && raw_fork() {
                        draw(2);
                        end();
                    }
                    draw(2);
                    end();
                }
                draw(2);
            }
            done.store(true, SeqCst);
        });
        check();
    });
}

thread_local! {
    /// True in the threads whose draws may be forked, which libtest's own threads are not.
    static MAY_FORK: Cell<bool> = const { Cell::new(false) };
    /// True in a child that returned from the handler which made it.
    static CHILD: Cell<bool> = const { Cell::new(false) };
}

static SIGNALS: AtomicUsize = AtomicUsize::new(0);

extern "C" fn draw_and_fork(_: libc::c_int) {
    let count = SIGNALS.fetch_add(1, SeqCst);
    draw(1);
    if count % 16 == 5 && MAY_FORK.get() && raw_fork() {
        draw(3);
        end();
    }
    if count % 16 == 11 && MAY_FORK.get() && !CHILD.get() && raw_fork() {
        CHILD.set(true);
        if count % 32 == 11 {
            draw(1);
        }
    }
}

/// Sends SIGALRM at this interval; 0 stops it.
fn alarm_every(microseconds: libc::suseconds_t) {
    let every = libc::timeval { tv_sec: 0, tv_usec: microseconds };
    let timer = libc::itimerval { it_interval: every, it_value: every };
    // SAFETY: a valid timer; the old one is not asked for.
    assert_eq!(unsafe { libc::setitimer(libc::ITIMER_REAL, &raw const timer, null_mut()) }, 0);
}

/// Runs `body` while SIGALRM waits.
fn without_alarms(body: impl FnOnce()) {
    // SAFETY: a set of signals that is emptied before it is used, and a place for the old one.
    unsafe {
        let (mut alarm, mut before) = (zeroed(), zeroed());
        libc::sigemptyset(&raw mut alarm);
        libc::sigaddset(&raw mut alarm, libc::SIGALRM);
        libc::pthread_sigmask(libc::SIG_BLOCK, &raw const alarm, &raw mut before);
        body();
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const before, null_mut());
    }
}

#[test]
fn signals_and_forks_in_the_middle_of_draws_repeat_nothing() {
    both_ways("signals_and_forks_in_the_middle_of_draws_repeat_nothing", |_| {
        open();
        // SAFETY: an action of zeros has no flags and an empty mask; the handler's type matches the
        // flags.
        unsafe {
            let mut action: libc::sigaction = zeroed();
            action.sa_sigaction = draw_and_fork as *const () as usize;
            action.sa_flags = libc::SA_RESTART;
            assert_eq!(libc::sigaction(libc::SIGALRM, &raw const action, null_mut()), 0);
        }
        MAY_FORK.set(true);
        alarm_every(100); // a child does not inherit the timer
        while SIGNALS.load(SeqCst) < 4000 && has_room() {
            // Draws that signals interrupt. They are not recorded, because parent and child would
            // both record a word that was drawn before a fork and not yet recorded.
            let mut words = [0; 1000];
            words.iter_mut().for_each(|word| *word = random_pseudo_u64().unwrap());
            without_alarms(|| draw(1));
            if CHILD.get() {
                draw(5);
                end();
            }
        }
        MAY_FORK.set(false);
        alarm_every(0);
        let words = check();
        println!("{} signals, {words} words", SIGNALS.load(SeqCst));
    });
}
