//! Children whose status can be read.

use headwater_clones::is_ignored;
use signal_hook::consts::signal::SIGCHLD;
use std::io;
use std::sync::Arc;

/// Makes the kernel keep the status of each child. A parent may have left SIGCHLD ignored; then the
/// kernel forgets it, and waiting fails after the child has run.
///
/// # Errors
///
/// If no handler can be set.
pub(crate) fn keep_status() -> io::Result<()> {
    if is_ignored(SIGCHLD).unwrap_or(true) {
        signal_hook::flag::register(SIGCHLD, Arc::default())?;
    }
    Ok(())
}
