//! Threads that draw while the pages of the pools vanish under them, again and again.

use crate::common::record;
use crate::support::machine::{bind, cpus};
use headwater::{Counters, Rng};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::thread;

/// Rounds of each thread that are recorded; 43 words each. With up to six threads a record holds 1.6 million
/// words: a false alarm of 7e-8.
const RECORDED: u64 = 6_000;

/// How a storm goes.
#[derive(Clone, Copy)]
pub(crate) struct Storm {
    /// Threads that draw.
    pub(crate) threads: usize,
    /// How often the pages are taken.
    pub(crate) takes: u64,
    /// The threads go from CPU to CPU, so that a slot's page is used by all of them.
    pub(crate) migrate: bool,
}

impl Storm {
    /// Draws from functions and handles in every thread while this one calls `take`. Nothing that was drawn is
    /// zero, nothing is there twice. Says what the status has counted meanwhile.
    ///
    /// Between two takes some thread has begun and ended a round: whatever was taken has been missed.
    pub(crate) fn rage(self, mut take: impl FnMut()) -> Counters {
        record::open();
        let before = headwater::status().counters;
        let (done, rounds) = (AtomicBool::new(false), AtomicU64::new(0));
        thread::scope(|scope| {
            for thread in 0..self.threads {
                let (done, rounds) = (&done, &rounds);
                scope.spawn(move || {
                    let (cpus, mut rng) = (cpus(), Rng::new().unwrap());
                    let mut at = 0;
                    while !done.load(SeqCst) {
                        if self.migrate && at % 16 == 0 {
                            bind(&[cpus[(thread + at as usize / 16) % cpus.len()]]);
                        }
                        round(at, &mut rng);
                        at += 1;
                        rounds.fetch_add(1, SeqCst);
                    }
                });
            }
            for _ in 0..self.takes {
                let begun = rounds.load(SeqCst);
                take();
                // One round more than there are threads: the last of them began after the take.
                while rounds.load(SeqCst) <= begun + self.threads as u64 {
                    thread::yield_now();
                }
            }
            done.store(true, SeqCst);
        });
        let words = record::check();
        let mut counted = headwater::status().counters;
        counted.refills -= before.refills;
        counted.discarded_bytes -= before.discarded_bytes;
        counted.retries -= before.retries;
        counted.busy -= before.busy;
        counted.fallbacks -= before.fallbacks;
        counted.tripwires -= before.tripwires;
        println!("{words} words recorded, {} takes: {counted:?}", self.takes);
        counted
    }
}

/// One draw by a function, and one from the handle.
fn round(at: u64, rng: &mut Rng) {
    const LENGTHS: [usize; 8] = [8, 16, 8, 40, 16, 256, 8, 1024];
    let mut bytes = [0; 1024];
    let bytes = &mut bytes[..LENGTHS[at as usize % 8]];
    for own in [false, true] {
        match (bytes.len(), own) {
            (8, false) => bytes.copy_from_slice(&headwater::u64().unwrap().to_ne_bytes()),
            (8, true) => bytes.copy_from_slice(&rng.next_u64().to_ne_bytes()),
            (_, false) => headwater::fill(bytes).unwrap(),
            (_, true) => rng.fill(bytes).unwrap(),
        }
        // 2^-64 for each of 10^8 words: 5e-12.
        let zero = bytes.as_chunks::<8>().0.iter().position(|word| *word == [0; 8]);
        assert_eq!(zero, None, "a word of zeros in {} bytes, own page: {own}", bytes.len());
        if at < RECORDED {
            record::add(bytes);
        }
    }
}
