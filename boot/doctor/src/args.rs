//! Arguments of `headwater doctor` and `headwater wait`.

use crate::{Id, Kernel};
use std::path::PathBuf;
use std::time::Duration;

/// Find out why this machine waits for randomness, and whether its bytes can repeat
#[derive(clap::Args, Clone, Debug, Default)]
#[group(skip)]
#[command(args_conflicts_with_subcommands = true)]
#[command(after_help = "\
Checks this machine, in less than a second and without /dev/hwrng, unless --root, --journal or
--strace name another input. An ordinary user gets the checks that need no root, and the list of the others.

Exit status: 0 healthy, or notes only; 1 findings; 2 wrong usage; 3 could not read or check anything;
4 incomplete: nothing found, but some checks could not be made.")]
pub struct Args {
    #[allow(missing_docs)] // clap would print it
    #[command(subcommand)]
    pub verb: Option<Verb>,

    /// Check a recorded machine ('headwater lab record FILE.host' or DIR), or a copy of its files
    #[arg(long, value_name = "DIR|FILE.host")]
    pub root: Option<PathBuf>,

    /// Read a log of any boot: journalctl in any of its formats, dmesg, syslog; - for stdin
    #[arg(long, value_name = "FILE")]
    pub journal: Vec<PathBuf>,

    /// Read output of strace: a summary (-c), or a trace with times (-T, -r, -t; also -f); - for
    /// stdin
    #[arg(long, value_name = "FILE")]
    pub strace: Vec<PathBuf>,

    /// Judge as if the machine ran this kernel, such as 6.12 or 5.10.223-1
    #[arg(long, value_name = "VERSION", value_parser = kernel)]
    pub assume_kernel: Option<Kernel>,

    /// Also measure the speed of entropy and the health of hardware sources; takes 5 s
    #[arg(long, conflicts_with_all = ["root", "journal", "strace"])]
    pub deep: bool,

    /// Make these checks only, such as HW001,HW040
    #[arg(long, value_name = "IDS", value_delimiter = ',', value_parser = id)]
    pub only: Vec<Id>,

    /// Leave these checks out
    #[arg(long, value_name = "IDS", value_delimiter = ',', value_parser = id)]
    pub ignore: Vec<Id>,

    /// Add hashes of machine id, SSH host keys, saved seed, boot id and hardware to the JSON
    /// report, so that 'headwater doctor merge' finds clones of one image
    #[arg(long)]
    pub identity: bool,

    /// Salt of these hashes, the same on every host of a fleet; the plain machine id is then
    /// hashed, too
    #[arg(long, value_name = "SALT")]
    pub salt: Option<String>,

    /// Print JSON (schema headwater.doctor/1)
    #[arg(long)]
    pub json: bool,

    /// Print nothing; the exit status is the answer
    #[arg(long, short, conflicts_with = "json")]
    pub quiet: bool,

    /// Write the report as one page for a browser, too
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,

    /// Write metrics for the node exporter's textfile collector, too; the file should end in .prom
    #[arg(long, value_name = "FILE")]
    pub prometheus: Option<PathBuf>,
}

/// Verbs of the doctor.
#[derive(clap::Subcommand, Clone, Debug)]
pub enum Verb {
    /// Explain a finding: its meaning, how it is recognised, what to do, and the sources
    Explain(Explain),
    /// Put the JSON reports of many hosts together: one table, grouped by cause and fix
    Merge(crate::MergeArgs),
    /// Observe which processes wait for the random generator at this boot, until it is ready
    Observe(crate::observe::ObserveArgs),
    /// Find out how long a program takes to its first random byte, and from which source
    Start(crate::start::StartArgs),
}

/// Explain a finding: its meaning, how it is recognised, what to do, and the sources
#[derive(clap::Args, Clone, Debug)]
pub struct Explain {
    /// The finding, such as HW004; all of them in a line each, if not given
    #[arg(value_parser = id)]
    pub id: Option<Id>,
}

/// Wait until the kernel's random generator is ready, and say how long that took
#[derive(clap::Args, Clone, Debug)]
#[group(skip)]
#[command(after_help = "\
Asks as programs do, by getrandom(2), so that a kernel that gathers entropy on demand begins to.

Exit status: 0 ready; 1 not ready in time; 2 wrong usage; 3 the kernel cannot be asked.")]
pub struct WaitArgs {
    /// Give up after so many seconds; the default is to wait for ever
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub timeout: Option<Duration>,

    /// Print nothing; the exit status is the answer
    #[arg(long, short)]
    pub quiet: bool,
}

fn id(typed: &str) -> Result<Id, String> {
    let first = Id::ALL.first().map(Id::to_string).unwrap_or_default();
    Id::parse(typed.trim()).ok_or_else(|| {
        format!("no such check; they are called {first} and so on, see 'headwater doctor explain'")
    })
}

fn kernel(typed: &str) -> Result<Kernel, String> {
    Kernel::parse(typed)
        .ok_or_else(|| "not a kernel's version, such as 6.12 or 5.10.223-1-amd64".to_owned())
}

pub(crate) fn seconds(typed: &str) -> Result<Duration, String> {
    let wrong = || "a number of seconds, such as 10 or 0.5, at most a year".to_owned();
    let seconds: f64 = typed.parse().map_err(|_| wrong())?;
    if !(0.0..=31_536_000.0).contains(&seconds) {
        return Err(wrong());
    }
    Ok(Duration::from_secs_f64(seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_check_is_named_in_any_case_and_a_wrong_name_is_told() {
        assert_eq!(id("hw040"), Ok(Id::NoVmgenid));
        assert!(id("HW999").unwrap_err().contains("HW001"));
    }

    #[test]
    fn seconds_are_finite_and_not_negative() {
        assert_eq!(seconds("0.5"), Ok(Duration::from_millis(500)));
        for wrong in ["", "-1", "nan", "inf", "1e99", "10s"] {
            assert!(seconds(wrong).is_err(), "{wrong}");
        }
    }
}
