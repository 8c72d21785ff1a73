//! The budgets of a run, with all their sizes in one place.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::time::Duration;

/// The budget of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Effort {
    /// About a second.
    Fast,
    /// A minute.
    Standard,
    /// Hours: the standard tests on block after block, with all counts added up.
    Deep,
}

impl Effort {
    /// Returns the number of words of the main block.
    pub(crate) fn block(self) -> usize {
        if self.thorough() { 1 << 24 } else { 1 << 19 }
    }

    /// Returns the number of words of a block from several streams, keys or seeds.
    pub(crate) fn side_block(self) -> usize {
        match self {
            Effort::Fast => 1 << 15,
            Effort::Standard => 1 << 21,
            Effort::Deep => 1 << 24,
        }
    }

    /// Returns the values of a view that is narrower than a word, a sample of the whole block.
    pub(crate) fn values(self) -> usize {
        self.block() / 4
    }

    /// Returns the time that a slow source has for its block.
    pub(crate) fn patience(self) -> Duration {
        Duration::from_millis(if self.thorough() { 20_000 } else { 120 })
    }

    /// Returns true if each plane gets the long tests too.
    pub(crate) fn thorough(self) -> bool {
        self != Effort::Fast
    }

    /// Returns the number of windows of 4,096 bits in each plane whose complexity is measured.
    pub(crate) fn short_windows(self) -> usize {
        if self.thorough() { 16 } else { 1 }
    }

    /// Returns the number of matrices of `side` in each plane.
    pub(crate) fn matrices(self, side: usize) -> usize {
        match (self.thorough(), side) {
            (_, 1024..) => 1,
            (false, 64) => 16,
            (false, _) => 2,
            (true, 64) => 256,
            (true, _) => 16,
        }
    }

    /// Returns the number of values whose bits are compared with each other.
    pub(crate) fn correlated(self) -> usize {
        if self.thorough() { 1 << 22 } else { 1 << 16 }
    }

    /// Returns the greatest number of terms of one Fourier transform.
    pub(crate) fn transformed(self) -> usize {
        if self.thorough() { 1 << 22 } else { 1 << 19 }
    }

    /// Returns the greatest number of pieces that are transformed.
    pub(crate) fn transforms(self) -> usize {
        if self.thorough() { 8 } else { 4 }
    }

    /// Returns the number of words whose bits are compared with sums of two others.
    pub(crate) fn related(self) -> usize {
        if self.thorough() { 1 << 20 } else { 1 << 14 }
    }

    /// Returns the number of words whose sums over windows are taken.
    pub(crate) fn summed(self) -> usize {
        if self.thorough() { 1 << 22 } else { 1 << 18 }
    }
}

impl fmt::Display for Effort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Effort::Fast => "fast",
            Effort::Standard => "standard",
            Effort::Deep => "deep",
        })
    }
}
