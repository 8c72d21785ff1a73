//! Standard output.

use crate::closed;
use crate::failure::Failure;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::path::Path;

/// Returns an error for a file that cannot be written, before minutes were spent on its content.
pub(crate) fn check_file(file: &Path) -> Result<(), Failure> {
    headwater_text::file::check(file)
        .map_err(|error| Failure::Usage(format!("cannot write {}: {error}", file.display())))
}

/// Returns standard output without a buffer. `std::io::Stdout` would keep copies of random bytes
/// that are never erased, and would flush at each byte that equals a newline.
///
/// # Errors
///
/// EBADF if the caller closed standard output.
pub(crate) fn unbuffered() -> io::Result<File> {
    if closed::stdout() {
        return Err(io::Error::from_raw_os_error(libc::EBADF));
    }
    io::stdout().as_fd().try_clone_to_owned().map(File::from)
}

/// Writes a complete text.
pub(crate) fn text(text: &str) -> io::Result<()> {
    unbuffered()?.write_all(text.as_bytes())
}

/// Writes a text with colours, and removes the colours unless stdout is a terminal that shows them
/// (`NO_COLOR`, `CLICOLOR`, `CLICOLOR_FORCE`, `TERM`).
pub(crate) fn coloured(styled: &str) -> io::Result<()> {
    match anstream::AutoStream::choice(&io::stdout()) {
        anstream::ColorChoice::Never => text(&anstream::adapter::strip_str(styled).to_string()),
        _ => text(styled),
    }
}

/// Writes a JSON document, indented for human readers.
pub(crate) fn json(document: &impl serde::Serialize) -> io::Result<()> {
    let mut pretty = serde_json::to_string_pretty(document)?;
    pretty.push('\n');
    text(&pretty)
}

/// Writes a JSON document on one line, for a reader of lines.
pub(crate) fn json_line(document: &impl serde::Serialize) -> io::Result<()> {
    let mut line = serde_json::to_string(document)?;
    line.push('\n');
    text(&line)
}
