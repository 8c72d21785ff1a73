//! Draws of up to 16 bytes: one word or two, read and erased by volatile accesses.
//!
//! The first byte of a word in memory is its lowest one here, on any CPU. Otherwise the stores that
//! overlap in [`Words::put`] would write some bytes twice and others never.

#![allow(unsafe_code)]

/// The unit of a draw of up to 16 bytes: one word, or a [`Block`] of two.
pub(crate) trait Words: Copy {
    /// Bytes that are taken.
    const BYTES: u32;

    /// Reads the words at `source` and erases them; None if the window of 16 bytes there was zero.
    ///
    /// # Safety
    ///
    /// 16 bytes can be read and written at `source`, which is aligned to 8.
    unsafe fn take(source: *mut u8) -> Option<Self>;

    /// Returns the words XORed with a mask.
    fn masked(self, mask: [u64; 2]) -> Self;

    /// Writes the first `len` bytes.
    ///
    /// # Safety
    ///
    /// `dst` is valid for writes of `len` bytes, at least 1 and more than half of what was taken.
    unsafe fn put(self, dst: *mut u8, len: usize);
}

impl Words for u64 {
    const BYTES: u32 = 8;

    #[inline(always)]
    unsafe fn take(source: *mut u8) -> Option<u64> {
        // SAFETY: both words lie in the window of 16 bytes, and the window is aligned to 8.
        unsafe {
            let word = take_word(source);
            // The second half of the window is read only if the first is zero.
            (word != 0 || next_word(source) != 0).then_some(word)
        }
    }

    #[inline(always)]
    fn masked(self, [mask, _]: [u64; 2]) -> u64 {
        self ^ mask
    }

    #[inline(always)]
    unsafe fn put(self, dst: *mut u8, len: usize) {
        // SAFETY: `len` is at most the 8 bytes of a word, all of which `dst` has room for.
        unsafe { put_word(dst, self, len) };
    }
}

/// Two words.
#[derive(Clone, Copy)]
pub(crate) struct Block(pub(super) [u64; 2]);

impl Words for Block {
    const BYTES: u32 = 16;

    #[inline(always)]
    unsafe fn take(source: *mut u8) -> Option<Block> {
        // SAFETY: the two words are the window of 16 bytes, which is aligned to 8.
        let words = unsafe { [take_word(source), take_word(source.add(8))] };
        (words != [0; 2]).then_some(Block(words))
    }

    #[inline(always)]
    fn masked(self, mask: [u64; 2]) -> Block {
        Block([self.0[0] ^ mask[0], self.0[1] ^ mask[1]])
    }

    #[inline(always)]
    unsafe fn put(self, dst: *mut u8, len: usize) {
        let [low, high] = self.0;
        // SAFETY: two stores of 8 bytes, which overlap in the 9 to 15 that may be written.
        unsafe {
            let second = if len == 16 { high } else { shifted(low, high, len) };
            dst.cast::<u64>().write_unaligned(low.to_le());
            dst.add(len - 8).cast::<u64>().write_unaligned(second.to_le());
        }
    }
}

/// Returns bytes `len - 8` to `len` of two words; `len` is 9 to 15.
#[inline(always)]
fn shifted(low: u64, high: u64, len: usize) -> u64 {
    ((u128::from(low) | u128::from(high) << 64) >> (8 * (len - 8))) as u64
}

/// Reads the u64 at `source`, and erases it.
///
/// # Safety
///
/// A word can be read and written at `source`, which is aligned to 8.
#[inline(always)]
unsafe fn take_word(source: *mut u8) -> u64 {
    let source: *mut u64 = source.cast();
    // SAFETY: an aligned word of the page, which stays mapped even if the kernel drops its
    // contents. Volatile: the memory changes without the compiler's knowledge, each load is made
    // once, and the erasure, which is never read, must not be removed nor moved past the fence that
    // follows.
    unsafe {
        let word = source.read_volatile();
        source.write_volatile(0);
        u64::from_le(word)
    }
}

/// Returns the u64 after the one at `source`.
///
/// # Safety
///
/// Two words can be read at `source`, which is aligned to 8.
#[inline(always)]
unsafe fn next_word(source: *mut u8) -> u64 {
    // SAFETY: the second of the two words, aligned as the first is. Volatile: as in `take_word`.
    unsafe { source.cast::<u64>().add(1).read_volatile() }
}

/// Writes the first `len` (1 to 8) bytes of a word.
///
/// # Safety
///
/// `dst` is valid for writes of `len` bytes.
#[inline(always)]
unsafe fn put_word(dst: *mut u8, word: u64, len: usize) {
    // SAFETY: each store lies within `len` bytes; two overlap if `len` is not a power of two.
    unsafe {
        if len == 8 {
            dst.cast::<u64>().write_unaligned(word.to_le());
        } else if len >= 4 {
            dst.cast::<u32>().write_unaligned((word as u32).to_le());
            let last = (word >> (8 * (len - 4))) as u32;
            dst.add(len - 4).cast::<u32>().write_unaligned(last.to_le());
        } else {
            dst.write(word as u8);
            dst.add(len / 2).write((word >> (8 * (len / 2))) as u8);
            dst.add(len - 1).write((word >> (8 * (len - 1))) as u8);
        }
    }
}
