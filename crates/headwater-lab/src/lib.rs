//! Real kernels in QEMU: boots that stall, clones that repeat, and what headwater makes of them.
//!
//! Everything runs under QEMU's emulation (TCG): an openable /dev/kvm proves nothing. `setup` fetches QEMU and kernels
//! into a cache folder; the guest's only program is `headwater-guest`, this project's own crates linked statically.
//! docs/lab.md tells how to read what it prints.

mod all;
mod apt;
mod args;
mod arm;
pub mod boot;
mod cache;
mod cause;
pub mod clone;
mod compare;
pub mod criu;
pub mod doctor;
mod guest;
pub mod html;
mod initramfs;
mod judge;
mod line;
mod manifest;
pub mod matrix;
mod process;
mod qemu;
mod qmp;
pub mod recording;
mod series;
mod setup;
pub mod situations;
pub mod text;

pub use all::{Outcome, Scope, run};
pub use args::{All, Args, Boot, Clone, Criu, Record, Setup, Verb};
pub use cache::Cache;
pub use cause::Cause;
pub use line::Line;
pub use manifest::{Fetched, Kernel, Manifest};
pub use series::{SERIES, Series};
pub use setup::{Wanted, find_kernel, setup};
