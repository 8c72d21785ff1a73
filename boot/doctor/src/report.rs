//! Everything a run found.

mod html;
mod prometheus;
#[cfg(test)]
mod schema;
#[cfg(test)]
pub(crate) mod tests;
mod text;
mod timeline;
mod words;

#[cfg(test)]
pub(crate) use text::COLUMNS;
pub(crate) use text::{fill, of};
pub(crate) use words::{severity, time};

use crate::boot::{Boot, Bounds};
use crate::deep::Deep;
use crate::identity::{Identity, Origin};
use crate::observe::Record;
use crate::{Change, Finding, Id, Platform, Severity};
use headwater_text::escape;
use serde::Serialize;

/// The result of a run in one word, which decides the exit status.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// No finding, or notes only: exit status 0.
    Healthy,
    /// Warnings or worse: exit status 1.
    Findings,
    /// No finding, but some checks could not be made: exit status 4.
    Incomplete,
    /// Nothing could be checked: exit status 3.
    CouldNotCheck,
}

impl Verdict {
    /// Returns the exit status of this verdict.
    pub fn exit_status(self) -> u8 {
        match self {
            Verdict::Healthy => 0,
            Verdict::Findings => 1,
            Verdict::Incomplete => 4,
            Verdict::CouldNotCheck => 3,
        }
    }
}

/// A check that could not be made, or only in part.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct NotChecked {
    /// Which.
    pub id: Id,
    /// The reason, and the remedy: "needs root to read /proc/1/syscall".
    pub why: String,
}

/// The difference that another kernel would make, for `--assume-kernel`.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Assumed {
    /// The kernel that was asked about. The findings are those under it.
    pub kernel: String,
    /// Differences from the running kernel.
    pub changes: Vec<Change>,
    /// Checks that find something now, and would find nothing.
    pub gone: Vec<Id>,
    /// Checks that find nothing now, and would find something.
    pub new: Vec<Id>,
}

/// All results of a run. The JSON form is schema `headwater.doctor/1`; times are in seconds, and an
/// unknown value is null.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Report {
    /// The name and version of this document's schema.
    #[cfg_attr(test, schemars(extend("const" = "headwater.doctor/1")))]
    pub schema: &'static str,
    /// The verdict, which the exit status follows.
    pub verdict: Verdict,
    /// The version of headwater that made the report.
    pub version: &'static str,
    /// Unix time of the facts in seconds; null for a recording or a log.
    pub time: Option<u64>,
    /// The names by which a fleet knows the machine.
    pub host: Origin,
    /// Hashed evidence of the machine's identity, for `--identity`.
    pub identity: Option<Identity>,
    /// The record of 'headwater doctor observe' at this boot; null without one.
    pub observed: Option<Record>,
    /// The input: "this machine", a recording, or log files.
    pub of: String,
    /// The machine's platform.
    pub platform: Option<Platform>,
    /// The release of the kernel that runs.
    pub kernel: Option<String>,
    /// The difference that another kernel would make, for `--assume-kernel`.
    pub assumed: Option<Assumed>,
    /// Seconds from the kernel's start until its generator was ready; null if the log shows no
    /// time, or only bounds of it.
    pub ready_seconds: Option<f64>,
    /// Bounds of the same time, if the log shows any.
    pub ready_bounds: Option<Bounds>,
    /// Findings, worst first, then by number.
    pub findings: Vec<Finding>,
    /// Checks that could not be made, or only in part.
    pub not_checked: Vec<NotChecked>,
    /// Checks that were made and found nothing.
    pub passed: Vec<Id>,
    /// Measurements, if the user asked for them.
    pub deep: Option<Deep>,
    /// The boots in the logs, the last one last.
    pub boots: Vec<Boot>,
    /// True if logs or traces are all that was read. The text is shorter then.
    #[serde(skip)]
    pub is_excerpt: bool,
}

impl Report {
    /// Keeps the checks in `only` (all, if it is empty) that are not in `ignore`.
    pub fn keep(&mut self, only: &[Id], ignore: &[Id]) {
        let wanted = |id: Id| (only.is_empty() || only.contains(&id)) && !ignore.contains(&id);
        self.findings.retain(|finding| wanted(finding.id));
        self.not_checked.retain(|missed| wanted(missed.id));
        self.passed.retain(|id| wanted(*id));
        if let Some(assumed) = &mut self.assumed {
            assumed.gone.retain(|id| wanted(*id));
            assumed.new.retain(|id| wanted(*id));
        }
        self.verdict = self.verdict();
    }

    /// Returns the report as JSON. Control and format characters are escaped, so that a document
    /// that is printed cannot move a terminal's cursor or reverse a line.
    ///
    /// # Errors
    ///
    /// The errors of serde_json, which cannot occur: every value of this type can be written.
    pub fn json(&self) -> serde_json::Result<String> {
        Ok(escape::json(&serde_json::to_string_pretty(self)?) + "\n")
    }

    /// Judges the findings and the checks that could not be made.
    pub fn verdict(&self) -> Verdict {
        if self.findings.iter().any(|finding| finding.severity > Severity::Note) {
            Verdict::Findings
        } else if !self.not_checked.is_empty() {
            Verdict::Incomplete
        } else if self.passed.is_empty() && self.findings.is_empty() {
            Verdict::CouldNotCheck
        } else {
            Verdict::Healthy
        }
    }
}
