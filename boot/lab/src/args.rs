//! Arguments of `headwater lab`.

mod boot;
mod clone;
mod kernel;
mod run;

pub use boot::BootArgs;
pub use clone::CloneArgs;
pub(crate) use kernel::NEWEST;
pub use run::RunArgs;

use crate::scenario::nodes::NodesPlanned;
use std::path::PathBuf;

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
