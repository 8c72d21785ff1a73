//! The permutation tests (section 5.1): each statistic has to lie among those of the same samples
//! in other orders.

use super::statistics::{COMPRESSION, COUNT, Constants, NAMES};
use crate::sp800_90b::Samples;
use headwater_streams::{Engine, Key};
use serde::Serialize;

/// Number of permutations.
const PERMUTATIONS: u64 = 10_000;

/// A statistic passes once more permutations than this are on each side of it.
const LIMIT: u64 = 5;

/// One statistic, and how many permutations have a greater, an equal or a smaller one.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Permuted {
    /// The statistic.
    pub name: &'static str,
    /// The section of SP 800-90B.
    pub section: &'static str,
    /// The distance in samples, of statistics that have one.
    pub lag: Option<usize>,
    /// Its value for the samples as they are.
    pub value: f64,
    /// Number of permutations with a greater value.
    pub greater: u64,
    /// Number of permutations with the same value.
    pub equal: u64,
    /// Number of permutations with a smaller value.
    pub smaller: u64,
    /// `None`: not tested, because another test has failed.
    pub passed: Option<bool>,
}

impl Permuted {
    fn is_among(&self) -> bool {
        self.greater + self.equal > LIMIT && self.equal + self.smaller > LIMIT
    }
}

/// Returns the statistics of the samples as they are, beside no permutation yet.
pub(super) fn statistics(samples: &Samples) -> Vec<Permuted> {
    let all = Constants::of(samples).statistics(&samples.dense, &[true; COUNT]);
    let rows = NAMES.into_iter().zip(all).map(|((name, section, lag), value)| Permuted {
        name,
        section,
        lag,
        value,
        greater: 0,
        equal: 0,
        smaller: 0,
        passed: None,
    });
    rows.collect()
}

/// Compares all statistics. As the reference program does, it stops to count a statistic once the
/// rest of the 10,000 permutations cannot fail it; this takes 12 of them at least and some hundred
/// at most, unless a statistic fails.
///
/// The compression comes last, and only if all others pass: it alone would take the better part of
/// an hour for a megabyte that fails.
pub(super) fn judge(samples: &Samples, threads: usize, tests: &mut [Permuted]) {
    let constants = Constants::of(samples);
    count(samples, &constants, threads, tests, |test| test != COMPRESSION);
    if tests[..COMPRESSION].iter().all(|test| test.passed == Some(true)) {
        count(samples, &constants, threads, tests, |test| test == COMPRESSION);
    }
}

/// Counts the permutations for each of the tests that `asked` names.
fn count(
    samples: &Samples,
    constants: &Constants<'_>,
    threads: usize,
    tests: &mut [Permuted],
    asked: impl Fn(usize) -> bool,
) {
    let open = |tests: &[Permuted]| std::array::from_fn(|i| asked(i) && !tests[i].is_among());
    let mut next = 0;
    while next < PERMUTATIONS {
        let wanted: [bool; COUNT] = open(tests);
        if !wanted.contains(&true) {
            break;
        }
        let round = threads.min((PERMUTATIONS - next) as usize);
        let statistics =
            |number: u64| constants.statistics(&permuted(&samples.dense, number), &wanted);
        let found: Vec<[f64; COUNT]> = std::thread::scope(|scope| {
            let numbers = next + 1..next + round as u64;
            let others: Vec<_> =
                numbers.map(|number| scope.spawn(move || statistics(number))).collect();
            let own = statistics(next);
            let others = others.into_iter().map(|other| other.join().expect("a thread panicked"));
            std::iter::once(own).chain(others).collect()
        });
        // In the order of the permutations, so that the number of threads changes nothing.
        for found in found {
            for (i, test) in tests.iter_mut().enumerate() {
                if wanted[i] && !test.is_among() {
                    test.greater += u64::from(found[i] > test.value);
                    test.equal += u64::from(found[i] == test.value);
                    test.smaller += u64::from(found[i] < test.value);
                }
            }
        }
        next += round as u64;
    }
    for (_, test) in tests.iter_mut().enumerate().filter(|(i, _)| asked(*i)) {
        test.passed = Some(test.is_among());
    }
}

/// Returns the samples in another order: the one of stream `number` of a fixed key, so a source
/// that is judged twice is judged by the same permutations.
fn permuted(data: &[u8], number: u64) -> Vec<u8> {
    const WORDS: usize = 4096;
    let key = Key::with_engine(Engine::Ars7, "SP 800-90B, section 5.1");
    let stream = key.stream(number).expect("10,000 streams are far fewer than a key has");
    let mut words = [0; WORDS];
    let mut order = data.to_vec();
    // Fisher and Yates, from the end. 64 bits times the number of places favour none of them by
    // more than 2^-40.
    for (drawn, last) in (1..order.len()).rev().enumerate() {
        if drawn.is_multiple_of(WORDS) {
            stream.fill_u64(drawn as u64, &mut words).expect("a stream has 2^63 words at least");
        }
        let word = u128::from(words[drawn % WORDS]);
        let place = ((word * (last as u128 + 1)) >> 64) as usize;
        order.swap(place, last);
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    /// More than five permutations have to be on each side, equal ones on both.
    #[test]
    fn a_statistic_passes_with_six_on_each_side() {
        let samples = Samples::new(vec![1, 2, 3, 1, 2, 3, 3, 1]);
        let passes = |[greater, equal, smaller]: [u64; 3]| {
            let test = statistics(&samples).remove(0);
            Permuted { greater, equal, smaller, ..test }.is_among()
        };
        for counts in [[6, 0, 6], [5, 1, 5], [0, 6, 0], [0, 6, 9994], [100, 2, 4]] {
            assert!(passes(counts), "{counts:?}");
        }
        for counts in [[5, 0, 9995], [9995, 0, 5], [5, 0, 6], [6, 0, 5], [9999, 1, 0], [2, 3, 100]]
        {
            assert!(!passes(counts), "{counts:?}");
        }
    }

    /// Every order of four values comes as often as another: 24 cells of 100 each.
    #[test]
    fn all_orders_are_equally_likely() {
        let mut counts = std::collections::HashMap::new();
        for number in 0..2400 {
            *counts.entry(permuted(&[0, 1, 2, 3], number)).or_insert(0_u64) += 1;
        }
        assert_eq!(counts.len(), 24);
        let sum: f64 = counts.values().map(|&count| (count as f64 - 100.0).powi(2) / 100.0).sum();
        let p = crate::stats::chi_square(sum, 23);
        assert!(p > 1e-4, "{sum}");
        let long: Vec<u8> = (0..10_000).map(|i| i as u8).collect();
        let mut sorted = permuted(&long, 7);
        assert_ne!(sorted, long);
        sorted.sort_unstable();
        let mut expected = long;
        expected.sort_unstable();
        assert_eq!(sorted, expected);
    }
}
