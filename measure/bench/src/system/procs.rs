//! The other processes of a measurement, and what they bring home.

use crate::system::process::{self, Child};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::io::{self, BufReader, BufWriter, PipeReader, Write};

/// A process that is measuring. It ends when this is dropped.
pub(crate) struct Other {
    child: Child,
    results: PipeReader,
}

/// Starts a process that runs `body` and sends what comes of it.
///
/// # Errors
///
/// The errors are those of [`process::fork`].
pub(crate) fn start<T: Serialize>(body: impl FnOnce() -> Result<T, String>) -> io::Result<Other> {
    let (results, writer) = io::pipe()?;
    let child = process::fork(|| {
        let mut writer = BufWriter::new(writer);
        // If the parent has ended, the result has no reader.
        let _ = serde_json::to_writer(&mut writer, &body());
        let _ = writer.flush();
    })?;
    // This process's copy of the writing end went with the closure, so that a child's death ends
    // the pipe.
    Ok(Other { child, results })
}

impl Other {
    /// Waits for its end. A process that ended without a word did not end well.
    pub(crate) fn finish<T: DeserializeOwned>(self) -> Result<T, String> {
        let sent = serde_json::from_reader(BufReader::new(self.results));
        let ended = self.child.wait();
        match (sent, ended) {
            (Ok(result), Ok(())) => result,
            (_, Err(error)) => Err(error.to_string()),
            (Err(error), Ok(())) => Err(format!("a forked process did not report: {error}")),
        }
    }
}
