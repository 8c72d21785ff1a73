//! Statistical tests of random generators, bit planes first.
//!
//! [`run`] judges a source of 64-bit words and returns a [`Report`]. `docs/quality.md` of the
//! repository describes the method, the origin of each test, the rate of false alarms, and the
//! limits of such tests.
//!
//! A new test is one file and one line in `statistics/mod.rs`. A new source is one line in a table
//! under `sources/`.

#![deny(unsafe_code)]

mod args;
mod battery;
mod deep;
mod effort;
mod entropy;
mod error;
mod external;
mod report;
mod run;
mod sources;
mod sp800_90b;
mod statistics;
mod stats;
mod tally;
mod view;

pub use args::Args;
pub use effort::Effort;
pub use error::Error;
pub use report::html::{check_file as check_html_file, write as write_html};
pub use report::{FALSE_ALARMS, Report, Row, Verdict, WEAK_ALARMS};
pub use run::run;
pub use sources::{Group, Named, Open, Source, SourceKind, Way, all as sources};
pub use sp800_90b::{
    Assessed, Assessment, ChiSquare, Estimated, Iid, Permuted, Repeated, Restarts, assess,
};
#[doc(hidden)]
pub use stats::kolmogorov_smirnov;

/// The smallest input that is judged.
pub(crate) const LEAST_BYTES: u64 = 4096;
