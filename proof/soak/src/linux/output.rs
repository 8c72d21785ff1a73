//! Standard output.

use anyhow::{Context, Result};
use std::fmt::Display;
use std::io::Write;

/// Prints a line.
///
/// # Errors
///
/// If standard output takes none, such as a pipe that was closed. `println` would panic, and what
/// the soak made would stay.
pub(crate) fn line(text: impl Display) -> Result<()> {
    writeln!(std::io::stdout(), "{text}").context("cannot write to standard output")
}

/// Prints a fault, to standard error where standard output takes none: it must not be lost.
pub(crate) fn fault(text: impl Display) {
    if line(&text).is_err() {
        let _ = writeln!(std::io::stderr(), "{text}");
    }
}
