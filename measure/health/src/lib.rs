//! The two health tests that NIST SP 800-90B asks of every noise source (section 4.4), at its
//! recommended false-alarm rate of 2^-20.
//!
//! The doctor and the quality tests ask them of the same devices, so both have them from here: two
//! copies with cutoffs of their own could disagree about one source.

#![deny(unsafe_code)]

use serde::Serialize;

const ALPHA_BITS: f64 = 20.0;

/// The length of a window for samples that are not binary.
const WINDOW: usize = 512;

/// Bits of min-entropy a byte that [`health`] assumes: half of full entropy, which any sound source
/// exceeds by far.
pub const CLAIM: f64 = 4.0;

/// The result of one health test.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HealthTest {
    /// The test's name in the standard.
    pub name: &'static str,
    /// The count at which the test alarms.
    pub cutoff: usize,
    /// The highest count seen.
    pub highest: usize,
    /// The number of alarms.
    pub alarms: u64,
}

impl HealthTest {
    /// Returns the result as one line.
    pub fn says(&self) -> String {
        let alarms = headwater_text::number::counted(
            usize::try_from(self.alarms).unwrap_or(usize::MAX),
            "alarm",
        );
        format!(
            "{} test: {alarms}; highest count {}, cutoff {}",
            self.name, self.highest, self.cutoff
        )
    }
}

/// Runs both tests over a sample of bytes that should have [`CLAIM`] bits of min-entropy each.
/// Perfect bytes raise an alarm once in centuries.
pub fn health(sample: &[u8]) -> [HealthTest; 2] {
    [repetition(sample, CLAIM), proportion(sample, CLAIM)]
}

/// Runs the repetition count test (section 4.4.1), which counts equal values in a row.
fn repetition(samples: &[u8], claim: f64) -> HealthTest {
    let cutoff = 1 + (ALPHA_BITS / claim).ceil() as usize;
    let (mut highest, mut alarms, mut run) = (0, 0, 0);
    let mut last = None;
    for sample in samples {
        run = if last == Some(sample) { run + 1 } else { 1 };
        last = Some(sample);
        highest = highest.max(run);
        alarms += u64::from(run == cutoff);
    }
    HealthTest { name: "repetition count", cutoff, highest, alarms }
}

/// Runs the adaptive proportion test (section 4.4.2), which counts a window's first value in that
/// window.
fn proportion(samples: &[u8], claim: f64) -> HealthTest {
    let cutoff = 1 + critical(WINDOW, 2_f64.powf(-claim));
    let (mut highest, mut alarms) = (0, 0);
    for window in samples.chunks_exact(WINDOW) {
        let count = window.iter().filter(|&&sample| sample == window[0]).count();
        highest = highest.max(count);
        alarms += u64::from(count >= cutoff);
    }
    HealthTest { name: "adaptive proportion", cutoff, highest, alarms }
}

/// Returns the least number that a binomial variable exceeds with probability at most 2^-20:
/// CRITBINOM of the standard.
fn critical(n: usize, p: f64) -> usize {
    let mut above = 0.0;
    let mut ways = 0.0; // the logarithm of n choose k
    for k in (1..=n).rev() {
        above += f64::exp(ways + k as f64 * p.ln() + (n - k) as f64 * (-p).ln_1p());
        if above > 2_f64.powf(-ALPHA_BITS) {
            return k;
        }
        ways += (k as f64 / (n - k + 1) as f64).ln();
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The standard's own examples: H = 1 means a cutoff of 21, and a window of 512 those of its
    /// table in 4.4.2.
    #[test]
    fn cutoffs_are_those_of_the_standard() {
        assert_eq!(repetition(&[], 1.0).cutoff, 21);
        for (claim, cutoff) in [(0.5, 410), (1.0, 311), (2.0, 177), (4.0, 62), (8.0, 13)] {
            assert_eq!(proportion(&[], claim).cutoff, cutoff, "{claim}");
        }
    }

    #[test]
    fn a_stuck_source_alarms_and_a_sound_one_does_not() {
        let mut rng = fastrand::Rng::with_seed(9);
        let mut samples: Vec<u8> = (0..100_000).map(|_| rng.u8(..)).collect();
        assert_eq!(health(&samples).map(|test| test.alarms), [0, 0]);
        samples[512..1024].fill(7);
        assert_eq!(health(&samples).map(|test| test.alarms), [1, 1]);
        let [repetition, _] = health(&samples);
        assert_eq!(
            repetition.says(),
            "repetition count test: 1 alarm; highest count 512, cutoff 6"
        );
    }
}
