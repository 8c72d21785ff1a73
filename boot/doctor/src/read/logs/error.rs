//! Errors of log files.

use std::fmt;

/// The reason why a file cannot be used, in one line with the next step.
#[derive(Debug)]
#[non_exhaustive]
pub enum LogError {
    /// The file cannot be read.
    Read {
        /// The file.
        of: String,
        /// The system's error.
        reason: std::io::Error,
    },
    /// The file is empty.
    Empty {
        /// The file.
        of: String,
    },
    /// The file is of a kind that the reader does not take.
    Wrong {
        /// The file.
        of: String,
        /// The recognised kind: "a compressed file (bzip2)".
        seems: &'static str,
        /// The next step: "unpack it first".
        instead: &'static str,
    },
}

impl fmt::Display for LogError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use headwater_text::escape::untrusted;
        match self {
            LogError::Read { of, reason } => {
                write!(f, "{} cannot be read: {reason}", untrusted(of))
            }
            LogError::Empty { of } => {
                write!(
                    f,
                    "{} is empty: was the command that wrote it allowed to read the log?",
                    untrusted(of)
                )
            }
            LogError::Wrong { of, seems, instead } => {
                write!(f, "{} is {seems}: {instead}", untrusted(of))
            }
        }
    }
}

impl std::error::Error for LogError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            LogError::Read { reason, .. } => Some(reason),
            LogError::Empty { .. } | LogError::Wrong { .. } => None,
        }
    }
}

/// Files by their first bytes that are often given by mistake.
const MAGIC: &[(&[u8], &str, &str)] = &[
    (
        b"LPKSHHRH",
        "a journal as systemd keeps it",
        "give what `journalctl --file FILE -o export` prints",
    ),
    (b"BZh", "a compressed file (bzip2)", "unpack it first, or give `-` and pipe `bzcat FILE` in"),
    (b"PK\x03\x04", "an archive (zip)", "unpack it first"),
    (b"\x7fELF", "a program", "give a log or a trace"),
];

impl LogError {
    /// Returns the error for an empty file, or one whose first bytes show that it does not consist
    /// of lines.
    pub(crate) fn by_magic(of: &str, first: &[u8]) -> Option<LogError> {
        if first.is_empty() {
            return Some(LogError::Empty { of: of.to_owned() });
        }
        let (_, seems, instead) = MAGIC.iter().find(|(magic, ..)| first.starts_with(magic))?;
        Some(LogError::Wrong { of: of.to_owned(), seems, instead })
    }

    pub(crate) fn read(of: &str, reason: std::io::Error) -> LogError {
        LogError::Read { of: of.to_owned(), reason }
    }
}
