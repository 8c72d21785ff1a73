//! Words from a buffer: the engines make many words at a time.

use super::words::Words;

/// Words made at a time: 2 KiB, small beside a first-level cache. With 16 or 32 words a draw took
/// 1.2 times as long, because each fill has a cost of its own.
pub(super) const WORDS: usize = 256;

/// A maker of words.
pub(super) trait Source: Send + 'static {
    /// Makes the next words.
    fn fill(&mut self, out: &mut [u64; WORDS]);
}

/// A source, and the words of it that have been made.
///
/// The field that every draw changes comes first, near the pointer, for short instructions.
#[repr(C)]
pub(super) struct Buffered<S> {
    /// The number of the buffer's words that have been drawn. Before the buffer is filled, `WORDS`
    /// plus the number of words to skip.
    used: usize,
    source: S,
    buffer: Aligned,
}

/// Words from the begin of a cache line on, because engines write them by vectors.
#[repr(align(64))]
struct Aligned([u64; WORDS]);

impl<S: Source> Buffered<S> {
    /// Starts with the words of `source`, of which it skips the first `skip`.
    pub(super) fn new(source: S, skip: usize) -> Buffered<S> {
        Buffered { used: WORDS + skip % WORDS, source, buffer: Aligned([0; WORDS]) }
    }

    /// Starts again with another source, in place.
    pub(super) fn restart(&mut self, source: S, skip: usize) {
        (self.used, self.source) = (WORDS + skip % WORDS, source);
    }

    pub(super) fn source(&self) -> &S {
        &self.source
    }

    /// Returns the number of the buffer's words that have been drawn: `WORDS` and more before the
    /// buffer is filled.
    pub(super) fn drawn(&self) -> usize {
        self.used
    }

    /// Fills the buffer, and returns the next word.
    #[cold]
    #[inline(never)]
    fn refill(&mut self) -> u64 {
        let at = self.used % WORDS;
        self.source.fill(&mut self.buffer.0);
        self.used = at + 1;
        self.buffer.0[at]
    }
}

impl<S: Source> Words for Buffered<S> {
    #[inline(always)]
    fn next(&mut self) -> u64 {
        match self.buffer.0.get(self.used) {
            Some(&word) => {
                self.used += 1;
                word
            }
            None => self.refill(),
        }
    }
}
