//! Stretches that come again, at any bit.
//!
//! A buffer that is sent twice after a lost or added bit holds no byte again at its place, so
//! windows that begin at bytes do not show it.

use super::{Test, TestPart, words};
use crate::effort::Effort;
use crate::tally::Tally;
use crate::view::View;

pub(crate) const TEST: Test = Test {
    name: "slips",
    source: "own; the birthday bound on 64 bits at any place; marks by content, as Manber 1994 samples files",
    meaning: "Stretches of the data come again, moved by some bits.",
    unseen: "whether stretches come again at another bit",
    least: 512,
    costly: false,
    fits: words,
    run,
};

/// Windows that are kept, about, as a power of two.
const KEPT: u32 = 18;

fn run(view: &View, _: Effort) -> Vec<TestPart> {
    let values = &view.values;
    let bits = 64 * values.len() as u64;
    let zeros = bits.ilog2().saturating_sub(KEPT).max(3); // one place in 2^(zeros + 1)
    let mut kept = windows(values, zeros);
    // Marks that chance makes, not those that were found: sums of blocks must not depend on the
    // order in which threads add them.
    let marks = 64.0 * (values.len() - 2) as f64 / 2_f64.powi(zeros as i32 + 1);
    let pairs = marks * marks / 2.0;
    kept.sort_unstable();
    let seen = kept.windows(2).filter(|two| two[0] == two[1]).count() as u64;
    let name = format!("64 bits after a one and {zeros} zeros");
    let tally = Tally::Rare { seen, expected: pairs / 2_f64.powi(64) };
    vec![TestPart::new(name, values.len(), tally)]
}

/// Returns the 64 bits after each mark, which is a one and then zeros. A window is kept by what the
/// stream holds there and not by its place, so of two copies both are kept or neither is. A mark
/// cannot overlap itself, so a run of zeros is one mark and not many.
fn windows(values: &[u64], zeros: u32) -> Vec<u64> {
    let mut kept = Vec::with_capacity(values.len().min(2 << KEPT));
    'words: for three in values.windows(3) {
        let mut marks = three[0];
        for zero in 1..=zeros {
            marks &= !(three[0] >> zero | three[1] << (64 - zero));
        }
        while marks != 0 {
            // The window begins at most 63 + 1 + 15 bits after the first word does.
            let at = marks.trailing_zeros() + zeros + 1;
            let (low, high) = if at < 64 { (three[0], three[1]) } else { (three[1], three[2]) };
            let shift = at % 64;
            kept.push(low >> shift | high << 1 << (63 - shift));
            // Only a source that is far from random has so many marks.
            if kept.len() == 16 << KEPT {
                break 'words;
            }
            marks &= marks - 1;
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::Form;

    fn part(words: &[u64]) -> TestPart {
        let view = View::new(words, Form { width: 64, reversed: false }, usize::MAX);
        run(&view, Effort::Fast).remove(0)
    }

    fn seen(words: &[u64]) -> u64 {
        match part(words).tally {
            Tally::Rare { seen, .. } => seen,
            other => panic!("{other:?}"),
        }
    }

    /// Puts `count` bits from bit `from` on to bit `to`.
    fn copy(words: &mut [u64], from: usize, to: usize, count: usize) {
        for i in 0..count {
            let bit = words[(from + i) / 64] >> ((from + i) % 64) & 1;
            let (word, place) = ((to + i) / 64, (to + i) % 64);
            words[word] = words[word] & !(1 << place) | bit << place;
        }
    }

    #[test]
    fn a_stretch_that_comes_again_some_bits_off_is_found_at_every_shift() {
        for shift in 0..64 {
            let mut rng = fastrand::Rng::with_seed(shift);
            let mut words: Vec<u64> = (0..1 << 14).map(|_| rng.u64(..)).collect();
            assert_eq!(seen(&words), 0);
            copy(&mut words, 64 * 1000, 64 * 9000 + shift as usize, 8192);
            // One place in 16 has a mark, give or take.
            assert!((350..700).contains(&seen(&words)), "{shift}: {}", seen(&words));
        }
    }

    #[test]
    fn windows_are_the_bits_after_every_mark() {
        let mut rng = fastrand::Rng::with_seed(2);
        let words: Vec<u64> = (0..500).map(|_| rng.u64(..)).collect();
        let bit = |i: usize| words[i / 64] >> (i % 64) & 1;
        for zeros in [3, 9, 15] {
            let is_mark =
                |i: &usize| bit(*i) == 1 && (1..=zeros as usize).all(|zero| bit(i + zero) == 0);
            let after = |i: usize| (0..64).fold(0, |all, k| all | bit(i + k) << k);
            // A mark begins in each word that has two words after it.
            let marks = (0..64 * (words.len() - 2)).filter(is_mark);
            let expected: Vec<u64> = marks.map(|i| after(i + zeros as usize + 1)).collect();
            assert!(!expected.is_empty() || zeros == 15);
            assert_eq!(windows(&words, zeros), expected, "{zeros} zeros");
        }
    }

    #[test]
    fn a_stretch_that_comes_again_is_as_strange_as_its_marks_are_many() {
        let mut rng = fastrand::Rng::with_seed(3);
        let mut words: Vec<u64> = (0..1 << 19).map(|_| rng.u64(..)).collect();
        assert!(part(&words).tally.p() > 1e-4);
        copy(&mut words, 12_345, 30_000_017, 1 << 16);
        let (found, bits) = (seen(&words), 25 - KEPT + 1);
        let expected = f64::from(1 << 16) / 2_f64.powi(bits as i32);
        assert!((found as f64 - expected).abs() < 6.0 * expected.sqrt(), "{found} for {expected}");
        assert!(part(&words).tally.p() < 1e-15);
    }

    #[test]
    fn sources_that_are_far_from_random_end_too() {
        assert_eq!(seen(&vec![0; 1 << 16]), 0, "no mark; frequencies find it");
        assert!(seen(&vec![0x0101_0101_0101_0101; 1 << 16]) > 1000);
    }
}
