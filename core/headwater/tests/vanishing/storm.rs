//! Threads that draw while the pages of the pools vanish under them, again and again.

use crate::common::record;
use crate::support::machine::{bind, cpus};
use headwater::{Counters, Rng};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::thread;

/// Words that a record holds at most, but for what one draw adds: a false alarm of 7e-8.
const RECORDED: usize = 1_600_000;

/// The course of a storm.
#[derive(Clone, Copy)]
pub(crate) struct Storm {
    /// Threads that draw.
    pub(crate) threads: usize,
    /// The number of times that the pages are taken.
    pub(crate) takes: u64,
    /// The threads go from CPU to CPU, so that a slot's page is used by all of them.
    pub(crate) migrate: bool,
}

impl Storm {
    /// Draws from functions and handles in every thread while this one calls `take`. Nothing that
    /// was drawn is zero, nothing is there twice. Says what the status has counted meanwhile.
    ///
    /// Between two takes some thread has begun and ended a round: whatever was taken has been
    /// missed.
    pub(crate) fn rage(self, mut take: impl FnMut()) -> Counters {
        record::open();
        let before = headwater::status().counters;
        let (done, rounds, taken) = (AtomicBool::new(false), AtomicU64::new(0), AtomicU64::new(0));
        thread::scope(|scope| {
            for thread in 0..self.threads {
                let (done, rounds, taken) = (&done, &rounds, &taken);
                scope.spawn(move || {
                    let (cpus, mut rng) = (cpus(), Rng::new().unwrap());
                    let mut recent = Recent::new(RECORDED / (self.takes as usize * self.threads));
                    let mut at = 0;
                    while !done.load(SeqCst) {
                        if self.migrate && at % 16 == 0 {
                            bind(&[cpus[(thread + at as usize / 16) % cpus.len()]]);
                        }
                        round(at, &mut rng, &mut recent);
                        recent.look(taken.load(SeqCst));
                        at += 1;
                        rounds.fetch_add(1, SeqCst);
                    }
                    recent.look(u64::MAX);
                });
            }
            for _ in 0..self.takes {
                let begun = rounds.load(SeqCst);
                take();
                taken.fetch_add(1, SeqCst);
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

/// The draws of a thread around a take, half of it before and half after: all of it would be too
/// much, and what is served twice is served shortly before and after its page has vanished.
struct Recent {
    bytes: Vec<u8>,
    half: usize,
    takes: u64,
    /// The end of the part after the last take.
    until: Option<usize>,
}

impl Recent {
    fn new(words: usize) -> Recent {
        Recent { bytes: Vec::new(), half: 8 * (words / 2), takes: 0, until: None }
    }

    fn look(&mut self, takes: u64) {
        if self.until.is_some_and(|until| takes != self.takes || self.bytes.len() >= until) {
            self.bytes.truncate(2 * self.half);
            record::add(&self.bytes);
            self.bytes.clear();
            self.until = None;
        }
        if takes != self.takes {
            self.takes = takes;
            let before = self.bytes.len().min(self.half);
            self.bytes.drain(..self.bytes.len() - before);
            self.until = Some(before + self.half);
        } else if self.until.is_none() && self.bytes.len() > 4 * self.half {
            self.bytes.drain(..self.bytes.len() - self.half);
        }
    }
}

/// Draws once by a function and once from the handle, and adds the bytes to `recent`.
fn round(at: u64, rng: &mut Rng, recent: &mut Recent) {
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
        recent.bytes.extend_from_slice(bytes);
    }
}
