//! Draws of every kind, by one thread: looked at at once, recorded a batch at a time.

use crate::hooks;
use crate::plan::Plan;
use crate::record::{self, Event};
use headwater::{Path, Rng};
use headwater_testing::jump;
use std::cell::Cell;
use std::sync::atomic::{
    AtomicU32, AtomicUsize,
    Ordering::{Relaxed, SeqCst},
    compiler_fence,
};

/// Forks that lie between the round's first process and this one. A draw is recorded by the process that began
/// it: if it was complete when a handler forked, both have it by right.
pub(crate) static DEPTH: AtomicU32 = AtomicU32::new(0);

thread_local! {
    /// This thread is recording, so a handler that interrupts it must neither fork nor jump: both
    /// processes would record the same, or nobody.
    static RECORDING: Cell<bool> = const { Cell::new(false) };
}

pub(crate) fn is_recording() -> bool {
    RECORDING.get()
}

const DRAWS: usize = 16;
/// So much of both ends of a draw is recorded.
const END: usize = 64;

/// What a draw leaves behind.
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
    /// Batches still to be recorded because something has just happened to this thread.
    near: u32,
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
        }
    }

    /// Something has happened: what is drawn next is recorded.
    pub(crate) fn disturbed(&mut self) {
        self.near = 4;
    }

    /// Draws some, and records it now and then. Allocates nothing, so that it may run in any forked child.
    pub(crate) fn batch(&mut self, jumps: bool) {
        self.complete.store(0, SeqCst);
        if jumps {
            // A draw takes no lock but a slot's, and losing one is what is tried here.
            if jump::is_left(|| self.draw_some()) {
                record::count(Event::Jump);
                self.disturbed();
            }
        } else {
            self.draw_some();
        }
        let signals = crate::signals::seen();
        if signals != self.signals_seen {
            self.signals_seen = signals;
            self.disturbed();
        }
        if self.near > 0 || self.choice.u8(..) < 8 {
            self.near = self.near.saturating_sub(1);
            self.record();
        }
    }

    fn draw_some(&mut self) {
        for i in 0..DRAWS {
            let depth = DEPTH.load(SeqCst);
            let (len, depth) = hooks::open(depth, || self.draw());
            let drawn = &self.buffer[..len];
            // One word of 2^64 is zero: 1e-8 for all the 10^11 words of an hour.
            assert!(drawn.chunks_exact(8).all(|word| word != [0; 8]), "zeros were handed out");
            let entry = &mut self.entries[i];
            (entry.depth, entry.len) = (depth, len.min(2 * END));
            let first = len.min(END);
            entry.bytes[..first].copy_from_slice(&drawn[..first]);
            let last = entry.len - first;
            entry.bytes[first..][..last].copy_from_slice(&drawn[len - last..]);
            self.complete.store(i + 1, SeqCst);
        }
    }

    /// One draw to the start of the buffer; its length.
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
            (1, Some(rng)) => {
                let word = rng.next_u64().to_ne_bytes();
                buf[..len.min(8)].copy_from_slice(&word[..len.min(8)]);
                Ok(len.min(8))
            }
            (2, Some(rng)) => rng.fill(buf).map(|()| len),
            _ => headwater::fill(buf).map(|()| len),
        };
        drawn.expect("random bytes")
    }

    fn record(&self) {
        RECORDING.set(true);
        compiler_fence(SeqCst); // a handler sees it from here on
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

/// Draws and records, where nothing may be allocated and nobody's batch lies: in handlers, and in children that
/// share their parent's memory.
pub(crate) fn draw_and_record<const N: usize>() {
    let bytes: [u8; N] = headwater::array().expect("random bytes");
    assert!(bytes.chunks_exact(8).all(|word| word != [0; 8]), "zeros were handed out");
    record::add(&bytes);
}

/// Adds what this process's status counts to the round's counts.
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
