//! The start of a process: the seconds until its first random byte, and the source of it.
//!
//! Since Linux 5.4 no boot waits for minutes, and the wait moved into programs: AWS-LC collects the
//! jitter of the CPU for 10 to 50 ms in each process before its first byte (aws-lc#3180,
//! aws-lc-rs#899 and #1140). No trace of system calls shows that, because computing is no call. So
//! the program is run under ptrace(2): a filter stops it at the few calls that matter, and
//! breakpoints stop it at the functions that make random bytes, among them the vDSO's getrandom.
//! Its own cost is measured first and subtracted.

// The parts that only x86-64 uses are compiled everywhere, so that each build finds their mistakes.
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]
mod draws;
#[cfg(target_arch = "x86_64")]
mod follow;
#[cfg(target_arch = "x86_64")]
mod image;
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]
mod report;
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]
mod symbols;
#[cfg(target_arch = "x86_64")]
mod tracee;
#[cfg(target_arch = "x86_64")]
mod watch;

pub use draws::Source;
pub use report::{DrawReport, StartReport};

use crate::Error;
use std::ffi::OsString;
use std::time::Duration;

/// Find out how long a program takes to its first random byte, from which source, and what would
/// be faster
#[derive(clap::Args, Clone, Debug)]
#[command(after_help = "\
Runs COMMAND once under ptrace(2), with its output dropped, and ends it after --seconds. Needs
x86-64, and the right to trace own processes (in a container: --cap-add SYS_PTRACE). A program that
is set-uid runs with the caller's rights.

Exit status: 0 nothing would be faster; 1 CPU jitter of 5 ms or more, or a wait of 0.3 s or more;
2 wrong usage; 3 COMMAND cannot be started or traced; 4 no random byte was seen.")]
pub struct StartArgs {
    /// End the program and its children after so many seconds
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = crate::args::seconds)]
    pub seconds: Duration,

    /// Print JSON (schema headwater.start/1)
    #[arg(long)]
    pub json: bool,

    /// Print nothing; the exit status is the answer
    #[arg(long, short, conflicts_with = "json")]
    pub quiet: bool,

    /// The program and its arguments
    #[arg(required = true, trailing_var_arg = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,
}

/// Runs a program until it ends or the time is over, and reports its draws.
///
/// # Errors
///
/// Returns an error if the program cannot be started, if the kernel refuses to trace it, and on
/// machines other than x86-64.
#[cfg(target_arch = "x86_64")]
pub fn start(args: &StartArgs) -> Result<StartReport, Error> {
    let program = || args.command.first().map(std::path::PathBuf::from).unwrap_or_default();
    let refused = |reason| Error::Trace { program: program(), reason };
    let per_stop = cost_of_a_stop().map_err(refused)?;
    let root = tracee::spawn(&args.command)
        .map_err(|reason| Error::Exec { program: program(), reason })?
        .cast_signed();
    let seen = follow::Follow::run(root, per_stop, args.seconds);
    if seen.is_err() {
        tracee::kill(root);
    }
    Ok(StartReport::of(&args.command, per_stop, seen.map_err(refused)?))
}

/// Refuses: registers and breakpoints are those of x86-64.
///
/// # Errors
///
/// Always.
#[cfg(not(target_arch = "x86_64"))]
pub fn start(args: &StartArgs) -> Result<StartReport, Error> {
    let program = args.command.first().map(std::path::PathBuf::from).unwrap_or_default();
    Err(Error::Trace { program, reason: std::io::ErrorKind::Unsupported.into() })
}

/// Measures what a stop costs beside the time that the tracer itself takes: the way there and back.
/// A tenth of many stops is cheaper than the result. The mean would be that of a busy
/// machine, where other programs run in between, and would take away more than a stop costs.
///
/// Tracer and child are on one CPU meanwhile. A stop that wakes another CPU costs several times as
/// much, and if that were taken away from stops that wake none, a program of many stops would seem
/// to have begun with its draw. A child has the CPUs of the thread that starts it, so this thread
/// measures, ends, and leaves all CPUs to the program itself.
#[cfg(target_arch = "x86_64")]
fn cost_of_a_stop() -> std::io::Result<Duration> {
    let measure = || {
        stay_here();
        stops_of_a_child()
    };
    let measured = std::thread::scope(|scope| scope.spawn(measure).join());
    measured.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// Keeps the calling thread on the CPU on which it is. A kernel that refuses, or has more CPUs than
/// a set of rustix, leaves it where it was: then a stop costs what it costs there.
#[cfg(target_arch = "x86_64")]
fn stay_here() {
    use rustix::thread::{CpuSet, sched_getcpu, sched_setaffinity};
    let cpu = sched_getcpu();
    if cpu < CpuSet::MAX_CPU {
        let mut here = CpuSet::new();
        here.set(cpu);
        let _ = sched_setaffinity(None, &here);
    }
}

#[cfg(target_arch = "x86_64")]
fn stops_of_a_child() -> std::io::Result<Duration> {
    use std::time::Instant;
    tracee::practice()?;
    let mut resumed: Option<Instant> = None;
    let mut costs = Vec::new();
    loop {
        let (thread, status) = tracee::next()?;
        if !libc::WIFSTOPPED(status) {
            break;
        }
        match resumed {
            Some(resumed) => costs.push(resumed.elapsed()),
            None => tracee::set_options(thread)?,
        }
        resumed = Some(Instant::now());
        tracee::resume(thread, tracee::Until::Filter, 0)?;
    }
    costs.sort_unstable();
    // Where a sandbox forbids tracing, the child ends without a stop.
    let cost = costs.get(costs.len() / 10).copied();
    cost.ok_or_else(|| std::io::ErrorKind::PermissionDenied.into())
}
