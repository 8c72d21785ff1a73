//! What strace(1) timed.

use crate::Evidence;
use serde::Serialize;

/// What one output of strace tells about random system calls.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Trace {
    /// The program, where the trace tells it (its execve).
    pub program: Option<String>,
    /// Time spent in getrandom, seconds.
    pub getrandom: f64,
    /// The longest call, seconds; of a summary the mean one.
    pub longest: f64,
    /// Time in all that the trace accounts for, seconds: in system calls for a summary (`-c`), by the clock for a trace.
    pub total: f64,
    /// Calls of getrandom.
    pub calls: u64,
    /// Whether it is the table of `-c`. Without `-w` such a table counts the CPU's time, and a call that waits takes none.
    pub summary: bool,
    /// The longest ones, and summary lines, at most ten.
    pub evidence: Vec<Evidence>,
}
