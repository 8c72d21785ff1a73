//! Arrays of words as the bytes that they are.

#![allow(unsafe_code)]

pub(crate) fn of_u32(words: &mut [u32]) -> &mut [u8] {
    // SAFETY: the same memory for as long, of which every byte may be read as a byte, and every
    // value written makes a word.
    unsafe { core::slice::from_raw_parts_mut(words.as_mut_ptr().cast(), size_of_val(words)) }
}

pub(crate) fn of_u64(words: &mut [u64]) -> &mut [u8] {
    // SAFETY: as above.
    unsafe { core::slice::from_raw_parts_mut(words.as_mut_ptr().cast(), size_of_val(words)) }
}

/// Turns words round that were written as little-endian bytes; nothing to do but on big-endian
/// machines.
pub(crate) fn u32_from_le(words: &mut [u32]) {
    if cfg!(target_endian = "big") {
        for word in words {
            *word = u32::from_le(*word);
        }
    }
}

/// Turns words round that were written as little-endian bytes; nothing to do but on big-endian
/// machines.
pub(crate) fn u64_from_le(words: &mut [u64]) {
    if cfg!(target_endian = "big") {
        for word in words {
            *word = u64::from_le(*word);
        }
    }
}
