//! The errors of the kernel: each names the row and the value, and says what to do.

use crate::format::Name;
use crate::shown::Shown;
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
    /// A parameter that is a column has a value without a meaning.
    InRow {
        /// The row in this batch.
        row: usize,
        /// The name of the parameter.
        name: &'static str,
        /// The values that have one.
        need: &'static str,
        /// The value, or no letters where it is null.
        value: Shown,
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

/// A piece of an error's text.
#[derive(Clone, Copy, Debug)]
pub enum Part<'a> {
    /// Letters.
    Text(&'a str),
    /// A whole number.
    Number(i128),
    /// The text of an error of the streams.
    Stream(&'a headwater_streams::Error),
}

impl Error {
    /// Returns the error with its row counted from the beginning of a column, of which so many rows
    /// are before the batch. A caller who has a column in pieces can name its row by it.
    #[must_use]
    pub fn after(mut self, rows: usize) -> Error {
        match &mut self {
            Error::Negative { row, .. }
            | Error::TooLarge { row, .. }
            | Error::Null { row }
            | Error::Inexact { row, .. }
            | Error::InRow { row, .. } => *row = row.saturating_add(rows),
            _ => {}
        }
        self
    }

    /// Hands the pieces of the text to `write`, in their order.
    ///
    /// A library for C can write its messages from them, whose code must not reach a panic:
    /// `core::fmt` can panic.
    pub fn spell(&self, write: &mut dyn FnMut(Part<'_>)) {
        let text = |write: &mut dyn FnMut(Part<'_>), text: &str| write(Part::Text(text));
        macro_rules! spell {
            ($($piece:expr),+) => {{ $(write(Part::from($piece));)+ }};
        }
        match self {
            Error::Negative { row, value } => spell!(
                "id ",
                *value,
                " in row ",
                *row,
                " of the batch is negative: ids count from 0, and \
                 key_of() makes one of any integer"
            ),
            Error::TooLarge { row, value, last } => {
                spell!(
                    "id ",
                    *value,
                    " in row ",
                    *row,
                    " of the batch is past the end of the stream: the last id is ",
                    i128::from(*last)
                );
                // Not of a permutation, whose ids are places.
                if *last >= i64::MAX as u64 {
                    spell!(", and key_of() makes a smaller one");
                }
            }
            Error::Null { row } => spell!(
                "the id in row ",
                *row,
                " of the batch is null: leave such rows out, or let nulls \
                 be null"
            ),
            Error::NotIds(name) => {
                write(Part::Text("a column of "));
                name.spell(&mut |letters| text(write, letters));
                spell!(
                    " has no ids: integers are needed, and key_of() makes them of texts, dates and \
                     timestamps; cast floats to integers first"
                );
            }
            Error::NoKey(name) => {
                write(Part::Text("key_of() takes no "));
                name.spell(&mut |letters| text(write, letters));
                spell!(
                    ": give integers, text, binary, booleans, dates or timestamps, or cast the \
                     column to one of them"
                );
            }
            Error::Inexact { row, need } => {
                spell!("the value in row ", *row, " of the batch is not ", *need);
            }
            Error::Rows { first, other } => {
                spell!(
                    "columns of ",
                    *first,
                    " and of ",
                    *other,
                    " rows: give columns of one table"
                );
            }
            Error::Malformed(fault) => spell!("the Arrow data is malformed: ", *fault),
            Error::Parameter { name, need } => spell!(*name, " must be ", *need),
            Error::InRow { row, name, need, value } => {
                spell!(*name, " in row ", *row, " of the batch must be ", *need);
                if !value.as_str().is_empty() {
                    spell!(", not ", value.as_str());
                }
            }
            Error::NoType(dtype) => {
                spell!("Arrow has no type for elements of ", *dtype, ": ask for another type");
            }
            Error::Memory { bytes } => spell!("no memory for a column of ", *bytes, " bytes"),
            Error::Stream(error) => write(Part::Stream(error)),
        }
    }
}

impl<'a> From<&'a str> for Part<'a> {
    fn from(text: &'a str) -> Self {
        Part::Text(text)
    }
}

impl From<i128> for Part<'_> {
    fn from(number: i128) -> Self {
        Part::Number(number)
    }
}

impl From<usize> for Part<'_> {
    fn from(number: usize) -> Self {
        Part::Number(number as i128)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut done = Ok(());
        self.spell(&mut |part| {
            done = done.and_then(|()| match part {
                Part::Text(text) => f.write_str(text),
                Part::Number(number) => number.fmt(f),
                Part::Stream(error) => error.fmt(f),
            });
        });
        done
    }
}

impl core::error::Error for Error {}
