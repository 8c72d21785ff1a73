//! A stream as a generator: one number after the other.

use crate::Stream;
use core::fmt;

/// Bytes that are made at a time. Divides 2^64, so that the last buffer of a stream is whole.
const BUFFER: usize = 1024;

/// A [`Stream`] with a position, for code that wants one number after the other. [Not for
/// secrets](crate).
///
/// It returns the stream's bytes in order: 8 of them for a `u64`, 4 for a `u32`, as little-endian
/// numbers, from its position on. From position 0, `next_u64` returns the elements of
/// [`Stream::fill_u64`]; no byte is skipped. After 2^64 bytes it begins again.
///
/// With the feature `rand_core` (on by default) it implements `rand_core`'s traits of version 0.10,
/// so that `rand`'s distributions work on it.
///
/// A forked child has a copy, which continues with the same numbers: that is what reproducible
/// means. A child that must differ takes another stream.
#[derive(Clone)]
pub struct Sequential {
    stream: Stream,
    /// Where the bytes begin that the buffer gets next.
    next: u64,
    /// Bytes of the buffer that have been given away. With the buffer yet to be filled, `BUFFER`
    /// and as many as are to be passed over.
    used: usize,
    buffer: [u8; BUFFER],
}

impl Stream {
    /// A generator that begins with byte 0 of the stream.
    pub const fn sequential(&self) -> Sequential {
        Sequential { stream: *self, next: 0, used: BUFFER, buffer: [0; BUFFER] }
    }
}

impl Sequential {
    /// Returns the stream behind it.
    pub const fn stream(&self) -> Stream {
        self.stream
    }

    /// The number of the byte that comes next.
    pub const fn position(&self) -> u64 {
        self.next.wrapping_add(self.used as u64).wrapping_sub(BUFFER as u64)
    }

    /// Goes to the byte with this number, in no time: forwards or back, and none in between is
    /// made.
    pub const fn seek(&mut self, position: u64) {
        let within = position % BUFFER as u64;
        self.next = position - within;
        self.used = BUFFER + within as usize;
    }

    /// The next four bytes.
    #[inline]
    pub fn next_u32(&mut self) -> u32 {
        u32::from_le_bytes(self.bytes())
    }

    /// The next eight bytes.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        u64::from_le_bytes(self.bytes())
    }

    /// The next bytes.
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
        // Up to the stream's end; both numbers are multiples of the buffer's length.
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

    /// Some from this buffer, and some from the next one.
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
