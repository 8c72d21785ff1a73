//! Bits compared with the bits a fixed distance before them, over all data.
//!
//! The stream is one sequence of bits, the lowest bit of each byte first. Frequencies miss a bit
//! that copies its predecessor with probability 2^-9: those of bits do not change, and those of
//! bytes only by a chi-square that 4 MiB of them hardly show. But at lag 1, the 2^25 bits of 4 MiB
//! are off by 11 standard deviations.

use super::{Test, TestPart, words};
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

const LAGS: u32 = 64;

fn run(view: &View, _: Effort) -> Vec<TestPart> {
    let values = &view.values;
    let seen = (1..=LAGS).map(|lag| differing(values, lag)).collect();
    // The last word has no successor, so its bits serve as the later bits only.
    let trials = vec![64 * (values.len() as u64 - 1); LAGS as usize];
    vec![TestPart::new(
        format!("lags 1 to {LAGS}"),
        values.len(),
        Tally::Rates { seen, trials, chance: 0.5 },
    )]
}

/// Words that are added side by side.
const LANES: usize = 8;
type Lanes = [u64; LANES];

/// Returns the number of bits that differ from the bit `lag` places later, for all bits but those
/// of the last word.
///
/// Counting the ones of each word would take most of the time. Carry-save adders (Harley and Seal;
/// Warren, Hacker's Delight, 5-1) reduce eight words to one whose ones count eight each.
fn differing(values: &[u64], lag: u32) -> u64 {
    let later =
        |low: u64, high: u64| if lag == 64 { high } else { low >> lag | high << (64 - lag) };
    let pairs = values.len() - 1;
    let whole = pairs / (8 * LANES) * (8 * LANES);
    let (mut ones, mut twos, mut fours) = ([0; LANES], [0; LANES], [0; LANES]);
    let mut eights_total = 0;
    for start in (0..whole).step_by(8 * LANES) {
        let block = &values[start..start + 8 * LANES + 1];
        let row = |row: usize| -> Lanes {
            let (now, next) = (&block[row * LANES..][..LANES], &block[row * LANES + 1..][..LANES]);
            std::array::from_fn(|i| now[i] ^ later(now[i], next[i]))
        };
        let mut twos_of = |a, b| add(&mut ones, row(a), row(b));
        let (first, second, third, fourth) =
            (twos_of(0, 1), twos_of(2, 3), twos_of(4, 5), twos_of(6, 7));
        let (low, high) = (add(&mut twos, first, second), add(&mut twos, third, fourth));
        eights_total += count(&add(&mut fours, low, high));
    }
    let rest = values[whole..].windows(2).map(|two| (two[0] ^ later(two[0], two[1])).count_ones());
    8 * eights_total
        + 4 * count(&fours)
        + 2 * count(&twos)
        + count(&ones)
        + u64::from(rest.sum::<u32>())
}

/// Adds `a` and `b` to `sum`, bit by bit, and returns the carries.
#[inline(always)]
fn add(sum: &mut Lanes, a: Lanes, b: Lanes) -> Lanes {
    std::array::from_fn(|i| {
        let (half, old) = (a[i] ^ b[i], sum[i]);
        sum[i] = half ^ old;
        a[i] & b[i] | half & old
    })
}

fn count(lanes: &Lanes) -> u64 {
    lanes.iter().map(|lane| u64::from(lane.count_ones())).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bit_is_compared_with_its_successor_at_every_lag() {
        let mut rng = fastrand::Rng::with_seed(13);
        for len in [2, 63, 64, 65, 66, 129, 700] {
            let words: Vec<u64> = (0..len).map(|_| rng.u64(..) & rng.u64(..)).collect();
            let bit = |i: usize| words[i / 64] >> (i % 64) & 1;
            for lag in [1, 2, 7, 63, 64] {
                let expected = (0..64 * (len - 1)).filter(|&i| bit(i) != bit(i + lag)).count();
                assert_eq!(
                    differing(&words, lag as u32),
                    expected as u64,
                    "{len} words, lag {lag}"
                );
            }
        }
    }
}
