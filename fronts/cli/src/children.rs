//! Children whose status can be read.

use signal_hook::consts::signal::SIGCHLD;
use std::sync::Arc;
use std::{fs, io};

/// Makes the kernel keep the status of each child. A parent may have left SIGCHLD ignored; then the
/// kernel forgets it, and waiting fails after the child has run.
///
/// # Errors
///
/// If no handler can be set.
pub(crate) fn keep_status() -> io::Result<()> {
    if is_ignored().unwrap_or(true) {
        signal_hook::flag::register(SIGCHLD, Arc::default())?;
    }
    Ok(())
}

/// Returns whether SIGCHLD is ignored (proc_pid_status(5)); nothing where /proc is not mounted.
fn is_ignored() -> Option<bool> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"))?;
    let mask = u64::from_str_radix(mask.trim(), 16).ok()?;
    Some(mask & 1 << (SIGCHLD - 1) != 0)
}
