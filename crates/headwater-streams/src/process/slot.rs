//! A slot: the states of one CPU, and the lock that says who may use them.

#![allow(unsafe_code)]

use super::hook::{Point, hook};
use super::pool::At;
use super::races::Lock;
use crate::features::Features;
use crate::generators::{Lanes, Path, rng, xoshiro256pp};
use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicU64, Ordering};

/// From so many bytes on the lanes are used.
const WIDE: usize = 256;
/// Bytes that all lanes give in a step.
const ROW: usize = 64;

/// The states of one CPU. Zeros are a free slot that has to be seeded, which is what fresh memory holds, and a child
/// finds.
#[repr(C, align(128))]
pub(crate) struct Slot {
    lock: Lock,
    /// For few bytes. Atomics keep the compiler to words: as vectors, their loads would have to wait until the words
    /// that the draw before stored are in the cache, which doubles the time of a draw.
    state: [AtomicU64; 4],
    /// For many.
    lanes: UnsafeCell<Lanes>,
}

// SAFETY: the lanes are used by whoever holds the lock, and by nobody else.
unsafe impl Sync for Slot {}

/// A slot that is ours until it is dropped.
pub(crate) struct Held<'a>(&'a Slot);

impl Slot {
    /// Takes the slot, if it is free. Never waits, and never takes it from somebody: its holder may be asleep, or
    /// the code that this handler interrupts.
    #[inline(always)]
    pub(crate) fn take(&self) -> Option<Held<'_>> {
        // A closure: a guard that is made for a slot of somebody else's would free it when dropped.
        self.lock.take().then(|| Held(self))
    }
}

impl Drop for Held<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        self.0.lock.free();
    }
}

impl Held<'_> {
    /// The next word.
    #[inline(always)]
    fn word(&self, at: At) -> u64 {
        hook(Point::Taken);
        let mut state = self.state(at);
        let word = xoshiro256pp::next(&mut state);
        hook(Point::Stepped);
        self.store(state);
        word
    }

    /// Fills `out` with the next words.
    #[inline(always)]
    pub(crate) fn fill(&self, at: At, out: &mut [u8]) {
        if let Ok(word) = <&mut [u8; 8]>::try_from(&mut *out) {
            *word = self.word(at).to_le_bytes();
        } else {
            self.fill_any(at, out);
        }
    }

    #[inline(never)]
    fn fill_any(&self, at: At, out: &mut [u8]) {
        hook(Point::Taken);
        let narrow = if out.len() < WIDE { out } else { self.fill_rows(at, out) };
        let mut state = self.state(at);
        rng::fill_bytes(narrow, || xoshiro256pp::next(&mut state));
        hook(Point::Stepped);
        self.store(state);
    }

    /// Fills whole rows; what is left of `out`.
    fn fill_rows<'b>(&self, at: At, out: &'b mut [u8]) -> &'b mut [u8] {
        let (rows, rest) = out.as_chunks_mut::<ROW>();
        // SAFETY: the slot is ours, and no other reference to its lanes is alive.
        let lanes = unsafe { &mut *self.0.lanes.get() };
        if lanes.is_zero() {
            *lanes = at.lanes();
        }
        Path::choose(Features::detect()).fill(lanes, rows);
        rest
    }

    /// A fork in the middle may clear the state under this frame, which then draws nonsense: `pool::draw` throws it
    /// away.
    #[inline(always)]
    fn state(&self, at: At) -> [u64; 4] {
        let state = self.0.state.each_ref().map(|word| word.load(Ordering::Relaxed));
        if state[0] | state[1] | state[2] | state[3] == 0 { at.state() } else { state }
    }

    #[inline(always)]
    fn store(&self, state: [u64; 4]) {
        self.0
            .state
            .iter()
            .zip(state)
            .for_each(|(place, word)| place.store(word, Ordering::Relaxed));
    }
}
