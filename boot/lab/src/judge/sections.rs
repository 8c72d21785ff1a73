//! The report on one stress of restartable sequences in a guest.

use crate::judge::finding::{Finding, FindingKind};
use headwater_lab_protocol::{self as protocol, Sections};
use serde::Serialize;

/// The report on one kernel, in JSON of schema `headwater.lab-sections/1`.
#[derive(Clone, Debug, Serialize)]
pub struct SectionsReport {
    pub(crate) schema: &'static str,
    /// `uname -r` of the guest.
    pub kernel: String,
    /// The series of the guest's kernel.
    pub series: String,
    /// Virtual CPUs.
    pub smp: usize,
    /// headwater's mode.
    pub mode: String,
    /// Path of shared draws, as `headwater status` names it.
    pub path: String,
    /// Threads that drew.
    pub threads: usize,
    /// 64-bit words that were drawn and checked.
    pub words: u64,
    /// Words that were zero.
    pub zeros: u64,
    /// Words that a thread had drawn before.
    pub repeats: u64,
    /// Preemptions of the threads that drew.
    pub switches: u64,
    /// Times that the second CPU went offline.
    pub unplugs: u64,
    /// Times that a thread was moved to another CPU.
    pub moves: u64,
    /// Windows of zeros that headwater found by itself.
    pub tripwires: u64,
    /// Draws that the kernel served in place of a page.
    pub fallbacks: u64,
    /// Seconds that the threads drew, on the guest's clock.
    pub took_s: f64,
    /// The reason why no CPU went offline, if one was to.
    pub unplug_error: Option<String>,
}

/// The path that the check is for.
pub(crate) const SECTIONS: &str = "restartable_sequences";
/// Fewer preemptions than this are an accident, not a stress.
const ENOUGH_SWITCHES: u64 = 100;

impl SectionsReport {
    pub(crate) fn new(kernel: &str, series: &str, smp: usize, sent: &Sections) -> SectionsReport {
        SectionsReport {
            schema: "headwater.lab-sections/1",
            kernel: kernel.to_owned(),
            series: series.to_owned(),
            smp,
            mode: sent.mode.clone(),
            path: sent.path.clone(),
            threads: sent.threads,
            words: sent.words,
            zeros: sent.zeros,
            repeats: sent.repeats,
            switches: sent.switches,
            unplugs: sent.unplugs,
            moves: sent.moves,
            tripwires: sent.tripwires,
            fallbacks: sent.fallbacks,
            took_s: sent.took_us as f64 / 1e6,
            unplug_error: sent.unplug_error.clone(),
        }
    }

    /// Returns what the kernel broke, and the reasons why a run does not show that it broke
    /// nothing.
    pub fn findings(&self) -> Vec<Finding> {
        let mut findings = self.faults();
        findings.extend(self.other_path());
        findings
    }

    /// Returns the finding that draws took another path than sections.
    pub(crate) fn other_path(&self) -> Option<Finding> {
        let Self { kernel, smp, path, .. } = self;
        (path != SECTIONS).then(|| Finding {
            situation: "sections",
            kind: FindingKind::NotShown,
            text: format!("{kernel}, {smp} CPUs: draws took the path {path}, not {SECTIONS}"),
        })
    }

    /// Returns all findings that concern any path.
    pub(crate) fn faults(&self) -> Vec<Finding> {
        let mut findings = Vec::new();
        let mut claim = |holds: bool, kind, text: &str| {
            if !holds {
                let text = format!("{}, {} CPUs: {text}", self.kernel, self.smp);
                findings.push(Finding { situation: "sections", kind, text });
            }
        };
        let Self { words, zeros, repeats, switches, .. } = self;
        claim(*repeats == 0, FindingKind::Broken, &format!("{repeats} of {words} words repeat"));
        claim(*zeros == 0, FindingKind::Broken, &format!("{zeros} of {words} words are zero"));
        let tripped = format!("headwater found {} windows of zeros", self.tripwires);
        claim(self.tripwires == 0, FindingKind::Broken, &tripped);
        claim(*words > 0, FindingKind::NotShown, "no word was drawn");
        let rare = format!("the threads were preempted only {switches} times");
        claim(*switches >= ENOUGH_SWITCHES, FindingKind::NotShown, &rare);
        if let Some(error) = &self.unplug_error {
            claim(false, FindingKind::NotShown, &format!("no CPU went offline: {error}"));
        }
        claim(self.smp < 2 || self.unplugs > 0, FindingKind::NotShown, "no CPU went offline");
        findings
    }

    /// Returns the finding that the stress misses a kernel which forgot to abort sections, unless
    /// it found a word twice, a word of zeros, or a window of them.
    pub fn missed(&self) -> Option<Finding> {
        let found = self.findings().iter().any(|finding| finding.kind == FindingKind::Broken);
        (!found).then(|| Finding {
            situation: "forgetful",
            kind: FindingKind::NotShown,
            text: format!(
                "{}: the kernel aborted no section, and none of {} words shows it; take more \
                 --seconds",
                self.kernel, self.words
            ),
        })
    }
}

/// Returns the result of a guest, from the messages of one command.
pub(crate) fn of(messages: &[protocol::Message]) -> Option<&Sections> {
    protocol::first(messages)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Returns the report on a kernel without a fault.
    pub(crate) fn good() -> SectionsReport {
        SectionsReport {
            schema: "",
            kernel: "6.12".into(),
            series: "6.12".into(),
            smp: 2,
            mode: "hedged".into(),
            path: SECTIONS.into(),
            threads: 2,
            words: 1_000_000,
            zeros: 0,
            repeats: 0,
            switches: 4000,
            unplugs: 9,
            moves: 40,
            tripwires: 0,
            fallbacks: 0,
            took_s: 5.0,
            unplug_error: None,
        }
    }

    #[test]
    fn every_fault_of_a_kernel_is_a_finding() {
        use FindingKind::{Broken, NotShown};
        let kinds = |change: &dyn Fn(&mut SectionsReport)| -> Vec<FindingKind> {
            let mut report = good();
            change(&mut report);
            report.findings().into_iter().map(|finding| finding.kind).collect()
        };
        assert_eq!(kinds(&|_| ()), []);
        assert_eq!(kinds(&|report| report.repeats = 1), [Broken]);
        assert_eq!(kinds(&|report| report.zeros = 1), [Broken]);
        assert_eq!(kinds(&|report| report.tripwires = 1), [Broken]);
        assert_eq!(kinds(&|report| report.words = 0), [NotShown]);
        assert_eq!(kinds(&|report| report.switches = 99), [NotShown]);
        assert_eq!(kinds(&|report| report.path = "locked".into()), [NotShown]);
        assert_eq!(kinds(&|report| report.unplugs = 0), [NotShown]);
        assert_eq!(kinds(&|report| (report.unplugs, report.smp) = (0, 1)), []);
        assert!(good().missed().is_some());
        assert!(SectionsReport { repeats: 1, ..good() }.missed().is_none());
        assert!(SectionsReport { switches: 0, ..good() }.missed().is_some());
        assert_eq!(kinds(&|report| report.unplug_error = Some("EBUSY".into())), [NotShown]);
    }
}
