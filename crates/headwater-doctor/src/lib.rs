//! Why this machine waits for randomness, and whether its bytes can repeat.
//!
//! A case is what there is to look at: a machine (its files, live or recorded, by a [`Root`]), boots that a log tells of
//! ([`boot::Boot`]), system calls that strace(1) timed ([`trace::Trace`]). Each check looks at the case and gives
//! [`Finding`]s; a [`Report`] holds them, ordered, and is printed as text, JSON, a page or metrics.

#![deny(unsafe_code)]

mod args;
pub mod boot;
mod case;
mod case_of_machine;
pub mod checks;
pub mod deep;
mod diagnose;
mod error;
mod explain;
mod finding;
pub mod fixes;
pub mod host;
mod id;
pub mod journal;
mod kernel;
mod logs;
mod platform;
mod report;
mod root;
mod run;
pub mod strace;
pub mod trace;
mod wait;

pub use args::{Args, Explain, Verb, WaitArgs};
pub use case::Case;
pub use diagnose::diagnose;
pub use error::Error;
pub use explain::explain;
pub use finding::{Evidence, Finding, Fix, Gives, Severity, Where};
pub use host::Host;
pub use id::Id;
pub use kernel::{Change, CpuTrust, Kernel, Locking, Maker};
pub use logs::LogError;
pub use platform::Platform;
pub use report::{Assumed, NotChecked, Report, Verdict, write_whole};
pub use root::Root;
pub use run::run;
pub use wait::{Waited, wait};
