//! The kernel against the streams themselves, against wrong structs, and against Spark's hashes.

mod built;
mod by_row;
mod crossed;
mod decisions;
mod keys;
mod malformed;
mod outputs;
mod values;
