//! What the workers have drawn: rings in memory that all processes share, so that nothing is printed while they draw.

use crate::witness::COUNT;
use std::io;
use std::sync::atomic::{
    AtomicU64,
    Ordering::{Acquire, Relaxed, Release},
};

/// Iterations that a ring holds; each draws once from every witness.
pub(crate) const ITERATIONS: u64 = 16 * 1024;
/// The cycle counter before the request, and 16 bytes that came of it.
const RECORD: usize = 3;
const WORDS: usize = ITERATIONS as usize * COUNT * RECORD;

/// Memory that children share with us, zero at first.
pub(crate) fn shared(words: usize) -> io::Result<&'static [AtomicU64]> {
    let rights = libc::PROT_READ | libc::PROT_WRITE;
    let flags = libc::MAP_SHARED | libc::MAP_ANONYMOUS;
    // SAFETY: a new mapping at an address of the kernel's choice, never unmapped; zeros are values of the type, and
    // nobody uses it but through atomics.
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
    /// Iterations begun.
    begun: &'static AtomicU64,
    /// Where its thread pauses; 0: nowhere.
    end: &'static AtomicU64,
    words: &'static [AtomicU64],
}

/// One request: the mark of its beginning, and what it gave.
#[derive(Clone, Copy)]
pub(crate) struct Draw {
    pub(crate) begun: u64,
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

    /// Has its thread pause when it has begun so many more iterations.
    pub(crate) fn end_after(self, more: u64) {
        self.end.store((self.begun() + more).max(1), Release);
    }

    pub(crate) fn go_on(self) {
        self.end.store(0, Release);
    }

    #[inline]
    pub(crate) fn is_at_end(self) -> bool {
        let end = self.end.load(Acquire);
        end != 0 && self.begun.load(Relaxed) >= end
    }

    /// The first iteration that is not overwritten yet.
    pub(crate) fn oldest(self) -> u64 {
        (self.begun() + 1).saturating_sub(ITERATIONS)
    }

    /// Begins the next iteration.
    pub(crate) fn next(self) -> u64 {
        let iteration = self.begun.load(Relaxed);
        self.begun.store(iteration + 1, Release);
        iteration
    }

    fn place(self, iteration: u64, witness: usize) -> &'static [AtomicU64] {
        let at = ((iteration % ITERATIONS) as usize * COUNT + witness) * RECORD;
        &self.words[at..at + RECORD]
    }

    /// Before the request: so that one which is under way at a snapshot can be told by its mark.
    #[inline]
    pub(crate) fn begin(self, iteration: u64, witness: usize, mark: u64) {
        self.place(iteration, witness)[0].store(mark, Relaxed);
    }

    #[inline]
    pub(crate) fn end(self, iteration: u64, witness: usize, bytes: [u8; 16]) {
        let place = self.place(iteration, witness);
        let value = u128::from_le_bytes(bytes);
        place[1].store(value as u64, Relaxed);
        place[2].store((value >> 64) as u64, Relaxed);
    }

    pub(crate) fn get(self, iteration: u64, witness: usize) -> Draw {
        let place = self.place(iteration, witness);
        let value = u128::from(place[1].load(Relaxed)) | u128::from(place[2].load(Relaxed)) << 64;
        Draw { begun: place[0].load(Relaxed), bytes: value.to_le_bytes() }
    }
}
