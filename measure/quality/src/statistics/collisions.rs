//! Values that agree in their leading bits, and data that repeats.

use super::{Test, TestPart, spread, wide, words};
use crate::effort::Effort;
use crate::tally::Tally;
use crate::view::View;

pub(crate) const TEST: Test = Test {
    name: "collisions",
    source: "Knuth, TAOCP 2, 3.3.2 I; Christiansen 1975",
    meaning: "Values fall into the same places too often, or avoid each other.",
    unseen: "whether values avoid each other, or crowd",
    least: 1 << 12,
    costly: true,
    fits: wide,
    run: collisions,
};

pub(crate) const REPEATS: Test = Test {
    name: "repeats",
    source: "own; the birthday bound on whole words, and on eight bytes at any place",
    meaning: "Eight bytes repeat, which chance does once in years: the stream repeats, or two parts of it are copies.",
    unseen: "whether whole words repeat",
    least: 64,
    costly: false,
    fits: words,
    run: repeats,
};

fn collisions(view: &View, _: Effort) -> Vec<TestPart> {
    let balls = view.values.len().ilog2().min(20);
    // This number of urns makes 32 collisions likely.
    let urns = 2 * balls - 6;
    if urns > view.form.width {
        return few_urns(view);
    }
    vec![count(view, balls, urns)]
}

/// Takes fewer balls, because narrow values have fewer urns.
fn few_urns(view: &View) -> Vec<TestPart> {
    vec![count(view, (view.form.width + 6) / 2, view.form.width)]
}

fn count(view: &View, balls: u32, urns: u32) -> TestPart {
    let (m, n) = (f64::from(1 << balls), 2_f64.powi(urns as i32));
    let mut seen = 0;
    let mut expected = 0.0;
    let there = view.values.len() >> balls;
    let rounds = there.min(4);
    for at in spread(there, rounds) {
        let values = &view.values[at << balls..][..1 << balls];
        seen += doubles(values.iter().map(|value| value >> (64 - urns)).collect());
        // m - n (1 - (1 - 1/n)^m), whose difference would lose all digits.
        expected += m * m / (2.0 * n) * (1.0 - 1.0 / m) * (1.0 - m / (3.0 * n));
    }
    TestPart::new(format!("2^{balls} in 2^{urns}"), rounds << balls, Tally::Rare { seen, expected })
}

/// Compares whole words, and eight bytes at any place. If a stretch of the stream repeats, so do
/// all its words. In a large block, the words with four leading zeros are enough, and quick to
/// sort.
fn repeats(view: &View, _: Effort) -> Vec<TestPart> {
    let m = view.values.len() as f64;
    let pairs = m * m / 2.0 / 2_f64.powi(64);
    let (name, words, share) = if view.values.len() <= 1 << 20 {
        ("whole words", view.values.clone(), 1.0)
    } else {
        let few = view.values.iter().filter(|&word| word >> 60 == 0);
        ("whole words, one in 16", few.copied().collect(), 1.0 / 16.0)
    };
    let used = view.values.len();
    let words =
        TestPart::new(name, used, Tally::Rare { seen: doubles(words), expected: pairs * share });
    vec![words, anywhere(&view.values)]
}

/// Number of windows that are kept, as a power of two.
const KEPT: u32 = 17;

/// Compares eight bytes at any place with eight bytes at any other: a period of 2^20 + 3 bytes
/// moves every word's place in its repetition, so whole words of it do not repeat within 8 MiB.
///
/// A window is kept by its content alone, so of two equal windows both are kept or neither is. The
/// hash is a bijection, so exactly the stated share of all windows would be kept.
fn anywhere(words: &[u64]) -> TestPart {
    let windows = 8 * (words.len() - 1);
    let skipped = windows.ilog2().saturating_sub(KEPT);
    let mut kept = Vec::with_capacity(2 << KEPT);
    let mut seen = 0;
    'words: for two in words.windows(2) {
        for byte in 0..8 {
            let window =
                if byte == 0 { two[0] } else { two[0] >> (8 * byte) | two[1] << (64 - 8 * byte) };
            seen += 1;
            if window.wrapping_mul(0x9e37_79b9_7f4a_7c15).leading_zeros() >= skipped {
                // A stuck source would have every window kept. Enough of them show that it is
                // stuck.
                if kept.len() == 16 << KEPT {
                    break 'words;
                }
                kept.push(window);
            }
        }
    }
    let m = f64::from(u32::try_from(seen).unwrap_or(u32::MAX));
    let expected = m * m / 2.0 / 2_f64.powi(64) / 2_f64.powi(skipped as i32);
    let name = format!("8 bytes at any place, one window in 2^{skipped}");
    TestPart::new(name, seen, Tally::Rare { seen: doubles(kept), expected })
}

/// Returns the number of values that equal an earlier one.
fn doubles(mut values: Vec<u64>) -> u64 {
    values.sort_unstable();
    values.windows(2).filter(|two| two[0] == two[1]).count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::Form;

    fn seen(words: &[u64]) -> u64 {
        seen_in(words, 0)
    }

    fn seen_in(words: &[u64], part: usize) -> u64 {
        let view = View::new(words, Form { width: 64, reversed: false }, usize::MAX);
        match repeats(&view, Effort::Standard).remove(part).tally {
            Tally::Rare { seen, .. } => seen,
            other => panic!("{other:?}"),
        }
    }

    /// All of few words are compared, and a sixteenth of many. A stretch of a thousand words shows
    /// in both.
    #[test]
    fn a_stretch_that_comes_again_is_seen_in_few_words_and_in_many() {
        let mut rng = fastrand::Rng::with_seed(1);
        for (len, least, most) in [(1 << 16, 1000, 1000), (1 << 21, 30, 100)] {
            let mut words: Vec<u64> = (0..len).map(|_| rng.u64(..)).collect();
            assert_eq!(seen(&words), 0);
            words.copy_within(77..1077, len - 5000);
            let seen = seen(&words);
            assert!((least..=most).contains(&seen), "{seen} of {len} words");
        }
    }

    #[test]
    fn a_stretch_at_another_place_within_a_word_is_seen() {
        let mut rng = fastrand::Rng::with_seed(2);
        for len in [1 << 12, 1 << 20] {
            let mut bytes: Vec<u8> = (0..8 * len).map(|_| rng.u8(..)).collect();
            let words = |bytes: &[u8]| -> Vec<u64> {
                bytes.as_chunks().0.iter().map(|word| u64::from_le_bytes(*word)).collect()
            };
            assert_eq!(seen_in(&words(&bytes), 1), 0);
            bytes.copy_within(1000..9003, 4 * len + 3);
            let found = words(&bytes);
            assert_eq!(seen_in(&found, 0), 0, "whole words do not repeat");
            let expected =
                8003.0 / 2_f64.powi((8 * (len as i32 - 1)).ilog2().saturating_sub(KEPT) as i32);
            let seen = seen_in(&found, 1) as f64;
            assert!((seen - expected).abs() < 6.0 * expected.sqrt() + 8.0, "{seen} for {expected}");
        }
    }
}
