//! The end of a soak before its time: by a signal, or with its parent.
//!
//! A round has tens of processes in a group of their own, which Ctrl-C does not reach, and a
//! control group. So a signal only sets a flag. The supervisor looks at it, ends the round, and
//! leaves in order. SIGKILL allows no such thing. Therefore each process that draws until its
//! round is over asks the kernel to be killed with its parent. Their children cannot, because the
//! kernel would kill them with the thread that forked them, and need not: each of them ends after
//! fifty batches at most. One that was stopped just then waits to be continued. The next soak kills
//! it if it is in the control group, which only a round with reclaim has.

use rustix::process::{Signal, getppid, set_parent_process_death_signal};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::{fs, io};

/// The flag that a signal sets.
pub(crate) struct Stop(Arc<AtomicBool>);

impl Stop {
    /// Makes the first of these signals set the flag, and the second one end the process. But
    /// SIGHUP stays ignored if it was: nohup(1) is asked for because the terminal will end.
    pub(crate) fn listen() -> io::Result<Stop> {
        let stop = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            if signal == SIGHUP && is_ignored(signal) {
                continue;
            }
            // In this order: the flag is looked at before it is set.
            flag::register_conditional_default(signal, stop.clone())?;
            flag::register(signal, stop.clone())?;
        }
        Ok(Stop(stop))
    }

    /// Returns whether a signal has come.
    pub(crate) fn came(&self) -> bool {
        self.0.load(Relaxed)
    }
}

/// Returns whether this process ignores a signal (proc_pid_status(5)).
fn is_ignored(signal: i32) -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask & 1 << (signal - 1) != 0)
}

/// Has the kernel kill this process as soon as its parent has ended. It must be called in the only
/// thread, and `parent` must have one thread or have started this process from one that stays: the
/// kernel looks at the end of that thread.
pub(crate) fn end_with(parent: i64) {
    let _ = set_parent_process_death_signal(Some(Signal::KILL));
    // A parent that ended before the call sends no signal any more.
    if getppid().is_none_or(|pid| i64::from(pid.as_raw_nonzero().get()) != parent) {
        std::process::exit(3);
    }
}
