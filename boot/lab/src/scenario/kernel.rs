//! `headwater lab kernel`: whether headwater is sound on one kernel, which may be any image.
//!
//! Two things about a kernel decide it. It must move a thread that it interrupts out of a sequence,
//! or draws in sequences repeat; and it must show a clone by the devices that the machine has, or
//! by nothing, in which case headwater's modes must be those that need no word of it. So the kernel
//! is stressed, cloned without a device, and cloned with vmgenid on one CPU and on two.
//!
//! A stress that finds nothing shows something only if it would have found a fault. Hence the third
//! stress, in which the same kernel is made to forget.

use crate::judge::finding::Finding;
use crate::judge::pair::ClonePair;
use crate::judge::sections::SectionsReport;
use crate::machine::cache::Cache;
use crate::machine::setup;
use crate::plan::ClonePlan;
use crate::report::text;
use crate::run::shown;
use crate::scenario::sections::{forgetful, sections};
use crate::scenario::situations::{SITUATIONS, Situation};
use anyhow::Result;
use serde::Serialize;
use std::path::Path;

/// The situations into which the kernel is brought.
const CLONED: [&str; 3] = ["none", "vmgenid", "race"];

/// The results of one kernel.
#[derive(Debug, Serialize)]
pub struct KernelReport {
    /// `headwater.lab-kernel/1`
    pub schema: &'static str,
    /// The kernel's release, as it names itself.
    pub kernel: String,
    /// The stresses with one CPU and with two.
    pub sections: Vec<SectionsReport>,
    /// The stress of the same kernel that was made to forget; `None` where it cannot be.
    pub forgetful: Option<SectionsReport>,
    /// The clones, in the order of `situations`.
    pub pairs: Vec<ClonePair>,
    /// The names of the situations.
    pub situations: Vec<&'static str>,
    /// Facts that do not concern this kernel, or could not be tried.
    pub notes: Vec<String>,
    /// Broken promises, and what was not shown.
    pub findings: Vec<Finding>,
}

/// Runs the stresses for `seconds` each, and the clones.
///
/// # Errors
///
/// If a guest cannot be started, or does not answer.
pub fn kernel(
    cache: &Cache,
    kernel: &str,
    seconds: u64,
    guest: Option<&Path>,
    report: &dyn Fn(&str),
) -> Result<KernelReport> {
    // A mistyped name is an error now, and not below a line about a stress.
    setup::find_x86_kernel(cache, kernel)?;
    report(&format!("stressing sequences twice, {seconds} s each"));
    let stresses = sections(cache, kernel, seconds, guest)?;
    let (mut findings, note) = judged(&stresses);
    let mut notes = Vec::from_iter(note);
    let mut control = None;
    if notes.is_empty() {
        report("making the kernel forget to abort sequences");
        match forgetful(cache, kernel, seconds, guest) {
            Ok(stress) => {
                findings.extend(stress.missed());
                control = Some(stress);
            }
            Err(error) => notes.push(format!("it was not made to forget: {error:#}")),
        }
    }
    let (mut pairs, mut situations) = (Vec::new(), Vec::new());
    for situation in SITUATIONS.into_iter().filter(|one| CLONED.contains(&one.id)) {
        let plan = ClonePlan {
            kernel: kernel.to_owned(),
            guest: guest.map(Path::to_path_buf),
            ..situation.plan()
        };
        let (pair, more) = shown(cache, &situation, &plan, report)?;
        findings.extend(more);
        pairs.push(pair);
        situations.push(situation.id);
    }
    let release = pairs.first().map_or(kernel, |pair| &pair.kernel).to_owned();
    Ok(KernelReport {
        schema: "headwater.lab-kernel/1",
        kernel: release,
        sections: stresses,
        forgetful: control,
        pairs,
        situations,
        notes,
        findings,
    })
}

/// Returns the findings of the stresses, or a note that the kernel has no sequences to abort.
///
/// A kernel that aborts none has the same path as one that has none, because headwater leaves
/// sequences as soon as it meets the trace of a lost one. So a path excuses no fault.
fn judged(stresses: &[SectionsReport]) -> (Vec<Finding>, Option<String>) {
    let mut findings: Vec<Finding> = stresses.iter().flat_map(SectionsReport::faults).collect();
    let others: Vec<Finding> = stresses.iter().filter_map(SectionsReport::other_path).collect();
    if findings.is_empty() && !others.is_empty() && others.len() == stresses.len() {
        let path = stresses.first().map_or("", |stress| &stress.path);
        let note = format!("draws took the path {path}, so no sequence can be aborted wrongly");
        return (findings, Some(note));
    }
    findings.extend(others);
    (findings, None)
}

impl KernelReport {
    /// Returns the tables, what was found, and the verdict.
    pub fn text(&self) -> String {
        let mut stresses = text::sections(&self.sections);
        if let Some(forgetful) = &self.forgetful {
            stresses += &format!(
                "\nThe same kernel, made to forget to abort sequences:\n\n{}",
                text::sections(std::slice::from_ref(forgetful))
            );
        }
        let known = |id: &str| SITUATIONS.into_iter().find(|one| one.id == id);
        let rows: Vec<(Situation, ClonePair)> =
            self.situations.iter().filter_map(|id| known(id)).zip(self.pairs.clone()).collect();
        let notes: String = self.notes.iter().map(|note| format!("note: {note}\n")).collect();
        format!(
            "{stresses}\nRepeated draws, of the draws that began after the clone\n\n{}\n{notes}{}{}\n",
            text::situations(&rows),
            text::findings(&self.findings),
            self.verdict()
        )
    }

    fn verdict(&self) -> String {
        match self.findings.len() {
            0 => format!("headwater is sound on Linux {}.", self.kernel),
            n => format!(
                "headwater is not shown to be sound on Linux {}: {n} findings.",
                self.kernel
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::finding::FindingKind;
    use crate::judge::sections::SECTIONS;
    use crate::judge::sections::tests::good;

    #[test]
    fn the_verdict_needs_everything_to_be_shown() {
        let mut report = KernelReport {
            schema: "",
            kernel: "7.9".to_owned(),
            sections: Vec::new(),
            forgetful: None,
            pairs: Vec::new(),
            situations: Vec::new(),
            notes: vec!["it was not made to forget".to_owned()],
            findings: Vec::new(),
        };
        assert!(
            report
                .text()
                .ends_with("note: it was not made to forget\nheadwater is sound on Linux 7.9.\n")
        );
        report.findings.push(Finding {
            situation: "none",
            kind: FindingKind::NotShown,
            text: "no draw".to_owned(),
        });
        assert!(report.text().contains("is not shown to be sound on Linux 7.9: 1 findings"));
    }

    fn stress(smp: usize, path: &str, tripwires: u64, repeats: u64) -> SectionsReport {
        SectionsReport { smp, path: path.to_owned(), tripwires, repeats, ..good() }
    }

    /// headwater leaves sections on a kernel that aborts none, so its path is that of an old one.
    #[test]
    fn a_kernel_that_forgets_is_not_taken_for_one_without_sequences() {
        use FindingKind::{Broken, NotShown};
        let kinds = |first: SectionsReport, second: SectionsReport| {
            let (findings, note) = judged(&[first, second]);
            (findings.iter().map(|finding| finding.kind).collect::<Vec<_>>(), note.is_some())
        };
        let locked = "locked_slots: the kernel has no restartable sequences";
        let left = "locked_slots: a draw met a word that was erased before";
        let sound = |smp| stress(smp, SECTIONS, 0, 0);
        assert_eq!(kinds(sound(1), sound(2)), (vec![], false));
        assert_eq!(kinds(stress(1, locked, 0, 0), stress(2, locked, 0, 0)), (vec![], true));
        for broken in [stress(1, left, 1, 0), stress(1, left, 0, 3), stress(1, SECTIONS, 0, 3)] {
            let (all, note) = kinds(broken, stress(2, left, 1, 0));
            assert!(all.contains(&Broken) && !note, "{all:?}");
        }
        assert_eq!(kinds(sound(1), stress(2, locked, 0, 0)), (vec![NotShown], false));
    }

    #[test]
    fn each_situation_has_its_row() {
        let known = SITUATIONS.iter().filter(|one| CLONED.contains(&one.id)).count();
        assert_eq!(known, CLONED.len());
    }
}
