//! What is in use on a machine: the facts beside [`headwater::Status`], what they amount to, and the document that
//! tells both.
//!
//! Shared by the `headwater` command and the C library, so that both give the same document. The C library has no
//! standard library and no allocator in it, and nothing in it may panic: hence texts of a fixed size, files read by
//! system calls, and a writer of its own for the few forms of JSON that there are.

#![cfg_attr(not(test), no_std)]

mod document;
mod host;
mod json;
mod kmsg;
mod text;
mod verdict;

pub use document::write;
pub use host::Host;
pub use kmsg::Kmsg;
pub use text::Text;
pub use verdict::{Level, Verdict};

/// What the document is made of.
pub struct Facts<'a> {
    /// The parts in use in this process.
    pub status: &'a headwater::Status,
    /// The machine that it runs on.
    pub host: &'a Host,
    /// Whether the kernel's generator is seeded, which a draw that does not wait tells.
    pub seeded: bool,
}
