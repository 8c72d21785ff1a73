//! A buffer whose bytes lie as direct input and output needs them.

/// The largest alignment that a device asks of memory and of offsets, on kernels with small pages.
const ALIGN: usize = 4096;

/// A buffer for a piece of a target.
pub(crate) struct Buffer(Vec<u8>);

impl Buffer {
    /// Makes a buffer for pieces of up to `len` bytes.
    pub(crate) fn new(len: usize) -> Buffer {
        Buffer(vec![0; len + 2 * ALIGN])
    }

    /// Returns `len` bytes whose address equals `offset` modulo [`ALIGN`], so that each offset that
    /// is aligned in the target lies at an aligned address.
    pub(crate) fn at(&mut self, offset: u64, len: usize) -> &mut [u8] {
        let address = self.0.as_ptr().addr() % ALIGN;
        let wanted = (offset % ALIGN as u64) as usize;
        let start = (wanted + ALIGN - address) % ALIGN;
        &mut self.0[start..][..len]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offset_and_address_are_aligned_alike() {
        let mut buffer = Buffer::new(10_000);
        for offset in [0, 1, 511, 512, 4095, 4096, 1 << 40, (1 << 40) + 77] {
            let bytes = buffer.at(offset, 10_000);
            assert_eq!(bytes.as_ptr().addr() as u64 % 4096, offset % 4096);
            assert_eq!(bytes.len(), 10_000);
        }
    }
}
