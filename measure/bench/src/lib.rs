//! An interleaved benchmark of random generators: headwater beside the kernel, libc, OpenSSL and
//! other generators of the host.
//!
//! `headwater bench` and the `headwater-bench` binary are two front ends of [`run`].
//! `docs/bench.md` of the repository describes the method. In short: every implementation proves
//! its output before it is timed, each round times every implementation once, and no figure appears
//! without its spread.
//!
//! A new implementation is one file under `impls/` and one line in `impls/mod.rs`. A new case is
//! one variant of `Case` and one arm in `plan/mod.rs`.

#![deny(unsafe_code)]

mod args;
mod case;
mod compare;
mod count;
mod draw;
mod error;
mod impls;
mod list;
mod machine;
mod measure;
mod plan;
mod report;
mod run;
mod size;
pub mod stats;
mod system;

pub use args::Args;
pub use compare::baseline::Baseline;
pub use count::counted::{Count, Mean};
pub use draw::crowd::Counters;
pub use error::Error;
pub use machine::{Machine, machine};
pub use measure::first_byte::child;
pub use measure::latency::Percentiles;
pub use measure::row::Row;
pub use measure::speed::{Speed, speed_table};
pub use plan::skipped::Skipped;
pub use report::change::{Change, ChangeVerdict, Changes};
pub use report::document::Report;
pub use report::html::{check_file as check_html_file, from_file as html_from_file};
pub use report::html::{page as html_page, page_of_report as html, write as write_html};
pub use report::ratio::Ratio;
pub use report::text::table::render as table;
pub use run::run;
pub use size::show as show_size;
