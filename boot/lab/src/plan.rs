//! Experiments as the user asks for them: what machine to boot, and what to do with it.

use clap::ValueEnum;
use serde::Serialize;
use std::ffi::OsString;
use std::path::PathBuf;

/// Returns a value's name on the command line.
pub(crate) fn name(value: impl ValueEnum) -> String {
    value.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
}

/// Entropy sources that the machine offers to the kernel's generator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rng {
    /// No source: interrupts and the jitter loop alone
    None,
    /// virtio-rng, with its driver loaded before the first request
    Virtio,
    /// virtio-rng, with its driver loaded after the wait
    VirtioLate,
    /// RDRAND and RDSEED, which the kernel trusts
    Rdrand,
    /// RDRAND and RDSEED, and a kernel that does not trust them
    RdrandUntrusted,
    /// A seed from UEFI firmware that has virtio-rng; no driver in the guest
    Efi,
    /// 256 bits that a program credits, as a saved seed can be
    Seed,
}

/// The kernel's clock, which the jitter loop depends on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Clock {
    /// The CPU's cycle counter
    #[default]
    Tsc,
    /// Timer ticks alone: no cycle counter, no fine clock
    Jiffies,
    /// The HPET: no cycle counter
    Hpet,
}

/// A boot.
#[derive(Clone, Debug)]
pub struct BootPlan {
    /// A series or a file.
    pub kernel: String,
    /// Entropy sources.
    pub rng: Rng,
    /// The kernel's clock.
    pub clock: Clock,
    /// Words added to the kernel's command line.
    pub append: String,
    /// Words added to QEMU's command line.
    pub devices: String,
    /// Seconds after which a wait counts as endless.
    pub limit_s: u32,
    /// The place for the files that a doctor would read in the guest.
    pub record: Option<PathBuf>,
    /// The guest's program; `None`: find or build it.
    pub guest: Option<PathBuf>,
}

impl BootPlan {
    /// Returns a plain boot of a kernel.
    pub fn new(kernel: &str) -> BootPlan {
        BootPlan {
            kernel: kernel.to_owned(),
            rng: Rng::None,
            clock: Clock::Tsc,
            append: String::new(),
            devices: String::new(),
            limit_s: 60,
            record: None,
            guest: None,
        }
    }
}

/// The device that reports a clone to the guest's kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Vmgenid {
    /// A device with a new identifier for each clone
    Auto,
    /// A device with the same identifier for all clones
    Fixed,
    /// No device
    None,
}

/// The way in which one machine becomes two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopyMethod {
    /// Its memory is saved, and resumed by two QEMUs.
    SavedState,
    /// A snapshot is restored into the same QEMU.
    Rollback,
    /// It hibernates to a disk, and two machines resume from copies of the disk.
    Hibernation,
}

/// A pair of clones.
#[derive(Clone, Debug)]
pub struct ClonePlan {
    /// A series or a file.
    pub kernel: String,
    /// The generation identifier.
    pub vmgenid: Vmgenid,
    /// True if the machine has a VMClock.
    pub vmclock: bool,
    /// Virtual CPUs.
    pub smp: usize,
    /// The way in which the machine is copied.
    pub method: CopyMethod,
    /// True if the CPU has RDRAND (on arm64: RNDR).
    pub rdrand: bool,
    /// headwater's modes, with one process each.
    pub modes: Vec<String>,
    /// Seconds between the guest's `ready` and the snapshot.
    pub after_s: f64,
    /// Rounds of each thread that are compared after the clones diverged.
    pub count: u64,
    /// Seconds for which the clones are watched, with one slow thread for each mode; 0: only
    /// briefly.
    pub watch_s: u32,
    /// The guest's program; `None`: find or build it.
    pub guest: Option<PathBuf>,
}

impl ClonePlan {
    /// Returns clones of a kernel that no device informs.
    pub fn new(kernel: &str) -> ClonePlan {
        ClonePlan {
            kernel: kernel.to_owned(),
            vmgenid: Vmgenid::None,
            vmclock: false,
            smp: 1,
            method: CopyMethod::SavedState,
            rdrand: true,
            modes: ["auto", "buffered", "hedged", "strict"].map(str::to_owned).to_vec(),
            after_s: 1.0,
            count: 400,
            watch_s: 0,
            guest: None,
        }
    }
}

/// A program to run in a guest.
#[derive(Clone, Debug)]
pub struct JobPlan {
    /// A series or a file; `None`: the newest series.
    pub kernel: Option<String>,
    /// The program, linked statically.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// Variables of its environment, each with its value.
    pub environment: Vec<(String, String)>,
    /// Files beside the program.
    pub files: Vec<PathBuf>,
    /// Virtual CPUs.
    pub cpus: usize,
    /// MiB of memory.
    pub memory: usize,
    /// Words for the kernel's command line.
    pub append: String,
    /// Words for QEMU's command line.
    pub devices: String,
    /// Seconds in which the program must end.
    pub limit_s: u64,
    /// The guest's program; `None`: find or build it.
    pub guest: Option<PathBuf>,
}
