//! Findings.

use crate::{Id, Platform};
use serde::Serialize;

/// The severity of a finding, worst last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth knowing; nothing to do. Does not make a machine unhealthy.
    Note,
    /// Something is weaker or slower than it could be.
    Warning,
    /// Boots stall, services wait, or bytes repeat.
    Critical,
}

/// A quotation and its place, so that the reader can check it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Evidence {
    /// The file, the line of a log, the system call.
    pub place: String,
    /// The text there, cut to one line.
    pub says: String,
}

/// Returns one line of evidence.
pub(crate) fn evidence(place: impl Into<String>, says: impl Into<String>) -> Evidence {
    Evidence { place: place.into(), says: says.into() }
}

/// The side on which a fix is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Side {
    /// The hypervisor, where no image has to be changed.
    Host,
    /// The machine itself.
    Guest,
}

/// The effect of a fix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Effect {
    /// Entropy once, at boot, which ends a stall.
    Seed,
    /// Entropy at boot and ever after.
    Volume,
    /// A signal at every clone.
    Signal,
    /// The removal of an obstacle, without a new source or signal.
    Nothing,
}

/// One way to fix the finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Fix {
    /// The side on which the fix is made.
    #[serde(rename = "where")]
    pub side: Side,
    /// The platform, if the fix applies to one platform only.
    pub platform: Option<Platform>,
    /// The action, in a sentence.
    pub what: String,
    /// The exact setting or command, to be copied.
    pub exact: Option<String>,
    /// The effect.
    pub gives: Effect,
    /// The party that must be trusted: "the hypervisor", "the CPU's maker"; `None` if no new one.
    pub trusts: Option<&'static str>,
}

/// The result of a check that found something.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Finding {
    /// Which check.
    pub id: Id,
    /// The severity on this machine.
    pub severity: Severity,
    /// The fact in one line with its figures: "ssh.service waited 101 s for the random generator".
    pub title: String,
    /// The places that show the fact.
    pub evidence: Vec<Evidence>,
    /// The consequence, in a sentence or two.
    pub why: String,
    /// Fixes, the best first: the hypervisor's side before the machine's own.
    pub fixes: Vec<Fix>,
    /// The command that shows that the finding is fixed.
    pub verify: String,
}
