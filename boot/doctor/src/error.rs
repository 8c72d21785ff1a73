//! Errors that leave no report.

use crate::LogError;
use headwater_text::escape::untrusted;
use std::fmt;
use std::io;
use std::path::PathBuf;

/// Errors that leave no report.
#[derive(Debug)]
pub enum Error {
    /// The recording of a machine cannot be read.
    Root {
        /// The path as given.
        path: PathBuf,
        /// The cause, for a host file with its line.
        reason: String,
    },
    /// A log or a trace cannot be read, or the file is neither.
    Log(LogError),
    /// Reports to merge cannot be read.
    Reports {
        /// The path as given.
        path: PathBuf,
        /// The system's error.
        reason: io::Error,
    },
    /// A program that the observer should become, or whose start is to be measured, cannot be
    /// started.
    Exec {
        /// The program as given.
        program: PathBuf,
        /// The system's error.
        reason: io::Error,
    },
    /// The kernel refuses to trace a program.
    Trace {
        /// The program as given.
        program: PathBuf,
        /// The system's error.
        reason: io::Error,
    },
    /// A file cannot be written.
    Write {
        /// The path as given.
        file: PathBuf,
        /// The system's error.
        reason: io::Error,
    },
    /// The kernel does not answer getrandom(2).
    Kernel(io::Error),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Root { path, reason } => write!(
                f,
                "cannot open recording {}: {}; expected a host file or a directory, as \
                 'headwater lab record' writes them",
                untrusted(&path.display().to_string()),
                untrusted(reason)
            ),
            Error::Log(error) => error.fmt(f),
            Error::Reports { path, reason } => write!(
                f,
                "cannot read reports from {}: {reason}; name files, directories, or - for stdin",
                untrusted(&path.display().to_string())
            ),
            Error::Exec { program, reason } => write!(
                f,
                "cannot start {}: {reason}; name a program that exists",
                untrusted(&program.display().to_string())
            ),
            Error::Trace { program, reason } if reason.kind() == io::ErrorKind::Unsupported => {
                write!(
                    f,
                    "cannot trace {}: only x86-64 is supported; read a trace instead: strace -f -T -o FILE {0}, \
                     then headwater doctor --strace FILE",
                    untrusted(&program.display().to_string())
                )
            }
            Error::Trace { program, reason } => write!(
                f,
                "cannot trace {}: {reason}; allow ptrace(2) and seccomp(2): in a container --cap-add SYS_PTRACE, and not under \
                 another tracer",
                untrusted(&program.display().to_string())
            ),
            Error::Write { file, reason } => {
                write!(
                    f,
                    "cannot write {}: {reason}; {}",
                    untrusted(&file.display().to_string()),
                    after_write(reason.kind())
                )
            }
            Error::Kernel(reason) => write!(
                f,
                "cannot ask the kernel: getrandom: {reason}; a sandbox refuses the call, or the kernel is older than 3.17"
            ),
        }
    }
}

/// Returns the next step after a file that could not be written.
fn after_write(kind: io::ErrorKind) -> &'static str {
    match kind {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => {
            "name a file in a directory that exists"
        }
        io::ErrorKind::PermissionDenied => "run this as root, or name another place",
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "free some space, or name another place"
        }
        _ => "name another place",
    }
}

impl std::error::Error for Error {}

impl From<LogError> for Error {
    fn from(error: LogError) -> Error {
        Error::Log(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_step_after_a_write_follows_from_its_error() {
        for (errno, step) in [
            (libc::ENOENT, "directory that exists"),
            (libc::EACCES, "as root"),
            (libc::ENOSPC, "free some space"),
            (libc::EISDIR, "another place"),
        ] {
            let reason = io::Error::from_raw_os_error(errno);
            let text = Error::Write { file: PathBuf::from("/x/y"), reason }.to_string();
            assert!(text.starts_with("cannot write /x/y: ") && text.contains(step), "{text}");
        }
    }
}
