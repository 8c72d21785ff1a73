//! The counter: where in an engine's 2^128 blocks a stream's blocks are.
//!
//! From the top: 48 bits of stream, 16 bits of draw, 64 bits of block. Each field has bits of its own, so two places
//! that differ in any field are two counters; and an engine is, for each key, a bijection of counters to blocks. That is
//! the whole proof that streams do not meet (STREAMS.md works it out).

/// Bits of a stream's number.
const STREAM_BITS: u32 = 48;
/// Bits of a draw's number, which are the ones below it.
const DRAW_BITS: u32 = 16;

/// Streams of one key.
pub(crate) const STREAMS: u64 = 1 << STREAM_BITS;

/// The upper 64 bits of the counters of one draw of one stream, `stream` being below [`STREAMS`].
#[inline]
pub(crate) const fn upper(stream: u64, draw: u16) -> u64 {
    debug_assert!(stream < STREAMS);
    stream << DRAW_BITS | draw as u64
}
