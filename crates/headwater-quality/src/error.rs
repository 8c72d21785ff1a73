//! What keeps a generator from being judged.

use std::fmt;
use std::path::PathBuf;

/// Why there is no report. One line each, with the next step.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The request makes no sense.
    Usage(String),
    /// No source of this name.
    UnknownSource(String),
    /// A source gives nothing.
    Source {
        /// Its name.
        source: String,
        /// What it said.
        reason: String,
    },
    /// Fewer bytes than any test can say something about.
    TooLittle {
        /// How many there were.
        bytes: u64,
    },
    /// A file cannot be read or written.
    File {
        /// Which.
        path: PathBuf,
        /// What the system said.
        reason: String,
    },
    /// The state of an earlier run is not this run's.
    State {
        /// Its file.
        path: PathBuf,
        /// What differs.
        reason: String,
    },
}

impl Error {
    /// Whether the command line is at fault.
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
            Error::Source { source, reason } => write!(f, "{source} gives no words: {reason}"),
            Error::TooLittle { bytes } => write!(
                f,
                "{bytes} bytes are too few to judge; give at least {}, better some megabytes",
                crate::LEAST_BYTES
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
