//! Ctrl-C and its relatives: the first one ends the work in order, the second one at once.
//!
//! A check has machines of the user's running, and a directory of warm processes. If a signal ended
//! it on the spot, all of them would stay. So the signal sets a flag, each wait looks at it, and
//! the way out is the one of any other error, on which everything that was made is removed.

use anyhow::{Result, bail};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;
use std::fmt;
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

/// Makes the first of these signals set the flag, and the second one end the process.
pub(crate) fn listen() -> io::Result<()> {
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        // In this order: the flag is looked at before it is set.
        flag::register_conditional_default(signal, STOP.clone())?;
        flag::register(signal, STOP.clone())?;
    }
    Ok(())
}

/// Returns an error once a signal has come.
pub(crate) fn check() -> Result<()> {
    if STOP.load(Ordering::Relaxed) {
        bail!(Interrupted);
    }
    Ok(())
}
