//! The project's chores. `cargo xtask test` is all that CI runs.

mod bench;
mod c_library;
mod checked;
#[cfg(test)]
mod claims;
mod install;
mod lab;
mod machine_code;
mod openssl;
mod process;
mod prose;
mod report;
mod residue;
mod test;
mod tools;
mod unsafe_list;

use clap::{Parser, Subcommand};
use report::Choice;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

/// The library as it is shipped: optimized, without test hooks.
const SOAK: &str = "cargo run --release -p headwater-soak --";

#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", about)]
#[command(arg_required_else_help = true)]
struct Arguments {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    /// Runs every check that CI runs, and installs the tools that the checks need
    Test {
        /// Also run the checks that take minutes: thread sanitizer, browsers, servers, cargo-c
        #[arg(long)]
        all: bool,
        /// Print the names of all steps, and run none
        #[arg(long, conflicts_with_all = ["all", "only"])]
        list: bool,
        /// Run the step of this name, as `--list` prints it; may be repeated
        #[arg(long, value_name = "STEP", conflicts_with = "all")]
        only: Vec<String>,
    },
    /// Builds the benchmark with its peers and runs it; with `--all` also with those that need other tools,
    /// which it installs where it can
    Bench {
        /// What to hand to the benchmark; `-- --help` tells what it takes
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<OsString>,
    },
    /// Draws under forks, signals, jumps, dropped pages and reseeds at random, and checks that nothing came twice
    Soak {
        /// What to hand to the soak: `--minutes N`, `--seed N`, `--round N`, `--no-sections`
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<OsString>,
    },
    /// Builds the command and the C library, and installs them with header, man pages and what build tools ask for
    Install {
        /// Where: bin, lib, include and share are made there
        #[arg(long, default_value = "/usr/local")]
        prefix: PathBuf,
        /// What stands for the root of the file system, for those who make packages
        #[arg(long)]
        destdir: Option<PathBuf>,
    },
    /// Boots and clones real kernels in QEMU, all of them, and records what came of it
    Lab,
    /// Looks at what the compiler made of the quick paths, and of all that they can reach
    MachineCode,
    /// Puts OpenSSL's module in place in the target folder, and unpacks the OpenSSL of Debian 13 to test it with
    Openssl {
        /// Also measure RAND_bytes with it, beside OpenSSL's own generator and one that does nothing
        #[arg(long)]
        speed: bool,
    },
    /// Looks for keys and unserved bytes in memory and registers after a draw, in builds as users make them
    Residue {
        /// In every profile with every back end, and not only in those of a test run
        #[arg(long)]
        all: bool,
        /// Also have the library tell its keys, and search for parts of them
        #[arg(long)]
        witness: bool,
    },
    /// Lists the hits of the prose rules, with file, line and sentence; without an area only counts
    Prose {
        /// An area, directory or file, such as `headwater-c`, `docs` or `crates/headwater/src`
        area: Option<String>,
        /// Write today's counts to xtask/prose.txt, where they are the ceilings of later checks
        #[arg(long)]
        bless: bool,
    },
    /// Compares the count of `unsafe` in each file with the one on record
    UnsafeList {
        /// Put today's counts on record
        #[arg(long)]
        bless: bool,
    },
}

fn main() -> ExitCode {
    let done = match Arguments::parse().verb {
        Verb::Test { list: true, .. } => test::list(),
        Verb::Test { all: true, .. } => test::test(Choice::All),
        Verb::Test { only, .. } if only.is_empty() => test::test(Choice::Ordinary),
        Verb::Test { only, .. } => test::test(Choice::Only(only)),
        Verb::Bench { arguments } => bench::run(&arguments),
        Verb::Soak { arguments } => process::pass_on(&mut process::program(SOAK), &arguments),
        Verb::Install { prefix, destdir } => install::install(&prefix, destdir.as_deref()),
        Verb::Lab => lab::all(),
        Verb::MachineCode => machine_code::check(),
        Verb::Openssl { speed } => openssl::prepare(speed),
        Verb::Residue { all, witness } => residue::residue(all, witness),
        Verb::Prose { area, bless: true } => prose::bless(area.as_deref()),
        Verb::Prose { area, bless: false } => prose::list(area.as_deref()),
        Verb::UnsafeList { bless: true } => unsafe_list::bless(),
        Verb::UnsafeList { bless: false } => unsafe_list::check(),
    };
    done.unwrap_or_else(|error| {
        eprintln!("cargo xtask: {error:#}");
        ExitCode::FAILURE
    })
}
