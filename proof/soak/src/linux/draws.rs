//! Draws of every kind by one thread: checked for zeros at once, recorded in batches.

use super::hooks;
use super::plan::Plan;
use super::record::{self, Event};
use super::refuse;
use headwater::{Path, Rng};
use headwater_testing::jump;
use std::cell::Cell;
use std::sync::atomic::{
    AtomicU32, AtomicUsize,
    Ordering::{Relaxed, SeqCst},
    compiler_fence,
};

/// Number of forks between the round's first process and this one. Only the process that began a
/// draw records it: if the draw was complete when a handler forked, parent and child hold the same
/// bytes legitimately.
pub(crate) static DEPTH: AtomicU32 = AtomicU32::new(0);

thread_local! {
    /// True while this thread records. A handler that interrupts it must neither fork nor jump:
    /// after a fork both processes would record the same words, and after a jump the words would be
    /// lost.
    static RECORDING: Cell<bool> = const { Cell::new(false) };
}

pub(crate) fn is_recording() -> bool {
    RECORDING.get()
}

const DRAWS: usize = 16;
/// Bytes of each end of a draw that are recorded.
const END: usize = 64;

/// A finished draw: its process and its ends.
#[derive(Clone, Copy)]
struct Entry {
    depth: u32,
    len: usize,
    bytes: [u8; 2 * END],
}

pub(crate) struct Drawer {
    pub(crate) choice: fastrand::Rng,
    pub(crate) handle: Option<Rng>,
    buffer: Vec<u8>,
    entries: [Entry; DRAWS],
    complete: AtomicUsize,
    signals_seen: usize,
    /// Number of batches that are recorded in any case, because this thread was just disturbed.
    near: u32,
    /// All of them are.
    dense: bool,
}

impl Drawer {
    pub(crate) fn new(plan: &Plan, seed: u64) -> Drawer {
        Drawer {
            choice: fastrand::Rng::with_seed(seed),
            handle: None,
            buffer: vec![0; plan.longest],
            entries: [Entry { depth: 0, len: 0, bytes: [0; 2 * END] }; DRAWS],
            complete: AtomicUsize::new(0),
            signals_seen: 0,
            near: 0,
            dense: plan.dense,
        }
    }

    /// Marks a disturbance, so that the next draws are recorded.
    pub(crate) fn disturbed(&mut self) {
        self.near = 4;
    }

    /// Draws a batch and records some of the batches. It allocates nothing, so it may run in any
    /// forked child.
    pub(crate) fn batch(&mut self, jumps: bool) {
        self.complete.store(0, SeqCst);
        if jumps {
            // A draw takes no lock except a slot's. The jump abandons that lock on purpose.
            if jump::is_left(|| self.draw_some()) {
                record::count(Event::Jump);
                self.disturbed();
            }
        } else {
            self.draw_some();
        }
        let signals = super::signals::seen();
        if signals != self.signals_seen {
            self.signals_seen = signals;
            self.disturbed();
        }
        if self.near > 0 || self.dense || self.choice.u8(..) < 8 {
            self.near = self.near.saturating_sub(1);
            self.record();
        }
    }

    fn draw_some(&mut self) {
        let mut words = 0;
        for i in 0..DRAWS {
            let depth = DEPTH.load(SeqCst);
            let (len, depth) = hooks::open(depth, || self.draw());
            // A refused draw has no bytes.
            let drawn = &self.buffer[..len];
            // A random word is zero with probability 2^-64: 1e-8 for the 10^11 words of an hour.
            assert!(drawn.chunks_exact(8).all(|word| word != [0; 8]), "zeros were handed out");
            words += (len / 8) as u64;
            let entry = &mut self.entries[i];
            (entry.depth, entry.len) = (depth, len.min(2 * END));
            let first = len.min(END);
            entry.bytes[..first].copy_from_slice(&drawn[..first]);
            let last = entry.len - first;
            entry.bytes[first..][..last].copy_from_slice(&drawn[len - last..]);
            self.complete.store(i + 1, SeqCst);
        }
        record::count_many(Event::Drawn, words);
    }

    /// Draws to the start of the buffer and returns the length.
    fn draw(&mut self) -> usize {
        let longest = self.buffer.len();
        let len = match self.choice.u8(..) {
            0..128 => self.choice.usize(1..=40),
            128..240 => self.choice.usize(1..=longest.min(1024)),
            240..255 => self.choice.usize(1..=longest.min(8192)),
            255 => longest - self.choice.usize(..8),
        };
        let buf = &mut self.buffer[..len];
        let drawn = match (self.choice.u8(..4), &mut self.handle) {
            (0, _) => headwater::u64()
                .map(|word| buf[..len.min(8)].copy_from_slice(&word.to_ne_bytes()[..len.min(8)]))
                .map(|()| len.min(8)),
            // It has no error to return, so it would panic where draws may fail.
            (1, Some(rng)) if !refuse::is_refused() => {
                let word = rng.next_u64().to_ne_bytes();
                buf[..len.min(8)].copy_from_slice(&word[..len.min(8)]);
                Ok(len.min(8))
            }
            (2, Some(rng)) => rng.fill(buf).map(|()| len),
            _ => headwater::fill(buf).map(|()| len),
        };
        refuse::drawn(drawn).unwrap_or(0)
    }

    fn record(&self) {
        RECORDING.set(true);
        compiler_fence(SeqCst); // handlers of this thread see the flag from here on
        let depth = DEPTH.load(SeqCst);
        for entry in &self.entries[..self.complete.load(SeqCst)] {
            if entry.depth == depth {
                record::add(&entry.bytes[..entry.len]);
            }
        }
        compiler_fence(SeqCst);
        RECORDING.set(false);
    }
}

/// Draws and records at once, in places that may not allocate and have no batch: signal handlers,
/// and children that share their parent's memory.
pub(crate) fn draw_and_record<const N: usize>() {
    let Some(bytes) = refuse::drawn(headwater::array::<N>()) else { return };
    assert!(bytes.chunks_exact(8).all(|word| word != [0; 8]), "zeros were handed out");
    record::add(&bytes);
}

/// Adds the counters of this process's status to those of the round.
pub(crate) fn sum_up() {
    let status = headwater::status();
    let counters = status.counters;
    for (event, n) in [
        (Event::Refill, counters.refills),
        (Event::Retry, counters.retries),
        (Event::Discarded, counters.discarded_bytes),
        (Event::Busy, counters.busy),
        (Event::Fallback, counters.fallbacks),
        (Event::Tripwire, counters.tripwires),
        (Event::SlotLost, u64::from(status.pools.taken)),
        (Event::InSections, u64::from(matches!(status.path, Path::Sections))),
        (Event::UnderLocks, u64::from(matches!(status.path, Path::Slots(_)))),
        (Event::Unbuffered, u64::from(matches!(status.path, Path::Unbuffered))),
    ] {
        record::count_many(event, n);
    }
    record::shared().alive.fetch_sub(1, Relaxed);
}
