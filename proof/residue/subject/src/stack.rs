//! A stack that is painted, and the change to it and back.

use crate::cpu::{self, Saved};
use crate::room::map;
use std::collections::HashSet;

/// More than any draw takes, in any profile.
const SIZE: usize = 256 * 1024;
/// More than a draw takes after the first one. The search for served bytes begins here, many times.
const REACH: usize = 32 * 1024;
/// The pattern that the stack is painted with; the searching program knows it too.
const PAINT: u64 = 0xA5A5_5A5A_A5A5_5A5A;

/// A painted stack.
pub struct Stack {
    base: *mut u8,
}

impl Stack {
    /// Maps a stack.
    pub fn new() -> Stack {
        Stack { base: map(SIZE) }
    }

    /// Returns the place of the stack: its lowest address and its size.
    pub fn place(&self) -> (usize, usize) {
        (self.base as usize, SIZE)
    }

    /// Paints the whole stack, over whatever an earlier draw left there.
    pub fn paint(&mut self) {
        for at in (0..SIZE).step_by(8) {
            // SAFETY: the eight bytes lie in our mapping, and no code runs on it now.
            unsafe { self.base.add(at).cast::<u64>().write_volatile(PAINT) };
        }
    }

    /// Returns the lowest word that differs from the paint, by its offset.
    fn lowest(&self) -> usize {
        let mut at = SIZE - REACH;
        // SAFETY: words of our mapping, on which no code runs now.
        while at < SIZE && unsafe { self.base.add(at).cast::<u64>().read_volatile() } == PAINT {
            at += 8;
        }
        assert!(at > SIZE - REACH, "a draw took more than {REACH} bytes of stack");
        at
    }

    /// Paints what a draw has changed since the whole stack was painted.
    pub fn repaint(&mut self) {
        for at in (self.lowest()..SIZE).step_by(8) {
            // SAFETY: the eight bytes lie in our mapping, and no code runs on it now.
            unsafe { self.base.add(at).cast::<u64>().write_volatile(PAINT) };
        }
    }

    /// Returns the first address below `end` at which one of the words lies, aligned or not. The
    /// mask says which bits of a word count.
    pub fn find(&self, end: usize, mask: u64, words: &HashSet<u64>) -> Option<usize> {
        let base = self.base as usize;
        assert!((base..base + SIZE).contains(&end), "the draw ran on another stack");
        let width = mask.count_ones() as usize / 8;
        // A bit for each first byte spares most look-ups.
        let mut first = [0u64; 4];
        words.iter().for_each(|word| first[(word >> 6 & 3) as usize] |= 1 << (word & 63));
        (self.lowest()..end - base).filter(|at| at + width <= end - base).map(|at| base + at).find(
            |&at| {
                // SAFETY: fewer bytes than the mapping has after `at`, because the frames of the
                // callers lie between `end` and its last word.
                let word = unsafe { (at as *const u64).read_unaligned() } & mask;
                first[(word >> 6 & 3) as usize] >> (word & 63) & 1 == 1 && words.contains(&word)
            },
        )
    }

    /// Calls `entry(argument)` on this stack, and saves the registers right after it.
    ///
    /// # Safety
    ///
    /// `entry` may be called with `argument`; `saved` is valid for writes.
    pub unsafe fn call<T>(
        &mut self,
        entry: unsafe extern "C" fn(*mut T),
        argument: *mut T,
        saved: *mut Saved,
    ) {
        // SAFETY: the end of our mapping is aligned to 16. Functions that differ only in the type a
        // pointer points to have one calling convention, and the caller promises the rest.
        unsafe {
            let entry: unsafe extern "C" fn(*mut ()) = std::mem::transmute(entry);
            cpu::call_on(self.base.add(SIZE), entry, argument.cast(), saved);
        }
    }
}
