//! A stream as a generator: one number after the other.

use crate::Stream;
use core::fmt;

/// Bytes that are made at a time. Divides 2^64, so that the last buffer of a stream is whole.
const BUFFER: usize = 1024;

/// A [`Stream`] with a position, for code that wants one number after the other. [Not for
/// secrets](crate).
///
/// It hands out the stream's bytes in order: 8 of them for a `u64`, 4 for a `u32`, as little-endian
/// numbers, from its position on. So `next_u64` from position 0 on returns the elements of
/// [`Stream::fill_u64`], and no byte is passed over. After 2^64 bytes it begins again.
///
/// With the feature `rand_core` (on by default) it implements `rand_core`'s traits of version 0.10,
/// so that `rand`'s distributions work on it.
///
/// A forked child has a copy, which continues with the same numbers: that is what reproducible
/// means. A child that needs other numbers takes another stream.
#[derive(Clone)]
pub struct Sequential {
    stream: Stream,
    /// The place in the stream of the first byte that the buffer gets next.
    next: u64,
    /// The number of the buffer's bytes that have been handed out. Before the buffer is filled,
    /// `BUFFER` plus the number of bytes to pass over.
    used: usize,
    buffer: [u8; BUFFER],
}

impl Stream {
    /// Returns a generator that begins with byte 0 of the stream.
    pub const fn sequential(&self) -> Sequential {
        Sequential { stream: *self, next: 0, used: BUFFER, buffer: [0; BUFFER] }
    }
}

impl Sequential {
    /// Returns the stream whose bytes it hands out.
    pub const fn stream(&self) -> Stream {
        self.stream
    }

    /// Returns the number of the byte that comes next.
    pub const fn position(&self) -> u64 {
        self.next.wrapping_add(self.used as u64).wrapping_sub(BUFFER as u64)
    }

    /// Moves to the byte with this number, forwards or back, at once: no byte in between is
    /// computed.
    pub const fn seek(&mut self, position: u64) {
        let within = position % BUFFER as u64;
        self.next = position - within;
        self.used = BUFFER + within as usize;
    }

    /// Returns the next four bytes.
    #[inline]
    pub fn next_u32(&mut self) -> u32 {
        u32::from_le_bytes(self.bytes())
    }

    /// Returns the next eight bytes.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        u64::from_le_bytes(self.bytes())
    }

    /// Writes the next bytes.
    pub fn fill(&mut self, out: &mut [u8]) {
        let mut out = out;
        while !out.is_empty() {
            if self.used >= BUFFER {
                let whole = out.len() - out.len() % BUFFER;
                if self.used == BUFFER && whole > 0 {
                    out = self.straight(out, whole);
                    continue;
                }
                self.refill();
            }
            let here = out.len().min(BUFFER - self.used);
            let (head, rest) = out.split_at_mut(here);
            head.copy_from_slice(&self.buffer[self.used..][..here]);
            self.used += here;
            out = rest;
        }
    }

    /// Fills up to `whole` bytes of `out` without the buffer, and returns the rest of `out`.
    fn straight<'a>(&mut self, out: &'a mut [u8], whole: usize) -> &'a mut [u8] {
        // The copy must not pass the end of the stream; both numbers are multiples of the buffer's
        // length.
        let to_the_end = (u64::MAX - self.next).saturating_add(1).min(whole as u64) as usize;
        let (now, rest) = out.split_at_mut(to_the_end - to_the_end % BUFFER);
        self.stream.bytes(0, u128::from(self.next), now);
        self.next = self.next.wrapping_add(now.len() as u64);
        rest
    }

    #[inline]
    fn bytes<const N: usize>(&mut self) -> [u8; N] {
        match self.buffer.get(self.used..).and_then(|left| left.first_chunk()) {
            Some(bytes) => {
                self.used += N;
                *bytes
            }
            None => self.across(),
        }
    }

    /// Takes some bytes from this buffer, and some from the next one.
    #[cold]
    #[inline(never)]
    fn across<const N: usize>(&mut self) -> [u8; N] {
        let mut bytes = [0; N];
        self.fill(&mut bytes);
        bytes
    }

    fn refill(&mut self) {
        self.stream.bytes(0, u128::from(self.next), &mut self.buffer);
        self.next = self.next.wrapping_add(BUFFER as u64);
        self.used -= BUFFER;
    }
}

impl fmt::Debug for Sequential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sequential")
            .field("stream", &self.stream)
            .field("position", &self.position())
            .finish_non_exhaustive()
    }
}

#[cfg(feature = "rand_core")]
crate::traits::impl_rand_core!(Sequential, fill);
