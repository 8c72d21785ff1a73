//! Every reason to stop, in one line with a next step.

use std::fmt;
use std::io;

/// A reason to stop.
#[derive(Debug)]
pub enum Error {
    /// The request makes no sense, or its target must not be overwritten.
    Refused(String),
    /// The system refused a call.
    Io {
        /// The action, such as `cannot write`.
        action: String,
        /// The next step, or an empty text.
        hint: String,
        /// The system's reason.
        source: io::Error,
    },
}

impl Error {
    pub(crate) fn refused(text: impl Into<String>) -> Error {
        Error::Refused(text.into())
    }

    /// Makes an error of an action that the system refused.
    pub fn io(action: impl Into<String>, source: io::Error) -> Error {
        let hint = hint(&source).to_owned();
        Error::Io { action: action.into(), hint, source }
    }

    /// Makes an error of a device that ends before the end that it had.
    pub(crate) fn shrunk(action: String, source: io::Error) -> Error {
        let hint = "the device was removed or became smaller".to_owned();
        Error::Io { action, hint, source }
    }

    /// Reports whether the command line, and not the system, must change.
    pub fn is_usage(&self) -> bool {
        matches!(self, Error::Refused(_))
    }
}

/// Returns the next step for the errors that users meet.
fn hint(error: &io::Error) -> &'static str {
    match error.raw_os_error() {
        Some(libc::EACCES | libc::EPERM) => "run it as root, or as the owner",
        Some(libc::ENOSPC) => {
            "the target is incomplete; free space and continue with --resume, or use a smaller --to"
        }
        Some(libc::EDQUOT) => "the target is incomplete; the quota of its owner is used up",
        Some(libc::EFBIG) => "the target is incomplete; the file system allows no larger file",
        Some(libc::EIO) => "the target is incomplete; the kernel's log (dmesg) names the device",
        Some(libc::EROFS) => "the device or file system is read-only",
        Some(libc::EBUSY) => {
            "the kernel or another program uses it; --force overwrites it all the same"
        }
        Some(libc::ENOMEDIUM) => {
            "its size is 0: the drive has no medium, the disk was removed, or nothing is attached"
        }
        Some(libc::ETXTBSY) => "a process executes it",
        _ => "",
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Refused(text) => f.write_str(text),
            Error::Io { action, hint, source } if hint.is_empty() => {
                write!(f, "{action}: {source}")
            }
            Error::Io { action, hint, source } => write!(f, "{action}: {source}; {hint}"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::Refused(_) => None,
            Error::Io { source, .. } => Some(source),
        }
    }
}
