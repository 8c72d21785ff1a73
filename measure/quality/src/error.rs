//! Reasons for which a source cannot be judged.

use std::fmt;
use std::path::PathBuf;

/// The reason for which there is no report: one line, with the next step.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The request makes no sense.
    Usage(String),
    /// No source has this name.
    UnknownSource(String),
    /// A source has no numbers.
    Source {
        /// The name of the source.
        source: String,
        /// The message.
        reason: String,
    },
    /// The data is too short for every test.
    TooLittle {
        /// Number of bytes.
        bytes: u64,
    },
    /// The samples are too few for every estimator of SP 800-90B.
    FewSamples {
        /// Number of samples.
        samples: usize,
    },
    /// The restarts are not a matrix of 1,000 restarts of 1,000 samples.
    Matrix {
        /// Number of samples.
        samples: usize,
    },
    /// A file cannot be read or written.
    File {
        /// The file.
        path: PathBuf,
        /// The system's message.
        reason: String,
    },
    /// The state belongs to another run.
    State {
        /// The file of the state.
        path: PathBuf,
        /// The difference.
        reason: String,
    },
}

impl Error {
    /// Returns true if the command line is at fault.
    pub fn is_usage(&self) -> bool {
        matches!(self, Error::Usage(_) | Error::UnknownSource(_))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Usage(what) => f.write_str(what),
            Error::UnknownSource(name) => {
                write!(f, "no generator is called '{name}'; 'headwater quality --list' names all")
            }
            Error::Source { source, reason } => write!(f, "{source} has no numbers: {reason}"),
            Error::TooLittle { bytes } => write!(
                f,
                "{bytes} bytes are too few to judge: at least {} are needed, some megabytes are better",
                crate::LEAST_BYTES
            ),
            Error::FewSamples { samples } => write!(
                f,
                "{samples} samples are too few to estimate entropy: at least 10000 are needed, and 1000000 by the standard"
            ),
            Error::Matrix { samples } => write!(
                f,
                "{samples} samples are no matrix of restarts: 1000 restarts of 1000 samples have 1000000, one restart after another"
            ),
            Error::File { path, reason } => write!(f, "{}: {reason}", path.display()),
            Error::State { path, reason } => write!(
                f,
                "{} belongs to another run ({reason}); name another file with --state, or remove it",
                path.display()
            ),
        }
    }
}

impl std::error::Error for Error {}
