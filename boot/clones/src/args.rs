//! Arguments of `headwater clones`.

use std::ops::RangeInclusive;
use std::path::PathBuf;

/// Find out which random sources repeat in copies of a warm process or machine, and renew them
#[derive(clap::Args, Clone, Debug)]
#[command(after_help = "\
Exit status: 0 no source repeats that can be renewed; 1 one does, or a repair is not proven; 2 wrong
usage; 3 could not be done: no root, no CRIU, a line that failed, or a copy that did not answer.")]
pub struct Args {
    /// The step to take.
    #[command(subcommand)]
    pub verb: Verb,
}

/// A part of the work with copies.
#[derive(clap::Subcommand, Clone, Debug)]
pub enum Verb {
    /// Make copies of warm processes, and report which of their sources repeat
    Check(Box<CheckArgs>),
    /// Start a warm process for each runtime of this machine, before a copy is made of it
    Plant(PlantArgs),
    /// Let the processes of a copy draw, and print what they drew as JSON
    Draw(DrawArgs),
    /// Compare what copies drew
    Compare(CompareArgs),
    /// Reseed the kernel of a copy from the host's entropy, prove it, and renew names and keys
    /// (root)
    Repair(Box<RepairArgs>),
    /// Wait for copies of this machine: count them in a page that programs map, and run hooks
    Watch(WatchArgs),
    /// Remove what `plant` made
    Uproot(UprootArgs),
    /// Be one of the processes; `plant` starts them
    #[command(hide = true)]
    Witness {
        /// Which one
        name: String,
    },
}

/// The limits for a reseed, in milliseconds. A witness looks each 20 ms, so that a moment between
/// two looks is known no better.
const LIMITS_MS: RangeInclusive<u64> = 40..=86_400_000;

/// Arguments of `check`.
#[derive(clap::Args, Clone, Debug)]
#[command(after_help = "\
Without --spawn, CRIU dumps each process of this machine once and restores it (root). With --spawn
and --exec, the lines run by sh: {copy} stands for the copy's number, or for 'template' where the
original is meant, and {command} for what to run inside. The same name is in HEADWATER_COPY.

  headwater clones check --spawn 'vm-restore snap copy{copy}' --exec 'ssh copy{copy} {command}' \\
      --template 'vm-start copytemplate' --snapshot 'vm-save copytemplate snap'")]
pub struct CheckArgs {
    /// Number of copies
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u16).range(2..))]
    pub copies: u16,

    /// Only these witnesses: kernel, libc, openssl, python, node, java, headwater and others
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub only: Vec<String>,

    /// Only witnesses that are quick to copy, for CI
    #[arg(long, conflicts_with = "only")]
    pub short: bool,

    /// The CRIU to use [default: the newest of the lab's cache, else criu of PATH]
    #[arg(long, value_name = "FILE", conflicts_with = "spawn")]
    pub criu: Option<PathBuf>,

    /// Line that makes a copy
    #[arg(long, value_name = "LINE", requires = "exec")]
    pub spawn: Option<String>,

    /// Line that runs {command} in a copy, and prints its output
    #[arg(long, value_name = "LINE", requires = "spawn")]
    pub exec: Option<String>,

    /// Line that makes the original
    #[arg(long, value_name = "LINE", requires = "spawn")]
    pub template: Option<String>,

    /// Line that takes the image of which copies are made, once the original is planted
    #[arg(long, value_name = "LINE", requires = "spawn")]
    pub snapshot: Option<String>,

    /// Line that ends a copy, and at last the original
    #[arg(long, value_name = "LINE", requires = "spawn")]
    pub stop: Option<String>,

    /// The original is planted already
    #[arg(long, requires = "spawn")]
    pub planted: bool,

    /// The copies are processes on one kernel, and not machines
    #[arg(long, requires = "spawn")]
    pub processes: bool,

    /// Fail unless each copy's kernel is seen to reseed within so many milliseconds of the copy
    #[arg(long, value_name = "MS", requires = "spawn", conflicts_with = "processes",
        value_parser = clap::value_parser!(u64).range(LIMITS_MS))]
    pub reseed_within: Option<u64>,

    /// The command's name inside the original and its copies
    #[arg(long, value_name = "COMMAND", default_value = "headwater", requires = "spawn")]
    pub inside: String,

    /// Seconds that a line may take
    #[arg(long, value_name = "SECONDS", default_value_t = 120, requires = "spawn",
        value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub timeout: u64,

    /// Directory of the witnesses, which is made and removed [default: /run/headwater-clones; for
    /// an ordinary user $XDG_RUNTIME_DIR/headwater-clones]
    #[arg(long, value_name = "DIR")]
    pub dir: Option<PathBuf>,

    /// The form of the report
    #[command(flatten)]
    pub output: OutputArgs,
}

/// Where a comparison goes.
#[derive(clap::Args, Clone, Debug)]
pub struct OutputArgs {
    /// Print JSON
    #[arg(long)]
    pub json: bool,

    /// Write the report as JUnit XML, for a CI system
    #[arg(long, value_name = "FILE")]
    pub junit: Option<PathBuf>,

    /// Write the report as a page
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,

    /// Also list the sources that differ and those that were not drawn
    #[arg(long)]
    pub all: bool,
}

/// Arguments of `plant`.
#[derive(clap::Args, Clone, Debug)]
pub struct PlantArgs {
    /// Only these witnesses
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub only: Vec<String>,

    /// Only witnesses that are quick to copy
    #[arg(long, conflicts_with = "only")]
    pub short: bool,

    /// Directory of the witnesses; it must not exist [default: as for `check`]
    #[arg(long, value_name = "DIR")]
    pub dir: Option<PathBuf>,
}

/// Arguments of `draw`.
#[derive(clap::Args, Clone, Debug)]
pub struct DrawArgs {
    /// Seconds for which the kernel's values are drawn, to see when they cease to repeat
    #[arg(long, value_name = "SECONDS", default_value_t = 0,
        value_parser = clap::value_parser!(u64).range(..=86_400))]
    pub seconds: u64,

    /// Directory of the witnesses [default: as for `plant`]
    #[arg(long, value_name = "DIR")]
    pub dir: Option<PathBuf>,
}

/// Arguments of `compare`.
#[derive(clap::Args, Clone, Debug)]
pub struct CompareArgs {
    /// The files that `draw` printed, one of each copy
    #[arg(value_name = "FILE", required = true, num_args = 2..)]
    pub files: Vec<PathBuf>,

    /// The copies are processes on one kernel, and not machines
    #[arg(long)]
    pub processes: bool,

    /// Fail unless each copy's kernel is seen to reseed within so many milliseconds of the copy
    #[arg(long, value_name = "MS", conflicts_with = "processes",
        value_parser = clap::value_parser!(u64).range(LIMITS_MS))]
    pub reseed_within: Option<u64>,

    /// The form of the report
    #[command(flatten)]
    pub output: OutputArgs,
}

/// Arguments of `repair`.
#[derive(clap::Args, Clone, Debug)]
#[command(after_help = "\
Run it in each copy before anything else runs there, with other bytes for each copy:

  head -c 64 /dev/urandom | ssh copy7 headwater clones repair --entropy-fd 0 --machine-id

The bytes come by a descriptor, because a command line can be read by every user. Exit status: 0 the
kernel was shown to have reseeded, and every step succeeded; 1 not so; 2 wrong usage; 3 the entropy
or a call was refused.")]
pub struct RepairArgs {
    /// Descriptor with at least 32 bytes of entropy, such as 0 for standard input; it is read to
    /// its end, or 512 bytes of it, and programs that start later do not have it
    #[arg(long, value_name = "FD")]
    pub entropy_fd: Option<u32>,

    /// Address of the host's socket that sends at least 32 bytes of entropy, such as 2:5000; the
    /// host's number is 2
    #[arg(long, value_name = "CID:PORT", conflicts_with = "entropy_fd", value_parser = vsock)]
    pub entropy_vsock: Option<(u32, u32)>,

    /// Accept the kernel's word where it shows no reseed generation (before Linux 6.11)
    #[arg(long)]
    pub without_generation: bool,

    /// Write a new /etc/machine-id
    #[arg(long)]
    pub machine_id: bool,

    /// Write a new seed file of systemd
    #[arg(long)]
    pub seed_file: bool,

    /// Make new SSH host keys; sshd reads them when it starts
    #[arg(long)]
    pub ssh_host_keys: bool,

    /// Set the host name
    #[arg(long, value_name = "NAME", value_parser = host_name)]
    pub host_name: Option<String>,

    /// Directory of programs to run after the reseed [default: /etc/headwater/clones.d]
    #[arg(long, value_name = "DIR")]
    pub hooks: Option<PathBuf>,

    /// The page of a watcher, in which the copy is counted if it is there
    #[arg(long, value_name = "FILE", default_value = "/run/headwater/copies")]
    pub page: PathBuf,

    /// Directory of the witnesses, if the copy has any, where the repair is noted for `compare`
    /// [default: as for `plant`]
    #[arg(long, value_name = "DIR")]
    pub dir: Option<PathBuf>,

    /// Control group to thaw after all else succeeded
    #[arg(long, value_name = "CGROUP")]
    pub thaw: Option<PathBuf>,

    /// Print JSON
    #[arg(long)]
    pub json: bool,

    /// Become the command after `--` once all else succeeded, and never otherwise
    #[arg(long, requires = "command")]
    pub gate: bool,

    /// The gated command
    #[arg(last = true, requires = "gate", value_name = "COMMAND")]
    pub command: Vec<std::ffi::OsString>,
}

/// Arguments of `watch`.
#[derive(clap::Args, Clone, Debug)]
#[command(after_help = "\
Hooks are the programs of /etc/headwater/clones.d, in order, and then --exec. They find the count in
HEADWATER_COPIES, and run after the kernel was reseeded. Exit status: 0 with --once, after a copy; 3
the page cannot be kept, since another watcher keeps it or this user may not write there; or the
host does not listen.")]
pub struct WatchArgs {
    /// Line that sh runs after each copy
    #[arg(long, value_name = "LINE")]
    pub exec: Option<String>,

    /// Directory of programs to run after each copy [default: /etc/headwater/clones.d]
    #[arg(long, value_name = "DIR")]
    pub hooks: Option<PathBuf>,

    /// Keep a connection that ends in a copy, to a socket on which the host listens, such as
    /// 2:5000; the host's number is 2
    #[arg(long, value_name = "CID:PORT", value_parser = vsock)]
    pub vsock: Option<(u32, u32)>,

    /// The page; programs look for it in this place only
    #[arg(long, value_name = "FILE", default_value = "/run/headwater/copies")]
    pub page: PathBuf,

    /// End after the first copy
    #[arg(long)]
    pub once: bool,

    /// Print each copy as a line of JSON
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `uproot`.
#[derive(clap::Args, Clone, Debug)]
pub struct UprootArgs {
    /// Directory of the witnesses [default: as for `plant`]
    #[arg(long, value_name = "DIR")]
    pub dir: Option<PathBuf>,
}

/// Parses an address of a hypervisor's sockets.
fn vsock(text: &str) -> Result<(u32, u32), String> {
    let parsed = text.split_once(':').and_then(|(cid, port)| {
        let number =
            |text: &str| text.bytes().all(|b| b.is_ascii_digit()).then(|| text.parse().ok());
        Some((number(cid)??, number(port)??))
    });
    // The largest number of each stands for "any", which is no place to connect to.
    parsed.filter(|&(cid, port)| cid != u32::MAX && port != u32::MAX).ok_or_else(|| {
        "two numbers below 2^32 - 1, such as 2:5000 for port 5000 of the host".to_owned()
    })
}

/// Parses a host name, as hostname(7) has it. Here and not where it is set, because by then the
/// kernel is reseeded and a part of the copy's names is new.
fn host_name(text: &str) -> Result<String, String> {
    let is_label = |label: &str| {
        let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
        (1..=63).contains(&label.len()) && label.bytes().all(is_word) && !label.starts_with('-')
    };
    let is_name = text.len() <= 64 && text.split('.').all(is_label);
    is_name.then(|| text.to_owned()).ok_or_else(|| {
        "at most 64 letters, digits and hyphens, in labels that are divided by dots and begin with \
         no hyphen"
            .to_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_sockets_are_two_numbers() {
        for (text, address) in [("2:5000", (2, 5000)), ("1:0", (1, 0)), ("003:07", (3, 7))] {
            assert_eq!(vsock(text), Ok(address));
        }
        for text in [
            "",
            ":",
            "2",
            "2:",
            ":5000",
            "2:5000:",
            "2:5000:1",
            "host:5000",
            "2:http",
            "-1:5000",
            "2:-1",
            "+2:5000",
            "2: 5000",
            "4294967295:1",
            "1:4294967295",
            "4294967296:1",
            "0x2:5000",
            "2.5000",
        ] {
            assert!(vsock(text).is_err(), "{text:?}");
        }
    }
}
