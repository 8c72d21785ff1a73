//! The numbers that a count finds.

use serde::Serialize;

/// The work of one warm call in user space: of many calls, the one with the median number of
/// instructions.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Count {
    /// Instructions, those of the vDSO and of the loop around the call included.
    pub instructions: u64,
    /// Read-modify-writes that lock: with a `lock` prefix, or an exchange with memory.
    pub locked: u64,
    /// Calls of the kernel.
    pub syscalls: u64,
    /// `rdrand` and `rdseed`: the generator is one for many CPUs.
    pub rdrand: u64,
    /// Cache lines that it writes and that calls on another CPU write too; unknown on one CPU.
    pub shared_lines: Option<u64>,
    /// The mean over all counted calls, which includes the share of refills.
    pub mean: Mean,
    /// Calls that were looked at.
    pub calls: usize,
}

/// See [`Count`].
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Mean {
    /// The mean of [`Count::instructions`].
    pub instructions: f64,
    /// The mean of [`Count::locked`].
    pub locked: f64,
    /// The mean of [`Count::syscalls`].
    pub syscalls: f64,
    /// The mean of [`Count::rdrand`].
    pub rdrand: f64,
    /// The mean of [`Count::shared_lines`].
    pub shared_lines: Option<f64>,
}
