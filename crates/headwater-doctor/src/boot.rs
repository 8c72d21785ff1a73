//! Boots, as logs show them.

use crate::Evidence;
use serde::Serialize;

/// One boot, read from a log. Times are seconds since the kernel started, unless [`Boot::clock`]
/// says otherwise; facts that the log lacks are `None`.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Boot {
    /// The origin of all times of this boot.
    pub clock: Clock,
    /// The kernel's release, from "Linux version ...".
    pub kernel: Option<String>,
    /// The line that names the release, for findings to quote.
    #[serde(skip)]
    pub kernel_by: Option<Evidence>,
    /// The boot's id, if the log has one. Logs with the same id are of the same boot.
    #[serde(skip)]
    pub id: Option<String>,
    /// The kernel's command line.
    pub command_line: Option<String>,
    /// When the first program started.
    pub init: Option<Moment>,
    /// "fast init done": kernels before 5.18 only.
    pub fast_init: Option<Moment>,
    /// "crng init done".
    pub ready: Option<Moment>,
    /// The last line's time: how far the log goes.
    pub end: Option<f64>,
    /// The kernel's own calls before the generator was ready, the same caller once.
    pub early_callers: Vec<EarlyCaller>,
    /// Reads of /dev/urandom before it was ready.
    pub early_reads: Vec<EarlyRead>,
    /// Warnings that the kernel's rate limit left out.
    pub warnings_missed: u64,
    /// "crng reseeded due to virtual machine fork".
    pub forks: Vec<Moment>,
    /// "crng reseeded on system resumption".
    pub resumptions: Vec<Moment>,
    /// The systemd units in the log.
    pub units: Vec<Unit>,
    /// Other lines that decide something: clock source, virtio-rng, seccomp kills, RDRAND errata.
    pub hints: Vec<Hint>,
}

/// The origin of a boot's times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Clock {
    /// The log has no times.
    #[default]
    None,
    /// The kernel's start.
    Kernel,
    /// The boot's first line, by the wall clock. journald stamps earlier messages of the kernel
    /// with its own start, so these times are some seconds too small and never too large.
    FirstLine,
}

/// A time, and the line that shows it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Moment {
    /// Seconds since the kernel started; `None` in a log without times.
    pub at: Option<f64>,
    /// The line.
    pub evidence: Evidence,
}

/// "get_random_bytes called from CALLER with crng_init=N".
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct EarlyCaller {
    /// When first.
    pub moment: Moment,
    /// The kernel's function.
    pub caller: String,
    /// 0: nothing gathered; 1: a first 64 bytes.
    pub crng_init: u8,
    /// The number of occurrences.
    pub times: u64,
}

/// "NAME: uninitialized urandom read (N bytes read)".
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct EarlyRead {
    /// When first.
    pub moment: Moment,
    /// The program's name.
    pub program: String,
    /// In all.
    pub bytes: u64,
    /// The number of occurrences.
    pub times: u64,
}

/// A unit of systemd, as often as it was started.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Unit {
    /// Its name, such as ssh.service.
    pub name: String,
    /// Its starts, in order.
    pub attempts: Vec<Attempt>,
}

/// One start of a unit.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Attempt {
    /// "Starting ...".
    pub began: Moment,
    /// When that was over; `None` if the log ends before.
    pub ended: Option<Moment>,
    /// The way in which the start ended.
    pub outcome: Outcome,
}

/// The end of a unit's start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// "Started ...".
    Started,
    /// systemd killed it at its start timeout.
    TimedOut,
    /// It failed.
    Failed,
    /// The log does not show the end.
    Unknown,
}

/// A line that decides something.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Hint {
    /// The meaning of the line.
    pub kind: HintKind,
    /// When and where.
    pub moment: Moment,
}

/// The meaning of a line. The list grows with the checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum HintKind {
    /// A clock source was chosen or found unstable.
    ClockSource,
    /// The CPU's random instruction was found broken and is hidden.
    RdrandErratum,
    /// The CPU's manufacturer was trusted: "crng done (trusting CPU's manufacturer)".
    TrustedCpu,
    /// The boot loader's seed was credited, or refused.
    BootSeed,
    /// A random device registered.
    Hwrng,
    /// A filter killed a process for a system call.
    SeccompKill,
    /// A process image was restored.
    Criu,
}
