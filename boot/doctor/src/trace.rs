//! Output of strace(1).

use crate::Evidence;
use serde::Serialize;

/// Times of random system calls in one output of strace.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Trace {
    /// The program, if the trace shows its execve.
    pub program: Option<String>,
    /// Time spent in getrandom, seconds.
    pub getrandom: f64,
    /// The longest call, seconds; of a summary the mean one.
    pub longest: f64,
    /// The total time of the trace in seconds: in system calls for a summary (`-c`), by the clock
    /// for a trace.
    pub total: f64,
    /// Calls of getrandom.
    pub calls: u64,
    /// True for the table of `-c`. Without `-w` such a table counts the CPU's time, and a call that
    /// waits takes none.
    pub summary: bool,
    /// True if the calls waited for /dev/random and not in getrandom.
    pub device: bool,
    /// The longest ones, and summary lines, at most ten.
    pub evidence: Vec<Evidence>,
}
