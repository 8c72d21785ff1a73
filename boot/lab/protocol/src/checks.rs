//! The questions and answers of a guest's checks of sections and of memory nodes.

#[allow(unused_imports, reason = "for links")]
use crate::messages::{Command, Message};
use serde::{Deserialize, Serialize};

/// See [`Command::Sections`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SectionsPlan {
    /// Seconds for which the threads draw.
    pub seconds: u64,
    /// True if a CPU goes offline and online again, and threads change their CPU, meanwhile.
    pub unplug: bool,
}

/// See [`Message::Sections`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sections {
    /// The mode that the process was served in.
    pub mode: String,
    /// Path of shared draws, as `headwater status` names it.
    pub path: String,
    /// Threads that drew.
    pub threads: usize,
    /// 64-bit words that were drawn and compared.
    pub words: u64,
    /// Words that were zero.
    pub zeros: u64,
    /// Words that had been drawn before.
    pub repeats: u64,
    /// Context switches of the threads; without any, no section was interrupted.
    pub switches: u64,
    /// Times that a CPU went offline.
    pub unplugs: u64,
    /// Times that a thread was moved to another CPU.
    pub moves: u64,
    /// Why no CPU could be unplugged, if one was to be.
    pub unplug_error: Option<String>,
    /// Draws that a window of zeros sent to another path, as the process counts them.
    pub tripwires: u64,
    /// Draws that the kernel served because nothing else could.
    pub fallbacks: u64,
    /// Duration.
    pub took_us: u64,
}

/// See [`Command::Nodes`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodesPlan {
    /// Seconds for which threads draw, move, and lose their CPUs before the look; 0: none.
    pub seconds: u64,
}

/// See [`Message::Nodes`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Nodes {
    /// The mode that the process was served in.
    pub mode: String,
    /// Path of shared draws, as `headwater status` names it.
    pub path: String,
    /// CPUs of all nodes.
    pub cpus: usize,
    /// Memory nodes.
    pub nodes: usize,
    /// Pages that the CPUs draw from, each counted for each CPU that wrote it.
    pub pages: usize,
    /// Pages that lie on another node than their CPU.
    pub remote: usize,
    /// Pages that a second CPU wrote.
    pub shared: usize,
    /// CPUs whose draws wrote no page.
    pub without: usize,
    /// Pages of random bytes in memory.
    pub resident: usize,
    /// Pages in use, as `headwater status` counts them.
    pub used: u32,
    /// Threads that drew before the look.
    pub threads: usize,
    /// 64-bit words that they drew and compared.
    pub words: u64,
    /// Words that were zero.
    pub zeros: u64,
    /// Words that had been drawn before.
    pub repeats: u64,
    /// Times that a thread was moved to a CPU of another node.
    pub thread_moves: u64,
    /// Times that the process was moved to another node by a cpuset.
    pub process_moves: u64,
    /// Why no process could be moved.
    pub cpuset_error: Option<String>,
    /// Times that a CPU went offline.
    pub unplugs: u64,
    /// Why a CPU could not be unplugged.
    pub unplug_error: Option<String>,
    /// Draws that a window of zeros sent to another path, as the process counts them.
    pub tripwires: u64,
    /// Draws that the kernel served because nothing else could.
    pub fallbacks: u64,
    /// Duration.
    pub took_us: u64,
}

/// See [`Message::Symbol`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Symbol {
    /// Its address; `None`: /proc/kallsyms has no such name.
    pub address: Option<u64>,
}
