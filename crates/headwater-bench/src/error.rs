//! Why a run could not be done, each in one line.

use std::fmt;
use std::path::PathBuf;

/// Why a run could not be done. Displayed as one line that says what would have been right.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// No case has this name.
    UnknownCase(String),
    /// No implementation has this name.
    UnknownImpl(String),
    /// The implementation has no such mode, or no modes at all.
    UnknownMode(String),
    /// `--lib` names no library that can be measured.
    BadLibrary {
        /// What was written after `--lib`.
        argument: String,
        /// What is wrong with it.
        reason: String,
    },
    /// Not a length that can be measured.
    BadSize(String),
    /// A length that is no number of 64-bit words, in bytes.
    OddSize(usize),
    /// Not a number of threads.
    BadThreads(String),
    /// Not a number of processes.
    BadProcs(String),
    /// Threads cannot be pinned in this way.
    UnknownPin(String),
    /// `--time` is not a positive number of seconds, or `--rounds` is 0.
    BadPace(&'static str),
    /// Not a report that `--json` printed, or none that can be used; what is wrong with it.
    BadRecord(String),
    /// A report to compare with is of another machine.
    OtherMachine(String),
    /// A file could not be read or written.
    File {
        /// Its path.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// Every implementation that was asked for is absent here; the reasons.
    NothingToMeasure(String),
    /// The output failed its check before timing.
    WrongOutput {
        /// The implementation.
        implementation: String,
        /// What is wrong with it.
        defect: &'static str,
    },
    /// It stopped giving random bytes, or could not be set up in a further thread.
    Refused {
        /// The implementation.
        implementation: String,
        /// What is known of the reason.
        reason: String,
    },
    /// Another process or thread of the benchmark could not be started or set up, or was lost.
    Process(String),
}

impl Error {
    /// Whether the arguments were wrong, as opposed to something going wrong on this machine.
    pub fn is_usage(&self) -> bool {
        !matches!(
            self,
            Error::File { .. }
                | Error::NothingToMeasure(_)
                | Error::WrongOutput { .. }
                | Error::Refused { .. }
                | Error::Process(_)
        )
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::UnknownCase(name) => {
                let names = crate::case::Case::names().join(", ");
                write!(f, "unknown case '{name}': use {names}, or all")
            }
            Error::UnknownImpl(name) => {
                write!(
                    f,
                    "unknown implementation '{name}': use {}",
                    crate::impls::names().join(", ")
                )
            }
            Error::UnknownMode(name) => write!(
                f,
                "unknown mode in '{name}': headwater and headwater-rng take [buffered], [hedged], [strict] or [kernel]"
            ),
            Error::BadLibrary { argument, reason } => write!(f, "--lib {argument}: {reason}"),
            Error::BadSize(text) => {
                write!(f, "bad size '{text}': use 1 to 1GiB, such as 16, 1k, 64KiB or 1MiB")
            }
            Error::OddSize(len) => {
                let size = crate::size::show(*len);
                write!(f, "bad size '{size}' for an array of 64-bit numbers: use a multiple of 8")
            }
            Error::BadThreads(text) => {
                write!(f, "bad number of threads '{text}': use 1 to {}", crate::crowd::MAX_THREADS)
            }
            Error::BadProcs(text) => {
                write!(f, "bad number of processes '{text}': use 1 to {}", crate::crowd::MAX_PROCS)
            }
            Error::UnknownPin(text) => {
                write!(f, "unknown way to pin '{text}': use none, core or node")
            }
            Error::BadPace(what) => f.write_str(what),
            Error::BadRecord(what) => write!(f, "cannot use the report: {what}"),
            Error::OtherMachine(what) => write!(
                f,
                "the record is of another machine: {what}; --compare-any-machine compares all the same"
            ),
            Error::File { path, reason } => write!(f, "{}: {reason}", path.display()),
            Error::NothingToMeasure(reasons) => write!(f, "nothing to measure: {reasons}"),
            Error::WrongOutput { implementation, defect } => {
                write!(f, "{implementation} was not timed, its output is wrong: {defect}")
            }
            Error::Refused { implementation, reason } => write!(f, "{implementation}: {reason}"),
            Error::Process(reason) => f.write_str(reason),
        }
    }
}

impl std::error::Error for Error {}
