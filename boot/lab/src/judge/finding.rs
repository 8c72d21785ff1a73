//! Findings: the promises and expectations that a run did not meet.

use serde::Serialize;

/// A promise or expectation that a run did not meet.
#[derive(Clone, Debug, Serialize)]
pub struct Finding {
    /// Name of the situation, or `boot`, `criu`, `sections`.
    pub situation: &'static str,
    /// Severity.
    pub kind: FindingKind,
    /// Description with the numbers.
    pub text: String,
}

/// Severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FindingKind {
    /// A promise is broken.
    Broken,
    /// The run did not produce the event that it was made for. Another run may.
    NotShown,
}
