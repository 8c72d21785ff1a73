//! Blocks whose counters exchange a byte, which expose four rounds of AES.
//!
//! Two rounds of AES leave the bytes of a counter apart: the state is an exclusive or of functions
//! of one byte each. If two blocks exchange the lowest byte of their counters, the difference of
//! the new pair after two rounds is that of the old one. Two more rounds keep where it is zero: if
//! the old pair agrees in the four bytes of a column, the new pair does too.

use super::{Test, TestPart, spread, words};
use crate::effort::Effort;
use crate::tally::Tally;
use crate::view::View;

pub(crate) const TEST: Test = Test {
    name: "exchanges",
    source: "Grassi 2018, mixture differential cryptanalysis of AES, as a test",
    meaning: "Two blocks agree where blocks with a byte of their counters exchanged do: a counter under four rounds of AES.",
    unseen: "whether four rounds of AES hide a counter",
    least: 1 << 17,
    costly: false,
    fits: words,
    run,
};

/// Blocks that are compared with each other. The pairs that agree grow with the square.
const WINDOW: usize = 1 << 18;

/// The largest number of windows, spread over the data.
const WINDOWS: usize = 4;

/// The largest number of pairs of a window that are looked into: a stuck source has all of them.
const PAIRS: usize = 1 << 12;

fn run(view: &View, _: Effort) -> Vec<TestPart> {
    let blocks = view.values.as_chunks::<2>().0;
    let length = blocks.len().min(WINDOW);
    let (mut used, mut checked, mut seen) = (0, 0, 0);
    for window in spread(blocks.len() / length, WINDOWS) {
        let window = &blocks[window * length..][..length];
        used += 2 * length;
        // The last round has a MixColumns in some generators and none in others.
        for mixed in [false, true] {
            for column in 0..4 {
                let values: Vec<u32> =
                    window.iter().map(|&block| shifted(block, mixed, column)).collect();
                for (first, second) in equal(&values) {
                    // The distance shows the exchange, wherever the counter began. The other
                    // exchange, which carries, is met from its own pair.
                    let (distance, moved) = (second - first, (second - first) % 256);
                    if distance > 256 && moved != 0 {
                        checked += 1;
                        seen += u64::from(values[first + moved] == values[second - moved]);
                    }
                }
            }
        }
    }
    let expected = f64::from(checked) / 2_f64.powi(32);
    vec![TestPart::new("lowest byte of a counter", used, Tally::Rare { seen, expected })]
}

/// Returns the four bytes of a block that were a column before the last round's ShiftRows.
fn shifted([low, high]: [u64; 2], mixed: bool, column: usize) -> u32 {
    let columns = [low as u32, (low >> 32) as u32, high as u32, (high >> 32) as u32];
    (0..4).fold(0, |sum, row| {
        let from = columns[(column + 4 - row) % 4];
        sum | if mixed { unmix(from) } else { from } & 0xff << (8 * row)
    })
}

/// Undoes MixColumns on a column, whose row 0 is the lowest byte. Its fourth power is the identity.
fn unmix(column: u32) -> u32 {
    (0..3).fold(column, |x, _| {
        let double = ((x & 0x7f7f_7f7f) << 1) ^ ((x >> 7 & 0x0101_0101) * 0x1b);
        double ^ (double ^ x).rotate_right(8) ^ x.rotate_right(16) ^ x.rotate_right(24)
    })
}

/// Returns the places of equal values in pairs, the lower place first.
fn equal(values: &[u32]) -> Vec<(usize, usize)> {
    // Few values share a slot with another one. Only these are sorted.
    let slot = |value: u32| (value.wrapping_mul(0x9e37_79b1) >> 10) as usize;
    let mut once = vec![false; 1 << 22];
    let mut twice = vec![false; 1 << 22];
    for &value in values {
        let taken = std::mem::replace(&mut once[slot(value)], true);
        twice[slot(value)] |= taken;
    }
    let mut kept: Vec<(u32, usize)> = (0..values.len())
        .map(|place| (values[place], place))
        .filter(|(value, _)| twice[slot(*value)])
        .collect();
    kept.sort_unstable();
    let runs = kept.chunk_by(|one, other| one.0 == other.0);
    let pairs = runs.flat_map(|run| {
        (0..run.len()).flat_map(move |i| (i + 1..run.len()).map(move |j| (run[i].1, run[j].1)))
    });
    pairs.take(PAIRS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sources::Way;
    use crate::view::Form;

    fn p(words: &[u64]) -> f64 {
        let view = View::new(words, Form { width: 64, reversed: false }, usize::MAX);
        run(&view, Effort::Fast)[0].tally.p()
    }

    /// FIPS 197, section 5.1.3: columns before and after MixColumns.
    #[test]
    fn columns_before_mixing_are_those_of_the_standard() {
        for (before, after) in [
            ([0xd4, 0xbf, 0x5d, 0x30], [0x04, 0x66, 0x81, 0xe5]),
            ([0xe0, 0xb4, 0x52, 0xae], [0xe0, 0xcb, 0x19, 0x9a]),
            ([0xb8, 0x41, 0x11, 0xf1], [0x48, 0xf8, 0xd3, 0x7a]),
            ([0x1e, 0x27, 0x98, 0xe5], [0x28, 0x06, 0x26, 0x4c]),
        ] {
            assert_eq!(unmix(u32::from_le_bytes(after)), u32::from_le_bytes(before));
        }
    }

    #[test]
    fn equal_values_come_in_all_their_pairs() {
        let mut rng = fastrand::Rng::with_seed(4);
        let values: Vec<u32> = (0..1 << 12).map(|_| rng.u32(..1 << 13)).collect();
        let mut expected = Vec::new();
        for i in 0..values.len() {
            let later = (i + 1..values.len()).filter(|&j| values[i] == values[j]);
            expected.extend(later.map(|j| (i, j)));
        }
        let mut found = equal(&values);
        found.sort_unstable();
        assert!(expected.len() > 500 && found == expected);
        assert_eq!(equal(&[7; 1000]).len(), PAIRS);
    }

    /// Pairs that agree are no defect; pairs whose exchange agrees too are.
    #[test]
    fn only_agreement_on_both_sides_of_an_exchange_fails() {
        let mut rng = fastrand::Rng::with_seed(9);
        let mut words: Vec<u64> = (0..1 << 19).map(|_| rng.u64(..)).collect();
        assert!(p(&words) > 1e-4);
        let agree = |words: &mut [u64], first: usize, second: usize| {
            words.copy_within(2 * first..2 * first + 2, 2 * second);
        };
        for first in [11, 3000, 40_000] {
            agree(&mut words, first, first + 70_000 + first);
        }
        assert!(p(&words) > 1e-4);
        for first in [11, 3000, 40_000] {
            let moved = (70_000 + first) % 256;
            agree(&mut words, first + moved, first + 70_000 + first - moved);
        }
        assert!(p(&words) < 1e-12);
    }

    /// A cipher whose last round has a MixColumns fails too.
    #[test]
    fn four_rounds_of_aes_fail_with_and_without_the_last_mixing() {
        let mut words = vec![0; 1 << 18];
        let mut ars4 = crate::sources::by_name("ars4").unwrap().begin(1, Way::Plain).unwrap();
        assert_eq!(ars4.fill(&mut words).unwrap(), words.len());
        assert!(p(&words) < 1e-12);
        for word in &mut words {
            let [low, high] = [*word as u32, (*word >> 32) as u32].map(mix);
            *word = u64::from(high) << 32 | u64::from(low);
        }
        assert!(p(&words) < 1e-12);
    }

    /// Computes MixColumns: three times more than `unmix` returns to the start.
    fn mix(column: u32) -> u32 {
        (0..3).fold(column, |x, _| unmix(x))
    }
}
