//! The counter: where in an engine's 2^128 blocks a stream's blocks are.
//!
//! From the top: 48 bits of stream, 16 bits of draw, 64 bits of block. Each field has bits of its
//! own, so places that differ in any field have counters that differ. For each key an engine is a
//! bijection, so counters that differ have blocks that differ. That is the whole proof that streams
//! do not meet (STREAMS.md works it out).
//!
//! The draw field serves elements that need more than one number: attempt 3 of element `e` takes
//! the place of `e` in draw 3.

/// The number of bits in each field.
struct Packing {
    stream: u32,
    draw: u32,
    block: u32,
}

const PACKING: Packing = Packing { stream: 48, draw: 16, block: 64 };

/// Streams of one key.
pub(crate) const STREAMS: u64 = 1 << PACKING.stream;

/// Returns the upper 64 bits of the counters of one draw of one stream; `stream` is below
/// [`STREAMS`]. The lower 64 bits are the block's number.
#[inline]
pub(crate) const fn upper(stream: u64, draw: u16) -> u64 {
    (PACKING.counter(stream, draw, 0) >> PACKING.block) as u64
}

impl Packing {
    /// Returns the counter of a place, each of whose numbers fits its field.
    #[inline]
    const fn counter(&self, stream: u64, draw: u16, block: u64) -> u128 {
        debug_assert!((stream as u128) < 1 << self.stream);
        debug_assert!((draw as u128) < 1 << self.draw);
        debug_assert!((block as u128) < 1 << self.block);
        (stream as u128) << (self.draw + self.block) | (draw as u128) << self.block | block as u128
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Packs every place of a toy with 16 bits, and checks that no block of its engine repeats.
    #[test]
    fn no_two_places_of_a_toy_have_one_block() {
        let toy = Packing { stream: 6, draw: 3, block: 7 };
        let bijection = |counter: u16| {
            let mixed = counter.wrapping_mul(0x9E37);
            (mixed ^ mixed >> 7).wrapping_mul(0x7F4B) ^ 0xA73B
        };
        let mut seen = vec![false; 1 << 16];
        for stream in 0..1 << 6 {
            for draw in 0..1 << 3 {
                for block in 0..1 << 7 {
                    let counter = u16::try_from(toy.counter(stream, draw, block)).unwrap();
                    let taken = &mut seen[usize::from(bijection(counter))];
                    assert!(!*taken, "stream {stream}, draw {draw}, block {block}");
                    *taken = true;
                }
            }
        }
        assert!(seen.into_iter().all(|taken| taken));
    }

    #[test]
    fn each_field_has_its_own_bits() {
        assert_eq!(PACKING.counter(0xFFFF_FFFF_FFFF, 0, 0), 0xFFFF_FFFF_FFFF << 80);
        assert_eq!(PACKING.counter(0, u16::MAX, 0), 0xFFFF << 64);
        assert_eq!(PACKING.counter(0, 0, u64::MAX), u128::from(u64::MAX));
        assert_eq!(PACKING.stream + PACKING.draw + PACKING.block, 128);
        assert_eq!(upper(0x1234_5678_9ABC, 0xDEF0), 0x1234_5678_9ABC_DEF0);
    }
}
