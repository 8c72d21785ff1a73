//! The status of a machine: facts beside [`headwater::Status`], a verdict on them, and the document
//! `headwater.status/1` with both.
//!
//! The `headwater` command and the C library share this crate, so that both write the same
//! document. The C library has neither the standard library nor an allocator, and must not panic.
//! Therefore texts have a fixed size, files are read by system calls, and the JSON writer is our
//! own.

#![cfg_attr(not(test), no_std)]

mod document;
mod host;
mod json;
mod kmsg;
mod text;
mod verdict;

pub use document::{write, write_now};
// The parts of a status come from here too, so that a reader of machines needs no other crate of
// the core.
pub use headwater::{CpuRng, Page, ReseedGeneration, Status, status};
pub use host::Host;
pub use kmsg::{Kmsg, is_copy_reported};
pub use text::Text;
pub use verdict::{Level, Verdict};

/// The contents of the document.
pub struct Facts<'a> {
    /// Status of this process.
    pub status: &'a headwater::Status,
    /// The machine of the process.
    pub host: &'a Host,
    /// True if the kernel's generator is seeded, as a draw without waiting shows.
    pub seeded: bool,
}
