//! The min-entropy of a noise source by NIST SP 800-90B (January 2018), as the reference programs
//! compute it (usnistgov/SP800-90B_EntropyAssessment, of July 2024).
//!
//! There are three questions. The ten estimators of section 6.3 are for samples that may depend on
//! each other (`ea_non_iid`). If the tests of section 5 let samples pass as independent and
//! identically distributed, their most common value alone decides ([`iid`], `ea_iid`). And restarts
//! have to be as good as one long run ([`restarts`], `ea_restart`).
//!
//! A sample is a byte, of which the low bits are used that any sample sets. Each estimator sees the
//! samples; if they are wider than a bit, each also sees their bits, the highest first. The
//! assessment is the smallest of all. The reference programs draw permutations and a cutoff from
//! the system, so a source at a limit passes them on one day and fails on the next. Here the
//! permutations are those of a fixed stream and the cutoff is computed, so a second run has the
//! same result.

mod compression;
mod counts;
mod iid;
mod predictors;
mod prefixes;
mod restarts;
mod samples;
mod tuples;

pub use iid::{ChiSquare, Iid, Permuted, Repeated};
pub use restarts::Restarts;
pub(crate) use samples::Samples;

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

/// The answer to a question about a noise source.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Assessed {
    /// The ten estimators.
    Estimates(Assessment),
    /// The tests for independent samples.
    Iid(Iid),
    /// The restart tests.
    Restarts(Box<Restarts>),
}

/// Assesses the samples that `input` holds, a byte each, to its end: by the ten estimators, or by
/// the tests for independent samples, or as restarts.
///
/// # Errors
///
/// [`Error::Usage`] if `args` name another source or a claim that no sample can have,
/// [`Error::Source`] if it cannot be read, [`Error::FewSamples`] if it holds fewer than 10,000
/// samples, [`Error::Matrix`] if restarts are not 1,000 of 1,000 samples.
pub fn assess(args: &Args, mut input: impl Read) -> Result<Assessed, Error> {
    if args.source != "-" {
        return Err(Error::Usage(
            "--90b reads samples of a noise source from standard input: its SOURCE is -".to_owned(),
        ));
    }
    if args.threads.is_some() && !args.iid {
        return Err(Error::Usage(
            "of --90b only --iid has work for more than one thread".to_owned(),
        ));
    }
    let cpus = || std::thread::available_parallelism().map_or(1, std::num::NonZeroUsize::get);
    let threads = args.threads.map_or_else(cpus, |threads| threads as usize);
    let mut samples = Vec::new();
    input.read_to_end(&mut samples).map_err(|error| Error::Source {
        source: "standard input".to_owned(),
        reason: error.to_string(),
    })?;
    if let Some(initial) = args.restart {
        let threads = args.iid.then_some(threads);
        let judged = restarts::judge(samples, initial, threads)?;
        return Ok(Assessed::Restarts(Box::new(judged)));
    }
    if samples.len() < FEWEST {
        return Err(Error::FewSamples { samples: samples.len() });
    }
    let samples = Samples::new(samples);
    Ok(if args.iid {
        Assessed::Iid(iid::judge(&samples, threads))
    } else {
        Assessed::Estimates(of(&samples))
    })
}

impl Assessed {
    /// Returns the answer as text for a terminal.
    pub fn table(&self) -> String {
        match self {
            Assessed::Estimates(estimates) => estimates.table(),
            Assessed::Iid(iid) => iid.table(),
            Assessed::Restarts(restarts) => restarts.table(),
        }
    }

    /// Returns the reason for which the samples failed a test. Estimates cannot fail.
    pub fn failure(&self) -> Option<&'static str> {
        match self {
            Assessed::Iid(iid) if !iid.passed => Some(
                "the samples are not independent and identically distributed: assess them without --iid",
            ),
            Assessed::Restarts(restarts) => restarts.failure(),
            _ => None,
        }
    }
}

/// Returns the estimates of samples, all of which are used.
fn of(samples: &Samples) -> Assessment {
    assessment(samples, samples.len())
}

/// Returns the estimates of `samples`, and of the bits of the first `first` of them.
pub(crate) fn assessment(samples: &Samples, first: usize) -> Assessment {
    let (width, symbols) = (samples.width, samples.symbols);
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
    let literal = estimates(&samples.dense, symbols);
    let bits = (symbols > 2).then(|| estimates(&samples.bits(first), 2));
    for (i, (name, section)) in NAMES.into_iter().enumerate() {
        let (sample, bit) = (literal[i], bits.as_ref().and_then(|bits| bits[i]));
        assessment.estimates.push(Estimated { name, section, sample, bit });
    }
    assessment.sample = least(&literal, f64::from(width));
    assessment.bit = bits.map(|bits| least(&bits, 1.0));
    let whole = assessment.bit.map_or(f64::INFINITY, |bit| bit * f64::from(width));
    assessment.assessed = assessment.sample.min(whole);
    assessment
}

/// Returns the smallest estimate, at most `most`.
fn least(estimates: &[Option<f64>], most: f64) -> f64 {
    estimates.iter().flatten().copied().fold(most, f64::min)
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
