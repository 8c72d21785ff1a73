//! One small error type for all requests that make no sense.

#[cfg(feature = "std")]
use crate::Engine;
use crate::kinds::{Dtype, Kind};
use core::fmt;

/// The reason why a request makes no sense.
///
/// Streams cannot fail otherwise, because they ask nothing of the system. If a call returns an
/// error, it has written nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// A range of elements ends past 2^64 - 1.
    RangeTooLong {
        /// The first element asked for.
        start: u64,
        /// The number of elements in the request.
        len: usize,
    },
    /// The numbers of indices and of outputs differ.
    Lengths {
        /// The number of indices.
        indices: usize,
        /// The number of outputs.
        out: usize,
    },
    /// The room is not that of whole vectors, or not one vector for each index.
    Room {
        /// The number of components of a vector.
        dimension: usize,
        /// The number of outputs.
        out: usize,
    },
    /// Numbers below 0 are asked for.
    ZeroBound,
    /// A range ends before it begins.
    EmptyRange,
    /// A range ends past a permutation's last element.
    PastEnd {
        /// The first element asked for.
        start: u64,
        /// The number of elements in the request.
        len: usize,
        /// The number of elements in the permutation.
        n: u64,
    },
    /// There is no memory for a table that is made of a list.
    #[cfg(feature = "std")]
    Memory {
        /// The bytes that were asked for.
        bytes: usize,
    },
    /// A stream's number is 2^48 or more.
    StreamId(u64),
    /// A distribution does not exist for this parameter.
    Parameter {
        /// The name of the parameter.
        name: &'static str,
        /// The numbers for which the distribution exists.
        need: &'static str,
    },
    /// A value of a kind's parameters is missing, too much, or of another form.
    Value {
        /// The kind.
        kind: Kind,
        /// The place of the value among the values.
        place: usize,
    },
    /// A kind has no elements of this type.
    ElementType {
        /// The kind.
        kind: Kind,
        /// The type that the kind lacks.
        dtype: Dtype,
    },
    /// Bytes are not aligned for a type, or do not hold whole elements of it.
    Bytes {
        /// The type.
        dtype: Dtype,
    },
    /// No engine has this name.
    #[cfg(feature = "std")]
    UnknownEngine(String),
    /// A text cannot be parsed as a seed.
    #[cfg(feature = "std")]
    SeedText(String),
    /// A seed is not a whole number from 0 on, which NumPy's generators need.
    #[cfg(feature = "std")]
    NotNumpys,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::RangeTooLong { start, len } => write!(
                f,
                "{len} elements from number {start} on end past 2^64 - 1; begin earlier, or continue in another stream"
            ),
            Error::Lengths { indices, out } => write!(
                f,
                "{indices} indices and room for {out} elements: give one place for each index"
            ),
            Error::Room { dimension, out } => write!(
                f,
                "room for {out} numbers is not that of the vectors: {dimension} places for each"
            ),
            Error::ZeroBound => f.write_str("no number is below 0: give a bound of at least 1"),
            Error::EmptyRange => f.write_str(
                "no number lies in a range that ends before it begins: raise its end",
            ),
            Error::PastEnd { start, len, n } => write!(
                f,
                "{len} elements from number {start} on are more than a permutation of {n} has; ask for fewer"
            ),
            Error::Parameter { name, need } => write!(f, "{name} must be {need}"),
            Error::Value { kind, place } => match kind.parameters().get(*place) {
                Some(parameter) => write!(
                    f,
                    "value {place} of {} must be {}: {}",
                    kind.name(),
                    parameter.name,
                    parameter.form.name()
                ),
                None => write!(
                    f,
                    "{} takes {} values: leave out those from number {place} on",
                    kind.name(),
                    kind.parameters().len()
                ),
            },
            Error::ElementType { kind, dtype } => {
                write!(f, "{} has no elements of {}; give room for", kind.name(), dtype.name())?;
                let list = |(i, one): (usize, &crate::kinds::Type)| {
                    write!(f, "{} {}", if i == 0 { "" } else { " or" }, one.dtype.name())
                };
                kind.types().iter().enumerate().try_for_each(list)
            }
            Error::Bytes { dtype } => write!(
                f,
                "elements of {} take {} bytes each, from a multiple of {} on: align the bytes, and give whole elements",
                dtype.name(),
                dtype.size(),
                dtype.align()
            ),
            #[cfg(feature = "std")]
            Error::Memory { bytes } => write!(
                f,
                "there is no memory for {bytes} bytes: give a shorter list, or a table made of it"
            ),
            Error::StreamId(id) => {
                write!(
                    f,
                    "stream {id} does not exist: numbers end at 2^48 - 1; make a child key for more"
                )
            }
            #[cfg(feature = "std")]
            Error::UnknownEngine(name) => {
                // Escaped, so that the message stays one line whatever the name holds.
                write!(f, "no engine is called '{}'; there are", name.escape_debug())?;
                let names: Vec<_> = Engine::ALL.iter().map(|engine| engine.name()).collect();
                write!(f, " {}", names.join(", "))
            }
            #[cfg(feature = "std")]
            Error::SeedText(text) => write!(
                f,
                "'{}' is no seed: write a whole number (42, -1, 0x2a), hex:00ff for bytes, or text:anything",
                text.escape_debug()
            ),
            #[cfg(feature = "std")]
            Error::NotNumpys => f.write_str(
                "NumPy seeds its generators from whole numbers from 0 on: give such a seed, or take another engine",
            ),
        }
    }
}

impl core::error::Error for Error {}
