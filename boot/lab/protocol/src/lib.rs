//! Messages between the lab and the program in its guests, one per line of a serial port.
//!
//! A line is the marker `HW`, a checksum, one JSON object and a newline. The lab sends
//! [`Command`]s, the guest sends [`Message`]s. Both sides compile these types, so a field that one
//! side forgets is an error of the compiler and not an empty string in a table.
//!
//! Firmware and the kernel can write to the same port. A line without the marker is therefore
//! theirs, and [`read`] returns `None` for it. A line with the marker whose checksum or JSON is
//! wrong is a message that was cut or mixed with such text; [`read`] returns an error, because a
//! comparison of clones that lacks a draw would report fewer repeats than there were. [`Done`]
//! carries the number of messages before it, so that a line whose marker was lost is noticed too.
#![forbid(unsafe_code)]

mod checks;
mod files;
mod hex;
mod job;
mod messages;
mod restored;

pub use checks::*;
pub use files::*;
pub use job::{DIRECTORY as JOB_DIRECTORY, Ended, Job, Output};
pub use messages::*;
pub use restored::*;

use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt;

/// Start of each line of the protocol.
pub const MARKER: &str = "HW ";

/// Digits of the checksum.
const DIGITS: usize = 8;

/// Longest part of a damaged line that an error message repeats.
const SHOWN: usize = 120;

/// A line with the marker whose rest is not a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damaged {
    line: String,
    reason: String,
}

impl fmt::Display for Damaged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "cannot read the line '{}' ({}): it is damaged, or the other side is another version",
            self.line, self.reason
        )
    }
}

impl std::error::Error for Damaged {}

/// Returns the line of a command or message, with its newline.
///
/// JSON escapes control characters, so no text in a message can end the line early.
pub fn line(message: &impl Serialize) -> String {
    let json = serde_json::to_string(message).expect("every type here can be written as JSON");
    format!("{MARKER}{:0DIGITS$x} {json}\n", checksum(&json))
}

/// Reads a line: a command or message, or `None` if the line does not have the marker.
///
/// # Errors
///
/// [`Damaged`] if the line has the marker and its rest is not a `T` with its checksum.
pub fn read<T: DeserializeOwned>(line: &str) -> Result<Option<T>, Damaged> {
    let Some(rest) = line.trim_end_matches(['\r', '\n']).strip_prefix(MARKER) else {
        return Ok(None);
    };
    let damaged = |reason: String| {
        let shown: String = line.trim_end().chars().take(SHOWN).collect();
        Damaged { line: shown.escape_debug().to_string(), reason }
    };
    let (sum, json) = rest.split_once(' ').unwrap_or((rest, ""));
    if sum != format!("{:0DIGITS$x}", checksum(json)) {
        return Err(damaged("wrong checksum".to_owned()));
    }
    serde_json::from_str(json).map(Some).map_err(|error| damaged(error.to_string()))
}

/// Computes FNV-1a of 32 bits. The checksum finds accidents of a serial line, it does not resist an
/// attacker.
fn checksum(text: &str) -> u32 {
    text.bytes().fold(0x811c_9dc5, |sum, byte| (sum ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}
