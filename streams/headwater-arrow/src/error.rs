//! The errors of the kernel: each names the row and the value, and says what to do.

use crate::format::Name;
use core::fmt;

/// The reason why a column cannot be made. Nothing is returned then, and no row is left out.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// An id is below 0.
    Negative {
        /// The row in this batch.
        row: usize,
        /// The id.
        value: i128,
    },
    /// An id has no element in the stream.
    TooLarge {
        /// The row in this batch.
        row: usize,
        /// The id.
        value: i128,
        /// The last id that has an element.
        last: u64,
    },
    /// An id is null, and the caller asked for an error.
    Null {
        /// The row in this batch.
        row: usize,
    },
    /// The type of a column is not one of ids.
    NotIds(Name),
    /// The type of a column has no bytes that are the same in all engines.
    NoKey(Name),
    /// A value does not fit the form in which it is hashed.
    Inexact {
        /// The row in this batch.
        row: usize,
        /// The form.
        need: &'static str,
    },
    /// Columns have different numbers of rows.
    Rows {
        /// The rows of the first column.
        first: usize,
        /// The rows of another one.
        other: usize,
    },
    /// The structs contradict their specification.
    Malformed(&'static str),
    /// A parameter has no meaning.
    Parameter {
        /// The name of the parameter.
        name: &'static str,
        /// The values that have one.
        need: &'static str,
    },
    /// Arrow has no type for the elements.
    NoType(&'static str),
    /// The system has no memory for the column.
    Memory {
        /// The bytes that were asked for.
        bytes: usize,
    },
    /// The stream refused.
    Stream(headwater_streams::Error),
}

impl From<headwater_streams::Error> for Error {
    fn from(error: headwater_streams::Error) -> Error {
        Error::Stream(error)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Negative { row, value } => write!(
                f,
                "id {value} in row {row} of the batch is negative: ids count from 0, and key_of() makes one of any integer"
            ),
            Error::TooLarge { row, value, last } => write!(
                f,
                "id {value} in row {row} of the batch is past the end of the stream: the last id is {last}, and key_of() makes a smaller one"
            ),
            Error::Null { row } => write!(
                f,
                "the id in row {row} of the batch is null: leave such rows out, or let nulls be null"
            ),
            Error::NotIds(name) => write!(
                f,
                "a column of {name} has no ids: integers are needed, and key_of() makes them of texts, dates and timestamps; cast floats to integers first"
            ),
            Error::NoKey(name) => write!(
                f,
                "key_of() takes no {name}: give integers, text, binary, booleans, dates or timestamps, or cast the column to one of them"
            ),
            Error::Inexact { row, need } => {
                write!(f, "the value in row {row} of the batch is not {need}")
            }
            Error::Rows { first, other } => {
                write!(f, "columns of {first} and of {other} rows: give columns of one table")
            }
            Error::Malformed(fault) => write!(f, "the Arrow data is malformed: {fault}"),
            Error::Parameter { name, need } => write!(f, "{name} must be {need}"),
            Error::NoType(dtype) => {
                write!(f, "Arrow has no type for elements of {dtype}: ask for another type")
            }
            Error::Memory { bytes } => write!(f, "no memory for a column of {bytes} bytes"),
            Error::Stream(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for Error {}
