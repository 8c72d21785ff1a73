//! Sizes, times, numbers and page frames, as every part of headwater reads and writes them.
//!
//! The commands of one program should accept the same sizes, and two reports should print one
//! duration alike. This crate is the only place that parses or formats such values. Its formats are
//! part of the command's interface: other programs should not depend on them.
#![forbid(unsafe_code)]

pub mod escape;
pub mod file;
pub mod number;
#[cfg(feature = "html")]
pub mod page;
pub mod size;
pub mod time;
