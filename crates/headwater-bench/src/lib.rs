//! An interleaved benchmark of random generators: headwater beside the kernel, libc, OpenSSL and
//! whatever else the host has.
//!
//! `headwater bench` and the `headwater-bench` binary are two front ends of [`run`]. How a figure comes
//! about, and what it does not mean, is written in `docs/bench.md` of the repository; in short: every
//! implementation proves its output before it is timed, each round times every implementation once, and
//! no figure leaves without its spread.
//!
//! A new implementation is one file under `impls/` and one line in `impls/mod.rs`; a new case is one
//! variant of `Case` and one arm in `plan.rs`.

#![deny(unsafe_code)]

mod args;
mod case;
mod case_tables;
mod changes;
#[expect(unsafe_code)]
mod clock;
mod compare;
mod contender;
mod count;
mod crew;
mod crowd;
mod error;
mod first_byte;
mod former;
mod html;
mod impls;
mod latency;
mod layout;
mod list;
mod machine;
mod measure;
mod notes;
mod pin;
mod places;
mod plan;
#[expect(unsafe_code)]
mod process;
mod procs;
mod ratio;
mod report;
mod rfc;
mod row;
mod run;
mod size;
mod speed;
mod station;
pub mod stats;
mod stretch;
mod table;
#[expect(unsafe_code)]
mod upper_halves;
mod verify;
mod warnings;
mod work;

pub use args::Args;
pub use compare::{Change, Comparison, Verdict};
pub use count::{Count, Mean};
pub use error::Error;
pub use first_byte::child;
pub use former::Baseline;
pub use html::page as html_page;
pub use html::{check_file as check_html_file, from_file as html_from_file, write as write_html};
pub use latency::Percentiles;
pub use machine::{Machine, machine};
pub use ratio::Ratio;
pub use report::{Report, Skipped};
pub use row::Row;
pub use run::run;
pub use size::show as show_size;
pub use speed::{Speed, speed_table};
pub use stretch::Counters;
