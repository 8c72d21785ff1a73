//! Real kernels in QEMU: boots that stall, clones whose bytes repeat, and headwater's part in both.
//!
//! Everything runs under QEMU's emulation (TCG), because an openable /dev/kvm does not mean that
//! KVM boots a stock kernel. `setup` fetches QEMU and kernels into a cache directory. A guest's
//! only program is `headwater-guest`: this project's own crates, linked statically. docs/lab.md
//! explains the reports.
//!
//! `machine` knows QEMU and the guest's serial line, `judge` knows the promises and never starts a
//! machine, `scenario` runs the experiments of `plan`, and `report` prints the results.
#![forbid(unsafe_code)]

mod args;
mod judge;
mod machine;
mod plan;
mod process;
mod report;
mod run;
mod scenario;

pub use args::{
    AllArgs, Args, BootArgs, CloneArgs, CriuArgs, KernelArgs, NodesArgs, Record, RunArgs,
    SectionsArgs, SetupArgs, Verb,
};
pub use headwater_lab_protocol::Output;
pub use judge::boot::BootReport;
pub use judge::cause::Cause;
pub use judge::finding::{Finding, FindingKind};
pub use judge::image::RestoredImages;
pub use judge::nodes::NodesReport;
pub use judge::pair::ClonePair;
pub use judge::sections::SectionsReport;
pub use machine::cache::Cache;
pub use machine::manifest::{FetchedPackage, KernelImage, Manifest};
pub use machine::part::SetupRequest;
pub use machine::series::{SERIES, Series};
pub use machine::setup::{series_in, setup};
pub use machine::temporary::clean_up_on;
pub use plan::{BootPlan, Clock, ClonePlan, CopyMethod, JobPlan, Rng, Vmgenid};
pub use report::{html, text};
pub use run::{RunResults, Scope, nothing_ran, run};
pub use scenario::criu::newest as newest_criu;
pub use scenario::kernel::{KernelReport, kernel};
pub use scenario::nodes::NodesPlanned;
pub use scenario::record as recording;
pub use scenario::{boot, clone, criu, job, nodes, sections};
