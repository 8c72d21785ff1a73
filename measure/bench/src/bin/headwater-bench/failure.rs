//! The reasons for which the command ends, each one line and an exit status.

use headwater_bench::Error;
use std::fmt;
use std::process::ExitCode;

/// Why there is no result.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The benchmark could not be done.
    Bench(Error),
    /// Something around it failed.
    Other(String),
}

impl Failure {
    pub(crate) fn exit_code(&self) -> ExitCode {
        match self {
            Failure::Bench(error) if error.is_usage() => ExitCode::from(2),
            Failure::Bench(_) | Failure::Other(_) => ExitCode::from(3),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Bench(error) => error.fmt(f),
            Failure::Other(reason) => f.write_str(reason),
        }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        Failure::Bench(error)
    }
}

impl From<serde_json::Error> for Failure {
    fn from(error: serde_json::Error) -> Failure {
        Failure::Other(format!("the report cannot be written as JSON: {error}"))
    }
}
