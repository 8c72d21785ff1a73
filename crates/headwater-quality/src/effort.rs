//! How much work a run is: each budget's sizes in one place.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::time::Duration;

/// How long to look.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effort {
    /// At most half a second.
    Fast,
    /// A minute.
    Standard,
    /// Hours: the standard tests on block after block, their counts added up.
    Deep,
}

impl Effort {
    /// Words of the main block.
    pub(crate) fn block(self) -> usize {
        if self.thorough() { 1 << 24 } else { 1 << 19 }
    }

    /// Words of a block from several streams, keys or seeds.
    pub(crate) fn side_block(self) -> usize {
        match self {
            Effort::Fast => 1 << 15,
            Effort::Standard => 1 << 21,
            Effort::Deep => 1 << 24,
        }
    }

    /// Values of a view. Narrow ones show what they can show sooner.
    pub(crate) fn values(self, width: u32) -> usize {
        if width == 64 { self.block() } else { self.block() / 4 }
    }

    /// How long a slow source may take over its block.
    pub(crate) fn patience(self) -> Duration {
        Duration::from_millis(if self.thorough() { 20_000 } else { 120 })
    }

    /// Whether each plane gets the long tests too.
    pub(crate) fn thorough(self) -> bool {
        self != Effort::Fast
    }

    /// Windows of 4,096 bits whose complexity is taken in each plane.
    pub(crate) fn short_windows(self) -> usize {
        if self.thorough() { 16 } else { 1 }
    }

    /// Matrices of `side` in each plane.
    pub(crate) fn matrices(self, side: usize) -> usize {
        match (self.thorough(), side) {
            (_, 1024..) => 1,
            (false, 64) => 16,
            (false, _) => 2,
            (true, 64) => 256,
            (true, _) => 16,
        }
    }

    /// Values whose bits are compared with each other's.
    pub(crate) fn correlated(self) -> usize {
        if self.thorough() { 1 << 22 } else { 1 << 16 }
    }

    /// Words that sums over windows are taken of.
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
