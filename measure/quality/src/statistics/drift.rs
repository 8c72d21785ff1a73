//! Ones in blocks of every size, over all data.
//!
//! A bias that changes its sign is gone from the total. If ones have probability 1/2 + 2^-9 for
//! 512 KiB and 1/2 - 2^-9 for the next, a block of that size is off by eight standard deviations
//! and 128 MiB by none. The size at which a drift shows is not known, so every power of two is
//! tried.

use super::blocks::Blocks;
use super::{Test, TestPart, bits, words};
use crate::effort::Effort;
use crate::tally::Tally;
use crate::view::View;

pub(crate) const TEST: Test = Test {
    name: "drift",
    source: "own; NIST SP 800-22, 2.2 (frequency within a block), for blocks of all sizes; PractRand's BCFN looks for the same",
    meaning: "Over some stretches of the data ones are too frequent and over others too rare.",
    unseen: "whether the share of ones changes with time",
    least: 512,
    costly: false,
    fits: words,
    run,
};

/// Words whose bits are counted by place together: small enough for drifts that last 2 KiB, large
/// enough for counters that take eight words at a time.
const CHUNK: usize = 256;

fn run(view: &View, _: Effort) -> Vec<TestPart> {
    let values = &view.values;
    // Changes from one bit to the next are fair coins too. They drift where bits stay fair but
    // begin to copy.
    let mut all = Scales::<1>::new(64);
    let mut changes = Scales::<1>::new(64);
    for two in values.windows(2) {
        all.push([difference(two[0])]);
        changes.push([difference(two[0] ^ (two[0] >> 1 | two[1] << 63))]);
    }
    all.push([difference(values[values.len() - 1])]);
    let mut by_place = (
        Scales::<8>::new(8 * CHUNK as u64),
        Scales::<16>::new(4 * CHUNK as u64),
        Scales::<32>::new(2 * CHUNK as u64),
        Scales::<64>::new(CHUNK as u64),
    );
    for chunk in values.chunks_exact(CHUNK) {
        let each = bits::ones(chunk).map(|ones| 2 * ones as i64 - CHUNK as i64);
        by_place.0.push(folded(&each));
        by_place.1.push(folded(&each));
        by_place.2.push(folded(&each));
        by_place.3.push(each);
    }
    let places = [by_place.0.tally(), by_place.1.tally(), by_place.2.tally(), by_place.3.tally()];
    let largest = values.len().ilog2();
    let part = |name: &str, tally| {
        TestPart::new(format!("{name}, blocks up to 2^{largest} words"), values.len(), tally)
    };
    vec![
        part("ones", all.tally()),
        part("changes", changes.tally()),
        part("ones of each bit of 8, 16, 32 and 64", joined(places)),
    ]
}

/// Returns the ones of a word less its zeros.
fn difference(word: u64) -> i64 {
    2 * i64::from(word.count_ones()) - 64
}

/// Adds up the places that are the same bit of a narrower value.
fn folded<const PLACES: usize>(each: &[i64; 64]) -> [i64; PLACES] {
    std::array::from_fn(|place| each.iter().skip(place).step_by(PLACES).sum())
}

/// Sums of squares for blocks of every size.
struct Scales<const PLACES: usize> {
    /// Bits of one place in a piece.
    bits: u64,
    blocks: Blocks<PLACES>,
    squares: Vec<[u64; PLACES]>,
}

impl<const PLACES: usize> Scales<PLACES> {
    fn new(bits: u64) -> Self {
        Scales { bits, blocks: Blocks::new(), squares: Vec::new() }
    }

    fn push(&mut self, differences: [i64; PLACES]) {
        let squares = &mut self.squares;
        self.blocks.push(differences, |size, differences| {
            if size == squares.len() {
                squares.push([0; PLACES]);
            }
            for (sum, difference) in squares[size].iter_mut().zip(differences) {
                *sum = sum.saturating_add(difference.unsigned_abs().pow(2));
            }
        });
    }

    fn tally(self) -> Tally {
        let each = |size: usize| [self.bits << size; PLACES];
        Tally::Squares {
            bits: (0..self.squares.len()).flat_map(each).collect(),
            blocks: self.blocks.numbers().flat_map(|blocks| [blocks; PLACES]).collect(),
            sums: self.squares.into_iter().flatten().collect(),
        }
    }
}

/// Makes one figure of several, because each figure makes all others of a run count less.
fn joined(parts: [Tally; 4]) -> Tally {
    let (mut all_sums, mut all_blocks, mut all_bits) = (Vec::new(), Vec::new(), Vec::new());
    for part in parts {
        let Tally::Squares { sums, blocks, bits } = part else { unreachable!("made by `tally`") };
        all_sums.extend(sums);
        all_blocks.extend(blocks);
        all_bits.extend(bits);
    }
    Tally::Squares { sums: all_sums, blocks: all_blocks, bits: all_bits }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::Form;

    fn p(words: &[u64]) -> [f64; 3] {
        let view = View::new(words, Form { width: 64, reversed: false }, usize::MAX);
        let parts = run(&view, Effort::Fast);
        std::array::from_fn(|part| parts[part].tally.p())
    }

    /// Draws words whose bits of `mask` are forced to `sign` with probability 2^-8.
    fn forced(rng: &mut fastrand::Rng, mask: u64, ones: bool) -> u64 {
        let rare = (0..8).fold(mask, |all, _| all & rng.u64(..));
        if ones { rng.u64(..) | rare } else { rng.u64(..) & !rare }
    }

    #[test]
    fn blocks_of_every_size_are_summed_as_defined() {
        let mut rng = fastrand::Rng::with_seed(1);
        let words: Vec<u64> = (0..5 * CHUNK + 7).map(|_| rng.u64(..) & rng.u64(..)).collect();
        let view = View::new(&words, Form { width: 64, reversed: false }, usize::MAX);
        let ones = |words: &[u64], mask: u64| {
            words.iter().map(|word| i64::from((word & mask).count_ones())).sum::<i64>()
        };
        let square = |words: &[u64], mask: u64| {
            let bits = words.len() as i64 * i64::from(mask.count_ones());
            (2 * ones(words, mask) - bits).pow(2) as u64
        };
        let parts = run(&view, Effort::Fast);
        let Tally::Squares { sums, blocks, bits } = &parts[0].tally else { unreachable!() };
        assert_eq!(sums.len(), 11);
        let scales = sums.iter().zip(blocks).zip(bits).enumerate();
        for (size, ((sum, blocks), bits)) in scales {
            let expected = words.chunks_exact(1 << size).map(|block| square(block, u64::MAX));
            assert_eq!(*sum, expected.sum::<u64>(), "2^{size} words");
            assert_eq!((*blocks, *bits), (words.len() as u64 >> size, 64 << size));
        }
        let bit = |i: usize| words[i / 64] >> (i % 64) & 1;
        let differs = |i: usize| if bit(i) != bit(i + 1) { 1 } else { -1 };
        let Tally::Squares { sums, .. } = &parts[1].tally else { unreachable!() };
        for (size, sum) in sums.iter().enumerate() {
            let bits: Vec<usize> = (0..64 * (words.len() - 1)).collect();
            let blocks = bits.chunks_exact(64 << size);
            let expected =
                blocks.map(|block| block.iter().map(|i| differs(*i)).sum::<i64>().pow(2));
            assert_eq!(*sum, expected.sum::<i64>() as u64, "changes, 2^{size} words");
        }
        let Tally::Squares { sums, blocks, bits } = &parts[2].tally else { unreachable!() };
        assert_eq!(sums.len(), 3 * (8 + 16 + 32 + 64), "blocks of 1, 2 and 4 chunks");
        let whole = &words[..5 * CHUNK];
        for place in 0..8 {
            let mask = 0x0101_0101_0101_0101 << place;
            let expected = whole.chunks_exact(2 * CHUNK).map(|block| square(block, mask));
            assert_eq!(sums[8 + place], expected.sum::<u64>(), "bit {place} of each byte");
            assert_eq!((blocks[8 + place], bits[8 + place]), (2, 16 * CHUNK as u64));
        }
    }

    /// Biases of 2^-9 whose sign changes.
    #[test]
    fn a_bias_that_changes_its_sign_is_found_whatever_its_period() {
        for period in [1_usize << 13, 1 << 16, 100_003] {
            let mut rng = fastrand::Rng::with_seed(period as u64);
            let words: Vec<u64> = (0..1 << 19)
                .map(|i| forced(&mut rng, u64::MAX, (i / period).is_multiple_of(2)))
                .collect();
            let [ones, ..] = p(&words);
            assert!(ones < 1e-15, "{period}: {ones:e}");
        }
    }

    #[test]
    fn a_drift_of_one_bit_of_each_word_or_byte_is_found() {
        for mask in [1 << 17, 0x0101_0101_0101_0101 << 5] {
            let mut rng = fastrand::Rng::with_seed(mask);
            let mut word = |i: usize| {
                let rare = (0..4).fold(mask, |all, _| all & rng.u64(..));
                if i >> 16 & 1 == 0 { rng.u64(..) | rare } else { rng.u64(..) & !rare }
            };
            let words: Vec<u64> = (0..1 << 19).map(&mut word).collect();
            assert!(p(&words)[2] < 1e-15, "{mask:x}: {:?}", p(&words));
        }
    }

    #[test]
    fn copies_that_come_and_go_are_found_by_changes() {
        let mut rng = fastrand::Rng::with_seed(7);
        // One bit in 64 equals the one before it for 2^15 words, and differs for as many.
        let words: Vec<u64> = (0..1 << 19)
            .map(|i| {
                let word = rng.u64(..) & !2;
                let first = if i >> 15 & 1 == 0 { word & 1 } else { !word & 1 };
                if rng.u8(..8) == 0 { word | first << 1 } else { word | rng.u64(..2) << 1 }
            })
            .collect();
        let [ones, changes, _] = p(&words);
        assert!(ones > 1e-6 && changes < 1e-15, "{ones:e} {changes:e}");
    }

    #[test]
    fn good_numbers_pass_and_a_stuck_source_does_not_overflow() {
        let mut rng = fastrand::Rng::with_seed(8);
        let words: Vec<u64> = (0..1 << 18).map(|_| rng.u64(..)).collect();
        assert!(p(&words).iter().all(|&p| p > 1e-4), "{:?}", p(&words));
        assert_eq!(p(&vec![0; 1 << 18]), [0.0; 3]);
    }
}
