//! Diagnosis of a machine that waits for randomness, or whose random bytes can repeat.
//!
//! A [`Case`] holds the input: a machine (its files, live or recorded, as a [`Root`]), boots that a
//! log shows ([`boot::Boot`]), system calls that strace(1) timed ([`trace::Trace`]). Each check
//! examines the case and returns [`Finding`]s. A [`Report`] orders them and prints text, JSON, a
//! page or metrics.

#![deny(unsafe_code)]

mod args;
pub mod boot;
mod case;
pub mod checks;
pub mod deep;
mod diagnose;
mod error;
mod explain;
mod finding;
pub mod fixes;
pub mod host;
mod id;
pub mod identity;
mod kernel;
mod merge;
pub mod observe;
mod platform;
mod read;
mod report;
mod root;
mod run;
pub mod start;
pub mod trace;
mod wait;

pub use args::{Args, Explain, Verb, WaitArgs};
pub use case::Case;
pub use diagnose::diagnose;
pub use error::Error;
pub use explain::explain;
pub use finding::{Effect, Evidence, Finding, Fix, Severity, Side};
pub use host::Host;
pub use id::Id;
pub use kernel::{Change, CpuTrust, Kernel, Locking, Maker};
pub use merge::{MergeArgs, Merged, merge};
pub use platform::Platform;
pub use read::logs::LogError;
pub use read::{journal, strace};
pub use report::{Assumed, NotChecked, Report, Verdict};
pub use root::Root;
pub use run::run;
pub use wait::{WaitOutcome, wait};
