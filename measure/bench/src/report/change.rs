//! Changes since an earlier run, as data.

use crate::impls::names::is_headwater;
use serde::Serialize;

/// A report held against an earlier one.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Changes {
    /// The date of the earlier run, in seconds since 1970.
    pub date: Option<u64>,
    /// Other differences: kernel, libraries, settings; one clause each.
    pub differences: Vec<String>,
    /// Every figure that both runs have.
    pub changes: Vec<Change>,
    /// Figures that only the earlier run has.
    pub gone: usize,
    /// Figures that only this run has.
    pub new: usize,
}

/// One figure, then and now.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Change {
    /// The row's case.
    pub case: String,
    /// The row's implementation.
    #[serde(rename = "impl")]
    pub implementation: String,
    /// Bytes drawn by a call.
    pub len: usize,
    /// Threads that drew.
    pub threads: usize,
    /// The part of the row's title that distinguishes it from others of these names.
    pub title: String,
    /// Time now, as so many times the time then.
    pub ratio: f64,
    /// The least value within the 95 % intervals of both medians.
    pub low: f64,
    /// The greatest value within the 95 % intervals of both medians.
    pub high: f64,
    /// The change of the others that were timed in the same rounds: the median of their ratios;
    /// `None` without others of the same version.
    pub others: Option<f64>,
    /// The conclusion.
    pub verdict: ChangeVerdict,
}

/// The conclusion about one figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ChangeVerdict {
    /// The figure has not changed by more than noise.
    Same,
    /// Faster by more than noise.
    Faster,
    /// Slower by more than noise.
    Slower,
    /// Beyond noise, but so have the others in the same rounds: the machine has changed its speed.
    Machine,
}

impl Changes {
    /// Returns headwater's figures that are slower by more than noise.
    pub fn regressions(&self) -> impl Iterator<Item = &Change> {
        self.changes.iter().filter(|change| {
            change.verdict == ChangeVerdict::Slower && is_headwater(&change.implementation)
        })
    }
}
