//! Every failure of the command: its message and its exit status.

use crate::args;
use std::fmt;
use std::io::{self, Write};
use std::process::ExitCode;

/// A reason to stop.
pub(crate) enum Failure {
    /// The command line is wrong.
    Usage(String),
    /// Random bytes are unavailable.
    Random(headwater::Error),
    /// The benchmark could not run.
    Bench(headwater_bench::Error),
    /// The number of headwater's figures that are slower than in the baseline.
    Slower(usize),
    /// The tests of a generator could not run.
    Judging(headwater_quality::Error),
    /// A generator failed its tests. Its report is printed already.
    Quality(String),
    /// Samples of a noise source failed a test of SP 800-90B. Their report is printed already.
    Samples(&'static str),
    /// A command did not run; the status is one of env(1).
    Run {
        /// 125, 126 or 127.
        status: u8,
        /// The message, of one line.
        what: String,
    },
    /// The lab could not run.
    Lab(anyhow::Error),
    /// The number of promises that did not hold in the lab.
    Findings(usize),
    /// The doctor could not make a report.
    Doctor(headwater_doctor::Error),
    /// A device or file could not be written, or must not be.
    Storage(headwater_storage::Error),
    /// A signal ended the work; the text says how it continues.
    Stopped(String),
    /// The exit status of a verdict. Its report is printed already.
    Verdict(u8),
    /// Writing to standard output failed.
    Output(io::Error),
}

impl Failure {
    /// Writes one line to stderr and returns the exit status.
    pub(crate) fn report(self) -> ExitCode {
        let status = match &self {
            // `headwater bytes 1GiB | head -c 10`: the reader has all it needs.
            Failure::Output(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                return ExitCode::SUCCESS;
            }
            Failure::Verdict(status) => return ExitCode::from(*status),
            Failure::Usage(_) => 2,
            Failure::Storage(error) if error.is_usage() => 2,
            // Not 1, which reports the result of a check that ran.
            Failure::Run { status, .. } => *status,
            Failure::Bench(_)
            | Failure::Judging(_)
            | Failure::Random(_)
            | Failure::Output(_)
            | Failure::Lab(_)
            | Failure::Storage(_)
            | Failure::Stopped(_)
            | Failure::Doctor(_) => 3,
            Failure::Slower(_)
            | Failure::Findings(_)
            | Failure::Quality(_)
            | Failure::Samples(_) => 1,
        };
        // Not `eprintln`, which panics if stderr is full. The exit status still reports the
        // failure.
        let _ = writeln!(io::stderr(), "headwater: {self}");
        ExitCode::from(status)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Usage(what) => write!(f, "{what}; see '{} --help'", args::asked()),
            Failure::Random(error) => error.fmt(f),
            Failure::Bench(error) => error.fmt(f),
            Failure::Slower(figures) => {
                write!(f, "{figures} of headwater's figures are slower than in the baseline")
            }
            Failure::Judging(error) => error.fmt(f),
            Failure::Quality(source) => write!(f, "{source} failed: its numbers are not random"),
            Failure::Samples(why) => f.write_str(why),
            Failure::Run { what, .. } => f.write_str(what),
            Failure::Lab(error) => write!(f, "{error:#}"),
            Failure::Findings(findings) => write!(f, "{findings} promises did not hold"),
            Failure::Doctor(error) => error.fmt(f),
            Failure::Storage(error) => error.fmt(f),
            Failure::Stopped(what) => f.write_str(what),
            Failure::Verdict(status) => write!(f, "exit status {status}"),
            Failure::Output(error) => {
                write!(f, "cannot write to standard output: {error}")
            }
        }
    }
}

impl From<headwater::Error> for Failure {
    fn from(error: headwater::Error) -> Self {
        Failure::Random(error)
    }
}

impl From<headwater_bench::Error> for Failure {
    fn from(error: headwater_bench::Error) -> Self {
        if error.is_usage() { Failure::Usage(error.to_string()) } else { Failure::Bench(error) }
    }
}

impl From<headwater_storage::Error> for Failure {
    fn from(error: headwater_storage::Error) -> Self {
        Failure::Storage(error)
    }
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Self {
        Failure::Lab(error)
    }
}

impl From<headwater_doctor::Error> for Failure {
    fn from(error: headwater_doctor::Error) -> Self {
        Failure::Doctor(error)
    }
}

impl From<headwater_quality::Error> for Failure {
    fn from(error: headwater_quality::Error) -> Self {
        if error.is_usage() { Failure::Usage(error.to_string()) } else { Failure::Judging(error) }
    }
}

impl From<io::Error> for Failure {
    /// Wraps an error of standard output, the only stream whose errors end a verb.
    fn from(error: io::Error) -> Self {
        Failure::Output(error)
    }
}
