//! The lanes as one generator.

use super::{LANES, Lanes, Path};
use crate::features::Features;
use crate::generators::Xoshiro256pp;
use crate::generators::gf2::{self, Steps};
use crate::generators::rng::{fill_bytes, to_f64};
use core::fmt;

/// Bytes of a row: one word of each lane.
const ROW: usize = 8 * LANES;
/// Rows that are drawn at once for single words: with fewer rows, loading the state costs more than
/// stepping it.
const ROWS: usize = 4;
/// Words that are drawn at once.
const WORDS: usize = ROWS * LANES;

/// Eight xoshiro256++ side by side: the words of eight [streams](Xoshiro256pp::stream), one of each
/// in turn, at memory speed. **Not for secrets.**
///
/// Word `8 r + i` is word `r` of stream `i` of the scalar generator that this was made of, so the
/// scalar generator can produce each word as well. The CPU chooses the width of the vectors; the
/// words are the same on every machine.
///
/// ```
/// use headwater_streams::generators::Xoshiro256pp;
///
/// let start = Xoshiro256pp::from_u64(42);
/// let mut words = [0; 1000];
/// start.lanes().fill_u64(&mut words);
/// assert_eq!(words[0], start.stream(0).next_u64());
/// assert_eq!(words[7], start.stream(7).next_u64());
/// ```
#[derive(Clone)]
pub struct Xoshiro256ppX8 {
    /// The state after the rows that are in `drawn`.
    lanes: Lanes,
    drawn: [u64; WORDS],
    /// The number of drawn words that have been handed out.
    used: usize,
}

impl Xoshiro256pp {
    /// Returns streams 0 to 7 of this state, side by side.
    pub fn lanes(&self) -> Xoshiro256ppX8 {
        Xoshiro256ppX8::from_lanes(Lanes::from_jumps(self))
    }
}

impl Xoshiro256ppX8 {
    fn from_lanes(lanes: Lanes) -> Xoshiro256ppX8 {
        Xoshiro256ppX8 { lanes, drawn: [0; WORDS], used: WORDS }
    }

    /// Returns group `index` of streams: if this was made of streams 0 to 7, streams `8 index` to
    /// `8 index + 7`, at the same row. Words of a row that was begun are left out. Each group has
    /// 2^131 words.
    ///
    /// # Panics
    ///
    /// If `index` is 2^61 or more: those groups are the first ones of the next [node](Self::node).
    pub fn stream(&self, index: u64) -> Xoshiro256ppX8 {
        assert!(index < 1 << 61, "group {index}: a node has 2^61 groups of eight streams");
        self.after(Steps::times_2_to_64(u128::from(8 * index), 2))
    }

    /// Returns the same group of node `index`, at the same row. Words of a row that was begun are
    /// left out.
    pub fn node(&self, index: u64) -> Xoshiro256ppX8 {
        self.after(Steps::times_2_to_64(u128::from(index), 3))
    }

    fn after(&self, steps: Steps) -> Xoshiro256ppX8 {
        let mut there = self.clone();
        let unused_rows = (WORDS - self.used) / LANES;
        there.used = WORDS;
        if unused_rows != 0 {
            there
                .lanes
                .apply(&gf2::power_of_x::<Xoshiro256pp, 4>(Steps::back(unused_rows as u128, 4)));
        }
        there.lanes.apply(&gf2::power_of_x::<Xoshiro256pp, 4>(steps));
        there
    }

    /// Skips `words`, in some ten microseconds however many they are.
    pub fn advance(&mut self, words: u128) {
        let left = (WORDS - self.used) as u128;
        if words <= left {
            self.used += words as usize;
            return;
        }
        let (rows, rest) = ((words - left) / LANES as u128, (words - left) % LANES as u128);
        let skip = gf2::power_of_x::<Xoshiro256pp, 4>(Steps::times_2_to_64(rows, 0));
        self.lanes.apply(&skip);
        self.used = WORDS;
        if rest != 0 {
            self.draw();
            self.used = rest as usize;
        }
    }

    #[inline(never)]
    fn draw(&mut self) {
        Path::choose(Features::detect())
            .fill(&mut self.lanes, as_bytes(&mut self.drawn).as_chunks_mut().0);
        from_little_endian(&mut self.drawn);
        self.used = 0;
    }

    /// Returns the next word.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        if self.used == WORDS {
            self.draw();
        }
        let word = self.drawn[self.used];
        self.used += 1;
        word
    }

    /// Returns the upper half of the next word.
    #[inline]
    pub fn next_u32(&mut self) -> u32 {
        (self.next_u64() >> 32) as u32
    }

    /// Returns a number in `[0, 1)` from the upper 53 bits of the next word.
    #[inline]
    pub fn next_f64(&mut self) -> f64 {
        to_f64(self.next_u64())
    }

    /// Writes the next `out.len()` words.
    pub fn fill_u64(&mut self, out: &mut [u64]) {
        self.fill_bytes(as_bytes(out));
        from_little_endian(out);
    }

    /// Writes the bytes of the next words, little-endian, and discards the rest of the last word.
    pub fn fill_bytes(&mut self, out: &mut [u8]) {
        let drawn = out.len().min(8 * (WORDS - self.used));
        let (first, rest) = out.split_at_mut(drawn);
        fill_bytes(first, || self.next_u64());
        let (rows, rest) = rest.as_chunks_mut::<ROW>();
        if !rows.is_empty() {
            Path::choose(Features::detect()).fill(&mut self.lanes, rows);
        }
        fill_bytes(rest, || self.next_u64());
    }
}

/// Returns the bytes of these words.
fn as_bytes(words: &mut [u64]) -> &mut [u8] {
    #[expect(unsafe_code)]
    // SAFETY: the same memory, borrowed as long as the words are; any bytes are valid in it.
    unsafe {
        core::slice::from_raw_parts_mut(words.as_mut_ptr().cast(), size_of_val(words))
    }
}

fn from_little_endian(words: &mut [u64]) {
    if cfg!(target_endian = "big") {
        words.iter_mut().for_each(|word| *word = u64::from_le(*word));
    }
}

impl fmt::Debug for Xoshiro256ppX8 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Xoshiro256ppX8 { lanes, used, .. } = self;
        f.debug_struct("Xoshiro256ppX8").field("lanes", &lanes.0).field("used", used).finish()
    }
}

#[cfg(feature = "rand_core")]
crate::traits::impl_rand_core!(Xoshiro256ppX8, fill_bytes);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::tests::on_every_path;

    /// Returns the words by the scalar generator: word `8 r + i` is word `r` of stream `i`.
    fn expected(start: &Xoshiro256pp, words: usize) -> Vec<u64> {
        let mut streams: Vec<_> = (0..8).map(|i| start.stream(i)).collect();
        (0..words).map(|word| streams[word % 8].next_u64()).collect()
    }

    #[test]
    fn every_path_gives_the_words_of_eight_streams() {
        let start = Xoshiro256pp::from_u64(1);
        let bytes: Vec<u8> =
            expected(&start, 1000).iter().flat_map(|word| word.to_le_bytes()).collect();
        on_every_path(|path| {
            // Lengths around words and rows, and every alignment.
            for len in (0..200).chain([255, 256, 257, 1023, 1024, 4096, 7999, 8000]) {
                for offset in 0..8 {
                    let mut filled = vec![0xaa; offset + len + 1];
                    start.lanes().fill_bytes(&mut filled[offset..offset + len]);
                    assert_eq!(filled[offset..offset + len], bytes[..len], "{path:?}, {len} bytes");
                    assert_eq!(filled[offset + len], 0xaa, "{path:?} wrote past {len} bytes");
                }
            }
        });
    }

    #[test]
    fn pieces_of_any_length_are_one_sequence() {
        let start = Xoshiro256pp::from_u64(2);
        let words = expected(&start, 4000);
        let mut pieces = start.lanes();
        let (mut at, mut length) = (0, 0);
        while at < 3000 {
            match length % 3 {
                0 => {
                    let mut piece = vec![0; length];
                    pieces.fill_u64(&mut piece);
                    assert_eq!(piece, words[at..at + length], "{length} words at {at}");
                    at += length;
                }
                1 => {
                    assert_eq!(pieces.next_u64(), words[at], "word {at}");
                    at += 1;
                }
                _ => {
                    pieces.advance(length as u128);
                    at += length;
                }
            }
            length = (length * 5 + 1) % 97;
        }
    }

    #[test]
    fn groups_and_nodes_are_the_scalar_ones() {
        let start = Xoshiro256pp::from_u64(3);
        for begun in [0, 1, 7, 8, 9, 31, 32, 33, 100] {
            let mut lanes = start.lanes();
            lanes.advance(begun);
            let row = begun.div_ceil(8) * 8;
            for (group, base) in [
                (lanes.stream(0), start.clone()),
                (lanes.stream(5), start.stream(40)),
                (lanes.node(2), start.node(2)),
            ] {
                let words = expected(&base, 300);
                let mut filled = [0; 100];
                group.clone().fill_u64(&mut filled);
                assert_eq!(filled, words[row as usize..][..100], "after {begun} words");
            }
        }
    }

    #[test]
    fn long_ways_are_those_of_each_lane() {
        let start = Xoshiro256pp::from_u64(4);
        let mut lanes = start.lanes();
        lanes.advance((1 << 100) + 3);
        for i in 0..5 {
            let mut lane = start.stream(3 + i);
            lane.advance(1 << 97);
            assert_eq!(lanes.next_u64(), lane.next_u64());
        }
    }

    #[test]
    #[should_panic(expected = "a node has 2^61 groups")]
    fn groups_beyond_a_node_are_refused() {
        let _ = Xoshiro256pp::from_u64(5).lanes().stream(1 << 61);
    }
}
