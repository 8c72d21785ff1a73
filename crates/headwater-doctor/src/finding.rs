//! What a check finds.

use crate::{Id, Platform};
use serde::Serialize;

/// How much it matters, worst last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth knowing; nothing to do. Does not make a machine unhealthy.
    Note,
    /// Something is weaker or slower than it could be.
    Warning,
    /// Boots stall, services wait, or bytes repeat.
    Critical,
}

/// What was read, and where, so that a reader can look for himself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Evidence {
    /// The file, the line of a log, the system call.
    pub place: String,
    /// What it says, cut to one line.
    pub says: String,
}

/// On which side a fix is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Where {
    /// On the hypervisor: no image has to be changed.
    Host,
    /// In the machine itself.
    Guest,
}

/// What a fix brings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Gives {
    /// Entropy at boot, once: what ends a stall.
    Seed,
    /// Entropy at boot and ever after.
    Volume,
    /// A signal at every clone.
    Signal,
    /// Nothing new: it takes something out of the way.
    Nothing,
}

/// One way to mend it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Fix {
    /// On which side.
    #[serde(rename = "where")]
    pub side: Where,
    /// What it is for, where it is for one platform only.
    pub platform: Option<Platform>,
    /// What to do, in a sentence.
    pub what: String,
    /// The exact setting or command, to be copied.
    pub exact: Option<String>,
    /// What it brings.
    pub gives: Gives,
    /// Whom it trusts: "the hypervisor", "the CPU's maker"; `None` if nobody new.
    pub trusts: Option<&'static str>,
}

/// What a check found.
#[derive(Clone, Debug, Serialize)]
pub struct Finding {
    /// Which check.
    pub id: Id,
    /// How much it matters here.
    pub severity: Severity,
    /// What is so, in one line with its figures: "ssh.service waited 101 s for the random generator".
    pub title: String,
    /// What it was read from.
    pub evidence: Vec<Evidence>,
    /// Why it matters, in a sentence or two.
    pub why: String,
    /// How to mend it, the best first: the hypervisor's side before the machine's own.
    pub fixes: Vec<Fix>,
    /// How to see that it is mended.
    pub verify: String,
}
