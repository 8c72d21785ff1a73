//! The document of a comparison: what a check found of each source, and of the copies' kernels.
//!
//! `compare` fills it, and `report` shows it.

use crate::catalogue::{Class, Renewer};
use serde::Serialize;

/// The schema of a comparison.
pub(crate) const SCHEMA: &str = "headwater.clones/1";

/// The thing that was copied.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum Copied {
    /// Processes: all copies run on one kernel of one machine.
    Process,
    /// Machines, each with a copy of the kernel.
    Machine,
}

/// The verdict on a source.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum Verdict {
    /// Copies gave equal values, and it can be renewed.
    Repeats,
    /// Copies gave equal values, and nothing outside the program or in it can change that.
    NotRenewable,
    /// The draws prove nothing.
    NotShown,
    /// No two copies gave an equal value.
    Differs,
}

/// The comparison of all copies.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Comparison {
    /// `headwater.clones/1`.
    pub schema: &'static str,
    /// The number of copies that drew.
    pub copies: usize,
    /// The thing that was copied.
    pub copied: Copied,
    /// A limit of the tool that made the copies, if it has one.
    pub note: Option<&'static str>,
    /// The number of sources that repeat and can be renewed. The check fails if there is one.
    pub repeats: usize,
    /// The number of sources that repeat and cannot be renewed.
    pub not_renewable: usize,
    /// The number of sources whose draws prove nothing, or that were not drawn.
    pub not_shown: usize,
    /// The number of sources that differ.
    pub differs: usize,
    /// Milliseconds from the copy to the reseed of its kernel, in the slowest copy: the values that
    /// the kernel made before may repeat. Only where each kernel shows a reseed after the copy.
    pub reseeded_after_ms: Option<u64>,
    /// Milliseconds within which the reseed was to come. If it came later, or a copy shows none,
    /// the check fails.
    pub reseed_limit_ms: Option<u64>,
    /// Stamps of headwater, one a mode: whether they said that a copy had been made.
    pub stamps: Vec<Stamps>,
    /// The sources: those that repeat first.
    pub rows: Vec<Compared>,
    /// Witnesses that did not run, with the reason.
    pub absent: Vec<Absent>,
}

impl Comparison {
    /// Returns true if a reseed was to come within a time, and is not shown to have done so.
    ///
    /// A reseed that came late makes the values differ that were drawn after it, so no row shows
    /// that programs ran before it. A reseed that is not shown may not have come at all, and fails
    /// as well, because a limit asks for a proof.
    #[must_use]
    pub fn is_late(&self) -> bool {
        let is_beyond = |limit| self.reseeded_after_ms.is_none_or(|ms| ms > limit);
        self.reseed_limit_ms.is_some_and(is_beyond)
    }
}

/// The answers of a stamp of headwater in the copies.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Stamps {
    /// The witness.
    pub witness: String,
    /// In how many copies the stamp went stale after the copy.
    pub stale: usize,
    /// In how many copies the witness was heard.
    pub of: usize,
    /// Milliseconds from the copy to the look that found it stale, in the slowest copy. The time
    /// between two looks is a part: 20 ms within three seconds, a second within two minutes, and
    /// all since the start of the machine where no look of before the copy is left.
    pub within_ms: Option<u64>,
    /// True if the stamp answers that it cannot see a copy.
    pub unknown: bool,
}

/// A source.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Compared {
    /// Its name.
    pub id: String,
    /// The watched runtime, with its version.
    pub title: String,
    /// The verdict.
    pub verdict: Verdict,
    /// In how many copies a value is that another copy has, too.
    pub copies: usize,
    /// The number of values of one copy that another copy has, too: the most of any copy.
    pub repeated: usize,
    /// The number of values that each copy drew.
    pub draws: usize,
    /// Milliseconds from the trigger to the last value that repeats, where they were measured.
    pub until_ms: Option<u64>,
    /// Where its state lives.
    pub class: Class,
    /// The one that can renew it.
    pub renewed_by: Renewer,
    /// The way to renew it, or the reason why there is none.
    pub advice: String,
    /// Why the draws prove nothing.
    pub why: Option<String>,
}

/// A witness that did not run.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Absent {
    /// The witness.
    pub witness: String,
    /// The reason.
    pub why: String,
}
