//! The events that a message can report. Readers of messages produce them and the boots take them
//! in, so they stand apart from both.

use super::clock_set::ClockStep;
use super::machine::MachineFact;
use crate::boot::{HintKind, Waiter};

/// An event that a message reports.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum LogEvent<'a> {
    /// The text after "Linux version", which begins with the kernel's release.
    Version(&'a str),
    CommandLine(&'a str),
    /// The first program starts; or, before Linux 4.18, the kernel frees its own start-up code
    /// immediately before.
    Init {
        is_start: bool,
    },
    /// The kernel prints this once, in its own start and before any program.
    KernelStarts,
    FastInit,
    /// The generator is ready; whether because the CPU's maker is trusted.
    Ready {
        trusted: bool,
    },
    EarlyCaller {
        caller: &'a str,
        crng_init: u8,
    },
    EarlyRead {
        program: &'a str,
        bytes: u64,
    },
    Missed(u64),
    Fork,
    Resumed,
    Hint(HintKind),
    /// A line about a unit's start; [`super::units`] reads it.
    Unit,
    /// systemd-random-seed waits for the generator.
    SeedWait,
    /// A program runs.
    Program,
    /// The boot is complete, so many seconds after the kernel's start.
    StartupFinished(f64),
    /// A fact about the machine.
    Machine(MachineFact<'a>),
    /// The wall clock was set.
    ClockSet(ClockStep),
    /// The start of systemd-random-seed has taken so many seconds, so far or in all.
    SeedJob {
        seconds: f64,
        is_over: bool,
    },
    /// A JVM has waited so many seconds for the seed of its SecureRandom.
    SecureRandom(f64),
    /// A program waits for random bytes, and has so for these seconds, if it says so.
    ProgramWaits {
        waiter: Waiter,
        seconds: Option<f64>,
    },
    /// A thread or a task hangs for so many seconds; lines that follow show its stack.
    Hangs(f64),
    /// A frame of a stack in the kernel's log. It counts only for a task that
    /// [hangs](Self::Hangs).
    Frame(Waiter),
    /// A line of strace(1) with this process number.
    Traced(u32),
}
