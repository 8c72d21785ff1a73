//! Fills a device or file from a seed, and verifies every byte of it without a second copy.
//!
//! A [`Pattern`] is a function from a byte's offset to its value: the bytes of a reproducible
//! stream, optionally shaped so that arrays compress or deduplicate them. [`write()`] fills a range
//! of a [`Target`] with it, in parallel and past the page cache where the kernel allows that.
//! [`verify()`] reads the range again, on any machine that knows the seed, and names each wrong
//! extent with the data that stands there: zeros, another place of the stream, an older seed, one
//! flipped bit, or something else. The place comes from the engine run backwards, so no index of
//! the stream exists.
#![deny(unsafe_code)]

mod buffer;
mod classify;
mod document;
mod error;
mod extent;
mod find;
mod identity;
mod in_use;
mod io;
mod lease;
mod map;
mod pace;
mod page;
mod pattern;
mod ratio;
mod ring;
#[cfg(test)]
mod schema;
mod shape;
mod spread;
mod state;
mod table;
mod target;
mod thread;
mod verify;
mod work;
mod write;

pub use classify::{Suspect, Suspects};
pub use document::{
    Counts, Document, Tally, TargetReport, Verdict, Writing, Written, WrittenTarget,
};
pub use error::Error;
pub use extent::{Extent, ExtentKind};
pub use identity::Identity;
pub use in_use::uses;
pub use map::map;
pub use page::page;
pub use pattern::Pattern;
pub use ratio::Ratio;
pub use shape::{Dedup, Shape};
pub use state::State;
pub use table::{describe, table};
pub use target::{Access, Target};
pub use verify::{Found, verify};
pub use work::{Job, Progress};
pub use write::{Checkpoint, End, write};
