//! Readers of logs and traces.

pub mod journal;
pub(crate) mod logs;
pub mod strace;
