//! The ten estimators of min-entropy of NIST SP 800-90B (January 2018), section 6.3, for samples
//! that are not independent, as the reference program computes them
//! (usnistgov/SP800-90B_EntropyAssessment, `ea_non_iid`, of July 2024).
//!
//! A sample is a byte, of which the low bits are used that any sample sets. Each estimator sees the
//! samples; if they are wider than a bit, each also sees their bits, the highest first. The
//! assessment is the smallest of all, and nothing in it is drawn, so it is the same each time.

mod compression;
mod counts;
mod predictors;
mod prefixes;
mod tuples;

use crate::{Args, Error};
use serde::Serialize;
use std::fmt::Write;
use std::io::Read;

/// The least number of samples that section 3.1.1 asks for.
const LEAST: usize = 1_000_000;

/// The fewest samples for which every estimator is defined: its dictionary's blocks of bits.
const FEWEST: usize = 10_000;

/// The factor of the upper bounds, of 99 %: the standard's 2.576 to more digits, as the reference
/// program has it.
const Z: f64 = 2.575_829_303_548_901;

/// The result of one estimator.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Estimated {
    /// The estimator.
    pub name: &'static str,
    /// The section of SP 800-90B.
    pub section: &'static str,
    /// Bits of min-entropy a sample. `None`: the estimator is for bits only, or does not apply.
    pub sample: Option<f64>,
    /// Bits of min-entropy a bit. `None`: the samples are single bits, or it does not apply.
    pub bit: Option<f64>,
}

/// The assessment of a noise source.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Assessment {
    schema: &'static str,
    /// Number of samples.
    pub samples: usize,
    /// Number of different samples.
    pub symbols: usize,
    /// Bits of a sample.
    pub width: u32,
    /// Each estimator.
    pub estimates: Vec<Estimated>,
    /// The smallest estimate of samples, at most their width.
    pub sample: f64,
    /// The smallest estimate of bits, at most 1.
    pub bit: Option<f64>,
    /// Bits of min-entropy a sample: the smaller of `sample` and `width` times `bit`.
    pub assessed: f64,
}

/// Estimates the min-entropy of the samples that `input` holds, a byte each, to its end.
///
/// # Errors
///
/// [`Error::Usage`] if `args` name another source, [`Error::Source`] if it cannot be read,
/// [`Error::FewSamples`] if it holds fewer than 10,000 samples.
pub fn assess(args: &Args, mut input: impl Read) -> Result<Assessment, Error> {
    if args.source != "-" {
        return Err(Error::Usage(
            "--90b reads samples of a noise source from standard input: its SOURCE is -".to_owned(),
        ));
    }
    let mut samples = Vec::new();
    input.read_to_end(&mut samples).map_err(|error| Error::Source {
        source: "standard input".to_owned(),
        reason: error.to_string(),
    })?;
    if samples.len() < FEWEST {
        return Err(Error::FewSamples { samples: samples.len() });
    }
    Ok(of(&samples))
}

fn of(samples: &[u8]) -> Assessment {
    let used = samples.iter().fold(0, |used, sample| used | sample);
    let width = (8 - used.leading_zeros()).max(1);
    let mut present = [false; 256];
    samples.iter().for_each(|&sample| present[usize::from(sample)] = true);
    let symbols = present.iter().filter(|present| **present).count();
    let mut assessment = Assessment {
        schema: "headwater.sp800-90b/1",
        samples: samples.len(),
        symbols,
        width,
        estimates: Vec::new(),
        sample: f64::from(width),
        bit: None,
        assessed: 0.0,
    };
    if symbols == 1 {
        assessment.sample = 0.0;
        return assessment; // one symbol has none, and no estimator is defined for it
    }
    // Symbols without gaps, in the order of the samples.
    let mut number = 0_usize;
    let numbers = present.map(|present| {
        let own = number as u8;
        number += usize::from(present);
        own
    });
    let dense: Vec<u8> = samples.iter().map(|&sample| numbers[usize::from(sample)]).collect();
    let literal = estimates(&dense, symbols);
    let bits = (symbols > 2).then(|| {
        let places = (0..width).rev();
        let each = |sample: &u8| places.clone().map(move |place| sample >> place & 1).collect();
        let bits: Vec<u8> = samples.iter().flat_map(|sample| -> Vec<u8> { each(sample) }).collect();
        estimates(&bits, 2)
    });
    for (i, (name, section)) in NAMES.into_iter().enumerate() {
        let (sample, bit) = (literal[i], bits.as_ref().and_then(|bits| bits[i]));
        assessment.estimates.push(Estimated { name, section, sample, bit });
    }
    let least = |estimates: &[Option<f64>], most: f64| {
        estimates.iter().flatten().copied().fold(most, f64::min)
    };
    assessment.sample = least(&literal, f64::from(width));
    assessment.bit = bits.map(|bits| least(&bits, 1.0));
    let whole = assessment.bit.map_or(f64::INFINITY, |bit| bit * f64::from(width));
    assessment.assessed = assessment.sample.min(whole);
    assessment
}

const NAMES: [(&str, &str); 10] = [
    ("most common value", "6.3.1"),
    ("collision", "6.3.2"),
    ("Markov", "6.3.3"),
    ("compression", "6.3.4"),
    ("t-tuple", "6.3.5"),
    ("longest repeated substring", "6.3.6"),
    ("MultiMCW prediction", "6.3.7"),
    ("lag prediction", "6.3.8"),
    ("MultiMMC prediction", "6.3.9"),
    ("LZ78Y prediction", "6.3.10"),
];

/// Returns the estimates in the order of [`NAMES`]: bits of min-entropy of one of `data`, which are
/// numbers below `symbols`.
fn estimates(data: &[u8], symbols: usize) -> [Option<f64>; 10] {
    let binary = symbols == 2;
    let (tuple, repeated) = tuples::estimates(data);
    [
        Some(counts::most_common(data)),
        binary.then(|| counts::collision(data)),
        binary.then(|| counts::markov(data)),
        if binary { compression::estimate(data) } else { None },
        tuple,
        repeated,
        Some(predictors::windows(data, symbols)),
        Some(predictors::lags(data, symbols)),
        Some(prefixes::markov_counts(data, symbols)),
        Some(prefixes::lz78y(data, symbols)),
    ]
}

/// Returns the upper bound of a probability of which `n` trials had the share `p`.
fn upper(p: f64, n: f64) -> f64 {
    (p + Z * (p * (1.0 - p) / (n - 1.0)).sqrt()).min(1.0)
}

impl Assessment {
    /// Returns the assessment as text for a terminal.
    pub fn table(&self) -> String {
        let mut text = format!(
            "{} samples of {} bits, {} different; SP 800-90B, section 6.3\n\n",
            self.samples, self.width, self.symbols
        );
        let figure = |bits: Option<f64>| bits.map_or("-".to_owned(), |bits| format!("{bits:.6}"));
        let _ = writeln!(text, "{:>10} {:>10}  min-entropy, bits", "a sample", "a bit");
        for one in &self.estimates {
            let (sample, bit) = (figure(one.sample), figure(one.bit));
            let _ = writeln!(text, "{sample:>10} {bit:>10}  {} ({})", one.name, one.section);
        }
        let _ = writeln!(text, "\nAssessed: {:.6} bits a sample.", self.assessed);
        if self.samples < LEAST {
            let _ = writeln!(
                text,
                "The standard asks for {LEAST} samples; bounds of fewer are lower than they need be."
            );
        }
        let _ = writeln!(
            text,
            "Estimates, not bounds: ten models fitted to this data. A generator that a noise source\n\
             seeds looks full of entropy, whatever the noise is."
        );
        text
    }
}

#[cfg(test)]
mod tests;
