//! Noise sources: the health tests and some of the min-entropy estimators of NIST SP 800-90B
//! (January 2018).
//!
//! Each estimate fits one model of a source to a sample. It is not a bound: a generator that a
//! noise source seeds, such as RDRAND's, looks full of entropy whatever the noise is. The lag
//! predictor is the only predictor of section 6.3 here.

mod bitwise;
mod bytewise;
mod health;

use crate::effort::Effort;
use crate::report::Verdict;
use serde::Serialize;

/// Estimates and health tests of a sample of a noise source.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Entropy {
    /// A constant sentence about the meaning of these figures.
    pub note: &'static str,
    /// Number of bytes in the sample.
    pub bytes: usize,
    /// Bits of min-entropy a byte that the health tests assume.
    pub claim: f64,
    /// The repetition count test and the adaptive proportion test.
    pub health: Vec<Health>,
    /// Bits a byte, by estimator.
    pub estimates: Vec<Estimate>,
    /// The smallest estimate.
    pub least: f64,
}

/// One health test, run over the sample as it would watch the source.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Health {
    /// Name of the test.
    pub name: &'static str,
    /// The count at which the test alarms.
    pub cutoff: usize,
    /// The highest count seen.
    pub highest: usize,
    /// Number of alarms.
    pub alarms: u64,
}

/// The result of one estimator.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Estimate {
    /// Name of the estimator.
    pub name: &'static str,
    /// The section of SP 800-90B.
    pub section: &'static str,
    /// Bits of min-entropy a byte.
    pub bits: f64,
}

/// Size of a sample that NIST asks for.
const SAMPLE: usize = 1_000_000;
/// Half of full entropy, which a source of full entropy exceeds by far.
const CLAIM: f64 = 4.0;

/// Judges up to a million bytes of `words`, and a million bits of these bytes; with `--fast` a
/// sixteenth of that.
pub(crate) fn judge(words: &[u64], effort: Effort) -> Entropy {
    let sample = if effort.thorough() { SAMPLE } else { SAMPLE / 16 };
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).take(sample).collect();
    let estimate = |name, section, bits| Estimate { name, section, bits };
    let bits = bitwise::Bits::new(&bytes[..bytes.len().min(sample / 8)]);
    let (tuple, repeated) = bytewise::tuples(&bytes);
    let (bit_tuple, bit_repeated) = bytewise::tuples(&bits.0);
    let estimates = vec![
        estimate("most common value", "6.3.1", bytewise::most_common(&bytes)),
        estimate("collision, of bits", "6.3.2", 8.0 * bits.collision()),
        estimate("Markov, of bits", "6.3.3", 8.0 * bits.markov()),
        estimate("compression, of bits", "6.3.4", 8.0 * bits.compression()),
        estimate("t-tuple", "6.3.5", tuple),
        estimate("t-tuple, of bits", "6.3.5", 8.0 * bit_tuple),
        estimate("longest repeated substring", "6.3.6", repeated),
        estimate("longest repeated substring, of bits", "6.3.6", 8.0 * bit_repeated),
        estimate("lag prediction", "6.3.8", bytewise::lag(&bytes)),
    ];
    let least = estimates.iter().map(|estimate| estimate.bits).fold(8.0, f64::min);
    Entropy {
        note: "estimates, not bounds: some models fitted to this sample, whatever its origin",
        bytes: bytes.len(),
        claim: CLAIM,
        health: health(&bytes).into(),
        estimates,
        least,
    }
}

/// Runs the repetition count test and the adaptive proportion test of SP 800-90B, 4.4, over a
/// sample of bytes that should have at least four bits of min-entropy each. Perfect bytes raise an
/// alarm once in centuries; see [`Health::alarms`].
pub fn health(sample: &[u8]) -> [Health; 2] {
    [health::repetition(sample, CLAIM), health::proportion(sample, CLAIM)]
}

impl Entropy {
    /// Fails on any alarm. Each byte raises one with a probability below 2^-20, even if the source
    /// has only the claimed entropy.
    pub(crate) fn verdict(&self) -> Verdict {
        if self.health.iter().any(|test| test.alarms > 0) {
            Verdict::Failed
        } else {
            Verdict::Clean
        }
    }
}
