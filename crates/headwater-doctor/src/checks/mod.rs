//! The checks, one file each, and the table of all of them.

mod not_ready;

use crate::{Case, Finding, Id};

/// What a check gives.
#[derive(Clone, Debug)]
pub enum Answer {
    /// It looked at everything; what it found, if anything.
    Found(Vec<Finding>),
    /// It looked as far as it could; what it found so far, and what it could not look at and why:
    /// "needs root to read /proc/1/syscall".
    InPart(Vec<Finding>, String),
    /// It could not look, and why.
    CouldNot(String),
    /// Nothing of the kind that it looks at was given (a log without a machine, a machine without a trace).
    NotAsked,
}

impl Answer {
    /// It looked, and all is well.
    pub const fn fine() -> Answer {
        Answer::Found(Vec::new())
    }
}

impl From<Finding> for Answer {
    fn from(finding: Finding) -> Answer {
        Answer::Found(vec![finding])
    }
}

impl From<Option<Finding>> for Answer {
    fn from(finding: Option<Finding>) -> Answer {
        Answer::Found(finding.into_iter().collect())
    }
}

/// A check and its name.
pub struct Check {
    /// Which.
    pub id: Id,
    /// Looks at the case.
    pub run: fn(&Case) -> Answer,
}

const fn check(id: Id, run: fn(&Case) -> Answer) -> Check {
    Check { id, run }
}

/// Every check, in the order of their numbers.
pub const CHECKS: &[Check] = &[check(Id::NotReady, not_ready::check)];
