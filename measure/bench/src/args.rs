//! The arguments of a run. This file decides syntax only; `plan` interprets the arguments.

use std::path::PathBuf;

/// The arguments of a benchmark run, for any command that offers one.
#[derive(clap::Args, Clone, Debug, PartialEq)]
pub struct Args {
    /// Print the report as JSON
    #[arg(long)]
    pub json: bool,
    /// Also write the report as one page for a browser, which needs no network
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Measure nothing: write the page of a report that --json printed
    #[arg(long, value_name = "OLD.json", requires = "html")]
    #[arg(conflicts_with_all = ["json", "cases", "sizes", "impls", "libs", "threads", "procs", "pin", "count", "time", "rounds"])]
    #[arg(conflicts_with = "compare")]
    pub from: Option<PathBuf>,
    /// Cases to run: fill, u32, u64, uuid-v4, uuid-v7, dns, handshake, latency,
    /// first-byte-after-fork, first-byte-after-start, rfc-u32, crowd, upper-halves, or all
    /// [default: fill,u32,u64,uuid-v4,rfc-u32]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub cases: Vec<String>,
    /// Lengths of fill: 16, 1k, 64KiB, 1MiB [default: 16,64,256,1k,64k; latency: 16]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub sizes: Vec<String>,
    /// Lengths of `fill` alone, if `sizes` is empty and this is not.
    #[arg(skip)]
    pub default_sizes: Vec<String>,
    /// Implementations; `headwater[hedged]` names one in a given mode [default: all that are
    /// present]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub impls: Vec<String>,
    /// Measure this library, too: its rows are called openssl-RAND_bytes@NAME and the like
    #[arg(long = "lib", value_name = "NAME=PATH")]
    pub libs: Vec<String>,
    /// Numbers of threads that draw at the same time [default: 1; handshake: one for each CPU;
    /// --pin node: as many as fill the first node, the first two, and so on; crowd: 1,2,16,64,256]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub threads: Vec<String>,
    /// Numbers of processes that draw at the same time, each with so many threads [default: 1]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub procs: Vec<String>,
    /// Pin each thread: none, core (a CPU of its own) or node (the same, one node after the other)
    #[arg(long, value_name = "HOW", default_value = "none")]
    pub pin: String,
    /// Also count what one call does: instructions, locked ones, system calls, cache lines shared
    /// between CPUs
    #[arg(long)]
    pub count: bool,
    /// Measuring time for each case, length and implementation; a sample of crowd takes four times
    /// as long
    #[arg(long, value_name = "SECONDS", default_value_t = DEFAULT_SECONDS)]
    pub time: f64,
    /// Exact number of rounds, in place of --time
    #[arg(long, value_name = "N")]
    pub rounds: Option<u32>,
    /// Say what has changed since the run in FILE (from --json, or a record), beyond noise; exit
    /// status 1 if headwater is slower
    #[arg(long, value_name = "FILE")]
    pub compare: Option<PathBuf>,
    /// Compare with a record of another machine too
    #[arg(long, requires = "compare")]
    pub compare_any_machine: bool,
    /// Without --impls, also those that need a runtime. For front ends that have any.
    #[arg(skip)]
    pub all: bool,
}

/// With the default cases and sizes and twenty implementations, a run takes about 20 seconds.
const DEFAULT_SECONDS: f64 = 0.125;

impl Default for Args {
    /// Returns the arguments of an empty command line.
    fn default() -> Args {
        Args {
            json: false,
            html: None,
            from: None,
            cases: Vec::new(),
            sizes: Vec::new(),
            default_sizes: Vec::new(),
            impls: Vec::new(),
            libs: Vec::new(),
            threads: Vec::new(),
            procs: Vec::new(),
            pin: "none".to_owned(),
            count: false,
            time: DEFAULT_SECONDS,
            rounds: None,
            compare: None,
            compare_any_machine: false,
            all: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::{Args as _, Command, FromArgMatches};

    fn parse(words: &[&str]) -> Args {
        let command = Args::augment_args(Command::new("bench").no_binary_name(true));
        Args::from_arg_matches(&command.get_matches_from(words)).unwrap()
    }

    #[test]
    fn default_is_an_empty_command_line() {
        assert_eq!(parse(&[]), Args::default());
    }

    #[test]
    fn lists_are_split_at_commas() {
        let args =
            parse(&["--impls", "headwater[hedged],libc-getentropy", "--threads=1,2", "--rounds=3"]);
        assert_eq!(args.impls, ["headwater[hedged]", "libc-getentropy"]);
        assert_eq!(args.threads, ["1", "2"]);
        assert_eq!(args.rounds, Some(3));
    }
}
