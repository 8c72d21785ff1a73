//! Standard output.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsFd;

/// Standard output without a buffer of its own: `std::io::Stdout` would keep copies of random bytes
/// that nobody erases, and cut them at each byte that happens to be a newline.
pub(crate) fn unbuffered() -> io::Result<File> {
    io::stdout().as_fd().try_clone_to_owned().map(File::from)
}

/// Writes a text that is complete.
pub(crate) fn text(text: &str) -> io::Result<()> {
    unbuffered()?.write_all(text.as_bytes())
}

/// Writes a text with colours in it, and takes them out unless stdout is a terminal that wants them
/// (`NO_COLOR`, `CLICOLOR`, `CLICOLOR_FORCE`, `TERM`).
pub(crate) fn coloured(styled: &str) -> io::Result<()> {
    match anstream::AutoStream::choice(&io::stdout()) {
        anstream::ColorChoice::Never => text(&anstream::adapter::strip_str(styled).to_string()),
        _ => text(styled),
    }
}

/// A JSON document, indented, for people read it too.
pub(crate) fn json(document: &impl serde::Serialize) -> io::Result<()> {
    let mut pretty = serde_json::to_string_pretty(document)?;
    pretty.push('\n');
    text(&pretty)
}
