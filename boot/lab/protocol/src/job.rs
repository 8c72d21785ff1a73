//! A program that the lab's user runs in a guest, and what comes back from it.

use crate::hex;
#[allow(unused_imports, reason = "for links")]
use crate::messages::{Command, Message};
use serde::{Deserialize, Serialize};
use std::ffi::OsString;

/// Directory of the guest's archive with the files of a job.
pub const DIRECTORY: &str = "job";

/// See [`Command::Run`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Job {
    /// Name of the program's file in [`DIRECTORY`].
    pub program: String,
    /// Its arguments, of any bytes.
    pub arguments: Vec<OsString>,
    /// Variables of its environment, each with its value.
    pub environment: Vec<(String, String)>,
}

/// See [`Message::Output`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Output {
    /// True for standard error.
    pub error: bool,
    /// The bytes, as far as one read returned them.
    #[serde(with = "hex")]
    pub bytes: Vec<u8>,
}

/// See [`Message::Ended`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ended {
    /// Exit status; `None` after a signal.
    pub status: Option<i32>,
    /// The signal that ended the program.
    pub signal: Option<i32>,
    /// Processes that had not ended with it, and that the guest has killed.
    pub left: u64,
    /// Duration.
    pub took_us: u64,
}
