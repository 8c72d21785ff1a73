//! Everything a run found.

mod html;
mod prometheus;
#[cfg(test)]
pub(crate) mod tests;
mod text;
mod timeline;
mod words;

pub use prometheus::write_whole;
#[cfg(test)]
pub(crate) use text::COLUMNS;
pub(crate) use text::fill;
pub(crate) use words::number;

use crate::boot::Boot;
use crate::deep::Deep;
use crate::{Change, Finding, Id, Platform, Severity};
use serde::Serialize;

/// The one word, for the exit status.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// No finding, or notes only: exit status 0.
    Healthy,
    /// Warnings or worse: exit status 1.
    Findings,
    /// Nothing could be looked at: exit status 3.
    CouldNotCheck,
}

impl Verdict {
    /// The exit status that says so.
    pub fn exit_status(self) -> u8 {
        match self {
            Verdict::Healthy => 0,
            Verdict::Findings => 1,
            Verdict::CouldNotCheck => 3,
        }
    }
}

/// A check that could not be made, or only in part.
#[derive(Clone, Debug, Serialize)]
pub struct NotChecked {
    /// Which.
    pub id: Id,
    /// Why, and what would help: "needs root to read /proc/1/syscall".
    pub why: String,
}

/// What another kernel would change, for `--assume-kernel`.
#[derive(Clone, Debug, Serialize)]
pub struct Assumed {
    /// The kernel that was asked about. The findings are those under it.
    pub kernel: String,
    /// What it does otherwise than the one that runs.
    pub changes: Vec<Change>,
    /// Checks that find something now, and would find nothing.
    pub gone: Vec<Id>,
    /// Checks that find nothing now, and would find something.
    pub new: Vec<Id>,
}

/// Everything a run found. As JSON: schema `headwater.doctor/1`.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// "headwater.doctor/1".
    pub schema: &'static str,
    /// What was looked at: "this machine", the folder, the files.
    pub of: String,
    /// What it runs on.
    pub platform: Option<Platform>,
    /// The release of the kernel that runs.
    pub kernel: Option<String>,
    /// What another kernel would change, if that was asked.
    pub assumed: Option<Assumed>,
    /// Seconds from the kernel's start until its generator was ready.
    pub ready_seconds: Option<f64>,
    /// Findings, worst first, then by number.
    pub findings: Vec<Finding>,
    /// What could not be checked.
    pub not_checked: Vec<NotChecked>,
    /// Checks that were made and found nothing.
    pub passed: Vec<Id>,
    /// What was measured, if that was asked.
    pub deep: Option<Deep>,
    /// The boots that logs told of, the last one last.
    pub boots: Vec<Boot>,
}

impl Report {
    /// Keeps the checks that are wanted: those of `only`, all if it is empty, without those of `ignore`.
    pub fn keep(&mut self, only: &[Id], ignore: &[Id]) {
        let wanted = |id: Id| (only.is_empty() || only.contains(&id)) && !ignore.contains(&id);
        self.findings.retain(|finding| wanted(finding.id));
        self.not_checked.retain(|missed| wanted(missed.id));
        self.passed.retain(|id| wanted(*id));
        if let Some(assumed) = &mut self.assumed {
            assumed.gone.retain(|id| wanted(*id));
            assumed.new.retain(|id| wanted(*id));
        }
    }

    /// The one word.
    pub fn verdict(&self) -> Verdict {
        if self.findings.iter().any(|finding| finding.severity > Severity::Note) {
            Verdict::Findings
        } else if self.passed.is_empty() && self.findings.is_empty() {
            Verdict::CouldNotCheck
        } else {
            Verdict::Healthy
        }
    }
}
