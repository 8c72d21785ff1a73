//! The memory that a call shares with JavaScript, and its words in other types.
//!
//! It begins where the library's own memory ends, and is made of words of 64 bits. `KEY` and
//! `PLACE` have fixed numbers; a call's arguments begin at `ARGUMENTS`, and its results follow
//! those.

use core::ops::Range;
use core::slice::{from_raw_parts, from_raw_parts_mut};
use headwater_streams::distributions::Alias;

/// The two words of a key.
pub(crate) const KEY: Range<usize> = 0..2;
/// The number of a stream, and that of an element.
pub(crate) const PLACE: Range<usize> = 2..4;
/// The first word of the arguments.
pub(crate) const ARGUMENTS: usize = 4;

/// Bytes of a page of WebAssembly's memory.
const PAGE: usize = 1 << 16;

/// Hands all words past the library's own memory to `call`.
pub(crate) fn with_words<R>(call: impl FnOnce(&mut [u64]) -> R) -> R {
    unsafe extern "C" {
        /// The end of the library's data and stack, which the linker defines and aligns to 16.
        static __heap_base: u8;
    }
    let start = (&raw const __heap_base).expose_provenance().next_multiple_of(8);
    let end = core::arch::wasm32::memory_size(0) * PAGE;
    let len = end.saturating_sub(start) / 8;
    // SAFETY: the memory ends at `end`, because it is never made smaller, and a call never makes it
    // larger; so these `len` words exist, and `start` is a multiple of 8. Memory of WebAssembly is
    // zeros until it is written, so every word is initialised. Nothing else uses it, because the
    // linker puts data and stack below `__heap_base`, and the library has no allocator. No second
    // slice of it is made meanwhile, because the library calls no function of JavaScript, which
    // could call it again, and its memory is not shared with threads.
    call(unsafe { from_raw_parts_mut(core::ptr::with_exposed_provenance_mut(start), len) })
}

/// Returns words as doubles.
pub(crate) fn reals(words: &[u64]) -> &[f64] {
    // SAFETY: a double has the size and the alignment of a word in WebAssembly, and any bits are
    // one. The slice lives as long as the borrow of `words`.
    unsafe { from_raw_parts(words.as_ptr().cast(), words.len()) }
}

/// Returns words as doubles to write.
pub(crate) fn reals_mut(words: &mut [u64]) -> &mut [f64] {
    // SAFETY: as in `reals`; any double is a word as well, so what is written here can be read as
    // words later.
    unsafe { from_raw_parts_mut(words.as_mut_ptr().cast(), words.len()) }
}

/// Returns words as buckets of a table, without an odd word at the end.
pub(crate) fn buckets(words: &[u64]) -> &[Alias] {
    // SAFETY: a bucket is two words, aligned as they are, and any words are one. So half as many
    // buckets as words fit.
    unsafe { from_raw_parts(words.as_ptr().cast(), words.len() / 2) }
}

/// Returns words as buckets to write.
pub(crate) fn buckets_mut(words: &mut [u64]) -> &mut [Alias] {
    // SAFETY: as in `buckets`; a bucket has no byte that is not part of one of its two words, so
    // what is written here can be read as words later.
    unsafe { from_raw_parts_mut(words.as_mut_ptr().cast(), words.len() / 2) }
}

/// Returns words as bytes.
pub(crate) fn bytes(words: &[u64]) -> &[u8] {
    // SAFETY: a word is eight initialised bytes, and a byte may lie anywhere.
    unsafe { from_raw_parts(words.as_ptr().cast(), words.len() * 8) }
}

/// Returns words as bytes to write.
pub(crate) fn bytes_mut(words: &mut [u64]) -> &mut [u8] {
    // SAFETY: as in `bytes`; any eight bytes are a word, so what is written here can be read as
    // words later.
    unsafe { from_raw_parts_mut(words.as_mut_ptr().cast(), words.len() * 8) }
}
