//! Many more threads than CPUs, which come and go, draw in every way, and hand their handles on.
#![cfg(target_os = "linux")]

mod common;
mod support;

use common::{in_every_mode, record};
use headwater::testing::{Point, set_hook};
use headwater::{Mode, Rng, Status};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;
use std::time::Duration;
use support::machine::{bind, cpus};
use support::memory::{page_size, pools_kib};

/// Threads alive at once, each of which starts another when it ends, until there were so many.
const ALIVE: usize = 200;
const THREADS: usize = 600;
const ROUNDS: usize = 4;

/// A word, two, small requests, and one with a key of its own. Whole words, so that each can be
/// recorded.
const LENGTHS: [usize; 6] = [8, 16, 40, 256, 1024, 4096];

/// Handles that were made in one thread and continue in another.
static POOL: Mutex<Vec<Rng>> = Mutex::new(Vec::new());

/// Does the work of one thread: draws by the functions, by a handle that it drops, and by a handle
/// that it passes on.
fn draw(number: usize) {
    let mut bytes = [0; 4096];
    let mut own = Rng::new().unwrap();
    let handed = POOL.lock().unwrap().pop();
    let mut handed = handed.unwrap_or_else(|| Rng::new().unwrap());
    for round in 0..ROUNDS {
        record::add(&headwater::u64().unwrap().to_ne_bytes());
        let halves = [headwater::u32().unwrap(), own.next_u32()].map(u32::to_ne_bytes);
        record::add(halves.as_flattened());
        record::add(&handed.next_u64().to_ne_bytes());
        let bytes = &mut bytes[..LENGTHS[(number + round) % LENGTHS.len()]];
        headwater::fill(bytes).unwrap();
        record::add(bytes);
        own.fill(bytes).unwrap();
        record::add(bytes);
        handed.fill(bytes).unwrap();
        record::add(bytes);
        if round == number % ROUNDS {
            own = Rng::new().unwrap();
        }
        if round % 2 == 1 {
            thread::yield_now();
        }
    }
    let mut pool = POOL.lock().unwrap();
    if pool.len() < ALIVE / 2 {
        pool.push(handed);
    }
}

/// Runs all threads on these CPUs, each started by one that ends.
fn run(cpus: &[usize]) {
    bind(cpus);
    let started = AtomicUsize::new(0);
    fn next<'a>(scope: &'a thread::Scope<'a, '_>, started: &'a AtomicUsize) {
        let number = started.fetch_add(1, Relaxed);
        if number < THREADS {
            thread::Builder::new()
                .stack_size(256 << 10)
                .spawn_scoped(scope, move || {
                    draw(number);
                    next(scope, started);
                })
                .unwrap();
        }
    }
    thread::scope(|scope| (0..ALIVE).for_each(|_| next(scope, &started)));
    POOL.lock().unwrap().clear();
}

/// Now and then a thread falls asleep with a slot in its hands, so that others find one slot taken,
/// or many (`crowd.rs` has all).
const HELD: fn(Point) = |point| {
    static LOCKS: AtomicUsize = AtomicUsize::new(0);
    if point == Point::Locked && LOCKS.fetch_add(1, Relaxed).is_multiple_of(8) {
        thread::sleep(Duration::from_micros(50));
    }
};

/// Checks that the counters may follow `before`: nothing tripped, and nothing is held. In a mode
/// that buffers nothing, no page was filled and no draw was torn.
fn assert_plausible(mode: Mode, before: &Status, words: usize) {
    let after = headwater::status();
    assert_eq!(after.mode, mode);
    assert_eq!((after.pools.taken, after.pools.handles), (0, 0));
    let (was, is) = (before.counters, after.counters);
    assert_eq!(is.tripwires, 0);
    let (busy, fallbacks) = (is.busy - was.busy, is.fallbacks - was.fallbacks);
    let refills = is.refills - was.refills;
    println!("{mode}: {words} words, {refills} refills, {busy} busy, {fallbacks} fallbacks");
    // One request looks for another slot once, and again for each of the two times that it was
    // torn; a large one does so for each key.
    let requests = (THREADS * ROUNDS * 5) as u64;
    let retries = is.retries - was.retries;
    assert!(busy <= 3 * requests + 3 * retries, "{busy} busy, {requests} requests");
    assert!(fallbacks <= busy + retries, "{fallbacks} fallbacks, {busy} busy, {retries} retries");
    if matches!(mode, Mode::Buffered | Mode::Hedged) {
        // A handle fills a page, and a page serves no more than it holds.
        assert!(refills >= THREADS as u64, "{refills} refills by {THREADS} threads");
        let handles = (3 * THREADS) as u64;
        let pages = 8 * words as u64 / u64::from(after.pools.page_bytes - 1024);
        let (slots, again) = (u64::from(after.pools.slots), 3 * retries + is.discarded_bytes / 8);
        assert!(refills <= pages + handles + slots + again, "{refills} refills, {pages} pages");
        assert!(after.pools.used >= 1 && after.pools.used <= after.pools.slots);
    } else {
        assert_eq!((refills, is.retries), (0, 0));
    }
}

/// On all CPUs, on one, and on one where slots are held for long. Each record holds 0.8 million
/// words; that two are equal in one of the sixteen has probability 3e-7.
#[test]
fn two_hundred_threads_come_and_go() {
    in_every_mode("two_hundred_threads_come_and_go", |mode| {
        record::open();
        let all = cpus();
        headwater::init().unwrap();
        for (cpus, hook) in [(&all[..], None), (&all[..1], None), (&all[..1], Some(HELD))] {
            let before = headwater::status();
            set_hook(hook);
            run(cpus);
            set_hook(None);
            let words = record::check();
            assert!(words > THREADS * ROUNDS * 6);
            assert_plausible(mode, &before, words);
            if hook.is_some() && matches!(mode, Mode::Buffered | Mode::Hedged) {
                let counters = headwater::status().counters;
                // At most as many threads run at a time as slots are shared, so that no draw falls
                // back.
                assert!(counters.busy > 0, "{counters:?}");
            }
        }
        // A page for each slot, and for each handle of the moment with the most of them: three in
        // each thread, one of them about to be dropped, and those that wait for a thread. Then the
        // locks, and the canary.
        let handles = (3 * ALIVE + ALIVE / 2) as u64;
        let slots = u64::from(headwater::status().pools.slots);
        let page = page_size() as u64 / 1024;
        let (resident, most) = (pools_kib(), page * (handles + slots + 16) + slots.div_ceil(8));
        println!("{mode}: {resident} KiB resident, {most} at most");
        assert!(resident <= most, "{resident} KiB");
    });
}
