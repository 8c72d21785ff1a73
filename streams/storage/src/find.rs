//! The place that bytes belong to: the engine backwards, so no index of the stream is needed.
//!
//! An engine is a bijection of counters to blocks. One block of 16 bytes that was found anywhere
//! therefore names its counter, and the counter names stream and offset. Any other 16 bytes name a
//! counter too, so a place counts only if the pattern there has all the bytes that were found.

use crate::pattern::{END, Pattern};
use headwater_streams::Stream;

/// Bytes of a block of every engine.
const BLOCK: usize = 16;

/// The shortest data for which a place is believed. 16 bytes determine a counter whose draw must be
/// 0, and 8 more must agree: other data passes with a chance of 2^-80 for each alignment.
const SHORTEST: usize = 24;

/// A place of a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PatternPlace {
    pub(crate) offset: u64,
    /// Number of the stream, which may be another one of the same key.
    pub(crate) substream: u64,
}

/// The alignments at which data is searched for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Search {
    /// Each of the 16.
    Every,
    /// The alignment of data that moved by a multiple of 16.
    Likely,
}

/// Returns the place whose bytes are `data`, which lies at `offset`.
pub(crate) fn find(
    pattern: &Pattern,
    offset: u64,
    data: &[u8],
    search: Search,
) -> Option<PatternPlace> {
    if data.len() < SHORTEST {
        return None;
    }
    let alignments = BLOCK.min(data.len() - BLOCK + 1);
    // Data that moved by a multiple of 16, as whole sectors do, keeps its alignment.
    let likely = ((BLOCK as u64 - offset % BLOCK as u64) % BLOCK as u64) as usize;
    let searched = if search == Search::Every { BLOCK } else { 1 };
    (0..searched)
        .map(|i| (i + likely) % BLOCK)
        .filter(|&before| before < alignments)
        .find_map(|before| at_alignment(pattern, data, before))
}

/// Returns the place of `data` if a block of the engine begins after `before` bytes of it.
fn at_alignment(pattern: &Pattern, data: &[u8], before: usize) -> Option<PatternPlace> {
    let block: [u8; BLOCK] = data[before..][..BLOCK].try_into().ok()?;
    let counter = pattern.stream.key().counter(u128::from_le_bytes(block));
    if (counter >> 64) as u16 != 0 {
        return None;
    }
    let substream = (counter >> 80) as u64;
    let source = (counter as u64).checked_mul(BLOCK as u64).filter(|&source| source < END)?;
    let other = of_substream(pattern, substream)?;
    let mut expected = vec![0; data.len()];
    candidates(&other, source)
        .into_iter()
        .filter_map(|place| place.checked_sub(before as u64))
        .find(|&place| {
            place.checked_add(data.len() as u64).is_some_and(|end| end < END) && {
                other.fill(place, &mut expected);
                expected == data
            }
        })
        .map(|offset| PatternPlace { offset, substream })
}

/// Returns the pattern with another stream of the same key.
pub(crate) fn of_substream(pattern: &Pattern, substream: u64) -> Option<Pattern> {
    let stream: Stream = pattern.stream.key().stream(substream).ok()?;
    Some(Pattern { stream, shape: pattern.shape })
}

/// Returns the offsets at which the pattern may have byte `source` of the stream. The repeated end
/// of a unit has no blocks of the engine, so it is found only after the random part before it.
fn candidates(pattern: &Pattern, source: u64) -> Vec<u64> {
    match pattern.shape.spread {
        None => vec![source],
        Some(spread) => spread
            .chunks(source / spread.chunk)
            .filter_map(|chunk| chunk.checked_mul(spread.chunk)?.checked_add(source % spread.chunk))
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Dedup, Shape};
    use headwater_streams::{Engine, Key};

    fn check(pattern: &Pattern, offset: u64, from: u64, len: usize) {
        let mut data = vec![0; len];
        pattern.fill(from, &mut data);
        let found = find(pattern, offset, &data, Search::Every).expect("the place is found");
        let mut there = vec![0; len];
        pattern.fill(found.offset, &mut there);
        assert_eq!(there, data);
        if pattern.shape == Shape::default() {
            assert_eq!(found, PatternPlace { offset: from, substream: pattern.stream.id() });
        }
    }

    #[test]
    fn bytes_of_any_place_and_alignment_are_found() {
        for &engine in Engine::ALL {
            let stream = Key::with_engine(engine, "find").stream(5).unwrap();
            let pattern = Pattern::new(stream, Shape::default());
            for shift in 0..40 {
                check(&pattern, 4096, 1_000_000 + shift, 512);
                check(&pattern, 77 * 512 + shift, (1 << 50) + 3 * shift, 48);
            }
        }
    }

    #[test]
    fn bytes_of_shaped_patterns_are_found() {
        let stream = Key::from_seed("find").stream(0).unwrap();
        let dedup = |chunk| Some(Dedup { ratio: "1.3".parse().unwrap(), chunk });
        for (compressible, dedup) in [
            (Some("2.5".parse().unwrap()), None),
            (None, dedup(8192)),
            (Some("4".parse().unwrap()), dedup(8192)),
        ] {
            let pattern = Pattern::new(stream, Shape::new(compressible, dedup).unwrap());
            // A unit's first sector is random: 4096 / 6 - 21 bytes.
            for sector in (0..64).step_by(8) {
                check(&pattern, (1 << 30) + sector * 512, sector * 512, 512);
            }
        }
    }

    #[test]
    fn other_bytes_have_no_place() {
        let pattern = Pattern::new(Key::from_seed(1).stream(0).unwrap(), Shape::default());
        let mut data = [0; 512];
        for seed in 2..300 {
            assert_eq!(find(&pattern, 0, &data, Search::Every), None);
            Key::from_seed(seed).stream(0).unwrap().fill_u8(0, &mut data).unwrap();
        }
        pattern.fill(160, &mut data);
        data[300] ^= 1;
        assert_eq!(find(&pattern, 0, &data, Search::Every), None, "one bit is wrong");
        assert_eq!(find(&pattern, 0, &data[..23], Search::Every), None, "too short to be sure");
        assert!(find(&pattern, 0, &data[..24], Search::Likely).is_some());
    }

    #[test]
    fn another_substream_is_named() {
        let key = Key::from_seed(1);
        let pattern = Pattern::new(key.stream(0).unwrap(), Shape::default());
        let mut data = [0; 512];
        key.stream(9).unwrap().fill_u8(512, &mut data).unwrap();
        assert_eq!(
            find(&pattern, 0, &data, Search::Every),
            Some(PatternPlace { offset: 512, substream: 9 })
        );
    }
}
