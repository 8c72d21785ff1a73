//! The two health tests that NIST SP 800-90B asks of every noise source (section 4.4).
//!
//! Both cutoffs are for a false alarm once in 2^20 samples and a source that claims 4 bits of
//! min-entropy a byte, less than any sound source has.

use serde::Serialize;

/// 4.4.1: 1 + ceil(20 / 4).
const REPETITION_CUTOFF: usize = 6;
/// 4.4.2: 1 + CRITBINOM(512, 2^-4, 1 - 2^-20), a value of the standard's own table.
const PROPORTION_CUTOFF: usize = 62;
/// The window of 4.4.2 for samples that are not binary.
const WINDOW: usize = 512;

/// The result of one health test.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
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

/// Runs both tests over a sample of bytes.
pub(super) fn health(sample: &[u8]) -> [HealthTest; 2] {
    [repetition(sample), proportion(sample)]
}

/// Runs the repetition count test (section 4.4.1), which counts equal values in a row.
fn repetition(samples: &[u8]) -> HealthTest {
    let cutoff = REPETITION_CUTOFF;
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
fn proportion(samples: &[u8]) -> HealthTest {
    let cutoff = PROPORTION_CUTOFF;
    let (mut highest, mut alarms) = (0, 0);
    for window in samples.chunks_exact(WINDOW) {
        let count = window.iter().filter(|&&sample| Some(&sample) == window.first()).count();
        highest = highest.max(count);
        alarms += u64::from(count >= cutoff);
    }
    HealthTest { name: "adaptive proportion", cutoff, highest, alarms }
}
