//! Why a run could not be done, each in one line.

use std::fmt;
use std::path::PathBuf;

/// Why a run could not be done. Displayed as one line that says what would have been right.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// No case has this name.
    UnknownCase {
        /// The name.
        name: String,
        /// The names that would do, with commas between them.
        known: String,
    },
    /// No implementation has this name.
    UnknownImpl {
        /// The name.
        name: String,
        /// The names that would do on this host, with commas between them.
        known: String,
    },
    /// The implementation has no such mode, or no modes at all.
    UnknownMode(String),
    /// `--lib` names no library that can be measured.
    BadLibrary {
        /// The text after `--lib`.
        argument: String,
        /// The reason, as one clause.
        reason: String,
    },
    /// The length cannot be measured.
    BadSize(String),
    /// A length, as people write it, that is not a multiple of 64 bits.
    OddSize(String),
    /// The number of threads is not valid.
    BadThreads {
        /// The text in its place.
        text: String,
        /// The largest number that is allowed.
        most: usize,
    },
    /// The number of processes is not valid.
    BadProcs {
        /// The text in its place.
        text: String,
        /// The largest number that is allowed.
        most: usize,
    },
    /// Threads cannot be pinned in this way.
    UnknownPin(String),
    /// `--time` is not a positive number of seconds, or `--rounds` is 0.
    BadPace(&'static str),
    /// The file is not a report that `--json` printed, or cannot be used; the text is the reason.
    BadRecord(String),
    /// A report to compare with is of another machine.
    OtherMachine(String),
    /// A file could not be read or written.
    File {
        /// The path of the file.
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
        /// The defect, as one clause.
        defect: &'static str,
    },
    /// It stopped giving random bytes, or could not be set up in a further thread.
    Refused {
        /// The implementation.
        implementation: String,
        /// The reason, as far as it is known.
        reason: String,
    },
    /// Another process or thread of the benchmark could not be started or set up, or was lost.
    Process(String),
}

impl Error {
    /// Reports whether the arguments were wrong, as opposed to a failure on this machine.
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
            Error::UnknownCase { name, known } => {
                write!(f, "unknown case '{name}': use {known}, or all")
            }
            Error::UnknownImpl { name, known } => {
                write!(f, "unknown implementation '{name}': use {known}")
            }
            Error::UnknownMode(name) => write!(
                f,
                "unknown mode in '{name}': headwater and headwater-rng take [buffered], [hedged], [strict] or [kernel]"
            ),
            Error::BadLibrary { argument, reason } => write!(f, "--lib {argument}: {reason}"),
            Error::BadSize(text) => {
                write!(f, "bad size '{text}': use 1 to 1GiB, such as 16, 1k, 64KiB or 1MiB")
            }
            Error::OddSize(size) => {
                write!(f, "bad size '{size}' for an array of 64-bit numbers: use a multiple of 8")
            }
            Error::BadThreads { text, most } => {
                write!(f, "bad number of threads '{text}': use 1 to {most}")
            }
            Error::BadProcs { text, most } => {
                write!(f, "bad number of processes '{text}': use 1 to {most}")
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
