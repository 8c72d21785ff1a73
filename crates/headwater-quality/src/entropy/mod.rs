//! Noise sources: the health tests and some of the min-entropy estimators of NIST SP 800-90B (January 2018).
//!
//! An estimate is what a few models of a source make of a sample. It is no bound: a generator behind a noise source, such as RDRAND's, looks
//! full of entropy whatever the noise was. The predictors of section 6.3 but the lag predictor are not here.

mod bitwise;
mod bytewise;
mod health;

use crate::effort::Effort;
use crate::report::Verdict;
use serde::Serialize;

/// What a sample of a noise source looks like.
#[derive(Debug, Serialize)]
pub struct Entropy {
    /// Always the same sentence: what these figures are.
    pub note: &'static str,
    /// Bytes looked at.
    pub bytes: usize,
    /// Bits of min-entropy a byte that the health tests assume.
    pub claim: f64,
    /// The repetition count test and the adaptive proportion test.
    pub health: Vec<Health>,
    /// Bits a byte, by estimator.
    pub estimates: Vec<Estimate>,
    /// The least of them.
    pub least: f64,
}

/// One health test, run over the sample as it would watch the source.
#[derive(Debug, Serialize)]
pub struct Health {
    /// Which.
    pub name: &'static str,
    /// It alarms at this count.
    pub cutoff: usize,
    /// The highest count seen.
    pub highest: usize,
    /// How often it alarmed.
    pub alarms: u64,
}

/// What one estimator says.
#[derive(Debug, Serialize)]
pub struct Estimate {
    /// Which.
    pub name: &'static str,
    /// The section of SP 800-90B.
    pub section: &'static str,
    /// Bits of min-entropy a byte.
    pub bits: f64,
}

/// What NIST asks a sample to have.
const SAMPLE: usize = 1_000_000;
/// Half of full entropy: sources of full entropy should hold it by far.
const CLAIM: f64 = 4.0;

/// Judges up to a million bytes of `words`, and of these a million bits; quickly, a sixteenth of that.
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
        note: "estimates, not bounds: what some models make of this sample, whatever made it",
        bytes: bytes.len(),
        claim: CLAIM,
        health: health(&bytes).into(),
        estimates,
        least,
    }
}

/// The repetition count test and the adaptive proportion test of SP 800-90B, 4.4, over a sample of bytes that should have at least four
/// bits of min-entropy each. For perfect bytes an alarm is a matter of centuries; see [`Health::alarms`].
pub fn health(sample: &[u8]) -> [Health; 2] {
    [health::repetition(sample, CLAIM), health::proportion(sample, CLAIM)]
}

impl Entropy {
    /// An alarm has a chance below 2^-20 with each byte, even of a source that has only what is claimed.
    pub(crate) fn verdict(&self) -> Verdict {
        if self.health.iter().any(|test| test.alarms > 0) {
            Verdict::Failed
        } else {
            Verdict::Clean
        }
    }
}
