//! Arguments of `headwater lab`.

mod run;

pub use run::RunArgs;

use crate::machine::header;
use crate::machine::part::ARM_PART;
use crate::machine::series::{self, SERIES};
use crate::plan::{BootPlan, Clock, ClonePlan, CopyMethod, Rng, Vmgenid};
use crate::scenario::nodes::NodesPlanned;
use std::path::{Path, PathBuf};

/// Boot and clone real kernels in QEMU: which programs wait for random bytes, and whose bytes
/// repeat
#[derive(clap::Args, Clone, Debug)]
#[command(after_help = "\
Exit status: 0 done, and every promise that the experiment judges held; 1 a promise is broken,
or was not shown; 2 wrong usage; 3 could not be done: no QEMU or kernel in the cache, no package
archive, no root for criu, no disk space, or a guest that failed. A single boot or clone is
reported, not judged; boot --matrix, clone --table and the other experiments are judged.")]
pub struct Args {
    /// Directory of QEMU and the kernels [default: headwater/lab in the user's cache directory]
    #[arg(long, value_name = "DIR", global = true)]
    pub cache: Option<PathBuf>,

    /// The experiment.
    #[command(subcommand)]
    pub verb: Verb,
}

/// An experiment.
#[derive(clap::Subcommand, Clone, Debug)]
pub enum Verb {
    /// Fetch QEMU and kernels into the cache with apt; nothing is installed
    Setup(SetupArgs),
    /// Boot a guest, and report which requests waited for random bytes, how long, and why
    Boot(BootArgs),
    /// Save a guest that draws at full speed, resume it twice, and report which bytes repeat
    Clone(CloneArgs),
    /// Dump a process of this host once, restore it twice, and report which bytes repeat (root)
    Criu(CriuArgs),
    /// Stress restartable sequences, and report draws that repeat
    Sections(SectionsArgs),
    /// Look whether each CPU's pages lie on its memory node, in a machine with several
    Nodes(NodesArgs),
    /// Stress and clone one kernel, any image, and say if headwater is sound on it
    Kernel(KernelArgs),
    /// Run a static program in a guest, and end with its exit status
    Run(RunArgs),
    /// Save the files that a doctor would read on this host
    Record(Record),
    /// Run all tables: boots, clones, and restored processes
    All(AllArgs),
}

/// Arguments of `setup`.
#[derive(clap::Args, Clone, Debug)]
pub struct SetupArgs {
    /// Fetch only these parts: tools, 5.10, 6.1, 6.12, 6.18, 7, criu, arm64
    #[arg(long, value_name = "PART", value_delimiter = ',')]
    pub only: Vec<String>,

    /// Print what would be fetched, and its size
    #[arg(long)]
    pub list: bool,

    /// Look for newer kernels, and fetch them
    #[arg(long)]
    pub refresh: bool,
}

/// Arguments of `boot`.
#[derive(clap::Args, Clone, Debug)]
pub struct BootArgs {
    /// A series (5.10, 6.1, 6.12, 6.18, or 7, the default) or a kernel image; with --matrix, a
    /// series whose boots to run [default: all]
    #[arg(long, value_name = "SERIES|FILE")]
    pub kernel: Option<String>,

    /// Architecture of the machine [default: x86_64; with --matrix: all]
    #[arg(long, value_name = "ARCH", value_parser = ["x86_64", "aarch64"])]
    pub arch: Option<String>,

    /// Entropy source that the machine offers to the kernel
    #[arg(long, value_enum, default_value = "none")]
    pub rng: Rng,

    /// The kernel's clock
    #[arg(long, value_enum, default_value = "tsc")]
    pub clock: Clock,

    /// Words to add to the kernel's command line
    #[arg(long, default_value = "", value_name = "WORDS", allow_hyphen_values = true)]
    pub append: String,

    /// Words to add to QEMU's command line
    #[arg(long, default_value = "", value_name = "WORDS", allow_hyphen_values = true)]
    pub qemu: String,

    /// Seconds after which a wait counts as endless
    #[arg(long, default_value_t = 60, value_name = "SECONDS", value_parser = clap::value_parser!(u32).range(1..=3600))]
    pub limit: u32,

    /// Run and check the whole table of boots
    #[arg(long, conflicts_with_all = ["rng", "clock", "append", "qemu", "record", "limit", "json", "html"])]
    pub matrix: bool,

    /// Print JSON (schema headwater.lab-boot/1)
    #[arg(long)]
    pub json: bool,

    /// Write the timeline as a page of HTML
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,

    /// Record the guest for 'headwater doctor --root', to a new FILE.host or an empty directory
    #[arg(long, value_name = "FILE.host|DIR")]
    pub record: Option<PathBuf>,

    /// The guest's program [default: built in the source tree, or beside this command]
    #[arg(long, value_name = "FILE")]
    pub guest: Option<PathBuf>,
}

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

/// Arguments of `criu`.
#[derive(clap::Args, Clone, Debug)]
pub struct CriuArgs {
    /// Print JSON (schema headwater.lab-criu/1, one for each mode)
    #[arg(long)]
    pub json: bool,

    /// The guest's program [default: built in the source tree, or beside this command]
    #[arg(long, value_name = "FILE")]
    pub guest: Option<PathBuf>,
}

/// Arguments of `sections`.
#[derive(clap::Args, Clone, Debug)]
pub struct SectionsArgs {
    /// A series (5.10, 6.1, 6.12, 6.18 or 7) or a kernel image [default: every series in the cache]
    #[arg(long, value_name = "SERIES|FILE")]
    pub kernel: Option<String>,

    /// Duration of each of the two stresses
    #[arg(long, default_value_t = 60, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=3600))]
    pub seconds: u64,

    /// Instead, make the kernel forget to abort sections in the middle: the stress must find it
    #[arg(long)]
    pub forgetful: bool,

    /// Print JSON (schema headwater.lab-sections/1, one for each stress)
    #[arg(long)]
    pub json: bool,

    /// The guest's program [default: built in the source tree, or beside this command]
    #[arg(long, value_name = "FILE")]
    pub guest: Option<PathBuf>,
}

/// Arguments of `nodes`.
#[derive(clap::Args, Clone, Debug)]
pub struct NodesArgs {
    /// A series (5.10, 6.1, 6.12, 6.18 or 7) or a kernel image [default: 7]
    #[arg(long, value_name = "SERIES|FILE")]
    pub kernel: Option<String>,

    /// Memory nodes
    #[arg(long, default_value_t = 4, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=8))]
    pub nodes: u8,

    /// CPUs of all nodes, a multiple of the nodes
    #[arg(long, default_value_t = 16, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=64))]
    pub cpus: u8,

    /// Duration of the moves before the second look
    #[arg(long, default_value_t = 10, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=3600))]
    pub seconds: u64,

    /// Print JSON (schema headwater.lab-nodes/1, one for each look)
    #[arg(long)]
    pub json: bool,

    /// The guest's program [default: built in the source tree, or beside this command]
    #[arg(long, value_name = "FILE")]
    pub guest: Option<PathBuf>,
}

impl NodesArgs {
    /// Returns the requested kernel.
    pub fn kernel(&self) -> &str {
        self.kernel.as_deref().unwrap_or(NEWEST)
    }

    /// Returns the requested machine.
    ///
    /// # Errors
    ///
    /// If the CPUs cannot be split evenly over the nodes.
    pub fn plan(&self) -> Result<NodesPlanned, String> {
        let (nodes, cpus) = (usize::from(self.nodes), usize::from(self.cpus));
        match cpus.is_multiple_of(nodes) {
            true => Ok(NodesPlanned { nodes, cpus, seconds: self.seconds }),
            false => Err(format!(
                "{cpus} CPUs cannot be split evenly over {nodes} nodes; give a multiple of {nodes}"
            )),
        }
    }
}

/// Arguments of `kernel`.
#[derive(clap::Args, Clone, Debug)]
pub struct KernelArgs {
    /// A kernel image, such as a bzImage; or a series (5.10, 6.1, 6.12, 6.18 or 7)
    #[arg(value_name = "FILE|SERIES")]
    pub kernel: String,

    /// Duration of each stress
    #[arg(long, default_value_t = 30, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=3600))]
    pub seconds: u64,

    /// Print JSON (schema headwater.lab-kernel/1)
    #[arg(long)]
    pub json: bool,

    /// The guest's program [default: built in the source tree, or beside this command]
    #[arg(long, value_name = "FILE")]
    pub guest: Option<PathBuf>,
}

/// Arguments of `record`.
#[derive(clap::Args, Clone, Debug)]
pub struct Record {
    /// A new file that ends in .host, to read or to mail; or a new or empty directory
    #[arg(value_name = "FILE.host|DIR")]
    pub path: PathBuf,
}

/// Arguments of `all`.
#[derive(clap::Args, Clone, Debug)]
pub struct AllArgs {
    /// Run one boot of each series, and three pairs of clones
    #[arg(long)]
    pub short: bool,

    /// Write tables and JSON into this directory
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,

    /// Save the files that a doctor would read in each booted guest, under this directory
    #[arg(long, value_name = "DIR")]
    pub recordings: Option<PathBuf>,

    /// The guest's program [default: built in the source tree, or beside this command]
    #[arg(long, value_name = "FILE")]
    pub guest: Option<PathBuf>,
}

/// Parses seconds that a guest can wait. Not every float is a duration, and the guest would boot
/// before that is seen.
fn seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(seconds) if (0.0..=3600.0).contains(&seconds) => Ok(seconds),
        _ => Err("seconds are a number from 0 to 3600".to_owned()),
    }
}

fn situation(name: &str) -> Result<String, String> {
    let names: Vec<&str> =
        crate::scenario::situations::SITUATIONS.iter().map(|situation| situation.id).collect();
    match names.contains(&name) {
        true => Ok(name.to_owned()),
        false => Err(format!("situations are {}", names.join(", "))),
    }
}

/// Returns the part of the cache, or the file, with the requested kernel. arm64 has its own part.
fn part(kernel: Option<&str>, arch: Option<&str>) -> Option<String> {
    let series = kernel.and_then(series::find).map(|series| series.name);
    match (kernel, arch) {
        (None, Some("aarch64")) => Some(ARM_PART.to_owned()),
        (Some(_), Some("aarch64")) if series.is_some() => Some(ARM_PART.to_owned()),
        (kernel, _) => series.or(kernel).map(str::to_owned),
    }
}

/// Checks that a kernel image is for the requested architecture. A file that is no image is
/// refused when the kernel is looked for.
fn check_image(kernel: Option<&str>, arch: Option<&str>) -> Result<(), String> {
    let (Some(kernel), Some(arch)) = (kernel, arch) else { return Ok(()) };
    if series::find(kernel).is_some() {
        return Ok(());
    }
    match header::architecture(Path::new(kernel)) {
        Ok(found) if found != arch => {
            Err(format!("{kernel} is a kernel for {found}, and --arch asks for {arch}"))
        }
        _ => Ok(()),
    }
}

/// Returns the kernels whose rows of a table are requested; empty: all.
fn parts(kernel: Option<&str>, arch: Option<&str>) -> Result<Vec<String>, String> {
    let parts = match (part(kernel, arch), arch) {
        (Some(part), _) => vec![part],
        (None, Some(_)) => SERIES.iter().map(|series| series.name.to_owned()).collect(),
        (None, None) => Vec::new(),
    };
    let known = |part: &String| part == ARM_PART || series::find(part).is_some();
    match parts.iter().find(|part| !known(part)) {
        Some(part) => Err(format!("the table has no rows for a kernel '{part}', only for series")),
        None => Ok(parts),
    }
}

/// The newest series, which is the default.
pub(crate) const NEWEST: &str = "7";

impl BootArgs {
    /// Returns the requested kernels of the table.
    ///
    /// # Errors
    ///
    /// If the table has no such kernel.
    pub fn parts(&self) -> Result<Vec<String>, String> {
        parts(self.kernel.as_deref(), self.arch.as_deref())
    }

    /// Returns the requested boot.
    ///
    /// # Errors
    ///
    /// If the kernel image is for another architecture than the requested one.
    pub fn plan(&self) -> Result<BootPlan, String> {
        check_image(self.kernel.as_deref(), self.arch.as_deref())?;
        Ok(BootPlan {
            kernel: part(self.kernel.as_deref(), self.arch.as_deref())
                .unwrap_or_else(|| NEWEST.to_owned()),
            rng: self.rng,
            clock: self.clock,
            append: self.append.clone(),
            devices: self.qemu.clone(),
            limit_s: self.limit,
            record: self.record.clone(),
            guest: self.guest.clone(),
        })
    }
}

impl CloneArgs {
    /// Returns the requested kernels of the table.
    ///
    /// # Errors
    ///
    /// If the table has no such kernel.
    pub fn parts(&self) -> Result<Vec<String>, String> {
        parts(self.kernel.as_deref(), self.arch.as_deref())
    }

    /// Returns the requested pair of clones.
    ///
    /// # Errors
    ///
    /// If the kernel image is for another architecture than the requested one, or a mode is named
    /// twice.
    pub fn plan(&self) -> Result<ClonePlan, String> {
        check_image(self.kernel.as_deref(), self.arch.as_deref())?;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::temporary::Temporary;

    /// A float that is no duration was a panic once, after the boot.
    #[test]
    fn seconds_are_those_that_a_guest_can_wait() {
        for (text, value) in [("0", 0.0), ("1.5", 1.5), ("3600", 3600.0)] {
            assert_eq!(seconds(text), Ok(value));
        }
        for text in ["-1", "-0.1", "NaN", "inf", "1e300", "3601", "", "one"] {
            assert!(seconds(text).is_err(), "{text}");
        }
    }

    #[test]
    fn an_image_is_for_the_architecture_that_is_asked_for() {
        let directory = Temporary::directory().unwrap();
        let file = directory.path().join("bzImage");
        std::fs::write(&file, header::tests::bzimage_of(1)).unwrap();
        let of = |arch| check_image(file.to_str(), Some(arch));
        assert_eq!(of("x86_64"), Ok(()));
        assert!(of("aarch64").unwrap_err().contains("is a kernel for x86_64, and --arch asks"));
        assert_eq!(check_image(Some("7"), Some("aarch64")), Ok(()));
    }

    #[test]
    fn a_kernel_is_a_series_a_file_or_that_of_arm64() {
        let of = |kernel, arch| part(kernel, arch);
        assert_eq!(of(None, None), None);
        assert_eq!(of(Some("7.x"), Some("x86_64")).as_deref(), Some("7"));
        assert_eq!(of(Some("7"), Some("aarch64")).as_deref(), Some("arm64"));
        assert_eq!(of(None, Some("aarch64")).as_deref(), Some("arm64"));
        assert_eq!(of(Some("./vmlinuz"), None).as_deref(), Some("./vmlinuz"));
        assert_eq!(parts(None, None), Ok(Vec::new()));
        assert_eq!(parts(Some("6.1"), None), Ok(vec!["6.1".to_owned()]));
        assert_eq!(parts(None, Some("x86_64")).map(|all| all.len()), Ok(SERIES.len()));
        assert!(parts(Some("./vmlinuz"), None).is_err());
        assert_eq!(SERIES[SERIES.len() - 1].name, NEWEST);
    }
}
