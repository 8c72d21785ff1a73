//! Elements by their indices, in any order.

use crate::counter;
use crate::engine::Block;
use crate::{Error, Stream};

/// Indices that go through the engine at once: as many as AES instructions process side by side. A
/// larger buffer would only cost time to clear.
const TOGETHER: usize = 32;

impl Stream {
    /// Writes the bytes at `indices`, in their order. An index may repeat.
    ///
    /// # Errors
    ///
    /// [`Error::Lengths`] if there are not as many outputs as indices, and [`Error::RangeTooLong`]
    /// for the index 2^64 - 1, at which every stream has ended. Nothing is written then.
    pub fn u8_at(&self, indices: &[u64], out: &mut [u8]) -> Result<(), Error> {
        self.elements_at(0, indices, out, |[byte]| byte)
    }

    /// Writes the `u32` elements at `indices`.
    ///
    /// # Errors
    ///
    /// The errors of [`u8_at`](Stream::u8_at).
    pub fn u32_at(&self, indices: &[u64], out: &mut [u32]) -> Result<(), Error> {
        self.elements_at(0, indices, out, u32::from_le_bytes)
    }

    /// Writes the `u64` elements at `indices`.
    ///
    /// # Errors
    ///
    /// The errors of [`u8_at`](Stream::u8_at).
    pub fn u64_at(&self, indices: &[u64], out: &mut [u64]) -> Result<(), Error> {
        self.elements_at(0, indices, out, u64::from_le_bytes)
    }

    /// Writes elements of `WIDTH` bytes, a power of two up to 16.
    pub(crate) fn elements_at<T, const WIDTH: usize>(
        &self,
        draw: u16,
        indices: &[u64],
        out: &mut [T],
        value: impl Fn([u8; WIDTH]) -> T,
    ) -> Result<(), Error> {
        if indices.len() != out.len() {
            return Err(Error::Lengths { indices: indices.len(), out: out.len() });
        }
        indices.iter().try_for_each(|&index| crate::stream::check(index, 1))?;
        self.gather(draw, indices, out, value);
        Ok(())
    }

    /// Writes the elements. `out` has a place for each index, and every index exists.
    pub(crate) fn gather<T, const WIDTH: usize>(
        &self,
        draw: u16,
        indices: &[u64],
        out: &mut [T],
        value: impl Fn([u8; WIDTH]) -> T,
    ) {
        let elements = 16 / WIDTH as u64; // of a block
        let (engine, key, backend) = (self.key().engine(), self.key().to_raw(), self.backend());
        let upper = u128::from(counter::upper(self.id(), draw)) << 64;
        let mut blocks = [Block::default(); TOGETHER];
        for (indices, out) in indices.chunks(TOGETHER).zip(out.chunks_mut(TOGETHER)) {
            let blocks = &mut blocks[..indices.len()];
            for (block, index) in blocks.iter_mut().zip(indices) {
                *block = (upper | u128::from(index / elements)).to_le_bytes();
            }
            backend.replace(engine, key, blocks);
            for ((out, index), block) in out.iter_mut().zip(indices).zip(blocks) {
                *out = value(block.as_chunks().0[(index % elements) as usize]);
            }
        }
    }
}
