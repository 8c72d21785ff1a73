//! Arguments of `headwater lab clone`.

use super::kernel::{NEWEST, check_architecture, part, parts, seconds, situation};
use crate::plan::{ClonePlan, CopyMethod, Vmgenid};
use std::path::PathBuf;

/// Arguments of `clone`.
#[derive(clap::Args, Clone, Debug)]
pub struct CloneArgs {
    /// A series (5.10, 6.1, 6.12, 6.18, or 7, the default) or a kernel image; with --table, a
    /// series whose situations to run [default: all]
    #[arg(long, value_name = "SERIES|FILE")]
    pub kernel: Option<String>,

    /// Architecture of the machine [default: x86_64; with --table: all]
    #[arg(long, value_name = "ARCH", value_parser = ["x86_64", "aarch64"])]
    pub arch: Option<String>,

    /// The device that reports a clone to the guest's kernel
    #[arg(long, value_enum, default_value = "none")]
    pub vmgenid: Vmgenid,

    /// Add a VMClock device
    #[arg(long)]
    pub vmclock: bool,

    /// Virtual CPUs
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=16))]
    pub smp: u8,

    /// Restore a snapshot in the same QEMU, in place of two clones
    #[arg(long)]
    pub rollback: bool,

    /// Hibernate the guest to a disk, and resume it from two copies of the disk
    #[arg(long, conflicts_with_all = ["rollback", "arch"])]
    pub hibernate: bool,

    /// Use a CPU without RDRAND (on arm64: RNDR)
    #[arg(long)]
    pub no_rdrand: bool,

    /// Modes of headwater, with one process of two threads each
    #[arg(long, default_value = "auto,buffered,hedged,strict", value_delimiter = ',', value_name = "MODE",
          value_parser = ["auto", "buffered", "hedged", "strict", "kernel"])]
    pub mode: Vec<String>,

    /// Seconds between readiness and snapshot
    #[arg(long, default_value_t = 1.0, value_name = "SECONDS", value_parser = seconds, allow_negative_numbers = true)]
    pub after: f64,

    /// Rounds of each thread to compare after the clones diverge
    #[arg(long, default_value_t = 400, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=8000))]
    pub count: u64,

    /// Watch the clones until the repeats end, with one thread per mode that draws every 50 ms
    #[arg(long, value_name = "SECONDS", conflicts_with = "count", value_parser = clap::value_parser!(u32).range(5..=600))]
    pub watch: Option<u32>,

    /// Run and check every situation of the table
    #[arg(long, conflicts_with_all = ["watch", "vmgenid", "vmclock", "smp", "rollback", "hibernate", "no_rdrand", "mode", "after", "count", "json"])]
    pub table: bool,

    /// With --table, run only these situations
    #[arg(long, value_delimiter = ',', value_name = "NAME", requires = "table", value_parser = situation)]
    pub only: Vec<String>,

    /// Print JSON (schema headwater.lab-clone/1)
    #[arg(long)]
    pub json: bool,

    /// The guest's program [default: built in the source tree, or beside this command]
    #[arg(long, value_name = "FILE")]
    pub guest: Option<PathBuf>,
}

impl CloneArgs {
    /// Returns the requested kernels of the table.
    ///
    /// # Errors
    ///
    /// If the table has no such kernel, or it is for another architecture than the requested one.
    pub fn parts(&self) -> Result<Vec<String>, String> {
        parts(self.kernel.as_deref(), self.arch.as_deref())
    }

    /// Returns the requested pair of clones.
    ///
    /// # Errors
    ///
    /// If the kernel is for another architecture than the requested one, or a mode is named
    /// twice.
    pub fn plan(&self) -> Result<ClonePlan, String> {
        check_architecture(self.kernel.as_deref(), self.arch.as_deref())?;
        // The processes of a mode that is named twice would make two rows of one name.
        for (index, mode) in self.mode.iter().enumerate() {
            if self.mode[..index].contains(mode) {
                return Err(format!("--mode names '{mode}' twice"));
            }
        }
        Ok(ClonePlan {
            kernel: part(self.kernel.as_deref(), self.arch.as_deref())
                .unwrap_or_else(|| NEWEST.to_owned()),
            vmgenid: self.vmgenid,
            vmclock: self.vmclock,
            smp: usize::from(self.smp),
            method: match (self.rollback, self.hibernate) {
                (true, _) => CopyMethod::Rollback,
                (_, true) => CopyMethod::Hibernation,
                _ => CopyMethod::SavedState,
            },
            rdrand: !self.no_rdrand,
            modes: self.mode.clone(),
            after_s: self.after,
            count: self.count,
            watch_s: self.watch.unwrap_or(0),
            guest: self.guest.clone(),
        })
    }
}
