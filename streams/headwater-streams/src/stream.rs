//! Streams: any element of any range of them, at any time.

use crate::engine::{Backend, Block};
use crate::features::Features;
use crate::words::Words;
use crate::{Error, Key, bytes, counter};

/// One of a key's 2^48 streams: a function from an element's number to its value. [Not for
/// secrets](crate).
///
/// It has no position and no state, so all functions take `&self`. Element `e` has the same value
/// in any order of calls, and in any thread, process or machine.
///
/// A stream's bytes are its engine's blocks in order. Element `e` of a type of `w` bytes is bytes
/// `e * w .. (e + 1) * w` of them, as a little-endian number, so the arrays of bytes, `u32` and
/// `u64` are views of the same bytes. Elements are numbered up to 2^64 - 2, because the end of a
/// range has to be a `u64` as well.
///
/// ```
/// use headwater_streams::Key;
///
/// let stream = Key::from_seed(42).child("noise").stream(7)?;
/// let mut whole = [0; 1000];
/// stream.fill_u64(0, &mut whole)?;
/// let mut part = [0; 10];
/// stream.fill_u64(500, &mut part)?;
/// assert_eq!(part, whole[500..510]);
/// # Ok::<(), headwater_streams::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(
    feature = "serde",
    serde(into = "crate::form::StreamForm", try_from = "crate::form::StreamForm")
)]
pub struct Stream {
    key: Key,
    id: u64,
}

impl Stream {
    /// Returns stream 0 of a child of this stream, for an array that must be independent of this
    /// stream's arrays, all of which are views of the same words.
    ///
    /// The children of stream 0 are those of its key. Another stream's are the children of the
    /// key's child called `b"stream"` and its number in 8 bytes, the lowest first, so that two
    /// streams of a key have no child in common.
    ///
    /// ```
    /// use headwater_streams::Key;
    ///
    /// let key = Key::from_seed(42);
    /// assert_eq!(key.stream(0)?.child("noise"), key.child("noise").stream(0)?);
    /// assert_ne!(key.stream(1)?.child("noise"), key.stream(0)?.child("noise"));
    /// # Ok::<(), headwater_streams::Error>(())
    /// ```
    pub fn child<'a>(&self, label: impl Into<crate::Label<'a>>) -> Stream {
        let parent = match self.id() {
            0 => self.key(),
            id => {
                let mut own = *b"stream\0\0\0\0\0\0\0\0";
                let (_, number) = own.split_at_mut(6);
                number.copy_from_slice(&id.to_le_bytes());
                self.key().child(&own)
            }
        };
        Stream::new(parent.child(label), 0)
    }

    /// Makes a stream whose `id` is below [`counter::STREAMS`].
    pub(crate) const fn new(key: Key, id: u64) -> Stream {
        Stream { key, id }
    }

    /// Returns the key of the stream.
    pub const fn key(&self) -> Key {
        self.key
    }

    /// Returns the stream's number.
    pub const fn id(&self) -> u64 {
        self.id
    }

    /// Writes bytes `start..start + out.len()` of the stream.
    ///
    /// # Errors
    ///
    /// [`Error::RangeTooLong`] if the range ends past 2^64 - 1; nothing is written then.
    pub fn fill_u8(&self, start: u64, out: &mut [u8]) -> Result<(), Error> {
        check(start, out.len())?;
        self.bytes(0, u128::from(start), out);
        Ok(())
    }

    /// Writes elements `start..start + out.len()` of the stream as `u32`.
    ///
    /// # Errors
    ///
    /// The errors of [`fill_u8`](Stream::fill_u8), with the range counted in elements.
    pub fn fill_u32(&self, start: u64, out: &mut [u32]) -> Result<(), Error> {
        check(start, out.len())?;
        self.bytes(0, u128::from(start) * 4, bytes::of_u32(out));
        bytes::u32_from_le(out);
        Ok(())
    }

    /// Writes elements `start..start + out.len()` of the stream as `u64`.
    ///
    /// # Errors
    ///
    /// The errors of [`fill_u8`](Stream::fill_u8), with the range counted in elements.
    pub fn fill_u64(&self, start: u64, out: &mut [u64]) -> Result<(), Error> {
        check(start, out.len())?;
        self.words(0, start, out);
        Ok(())
    }

    /// Chooses the code for this stream's engine on this CPU.
    #[inline]
    pub(crate) fn backend(&self) -> Backend {
        Backend::choose(self.key.engine(), Features::detect())
    }

    /// Writes `out.len()` bytes of `draw`, from byte `start` on.
    #[inline]
    pub(crate) fn bytes(&self, draw: u16, start: u128, out: &mut [u8]) {
        let (engine, key) = (self.key.engine(), self.key.to_raw());
        let (backend, upper) = (self.backend(), counter::upper(self.id, draw));
        let mut block = (start / 16) as u64;
        let one = |block: u64| {
            let mut one = [Block::default()];
            backend.fill(engine, key, upper, block, &mut one);
            one[0]
        };
        let mut out = out;
        // The range may begin inside a block: the bytes of that block come first.
        let before = (start % 16) as usize;
        if before > 0 {
            let here = out.len().min(16 - before);
            let (head, rest) = out.split_at_mut(here);
            head.copy_from_slice(&one(block)[before..][..here]);
            out = rest;
            block += 1;
        }
        let (blocks, tail) = out.as_chunks_mut::<16>();
        if !blocks.is_empty() {
            backend.fill(engine, key, upper, block, blocks);
            block += blocks.len() as u64;
        }
        if !tail.is_empty() {
            tail.copy_from_slice(&one(block)[..tail.len()]);
        }
    }
}

/// Returns an error unless this range of elements exists.
pub(crate) fn check(start: u64, len: usize) -> Result<(), Error> {
    match start.checked_add(len as u64) {
        Some(_) => Ok(()),
        None => Err(Error::RangeTooLong { start, len }),
    }
}

impl Words for Stream {
    fn words(&self, draw: u16, start: u64, out: &mut [u64]) {
        self.bytes(draw, u128::from(start) * 8, bytes::of_u64(out));
        bytes::u64_from_le(out);
    }

    /// Computes several blocks with each instruction, wherever the blocks lie: one at a time they
    /// would take ten times as long.
    fn groups(&self, width: usize, groups: &[u64], out: &mut [u64]) {
        match width {
            1 => self.gather(0, groups, out, u64::from_le_bytes),
            _ => self.gather(0, groups, out.as_chunks_mut::<2>().0, two_words),
        }
    }

    fn blocks(&self, draw: u16, start: u64, out: &mut [[u64; 2]]) {
        let words = out.as_flattened_mut();
        self.bytes(draw, u128::from(start) * 16, bytes::of_u64(words));
        bytes::u64_from_le(words);
    }

    fn blocks_at(&self, draw: u16, blocks: &[u64], out: &mut [[u64; 2]]) {
        self.gather(draw, blocks, out, two_words);
    }
}

/// Returns the two words of a block.
fn two_words(block: Block) -> [u64; 2] {
    let words = block.as_chunks().0.try_into();
    words.map(|two: [_; 2]| two.map(u64::from_le_bytes)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Engine;
    use crate::features::tests::on_every_path;

    #[test]
    fn a_stream_is_the_same_on_every_path() {
        for &engine in Engine::ALL {
            let stream = Key::with_engine(engine, "paths").stream(1).unwrap();
            let values = || {
                let mut filled = [0; 333];
                stream.fill_u64(11, &mut filled).unwrap();
                let indices: Vec<u64> = (0..333).map(|i| i * i).collect();
                let mut gathered = [0; 333];
                stream.u32_at(&indices, &mut gathered).unwrap();
                let mut normals = [0.0; 333];
                stream.normal_f64_at(&indices, &mut normals).unwrap();
                let mut singles = [0.0; 333];
                stream.f32_at(&indices, &mut singles).unwrap();
                let mut generator = stream.sequential();
                let sum =
                    (0..333).fold(0, |sum: u64, _| sum.wrapping_mul(3) ^ generator.next_u64());
                (filled, gathered, (normals, singles), sum, stream.key().block(7))
            };
            let expected = values();
            on_every_path(|features| assert_eq!(values(), expected, "{engine}, {features:?}"));
        }
    }
}
