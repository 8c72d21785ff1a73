//! Everything that can end the command early, the line it prints, and the exit status.

use std::fmt;
use std::io::{self, Write};
use std::process::ExitCode;

/// Why the command stops.
pub(crate) enum Failure {
    /// The command line makes no sense.
    Usage(String),
    /// No random bytes.
    Random(headwater::Error),
    /// The benchmark was asked for rightly, and could not be run.
    Bench(headwater_bench::Error),
    /// So many figures of headwater are slower than in the run compared with.
    Slower(usize),
    /// A generator was to be judged, and could not be.
    Judging(headwater_quality::Error),
    /// A generator's numbers are not random. The report has been printed.
    Quality(String),
    /// A report was made, and standard output does not take it: the reader has no verdict.
    Report(io::Error),
    /// A command was not run; the status is one of env(1).
    Run {
        /// 125, 126 or 127.
        status: u8,
        /// In one line.
        what: String,
    },
    /// The lab was asked for rightly, and could not be run.
    Lab(anyhow::Error),
    /// So many promises did not hold in the lab.
    Findings(usize),
    /// There is something to look at, and no report.
    Doctor(headwater_doctor::Error),
    /// The verdict is the exit status; whatever is to be read of it has been printed.
    Verdict(u8),
    /// Standard output does not take what is written.
    Output(io::Error),
}

impl Failure {
    /// Tells it on stderr, in one line, and gives the exit status.
    pub(crate) fn report(self) -> ExitCode {
        let status = match &self {
            // `headwater bytes 1GiB | head -c 10`: the reader has what it wanted.
            Failure::Output(error) | Failure::Report(error)
                if error.kind() == io::ErrorKind::BrokenPipe =>
            {
                return ExitCode::SUCCESS;
            }
            Failure::Verdict(status) => return ExitCode::from(*status),
            Failure::Usage(_) => 2,
            // Not 1, which says that a comparison was made and found something.
            Failure::Run { status, .. } => *status,
            Failure::Bench(_)
            | Failure::Judging(_)
            | Failure::Report(_)
            | Failure::Lab(_)
            | Failure::Doctor(_) => 3,
            Failure::Random(_)
            | Failure::Slower(_)
            | Failure::Findings(_)
            | Failure::Quality(_)
            | Failure::Output(_) => 1,
        };
        // Not `eprintln`, which panics where stderr is full: the exit status still tells.
        let _ = writeln!(io::stderr(), "headwater: {self}");
        ExitCode::from(status)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Usage(what) => write!(f, "{what}; see 'headwater --help'"),
            Failure::Random(error) => error.fmt(f),
            Failure::Bench(error) => error.fmt(f),
            Failure::Slower(figures) => {
                write!(
                    f,
                    "{figures} of headwater's figures are slower than in the run compared with"
                )
            }
            Failure::Judging(error) => error.fmt(f),
            Failure::Quality(source) => write!(f, "{source} failed: its numbers are not random"),
            Failure::Run { what, .. } => f.write_str(what),
            Failure::Lab(error) => write!(f, "{error:#}"),
            Failure::Findings(findings) => write!(f, "{findings} promises did not hold"),
            Failure::Doctor(error) => error.fmt(f),
            Failure::Verdict(status) => write!(f, "exit status {status}"),
            Failure::Output(error) | Failure::Report(error) => {
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
    /// Standard output is the only thing that verbs do input or output on and may fail for.
    fn from(error: io::Error) -> Self {
        Failure::Output(error)
    }
}
