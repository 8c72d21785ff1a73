//! The counts of a test, in a form that adds up over the blocks of a run and over the sittings of
//! `--deep`.

use crate::statistics::{triples, weights};
use crate::stats;
use serde::{Deserialize, Serialize};

/// Counts, with the distribution that a perfect generator has for them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Tally {
    /// Equally likely cells.
    Even(Vec<u64>),
    /// Cells with these probabilities.
    Cells { seen: Vec<u64>, chances: Vec<f64> },
    /// Rare events.
    Rare { seen: u64, expected: f64 },
    /// Several fair coins, each thrown `throws` times. The strangest is judged as the strangest of
    /// all.
    Coins { heads: Vec<u64>, throws: u64 },
    /// Several binomial counts with a common success probability.
    Rates { seen: Vec<u64>, trials: Vec<u64>, chance: f64 },
    /// Statistics with exact p-values: the smallest of `each` for every bit plane.
    Planes { smallest: Vec<f64>, each: u64 },
    /// The fullest and emptiest of equally likely cells.
    Extremes { cells: Vec<u64> },
    /// Sums of squared differences between ones and zeros: for each scale the sum over its blocks,
    /// and their number, of `bits` each.
    Squares { sums: Vec<u64>, blocks: Vec<u64>, bits: Vec<u64> },
    /// Sums of products of three bits: for each scale six times the sum over the triples of its
    /// blocks, and the number of blocks, of `bits` each.
    Triples { sums: Vec<i64>, blocks: Vec<u64>, bits: Vec<u64> },
    /// The smallest of `of` p-values.
    Smallest { p: f64, of: u64 },
    /// Counts of classes of Hamming weights of neighbouring values.
    Weights { seen: Vec<u64>, width: u32 },
}

impl Tally {
    /// Returns the p-value of all counts.
    pub(crate) fn p(&self) -> f64 {
        match self {
            Tally::Even(seen) => {
                let expected = seen.iter().sum::<u64>() as f64 / seen.len() as f64;
                let sum = seen.iter().map(|&n| (n as f64 - expected).powi(2)).sum::<f64>();
                stats::chi_square(sum / expected, seen.len() - 1)
            }
            Tally::Cells { seen, chances } => {
                let total = seen.iter().sum::<u64>() as f64;
                let cells = seen.iter().zip(chances).map(|(&n, chance)| {
                    let expected = chance * total;
                    (n as f64 - expected).powi(2) / expected
                });
                stats::chi_square(cells.sum(), seen.len() - 1)
            }
            Tally::Rare { seen, expected } => stats::poisson(*seen, *expected),
            Tally::Extremes { cells } => stats::extremes(cells),
            Tally::Smallest { p, of } => stats::smallest_of(*p, *of),
            _ => {
                let places = self.places();
                let smallest = places.iter().copied().fold(1.0, f64::min);
                stats::smallest_of(smallest, self.independent(places.len()))
            }
        }
    }

    /// Returns the number of p-values from which those of `places` were taken.
    fn independent(&self, places: usize) -> u64 {
        match self {
            Tally::Planes { each, .. } => places as u64 * each,
            _ => places as u64,
        }
    }

    /// Returns the p-values of the parts, if there are any: planes, pairs of planes, distances.
    pub(crate) fn places(&self) -> Vec<f64> {
        match self {
            Tally::Coins { heads, throws } => {
                heads.iter().map(|&n| stats::coin(n, *throws)).collect()
            }
            Tally::Rates { seen, trials, chance } => {
                seen.iter().zip(trials).map(|(&n, &of)| stats::rate(n, of, *chance)).collect()
            }
            Tally::Planes { smallest, .. } => smallest.clone(),
            Tally::Weights { seen, width } => weights::judge(seen, *width),
            Tally::Squares { sums, blocks, bits } => {
                let scales = sums.iter().zip(blocks).zip(bits);
                scales.map(|((&sum, &blocks), &bits)| squares(sum, blocks, bits)).collect()
            }
            Tally::Triples { sums, blocks, bits } => {
                let scales = sums.iter().zip(blocks).zip(bits);
                let judged = scales.filter(|((_, blocks), _)| **blocks >= triples::LEAST);
                judged.map(|((&sum, &blocks), &bits)| products(sum, blocks, bits)).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Returns the p-value of each bit plane, if the counts belong to planes.
    pub(crate) fn planes(&self) -> Option<Vec<f64>> {
        match self {
            Tally::Planes { smallest, each } => {
                Some(smallest.iter().map(|&p| stats::smallest_of(p, *each)).collect())
            }
            _ => None,
        }
    }

    /// Adds the counts of another block. Returns false, and adds nothing, if the two belong to
    /// different tests.
    pub(crate) fn add(&mut self, other: &Tally) -> bool {
        match (self, other) {
            (Tally::Even(a), Tally::Even(b)) => sum(a, b),
            (Tally::Cells { seen: a, chances }, Tally::Cells { seen: b, chances: same }) => {
                chances == same && sum(a, b)
            }
            (Tally::Rare { seen, expected }, Tally::Rare { seen: n, expected: more }) => {
                *seen += n;
                *expected += more;
                true
            }
            (Tally::Coins { heads: a, throws }, Tally::Coins { heads: b, throws: more }) => {
                let fits = sum(a, b);
                *throws += if fits { *more } else { 0 };
                fits
            }
            (
                Tally::Rates { seen: a, trials: of, .. },
                Tally::Rates { seen: b, trials: more, .. },
            ) => of.len() == more.len() && sum(a, b) && sum(of, more),
            (Tally::Planes { smallest: a, each }, Tally::Planes { smallest: b, each: more }) => {
                if a.len() != b.len() {
                    return false;
                }
                a.iter_mut().zip(b).for_each(|(a, b)| *a = a.min(*b));
                *each += more;
                true
            }
            (Tally::Extremes { cells: a }, Tally::Extremes { cells: b }) => sum(a, b),
            (
                Tally::Squares { sums, blocks, bits },
                Tally::Squares { sums: more, blocks: others, bits: same },
            ) => bits == same && sum(sums, more) && sum(blocks, others),
            (
                Tally::Triples { sums, blocks, bits },
                Tally::Triples { sums: more, blocks: others, bits: same },
            ) => {
                let fits = bits == same && sums.len() == more.len() && sum(blocks, others);
                if fits {
                    sums.iter_mut().zip(more).for_each(|(a, b)| *a = a.saturating_add(*b));
                }
                fits
            }
            (Tally::Smallest { p, of }, Tally::Smallest { p: other, of: more }) => {
                *p = p.min(*other);
                *of += more;
                true
            }
            (Tally::Weights { seen: a, width }, Tally::Weights { seen: b, width: same }) => {
                width == same && sum(a, b)
            }
            _ => false,
        }
    }
}

fn sum(a: &mut [u64], b: &[u64]) -> bool {
    let fits = a.len() == b.len();
    if fits {
        // Squares of a stuck source may exceed 64 bits; no count does.
        a.iter_mut().zip(b).for_each(|(a, b)| *a = a.saturating_add(*b));
    }
    fits
}

/// The number of blocks from which too even is as strange as too uneven: their sum of squares has
/// so many values that it is 0 never.
const MANY: u64 = 64;

/// Returns the p-value of a sum of squared differences between ones and zeros.
///
/// A difference has the variance `bits`, so the sum over `bits` is nearly chi-square. Its moments
/// are at most those of squared normal numbers (Khintchine's inequality with the best constants,
/// Haagerup 1981), so its upper tail is the lighter one.
fn squares(sum: u64, blocks: u64, bits: u64) -> f64 {
    let scaled = if sum == u64::MAX { f64::INFINITY } else { sum as f64 / bits as f64 };
    if blocks < MANY {
        stats::chi_square_above(scaled, blocks as usize)
    } else {
        stats::chi_square(scaled, blocks as usize)
    }
}

/// Returns the p-value of six times a sum of products of three of `bits` signs.
///
/// Products of different triples are not correlated, so a block's sum has the variance 36 times the
/// number of its triples.
fn products(sum: i64, blocks: u64, bits: u64) -> f64 {
    let n = bits as f64;
    let variance = blocks as f64 * 6.0 * n * (n - 1.0) * (n - 2.0);
    if sum == i64::MAX || sum == i64::MIN {
        0.0
    } else {
        stats::normal(sum as f64 / variance.sqrt())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_add_up_to_one_tally() {
        let mut smallest = Tally::Smallest { p: 1e-3, of: 100 };
        assert!(smallest.add(&Tally::Smallest { p: 1e-5, of: 100 }));
        assert!(smallest.add(&Tally::Smallest { p: 0.5, of: 100 }));
        assert_eq!(smallest, Tally::Smallest { p: 1e-5, of: 300 });

        let cells = |cells: &[u64]| Tally::Extremes { cells: cells.to_vec() };
        let mut extremes = cells(&[1, 2]);
        assert!(extremes.add(&cells(&[10, 20])) && !extremes.add(&cells(&[1])));
        assert_eq!(extremes, cells(&[11, 22]));

        let squares = |sums: [u64; 2], blocks: [u64; 2], bits: [u64; 2]| Tally::Squares {
            sums: sums.into(),
            blocks: blocks.into(),
            bits: bits.into(),
        };
        let mut sums = squares([5, u64::MAX - 1], [2, 1], [64, 128]);
        assert!(sums.add(&squares([7, 9], [2, 1], [64, 128])));
        assert!(!sums.add(&squares([7, 9], [2, 1], [32, 64])));
        assert_eq!(sums, squares([12, u64::MAX], [4, 2], [64, 128]));
        assert!(!sums.add(&extremes));
    }

    /// The exact distribution of the products of a block, of eight bits and of 64: their variance
    /// is the stated one, and their kurtosis no more than the 93 of normal numbers.
    #[test]
    fn products_of_triples_have_the_stated_moments() {
        for bits in [8_i64, 64] {
            let (mut second, mut fourth, mut ways) = (0.0, 0.0, 0.5_f64.powi(bits as i32));
            for ones in 0..=bits {
                let difference = (2 * ones - bits) as f64;
                let product = difference.powi(3) - (3 * bits - 2) as f64 * difference;
                second += ways * product.powi(2);
                fourth += ways * product.powi(4);
                ways *= (bits - ones) as f64 / (ones + 1) as f64;
            }
            // At one standard deviation of one block.
            let stated = products(second.sqrt().round() as i64, 1, bits as u64);
            assert!((stated - stats::normal(1.0)).abs() < 1e-2, "{bits}: {stated}");
            assert!(fourth / second.powi(2) < 93.0, "{bits}: {}", fourth / second.powi(2));
        }
        let triples =
            |sum: i64| Tally::Triples { sums: vec![sum], blocks: vec![9], bits: vec![64] };
        let mut sums = triples(-5);
        assert!(sums.add(&triples(3)));
        assert_eq!(sums, Tally::Triples { sums: vec![-2], blocks: vec![18], bits: vec![64] });
        assert!(!sums.add(&Tally::Even(vec![1])));
    }

    /// The exact distribution of the sum over 48 words, by convolution, beside the chi-square's
    /// tails: what fails with 1e-9 must not happen more often.
    #[test]
    fn sums_of_squares_are_no_more_often_large_than_stated() {
        const BLOCKS: u64 = 48;
        let mut word = vec![0.0_f64; 1025]; // ((64 - 2 ones) / 2)^2
        let mut ways = 0.5_f64.powi(64);
        for ones in 0..=64_i32 {
            word[((32 - ones) * (32 - ones)) as usize] += ways;
            ways *= f64::from(64 - ones) / f64::from(ones + 1);
        }
        let mut sum = vec![1.0];
        for _ in 0..BLOCKS {
            let mut next = vec![0.0; sum.len() + 1024];
            for (i, a) in sum.iter().enumerate().filter(|(_, a)| **a > 1e-40) {
                for (j, b) in word.iter().enumerate().filter(|(_, b)| **b > 0.0) {
                    next[i + j] += a * b;
                }
            }
            sum = next;
        }
        let mut above = 0.0;
        let mut checked = 0;
        for (value, chance) in sum.iter().enumerate().rev() {
            above += chance;
            let stated = squares(4 * value as u64, BLOCKS, 64);
            if (1e-15..1e-2).contains(&above) {
                assert!(above < 1.02 * stated, "{above:e} stated as {stated:e}");
                checked += 1;
            }
        }
        assert!(checked > 100, "{checked}");
    }
}
