//! Ctrl-C and its relatives: the first one ends the work in order, the second one at once.
//!
//! A check has machines of the user's running, and a directory of warm processes. If a signal ended
//! it on the spot, all of them would stay. So the signal sets a flag, each wait looks at it, and
//! the way out is the one of any other error, on which everything that was made is removed.

use anyhow::{Result, bail};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;
use std::ffi::c_int;
use std::fmt;
use std::fs;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};

static STOP: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);

/// A signal ended the work.
#[derive(Debug)]
pub struct Interrupted;

impl fmt::Display for Interrupted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ended by a signal; what was made is removed, and there is no verdict")
    }
}

impl std::error::Error for Interrupted {}

/// Makes the first of these signals set the flag.
pub(crate) fn listen() -> io::Result<()> {
    stop_in_order(&STOP)
}

/// Makes the first of these signals set `stop`, and the second one end the process. But SIGHUP
/// stays ignored if it was: nohup(1) is asked for because the terminal will end, and the work is
/// not to end with it.
///
/// # Errors
///
/// If no handler can be set.
pub fn stop_in_order(stop: &Arc<AtomicBool>) -> io::Result<()> {
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        if signal == SIGHUP && is_ignored(signal) == Some(true) {
            continue;
        }
        // In this order: the flag is looked at before it is set.
        flag::register_conditional_default(signal, stop.clone())?;
        flag::register(signal, stop.clone())?;
    }
    Ok(())
}

/// Returns whether this process ignores a signal (proc_pid_status(5)); nothing where /proc is not
/// mounted.
pub fn is_ignored(signal: c_int) -> Option<bool> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"))?;
    let mask = u64::from_str_radix(mask.trim(), 16).ok()?;
    Some(mask & 1 << (signal - 1) != 0)
}

/// Returns an error once a signal has come.
pub(crate) fn check() -> Result<()> {
    if STOP.load(Ordering::Relaxed) {
        bail!(Interrupted);
    }
    Ok(())
}
