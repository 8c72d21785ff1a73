//! Chunks that repeat: which content each chunk has, in both directions.

use crate::ratio::Ratio;

/// Chunks whose order is mixed together, so that copies of a chunk are not neighbours. A power of
/// two. The number of distinct chunks is exact after each group, so a small one keeps short files
/// close to the ratio as well.
const GROUP: u64 = 64;
/// An odd factor, which permutes the places of a group, and its inverse modulo [`GROUP`].
const FACTOR: u64 = 27;
const INVERSE: u64 = 19;
const _: () = assert!(FACTOR * INVERSE % GROUP == 1);

/// A function from chunks to contents in which every content has about `ratio` chunks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Spread {
    thousandths: u64,
    pub(crate) chunk: u64,
}

impl Spread {
    pub(crate) fn new(ratio: Ratio, chunk: u64) -> Spread {
        Spread { thousandths: u64::from(ratio.thousandths()), chunk }
    }

    /// Returns the number of the content that chunk `index` has.
    pub(crate) fn content(&self, index: u64) -> u64 {
        let mixed = permuted(index, FACTOR);
        // The product needs more than 64 bits near the end of the largest files.
        (u128::from(mixed) * 1000 / u128::from(self.thousandths)) as u64
    }

    /// Returns the chunks that have this content, in no order.
    pub(crate) fn chunks(&self, content: u64) -> impl Iterator<Item = u64> + use<> {
        let bound = |content: u128| (content * u128::from(self.thousandths)).div_ceil(1000) as u64;
        let first = bound(u128::from(content));
        let next = bound(u128::from(content) + 1);
        (first..next).map(|mixed| permuted(mixed, INVERSE))
    }
}

fn permuted(index: u64, factor: u64) -> u64 {
    let within = index % GROUP;
    index - within + within * factor % GROUP
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_chunk_is_found_by_its_content() {
        for ratio in ["1", "1.001", "1.3", "2", "2.5", "10", "999.999"] {
            let spread = Spread::new(ratio.parse().unwrap(), 8192);
            for index in (0..2000).chain(1 << 50..(1 << 50) + 200) {
                let chunks: Vec<_> = spread.chunks(spread.content(index)).collect();
                assert!(chunks.contains(&index), "{ratio} {index} {chunks:?}");
            }
            for content in 0..200 {
                assert!(spread.chunks(content).all(|chunk| spread.content(chunk) == content));
            }
        }
    }

    #[test]
    fn copies_are_not_neighbours() {
        let spread = Spread::new("2".parse().unwrap(), 8192);
        let same = (0..6400).filter(|&i| spread.content(i) == spread.content(i + 1)).count();
        assert!(same < 100, "{same}");
    }
}
