//! Rings of draws in memory that all processes share, so that nothing is printed while they draw.

use crate::linux::witness::COUNT;
use std::io;
use std::sync::atomic::{
    AtomicU64,
    Ordering::{Acquire, Relaxed, Release},
};

/// Rounds that a ring holds. A round draws once from every witness.
pub(crate) const ROUNDS: u64 = 16 * 1024;
/// Words of a draw: the cycle counter before it, and its 16 bytes.
const RECORD: usize = 3;
const WORDS: usize = ROUNDS as usize * COUNT * RECORD;

/// Returns zeroed memory that children share with this process.
pub(crate) fn shared(words: usize) -> io::Result<&'static [AtomicU64]> {
    let rights = libc::PROT_READ | libc::PROT_WRITE;
    let flags = libc::MAP_SHARED | libc::MAP_ANONYMOUS;
    // SAFETY: a new mapping at an address of the kernel's choice, never unmapped. Zeros are values
    // of the type, and every access goes through these atomics.
    unsafe {
        let at = libc::mmap(std::ptr::null_mut(), words * 8, rights, flags, -1, 0);
        if at == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        Ok(std::slice::from_raw_parts(at.cast(), words))
    }
}

/// The ring of one thread.
#[derive(Clone, Copy)]
pub(crate) struct Ring {
    /// Rounds begun.
    begun: &'static AtomicU64,
    /// Round before which the thread pauses; 0: none.
    end: &'static AtomicU64,
    words: &'static [AtomicU64],
}

/// One draw: the cycle counter before it, and its bytes.
#[derive(Clone, Copy)]
pub(crate) struct Slot {
    pub(crate) mark: u64,
    pub(crate) bytes: [u8; 16],
}

impl Ring {
    pub(crate) fn new() -> io::Result<Ring> {
        let (head, words) = shared(8 + WORDS)?.split_at(8);
        Ok(Ring { begun: &head[0], end: &head[1], words })
    }

    pub(crate) fn begun(self) -> u64 {
        self.begun.load(Acquire)
    }

    /// Lets the thread pause after `more` further rounds.
    pub(crate) fn end_after(self, more: u64) {
        self.end.store((self.begun() + more).max(1), Release);
    }

    #[inline]
    pub(crate) fn is_at_end(self) -> bool {
        let end = self.end.load(Acquire);
        end != 0 && self.begun.load(Relaxed) >= end
    }

    /// Returns the oldest round that is not overwritten yet.
    pub(crate) fn oldest(self) -> u64 {
        (self.begun() + 1).saturating_sub(ROUNDS)
    }

    /// Begins the next round.
    pub(crate) fn next(self) -> u64 {
        let round = self.begun.load(Relaxed);
        self.begun.store(round + 1, Release);
        round
    }

    fn place(self, round: u64, witness: usize) -> &'static [AtomicU64] {
        let at = ((round % ROUNDS) as usize * COUNT + witness) * RECORD;
        &self.words[at..at + RECORD]
    }

    /// Stores the mark before the draw, so that a draw in flight at a snapshot has an equal mark in
    /// both clones.
    #[inline]
    pub(crate) fn begin(self, round: u64, witness: usize, mark: u64) {
        self.place(round, witness)[0].store(mark, Relaxed);
    }

    #[inline]
    pub(crate) fn end(self, round: u64, witness: usize, bytes: [u8; 16]) {
        let place = self.place(round, witness);
        let value = u128::from_le_bytes(bytes);
        place[1].store(value as u64, Relaxed);
        place[2].store((value >> 64) as u64, Relaxed);
    }

    pub(crate) fn get(self, round: u64, witness: usize) -> Slot {
        let place = self.place(round, witness);
        let value = u128::from(place[1].load(Relaxed)) | u128::from(place[2].load(Relaxed)) << 64;
        Slot { mark: place[0].load(Relaxed), bytes: value.to_le_bytes() }
    }
}
