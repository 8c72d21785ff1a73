//! The words after `headwater lab`.

use crate::boot::{Clock, Rng};
use crate::clone::Vmgenid;
use crate::series::{self, SERIES};
use crate::setup::ARM_PART;
use std::path::PathBuf;

/// Boot real kernels in QEMU that wait for randomness, and clone guests whose bytes repeat
#[derive(clap::Args, Clone, Debug)]
#[command(after_help = "\
Exit status: 0 done, and every promise held; 1 something did not hold, or was not shown; 2 wrong usage;
3 could not be done: no QEMU or kernel in the cache, no archive, no root for criu, no disk space, a guest that failed.")]
pub struct Args {
    /// Where QEMU and the kernels are kept [default: headwater/lab in the user's cache folder]
    #[arg(long, value_name = "DIR", global = true)]
    pub cache: Option<PathBuf>,

    /// What to do.
    #[command(subcommand)]
    pub verb: Verb,
}

/// What to do.
#[derive(clap::Subcommand, Clone, Debug)]
pub enum Verb {
    /// Fetch QEMU and kernels into the cache, by apt; nothing is installed
    Setup(Setup),
    /// Boot a guest, and tell who waited for randomness, for how long, and why
    Boot(Boot),
    /// Save a guest that draws at full speed, start it twice, and tell what came twice
    Clone(Clone),
    /// Dump a process of this host once, restore it twice, and tell what came twice (root)
    Criu(Criu),
    /// Save what a doctor would look at on this host, as files in a folder
    Record(Record),
    /// Everything: the matrix of boots and the table of clones
    All(All),
}

/// The words after `setup`.
#[derive(clap::Args, Clone, Debug)]
pub struct Setup {
    /// Only these parts: tools, 5.10, 6.1, 6.12, 6.18, 7, criu, arm64
    #[arg(long, value_name = "PART", value_delimiter = ',')]
    pub only: Vec<String>,

    /// Tell what would be fetched, and its size
    #[arg(long)]
    pub list: bool,

    /// Look for newer kernels, and fetch them
    #[arg(long)]
    pub refresh: bool,
}

/// The words after `boot`.
#[derive(clap::Args, Clone, Debug)]
pub struct Boot {
    /// A series (5.10, 6.1, 6.12, 6.18 or 7, the default), or a kernel image; with --matrix: its boots alone [default: all]
    #[arg(long, value_name = "SERIES|FILE")]
    pub kernel: Option<String>,

    /// The machine [default: x86_64; with --matrix: all]
    #[arg(long, value_name = "ARCH", value_parser = ["x86_64", "aarch64"])]
    pub arch: Option<String>,

    /// What the machine offers the kernel's generator
    #[arg(long, value_enum, default_value = "none")]
    pub rng: Rng,

    /// What the kernel tells time by
    #[arg(long, value_enum, default_value = "tsc")]
    pub clock: Clock,

    /// More words for the kernel's command line
    #[arg(long, default_value = "", value_name = "WORDS", allow_hyphen_values = true)]
    pub append: String,

    /// More words for QEMU
    #[arg(long, default_value = "", value_name = "WORDS", allow_hyphen_values = true)]
    pub qemu: String,

    /// Seconds after which a wait counts as endless
    #[arg(long, default_value_t = 60, value_name = "SECONDS", value_parser = clap::value_parser!(u32).range(1..=3600))]
    pub limit: u32,

    /// Run the whole table of boots instead, and check it
    #[arg(long, conflicts_with_all = ["rng", "clock", "append", "qemu", "record"])]
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

    /// The guest's program, instead of the one beside this command or in the source tree
    #[arg(long, value_name = "FILE")]
    pub guest: Option<PathBuf>,
}

/// The words after `clone`.
#[derive(clap::Args, Clone, Debug)]
pub struct Clone {
    /// A series (5.10, 6.1, 6.12, 6.18 or 7, the default), or a kernel image; with --table: its situations alone [default: all]
    #[arg(long, value_name = "SERIES|FILE")]
    pub kernel: Option<String>,

    /// The machine [default: x86_64; with --table: all]
    #[arg(long, value_name = "ARCH", value_parser = ["x86_64", "aarch64"])]
    pub arch: Option<String>,

    /// The generation identifier that tells a kernel of its cloning
    #[arg(long, value_enum, default_value = "none")]
    pub vmgenid: Vmgenid,

    /// With a VMClock
    #[arg(long)]
    pub vmclock: bool,

    /// Virtual CPUs
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=16))]
    pub smp: u8,

    /// Restore a snapshot in the same QEMU, instead of starting it twice
    #[arg(long)]
    pub rollback: bool,

    /// Without RDRAND (on arm64: RNDR)
    #[arg(long)]
    pub no_rdrand: bool,

    /// headwater's modes, a process of two threads for each
    #[arg(long, default_value = "auto,buffered,hedged,strict", value_delimiter = ',', value_name = "MODE",
          value_parser = ["auto", "buffered", "hedged", "strict", "kernel"])]
    pub mode: Vec<String>,

    /// Seconds between the guest's being ready and the snapshot
    #[arg(long, default_value_t = 1.0, value_name = "SECONDS")]
    pub after: f64,

    /// Iterations of each thread to compare after the clones parted
    #[arg(long, default_value_t = 400, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=8000))]
    pub count: u64,

    /// Watch the clones for so long, to see when repeats end: one thread for each mode, which draws every 50 ms
    #[arg(long, value_name = "SECONDS", conflicts_with = "count", value_parser = clap::value_parser!(u32).range(5..=600))]
    pub watch: Option<u32>,

    /// Run every situation of the table instead, and check it
    #[arg(long, conflicts_with_all = ["watch", "vmgenid", "vmclock", "smp", "rollback", "no_rdrand", "mode"])]
    pub table: bool,

    /// With --table: only these situations, by name
    #[arg(long, value_delimiter = ',', value_name = "NAME", requires = "table", value_parser = situation)]
    pub only: Vec<String>,

    /// Print JSON (schema headwater.lab-clone/1)
    #[arg(long)]
    pub json: bool,

    /// The guest's program, instead of the one beside this command or in the source tree
    #[arg(long, value_name = "FILE")]
    pub guest: Option<PathBuf>,
}

/// The words after `criu`.
#[derive(clap::Args, Clone, Debug)]
pub struct Criu {
    /// Print JSON (schema headwater.lab-criu/1, one for each mode)
    #[arg(long)]
    pub json: bool,

    /// The guest's program, instead of the one beside this command or in the source tree
    #[arg(long, value_name = "FILE")]
    pub guest: Option<PathBuf>,
}

/// The words after `record`.
#[derive(clap::Args, Clone, Debug)]
pub struct Record {
    /// A new file that ends in .host, to read or to mail; or a new or empty directory
    #[arg(value_name = "FILE.host|DIR")]
    pub path: PathBuf,
}

/// The words after `all`.
#[derive(clap::Args, Clone, Debug)]
pub struct All {
    /// One boot of each series, and three pairs of clones
    #[arg(long)]
    pub short: bool,

    /// Write tables and JSON into this folder
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,

    /// Save what a doctor would look at in each guest that is booted, into a folder of its own under this one
    #[arg(long, value_name = "DIR")]
    pub recordings: Option<PathBuf>,

    /// The guest's program, instead of the one beside this command or in the source tree
    #[arg(long, value_name = "FILE")]
    pub guest: Option<PathBuf>,
}

fn situation(name: &str) -> Result<String, String> {
    let names: Vec<&str> =
        crate::situations::SITUATIONS.iter().map(|situation| situation.id).collect();
    match names.contains(&name) {
        true => Ok(name.to_owned()),
        false => Err(format!("situations are {}", names.join(", "))),
    }
}

/// The part of the cache, or the file, that holds the kernel that is asked for: arm64 has a part of its own.
fn part(kernel: Option<&str>, arch: Option<&str>) -> Option<String> {
    let series = kernel.and_then(series::find).map(|series| series.name);
    match (kernel, arch) {
        (None, Some("aarch64")) => Some(ARM_PART.to_owned()),
        (Some(_), Some("aarch64")) if series.is_some() => Some(ARM_PART.to_owned()),
        (kernel, _) => series.or(kernel).map(str::to_owned),
    }
}

/// The kernels whose rows of a table are wanted; empty: all.
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

/// The newest series, which is booted where none is asked for.
const NEWEST: &str = "7";

impl Boot {
    /// The kernels that the matrix is wanted of.
    ///
    /// # Errors
    ///
    /// If it has none such.
    pub fn parts(&self) -> Result<Vec<String>, String> {
        parts(self.kernel.as_deref(), self.arch.as_deref())
    }

    /// The boot that is asked for.
    pub fn plan(&self) -> crate::boot::Plan {
        crate::boot::Plan {
            kernel: part(self.kernel.as_deref(), self.arch.as_deref())
                .unwrap_or_else(|| NEWEST.to_owned()),
            rng: self.rng,
            clock: self.clock,
            append: self.append.clone(),
            devices: self.qemu.clone(),
            limit_s: self.limit,
            record: self.record.clone(),
            guest: self.guest.clone(),
        }
    }
}

impl Clone {
    /// The kernels that the table is wanted of.
    ///
    /// # Errors
    ///
    /// If it has none such.
    pub fn parts(&self) -> Result<Vec<String>, String> {
        parts(self.kernel.as_deref(), self.arch.as_deref())
    }

    /// The pair that is asked for.
    pub fn plan(&self) -> crate::clone::Plan {
        crate::clone::Plan {
            kernel: part(self.kernel.as_deref(), self.arch.as_deref())
                .unwrap_or_else(|| NEWEST.to_owned()),
            vmgenid: self.vmgenid,
            vmclock: self.vmclock,
            smp: usize::from(self.smp),
            rollback: self.rollback,
            rdrand: !self.no_rdrand,
            modes: self.mode.clone(),
            after_s: self.after,
            count: self.count,
            watch_s: self.watch.unwrap_or(0),
            guest: self.guest.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
