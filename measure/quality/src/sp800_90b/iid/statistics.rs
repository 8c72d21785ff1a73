//! The eleven statistics of section 5.1, two of them at five lags each. They compare a sequence
//! with permutations of itself, so each looks at the order and not at the values alone.

use crate::sp800_90b::Samples;
use bzip2::{Compression, write::BzEncoder};
use std::io::{self, Write};

/// The lags of the periodicity and the covariance.
const LAGS: [usize; 5] = [1, 2, 8, 16, 32];

/// Number of statistics.
pub(super) const COUNT: usize = 19;

/// The place of the compression, which takes a hundred times as long as all others.
pub(super) const COMPRESSION: usize = 18;

/// Name, section and lag of each statistic, in the standard's order.
pub(super) const NAMES: [(&str, &str, Option<usize>); COUNT] = [
    ("excursion", "5.1.1", None),
    ("number of directional runs", "5.1.2", None),
    ("length of directional runs", "5.1.3", None),
    ("number of increases and decreases", "5.1.4", None),
    ("number of runs around the median", "5.1.5", None),
    ("length of runs around the median", "5.1.6", None),
    ("average collision", "5.1.7", None),
    ("maximum collision", "5.1.8", None),
    ("periodicity", "5.1.9", Some(LAGS[0])),
    ("periodicity", "5.1.9", Some(LAGS[1])),
    ("periodicity", "5.1.9", Some(LAGS[2])),
    ("periodicity", "5.1.9", Some(LAGS[3])),
    ("periodicity", "5.1.9", Some(LAGS[4])),
    ("covariance", "5.1.10", Some(LAGS[0])),
    ("covariance", "5.1.10", Some(LAGS[1])),
    ("covariance", "5.1.10", Some(LAGS[2])),
    ("covariance", "5.1.10", Some(LAGS[3])),
    ("covariance", "5.1.10", Some(LAGS[4])),
    ("compression", "5.1.11", None),
];

/// Facts of the samples that a permutation leaves as they are.
pub(super) struct Constants<'a> {
    binary: bool,
    symbols: usize,
    values: &'a [u8],
    /// The sum of all samples, whose mean the excursion leaves.
    sum: u64,
    /// Twice the median of the symbols.
    median: u32,
}

impl Constants<'_> {
    pub(super) fn of(samples: &Samples) -> Constants<'_> {
        let counts = samples.counts();
        let each = counts.iter().zip(&samples.values);
        let sum = each.map(|(count, &value)| count * u64::from(value)).sum();
        // The middle of the samples in order, or the two in the middle.
        let n = samples.len() as u64;
        let at = |place: u64| {
            let mut passed = 0;
            let reaches = |count: &u64| {
                passed += count;
                passed > place
            };
            counts.iter().position(reaches).unwrap_or(0) as u32
        };
        let binary = samples.symbols == 2;
        let median = if binary { 1 } else { at((n - 1) / 2) + at(n / 2) };
        Constants { binary, symbols: samples.symbols, values: &samples.values, sum, median }
    }

    /// Returns the statistics of `data`, symbols in some order, that `wanted` asks for, and zero
    /// for the others.
    pub(super) fn statistics(&self, data: &[u8], wanted: &[bool; COUNT]) -> [f64; COUNT] {
        let mut found = [0.0; COUNT];
        let mut set = |from: usize, values: &[f64]| {
            found[from..from + values.len()].copy_from_slice(values);
        };
        let any = |range: std::ops::Range<usize>| wanted[range].contains(&true);
        // Bits are looked at eight at a time: by their number, or as a number.
        let (ones, bytes);
        let (heights, numbers, symbols, values): (&[u8], &[u8], usize, _) = if self.binary {
            ones = eights(data, |eight| eight.iter().sum());
            bytes = eights(data, |eight| {
                eight.iter().zip((0..8).rev()).fold(0, |byte, (bit, place)| byte | bit << place)
            });
            (&ones, &bytes, 256, None)
        } else {
            (data, data, self.symbols, Some(self.values))
        };
        if wanted[0] {
            set(0, &[self.excursion(data)]);
        }
        if any(1..4) {
            let runs = Runs::of(heights.windows(2).map(|two| two[0] <= two[1]));
            set(1, &[runs.count, runs.longest, runs.of_each_kind[0].max(runs.of_each_kind[1])]);
        }
        if any(4..6) {
            let runs = Runs::of(data.iter().map(|&value| 2 * u32::from(value) >= self.median));
            set(4, &[runs.count, runs.longest]);
        }
        if any(6..8) {
            set(6, &collisions(numbers, symbols));
        }
        for (i, lag) in LAGS.into_iter().enumerate() {
            if wanted[8 + i] {
                set(8 + i, &[periodicity(heights, lag)]);
            }
            if wanted[13 + i] {
                set(13 + i, &[covariance(heights, values, lag)]);
            }
        }
        if wanted[COMPRESSION] {
            set(COMPRESSION, &[self.compression(data)]);
        }
        found
    }

    /// Returns how far the sum of the first samples ever is from as many means.
    ///
    /// It is computed in whole numbers, n times as large: rounded sums would make equal excursions
    /// differ, and the test counts equal ones apart.
    fn excursion(&self, data: &[u8]) -> f64 {
        let n = data.len() as i128;
        let (mut at, mut furthest) = (0_i128, 0);
        for &symbol in data {
            at += n * i128::from(self.values[usize::from(symbol)]) - i128::from(self.sum);
            furthest = furthest.max(at.unsigned_abs());
        }
        furthest as f64 / n as f64
    }

    /// Returns the length of the samples as text, numbers with a blank between them, after bzip2
    /// with blocks of 500 kB.
    fn compression(&self, data: &[u8]) -> f64 {
        let words: Vec<String> = self.values.iter().map(|value| format!("{value} ")).collect();
        let mut text: Vec<u8> = Vec::with_capacity(4 * data.len());
        data.iter().for_each(|&symbol| text.extend(words[usize::from(symbol)].as_bytes()));
        text.pop();
        let mut packed = BzEncoder::new(Length(0), Compression::new(5));
        packed.write_all(&text).expect("a counter takes every byte");
        packed.finish().expect("a counter takes every byte").0 as f64
    }
}

/// Counts the bytes that are written to it.
struct Length(u64);

impl Write for Length {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Makes a value of each eight bits, of fewer at the end (conversions I and II).
fn eights(bits: &[u8], value: impl Fn(&[u8]) -> u8) -> Vec<u8> {
    bits.chunks(8).map(value).collect()
}

/// Runs of equal answers.
struct Runs {
    count: f64,
    longest: f64,
    /// Number of answers of no and of yes.
    of_each_kind: [f64; 2],
}

impl Runs {
    fn of(answers: impl Iterator<Item = bool>) -> Runs {
        let (mut count, mut longest, mut run) = (0_u64, 0_u64, 0_u64);
        let mut of_each_kind = [0.0; 2];
        let mut last = None;
        for answer in answers {
            of_each_kind[usize::from(answer)] += 1.0;
            if last == Some(answer) {
                run += 1;
            } else {
                (count, run, last) = (count + 1, 1, Some(answer));
            }
            longest = longest.max(run);
        }
        Runs { count: count as f64, longest: longest as f64, of_each_kind }
    }
}

/// Returns the mean and the largest number of values until one of them repeats. After each repeat
/// the count begins anew, and a last count without a repeat is left out.
fn collisions(data: &[u8], symbols: usize) -> [f64; 2] {
    let mut seen = vec![0_u32; symbols];
    let (mut round, mut length) = (1, 0_u64);
    let (mut sum, mut longest) = (0, 0);
    for &value in data {
        length += 1;
        let seen = &mut seen[usize::from(value)];
        if *seen == round {
            sum += length;
            longest = longest.max(length);
            (round, length) = (round + 1, 0);
        } else {
            *seen = round;
        }
    }
    [sum as f64 / f64::from(round - 1).max(1.0), longest as f64]
}

/// Returns how often a value is that of `lag` places later.
fn periodicity(data: &[u8], lag: usize) -> f64 {
    let pairs = data.iter().zip(data.get(lag..).unwrap_or(&[]));
    pairs.filter(|(a, b)| a == b).count() as f64
}

/// Returns the sum of products of values `lag` places apart.
fn covariance(data: &[u8], values: Option<&[u8]>, lag: usize) -> f64 {
    let value = |symbol: u8| u64::from(values.map_or(symbol, |values| values[usize::from(symbol)]));
    let pairs = data.iter().zip(data.get(lag..).unwrap_or(&[]));
    pairs.map(|(&a, &b)| value(a) * value(b)).sum::<u64>() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn statistics(samples: Vec<u8>) -> [f64; COUNT] {
        let samples = Samples::new(samples);
        Constants::of(&samples).statistics(&samples.dense, &[true; COUNT])
    }

    /// The reference program's files have the same value at both middles, which this has not: the
    /// median of 1, 1, 2 and 9, as symbols 0, 0, 1 and 2, is a half.
    #[test]
    fn the_median_of_an_even_number_lies_between_the_middles() {
        assert_eq!(Constants::of(&Samples::new(vec![2, 1, 9, 1])).median, 1);
        assert_eq!(Constants::of(&Samples::new(vec![2, 1, 9])).median, 2);
        assert_eq!(statistics(vec![2, 1, 9, 1])[4..6], [4.0, 1.0]);
        assert_eq!(statistics(vec![2, 9, 1, 1])[4..6], [2.0, 2.0]);
    }

    /// 714 kB of text, so that two blocks of 500 kB differ from two of 400. Python's bz2, which is
    /// the C library, makes as many bytes of it.
    #[test]
    fn the_compression_is_that_of_bzip2() {
        let mut state = 1_u64;
        let samples = (0..200_000).map(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005);
            state = state.wrapping_add(1_442_695_040_888_963_407);
            (state >> 56) as u8
        });
        assert_eq!(statistics(samples.collect())[COMPRESSION], 213_557.0);
    }
}
