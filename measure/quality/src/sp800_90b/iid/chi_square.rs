//! The chi-square tests (section 5.2): pairs of samples are as frequent as their parts explain, and
//! each tenth of the samples has the same distribution.

use crate::sp800_90b::Samples;
use crate::stats::chi_square_above;
use serde::Serialize;

/// The least probability that passes.
const LEAST: f64 = 0.001;

/// The least expectation of a bin.
const EXPECTED: f64 = 5.0;

/// Number of parts whose distributions are compared.
const PARTS: usize = 10;

/// A chi-square test.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ChiSquare {
    /// The test.
    pub name: &'static str,
    /// The section of SP 800-90B.
    pub section: &'static str,
    /// The statistic.
    pub score: f64,
    /// Degrees of freedom; 0 if there is too little data for the test, which then passes.
    pub freedom: usize,
    /// The probability of a greater statistic.
    pub p: f64,
    /// Passed.
    pub passed: bool,
}

impl ChiSquare {
    fn new(name: &'static str, section: &'static str, (score, freedom): (f64, usize)) -> Self {
        let p = chi_square_above(score, freedom);
        ChiSquare { name, section, score, freedom, p, passed: p >= LEAST }
    }
}

pub(super) fn judge(samples: &Samples) -> Vec<ChiSquare> {
    if samples.symbols == 2 {
        vec![
            ChiSquare::new("independence of bits", "5.2.3", independence_of_bits(&samples.dense)),
            ChiSquare::new("goodness of fit of bits", "5.2.4", fit_of_bits(&samples.dense)),
        ]
    } else {
        vec![
            ChiSquare::new("independence", "5.2.1", independence(samples)),
            ChiSquare::new("goodness of fit", "5.2.2", fit(samples)),
        ]
    }
}

/// Returns the bin of each cell, and the expectation of each bin. Cells are put together, the
/// rarest first, until a bin expects five.
fn bins(expected: &[f64], order: &[usize]) -> (Vec<usize>, Vec<f64>) {
    let mut bins = vec![0.0_f64];
    let mut of = vec![0; expected.len()];
    for &cell in order {
        if bins[bins.len() - 1] >= EXPECTED {
            bins.push(0.0);
        }
        of[cell] = bins.len() - 1;
        let last = bins.len() - 1;
        bins[last] += expected[cell];
    }
    // The last one may be left with too little.
    let last = bins.len() - 1;
    if last > 0 && bins[last] < EXPECTED {
        bins[last - 1] += bins[last];
        bins.truncate(last);
        of.iter_mut().for_each(|bin| *bin = (*bin).min(last - 1));
    }
    (of, bins)
}

fn score(observed: &[u64], expected: &[f64]) -> f64 {
    let each = observed.iter().zip(expected);
    each.map(|(&seen, expected)| (seen as f64 - expected).powi(2) / expected).sum()
}

/// Returns the share of each symbol among the samples, rounded as often as the reference program
/// rounds: pairs that are expected equally often are put into bins in an order that hangs on the
/// last bits of these.
fn shares(samples: &Samples) -> Vec<f64> {
    let one = 1.0 / samples.len() as f64;
    let share = |count: u64| (0..count).fold(0.0, |share, _| share + one);
    samples.counts().into_iter().map(share).collect()
}

/// Tests pairs that do not overlap.
fn independence(samples: &Samples) -> (f64, usize) {
    let k = samples.symbols;
    let (pairs, _) = samples.dense.as_chunks::<2>();
    let shares = shares(samples);
    let of_pairs = shares.iter().flat_map(|a| shares.iter().map(move |b| a * b));
    let expected: Vec<f64> = of_pairs.map(|share| share * pairs.len() as f64).collect();
    let mut order: Vec<usize> = (0..k * k).collect();
    order.sort_by(|&a, &b| expected[a].total_cmp(&expected[b]));
    let (of, bins) = bins(&expected, &order);
    let mut observed = vec![0; bins.len()];
    for &[a, b] in pairs {
        observed[of[usize::from(a) * k + usize::from(b)]] += 1;
    }
    (score(&observed, &bins), bins.len().saturating_sub(k))
}

/// Tests whether ten parts have the distribution of the whole.
fn fit(samples: &Samples) -> (f64, usize) {
    let part = samples.len() / PARTS;
    let expected: Vec<f64> = shares(samples).iter().map(|share| share * part as f64).collect();
    let mut order: Vec<usize> = (0..samples.symbols).collect();
    order.sort_by(|&a, &b| expected[a].total_cmp(&expected[b]));
    let (of, bins) = bins(&expected, &order);
    let parts = samples.dense.chunks_exact(part).take(PARTS).map(|part| {
        let mut observed = vec![0; bins.len()];
        part.iter().for_each(|&symbol| observed[of[usize::from(symbol)]] += 1);
        score(&observed, &bins)
    });
    (parts.sum(), (PARTS - 1) * (bins.len() - 1))
}

/// Tests tuples of as many bits as are expected five times each, at most eleven.
fn independence_of_bits(bits: &[u8]) -> (f64, usize) {
    let ones = bits.iter().filter(|&&bit| bit == 1).count() as f64 / bits.len() as f64;
    let rare = ones.min(1.0 - ones);
    let enough = |m: usize| rare.powi(m as i32) * (bits.len() / m) as f64 >= EXPECTED;
    let Some(m) = (2..=11).rev().find(|&m| enough(m)) else {
        return (0.0, 0);
    };
    let mut observed = vec![0; 1 << m];
    for tuple in bits.chunks_exact(m) {
        observed[tuple.iter().fold(0, |number, &bit| number << 1 | usize::from(bit))] += 1;
    }
    let blocks = (bits.len() / m) as f64;
    let expected: Vec<f64> = (0..1_usize << m)
        .map(|tuple| {
            let weight = tuple.count_ones() as i32;
            ones.powi(weight) * (1.0 - ones).powi(m as i32 - weight) * blocks
        })
        .collect();
    (score(&observed, &expected), (1 << m) - 2)
}

/// Tests whether ten parts have as many ones as the whole.
fn fit_of_bits(bits: &[u8]) -> (f64, usize) {
    let count = |bits: &[u8]| bits.iter().filter(|&&bit| bit == 1).count() as u64;
    let part = bits.len() / PARTS;
    let ones = count(bits) as f64 / bits.len() as f64;
    let expected = [(1.0 - ones) * part as f64, ones * part as f64];
    let parts = bits.chunks_exact(part).take(PARTS).map(|part| {
        let ones = count(part);
        score(&[part.len() as u64 - ones, ones], &expected)
    });
    (parts.sum(), PARTS - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Among 12,000 fair bits, 1,500 tuples of eight are expected 5.9 times each. Among 10,000 they
    /// would be expected 4.9 times, so tuples are seven bits long there.
    #[test]
    fn tuples_of_bits_are_as_long_as_five_of_each_are_expected() {
        let freedom = |count: usize| {
            independence_of_bits(&(0..count).map(|i| (i % 2) as u8).collect::<Vec<_>>()).1
        };
        assert_eq!((freedom(12_000), freedom(10_000)), ((1 << 8) - 2, (1 << 7) - 2));
        assert_eq!((freedom(1_000_000), freedom(30)), ((1 << 11) - 2, 0));
    }
}
