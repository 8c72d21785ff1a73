//! A process that CRIU dumps and restores, as it describes itself.

#[allow(unused_imports, reason = "for links")]
use crate::messages::{Message, Round};
use serde::{Deserialize, Serialize};

/// See [`Message::Dumpable`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dumpable {
    /// Number of the process.
    pub pid: u32,
    /// The mode that it is served in.
    pub mode: String,
    /// Memory that pages are made of.
    pub page: String,
    /// Version of the C library.
    pub libc: String,
    /// Names of the witnesses, in the order of [`Round::draws`].
    pub witnesses: Vec<String>,
}

/// See [`Message::Restored`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Restored {
    /// Content of a page that the kernel may drop.
    pub droppable: PageContent,
    /// Content of a page that is wiped on fork.
    pub wiped: PageContent,
    /// The first check of a stamp of headwater's that was up to date before the dump.
    pub stamp: StampCheck,
}

/// The answer of a stamp of headwater's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StampCheck {
    /// Something happened since the last check.
    Stale,
    /// Nothing happened.
    Fresh,
    /// Nothing was seen, but the machine cannot detect everything.
    Unknown,
}

impl StampCheck {
    /// Returns the name as in JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            StampCheck::Stale => "stale",
            StampCheck::Fresh => "fresh",
            StampCheck::Unknown => "unknown",
        }
    }
}

/// Content of a test page after a restore.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PageContent {
    /// The content at the dump.
    Kept,
    /// Zeros.
    Zero,
    /// This kernel has no such page.
    Absent,
}

impl PageContent {
    /// Returns the name in reports.
    pub fn name(self) -> &'static str {
        match self {
            PageContent::Kept => "kept",
            PageContent::Zero => "zero",
            PageContent::Absent => "absent",
        }
    }
}
