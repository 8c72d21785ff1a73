//! Noise sources beside the tests of numbers: the health tests and the min-entropy estimators of
//! NIST SP 800-90B (January 2018).
//!
//! Each estimate fits one model of a source to a sample. It is not a bound: a generator that a
//! noise source seeds, such as RDRAND's, looks full of entropy whatever the noise is. The
//! estimators are those of `--90b`, so both say the same of one sample.

use crate::effort::Effort;
use crate::report::Verdict;
use crate::sp800_90b::{Samples, assessment};
use headwater_health::{CLAIM, HealthTest, health};
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
    pub health: Vec<HealthTest>,
    /// Bits a byte, by estimator.
    pub estimates: Vec<Estimate>,
    /// The smallest estimate.
    pub least: f64,
}

/// The result of one estimator.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Estimate {
    /// Name of the estimator.
    pub name: String,
    /// The section of SP 800-90B.
    pub section: &'static str,
    /// Bits of min-entropy a byte.
    pub bits: f64,
}

/// Size of a sample that NIST asks for.
const SAMPLE: usize = 1_000_000;

/// Judges up to a million bytes of `words`, and the bits of an eighth of these bytes; with `--fast`
/// a sixteenth of that.
pub(crate) fn judge(words: &[u64], effort: Effort) -> Entropy {
    let sample = if effort.thorough() { SAMPLE } else { SAMPLE / 16 };
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).take(sample).collect();
    let health = health(&bytes);
    let count = bytes.len();
    // A million bits are what the standard asks for too, and eight million take most of a minute.
    let assessment = assessment(&Samples::new(bytes), count.min(sample / 8));
    let mut estimates = Vec::new();
    for one in &assessment.estimates {
        let section = one.section;
        if let Some(bits) = one.sample {
            estimates.push(Estimate { name: one.name.to_owned(), section, bits });
        }
        if let Some(bits) = one.bit {
            let (name, bits) =
                (format!("{}, of bits", one.name), bits * f64::from(assessment.width));
            estimates.push(Estimate { name, section, bits });
        }
    }
    Entropy {
        note: "estimates, not bounds: ten models fitted to this sample, whatever its origin",
        bytes: count,
        claim: CLAIM,
        health: health.into(),
        estimates,
        least: assessment.assessed,
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    /// One sample has the same estimates here and with `--90b`, but for bits, of which fewer are
    /// looked at here.
    #[test]
    fn estimates_are_those_of_the_assessment() {
        let mut rng = fastrand::Rng::with_seed(12);
        let words: Vec<u64> = (0..4000).map(|_| rng.u64(..) & 0x0F0F_0F0F_0F0F_0F0F).collect();
        let entropy = judge(&words, Effort::Fast);
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let samples = Samples::new(bytes);
        let whole = assessment(&samples, entropy.bytes);
        assert_eq!((entropy.bytes, whole.width), (32_000, 4));
        for one in whole.estimates.iter().filter_map(|one| Some((one.name, one.sample?))) {
            let here = entropy.estimates.iter().find(|estimate| estimate.name == one.0).unwrap();
            assert_eq!(here.bits, one.1, "{}", one.0);
        }
        assert_eq!(entropy.least, assessment(&samples, 62_500 / 8).assessed);
        let least = entropy.estimates.iter().map(|one| one.bits).fold(4.0, f64::min);
        assert_eq!(entropy.least, least);
        assert!((2.5..4.0).contains(&entropy.least), "{}", entropy.least);
        let stuck = judge(&[0; 4000], Effort::Fast);
        assert_eq!((stuck.least, stuck.verdict()), (0.0, Verdict::Failed));
        assert!(stuck.estimates.is_empty());
    }
}
