//! Bits, bytes and words compared with those any distance before them.
//!
//! A generator that copies one bit in 64 from 8,191 bits earlier has fair bits, fair bytes and no
//! dependence among neighbours, so a test has to compare at that very lag. Lags cannot be tried one
//! after the other: there are millions. One Fourier transform compares at all of them (Wiener and
//! Khinchin), and the lags that look strangest are then counted over all data.

use super::{Test, TestPart, spread, words, xored};
use crate::effort::Effort;
use crate::stats;
use crate::tally::Tally;
use crate::view::View;
use rustfft::num_complex::Complex;
use rustfft::{Fft, FftPlanner};

pub(crate) const TEST: Test = Test {
    name: "copies",
    source: "own; Knuth, TAOCP 2, 3.3.2 J (serial correlation), at all lags by the theorem of Wiener and Khinchin",
    meaning: "Bits resemble the bits a fixed distance before them, however far.",
    unseen: "whether bits resemble bits far before them",
    least: 512,
    costly: true,
    fits: words,
    run,
};

/// Bits that one term of a transform stands for. A term of a byte or a word is its number of ones,
/// which keeps the correlation of a copy and reaches eight or 64 times as far.
const UNITS: [(usize, &str); 3] = [(1, "bits"), (8, "bytes"), (64, "words")];

/// Lags that are counted exactly. The transform sees a sample, in which a true lag may not be the
/// strangest: chance alone makes one of millions reach five standard deviations.
const CANDIDATES: usize = 16;

fn run(view: &View, effort: Effort) -> Vec<TestPart> {
    let values = &view.values;
    // Transforms of one size share their tables of sines.
    let mut planner = FftPlanner::new();
    let parts = UNITS.into_iter().map(|(unit, name)| {
        let terms = values.len() * 64 / unit;
        let size = terms.min(effort.transformed());
        let size = 1 << size.ilog2(); // the terms of one transform
        let pieces = (terms / size).min(effort.transforms());
        let starts = spread(terms / size, pieces).map(|piece| piece * size);
        let transform = planner.plan_fft_forward(size);
        let starts: Vec<usize> = starts.collect();
        let lags = strangest(&correlations(values, unit, &*transform, &starts));
        let smallest = lags
            .into_iter()
            .map(|lag| {
                let (differing, places) = xored::ones(values, [0, lag * unit]);
                stats::coin(differing, places)
            })
            .fold(1.0, f64::min);
        // Any of the lags could have been counted, so the smallest is judged as that of all.
        let tally = Tally::Smallest { p: smallest, of: size as u64 - 1 };
        TestPart::new(format!("{name}, lags below {size}"), values.len(), tally)
    });
    parts.collect()
}

/// Returns for each lag the circular correlation, summed over the pieces that begin at `starts`.
///
/// The transform of a complex sequence serves two pieces, one as its real and one as its imaginary
/// part, because the real part of the product of one term's conjugate and another is the sum of
/// both products. A circle needs no padding with zeros, which would double the work: a lag and its
/// complement look alike, but the exact count separates them. Floats are enough, since they only
/// choose lags.
fn correlations(
    values: &[u64],
    unit: usize,
    transform: &dyn Fft<f32>,
    starts: &[usize],
) -> Vec<f32> {
    let size = transform.len();
    let mut scratch = vec![Complex::default(); transform.get_inplace_scratch_len()];
    let mut energy = vec![0_f32; size];
    let mut terms = vec![Complex::default(); size];
    for two in starts.chunks(2) {
        fill(values, unit, two[0], &mut terms, |term, value| *term = Complex::new(value, 0.0));
        if let Some(&second) = two.get(1) {
            fill(values, unit, second, &mut terms, |term, value| term.im = value);
        }
        transform.process_with_scratch(&mut terms, &mut scratch);
        energy.iter_mut().zip(&terms).for_each(|(sum, term)| *sum += term.norm_sqr());
    }
    // Backwards is the same as forwards for the real part of a real sequence.
    terms.iter_mut().zip(energy).for_each(|(term, energy)| *term = Complex::new(energy, 0.0));
    transform.process_with_scratch(&mut terms, &mut scratch);
    terms.into_iter().map(|term| term.re).collect()
}

/// Passes each term from `start` on, with mean zero, to `put`.
fn fill(
    values: &[u64],
    unit: usize,
    start: usize,
    terms: &mut [Complex<f32>],
    put: impl Fn(&mut Complex<f32>, f32),
) {
    let each = 64 / unit;
    let mean = unit as f32 / 2.0;
    let mask = u64::MAX >> (64 - unit);
    for (terms, word) in terms.chunks_mut(each).zip(&values[start / each..]) {
        let mut word = *word;
        for term in terms {
            put(term, (word & mask).count_ones() as f32 - mean);
            word = if unit == 64 { 0 } else { word >> unit };
        }
    }
}

/// Returns the lags with the greatest correlations, of either sign.
fn strangest(correlations: &[f32]) -> Vec<usize> {
    let mut best: Vec<(f32, usize)> = Vec::with_capacity(CANDIDATES + 1);
    for (lag, correlation) in correlations.iter().enumerate().skip(1) {
        let strength = correlation.abs();
        if best.len() < CANDIDATES || strength > best[CANDIDATES - 1].0 {
            let place = best.partition_point(|(stronger, _)| *stronger >= strength);
            best.insert(place, (strength, lag));
            best.truncate(CANDIDATES);
        }
    }
    best.into_iter().map(|(_, lag)| lag).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::Form;

    fn p(words: &[u64], effort: Effort) -> [f64; 3] {
        let view = View::new(words, Form { width: 64, reversed: false }, usize::MAX);
        let parts = run(&view, effort);
        std::array::from_fn(|part| parts[part].tally.p())
    }

    #[test]
    fn every_lag_is_compared_as_defined() {
        let mut rng = fastrand::Rng::with_seed(1);
        let words: Vec<u64> = (0..128).map(|_| rng.u64(..) & rng.u64(..)).collect();
        for unit in [1, 8, 64] {
            let size = 2048 / unit;
            let transform = FftPlanner::new().plan_fft_forward(size);
            let found = correlations(&words, unit, &*transform, &[0, size, 2 * size]);
            let term = |i: usize| {
                let ones =
                    (0..unit).map(|k| words[(i * unit + k) / 64] >> ((i * unit + k) % 64) & 1);
                ones.sum::<u64>() as f64 - unit as f64 / 2.0
            };
            for lag in 0..size {
                let expected: f64 = (0..3)
                    .flat_map(|piece| (0..size).map(move |i| (piece * size, i)))
                    .map(|(start, i)| term(start + i) * term(start + (i + lag) % size))
                    .sum();
                let found = f64::from(found[lag]) / size as f64;
                assert!((found - expected).abs() < 0.01, "{unit}, {lag}: {found} for {expected}");
            }
        }
    }

    #[test]
    fn rare_copies_are_found_at_every_lag_of_bits_bytes_and_words() {
        // A budget's lags end with its transforms.
        for (which, unit, lag, effort) in [
            (0, 1, 8191, Effort::Fast),
            (0, 1, 65_537, Effort::Fast),
            (0, 1, 1_000_003, Effort::Standard),
            (1, 8, 1021, Effort::Fast),
            (1, 8, 1_000_003, Effort::Standard),
            (2, 64, 200_003, Effort::Fast),
        ] {
            let mut rng = fastrand::Rng::with_seed(lag as u64);
            let mut words: Vec<u64> = (0..1 << 19).map(|_| rng.u64(..)).collect();
            let mask = u64::MAX >> (64 - unit);
            for i in lag..64 * words.len() / unit {
                if rng.u8(..48) == 0 {
                    let at = |i: usize| (i * unit / 64, i * unit % 64);
                    let ((from, bit), (to, place)) = (at(i - lag), at(i));
                    let copy = words[from] >> bit & mask;
                    words[to] = words[to] & !(mask << place) | copy << place;
                }
            }
            let found = p(&words, effort)[which];
            assert!(found < 1e-15, "lag {lag} of {unit} bits: {found:e}");
        }
    }

    #[test]
    fn good_numbers_pass_and_so_do_lags_that_leave_few_places() {
        for len in [512, 700, 1 << 14, 1 << 18] {
            let mut rng = fastrand::Rng::with_seed(len);
            let words: Vec<u64> = (0..len).map(|_| rng.u64(..)).collect();
            let p = p(&words, Effort::Fast);
            assert!(p.iter().all(|&p| p > 1e-4), "{len}: {p:?}");
        }
    }
}
