//! Arrays of words as the bytes that they are.

#![allow(unsafe_code)]

pub(crate) fn of_u32(words: &mut [u32]) -> &mut [u8] {
    // SAFETY: the same memory, borrowed for as long. Every byte of a word may be read as a byte,
    // and any bytes written make a valid word.
    unsafe { core::slice::from_raw_parts_mut(words.as_mut_ptr().cast(), size_of_val(words)) }
}

pub(crate) fn of_u64(words: &mut [u64]) -> &mut [u8] {
    // SAFETY: the same memory, borrowed for as long, of which any bytes are valid words.
    unsafe { core::slice::from_raw_parts_mut(words.as_mut_ptr().cast(), size_of_val(words)) }
}

/// Converts words that were written as little-endian bytes to the CPU's byte order. Only big-endian
/// machines change anything.
pub(crate) fn u32_from_le(words: &mut [u32]) {
    if cfg!(target_endian = "big") {
        for word in words {
            *word = u32::from_le(*word);
        }
    }
}

/// Converts words that were written as little-endian bytes to the CPU's byte order. Only big-endian
/// machines change anything.
pub(crate) fn u64_from_le(words: &mut [u64]) {
    if cfg!(target_endian = "big") {
        for word in words {
            *word = u64::from_le(*word);
        }
    }
}
