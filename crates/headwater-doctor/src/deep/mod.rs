//! `--deep`: what takes seconds, and is measured rather than read: how fast entropy comes, and whether hardware sources are sound.
//!
//! The health tests are those of headwater-quality, after NIST SP 800-90B, 4.4. They find a source that is stuck or very uneven; that
//! its bytes cannot be guessed, no test of bytes can show.

mod sample;
mod slope;

pub use sample::{Sample, Test};
pub use slope::Slope;

use crate::fixes::{Cause, PlatformFacts, for_cause};
use crate::{Evidence, Finding, Id, Kernel, NotChecked, Report, Root, Severity};
use serde::Serialize;
use std::time::Duration;

/// What is said before it begins.
pub const BEFOREHAND: &str = "--deep takes 5 s: it watches how fast entropy comes, and reads at most 64 KiB of each hardware source meanwhile";

/// Long enough for one bit to come on a quiet machine that has nothing but interrupts.
const PAUSE: Duration = Duration::from_secs(5);

/// What was measured.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Deep {
    /// How fast entropy came; `None` where the kernel does not show it.
    pub entropy: Option<Slope>,
    /// Samples of hardware sources.
    pub samples: Vec<Sample>,
}

impl Deep {
    /// Measures, for 5 s. `kernel` tells what its count of entropy means, and `ready` whether it still waits for it.
    pub fn measure(root: &Root, kernel: Option<&Kernel>, ready: bool) -> Deep {
        let device = sample::begin_device(root.clone());
        let available = || root.text("/proc/sys/kernel/random/entropy_avail").ok()?.parse().ok();
        let entropy = Slope::measure(available, PAUSE, kernel, ready);
        Deep { entropy, samples: vec![device.end(), sample::rdrand()] }
    }

    /// What it says about HW027 into the report, and all of it beside the findings.
    pub fn tell(self, report: &mut Report, facts: &PlatformFacts) {
        let mut sound = false;
        for sample in &self.samples {
            if let Some(finding) = sample.finding(facts) {
                report.findings.push(finding);
            } else if let Some(why) = &sample.skipped {
                let why = format!("{}: {why}", sample.source);
                report.not_checked.push(NotChecked { id: Id::HwrngUnhealthy, why });
            } else {
                sound = true;
            }
        }
        if sound && report.findings.iter().all(|finding| finding.id != Id::HwrngUnhealthy) {
            report.passed.push(Id::HwrngUnhealthy);
        }
        if let (Some(slope), Some(waiting)) =
            (&self.entropy, report.findings.iter_mut().find(|finding| finding.id == Id::NotReady))
        {
            waiting.evidence.push(Evidence {
                place: "/proc/sys/kernel/random/entropy_avail".to_owned(),
                says: slope.says(),
            });
        }
        report.findings.sort_by_key(|finding| (std::cmp::Reverse(finding.severity), finding.id));
        report.deep = Some(self);
    }
}

impl Sample {
    fn finding(&self, facts: &PlatformFacts) -> Option<Finding> {
        let alarms: Vec<&Test> = self.tests.iter().filter(|test| test.alarms > 0).collect();
        if alarms.is_empty() {
            return None;
        }
        let evidence = alarms.iter().map(|test| Evidence {
            place: format!("{}, {} bytes", self.source, self.bytes),
            says: test.says(),
        });
        Some(Finding {
            id: Id::HwrngUnhealthy,
            severity: Severity::Critical,
            title: format!("{} fails health tests: its bytes are stuck, or very uneven", self.source),
            evidence: evidence.collect(),
            why: "A sound source does not fail these tests in centuries. The kernel counts its bytes as entropy; if it is the \
                  only source, keys may be guessed."
                .to_owned(),
            fixes: for_cause(
                if self.source == sample::RDRAND { Cause::CpuRngBroken } else { Cause::HwrngUnhealthy },
                facts,
            ),
            verify: "headwater doctor --deep --only HW027".to_owned(),
        })
    }
}

#[cfg(test)]
mod tests;
