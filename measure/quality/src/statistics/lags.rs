//! Bits compared with the bits a fixed distance before them, over all data.
//!
//! The stream is one sequence of bits, the lowest bit of each byte first. Frequencies miss a bit
//! that copies its predecessor with probability 2^-9: those of bits do not change, and those of
//! bytes only by a chi-square that 4 MiB of them hardly show. But at lag 1, the 2^25 bits of 4 MiB
//! are off by 11 standard deviations.

use super::{Test, TestPart, words, xored};
use crate::effort::Effort;
use crate::tally::Tally;
use crate::view::View;

pub(crate) const TEST: Test = Test {
    name: "bit-autocorrelation",
    source: "Knuth, TAOCP 2, 3.3.2 J (serial correlation), for bits; NIST SP 800-22's runs test is its lag 1",
    meaning: "Over all data, bits resemble the bits a few places before them.",
    unseen: "whether bits resemble the bits shortly before them",
    least: 512,
    costly: false,
    fits: words,
    run,
};

const LAGS: usize = 64;

fn run(view: &View, _: Effort) -> Vec<TestPart> {
    let values = &view.values;
    // The last word has no successor, so its bits serve as the later bits only.
    let (seen, trials) = (1..=LAGS).map(|lag| xored::ones(values, [0, lag])).unzip();
    vec![TestPart::new(
        format!("lags 1 to {LAGS}"),
        values.len(),
        Tally::Rates { seen, trials, chance: 0.5 },
    )]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::Form;

    #[test]
    fn bits_that_differ_from_their_successors_are_counted_at_every_lag() {
        let mut rng = fastrand::Rng::with_seed(13);
        let words: Vec<u64> = (0..700).map(|_| rng.u64(..) & rng.u64(..)).collect();
        let bit = |i: usize| words[i / 64] >> (i % 64) & 1;
        let view = View::new(&words, Form { width: 64, reversed: false }, usize::MAX);
        let Tally::Rates { seen, trials, .. } = run(&view, Effort::Fast).remove(0).tally else {
            unreachable!()
        };
        assert_eq!(trials, [64 * 699; LAGS]);
        for (lag, seen) in (1..=LAGS).zip(seen) {
            let expected = (0..64 * 699).filter(|&i| bit(i) != bit(i + lag)).count();
            assert_eq!(seen, expected as u64, "lag {lag}");
        }
    }
}
