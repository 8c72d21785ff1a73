//! The project's chores. CI runs `cargo xtask test` and nothing else.

mod bench;
mod c_library;
mod checked;
#[cfg(test)]
mod claims;
mod clones;
mod duckdb;
mod failures;
mod fleet;
mod generate;
mod install;
mod java;
mod lab;
mod machine_code;
#[cfg(test)]
mod map;
mod notices;
mod npm;
mod openssl;
mod openssl_suite;
mod other_java;
mod packages;
mod pages;
mod preload;
mod process;
mod prose;
mod python;
mod quick;
mod release;
mod report;
mod residue;
mod storeys;
mod test;
mod tools;
mod unpack;
mod unsafe_list;
mod version;

use clap::{Parser, Subcommand};
use report::Choice;
use std::ffi::OsString;
use std::process::ExitCode;

/// The soak on the library as shipped: optimized, without failpoints.
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
        /// Run the steps of one storey alone: core, proof, streams, fronts, measure, boot, text,
        /// house
        #[arg(conflicts_with_all = ["all", "list", "only"])]
        storey: Option<String>,
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
    /// Checks the crates that changed, and those that depend on them, in less than 90 seconds
    Quick {
        /// Check these in place of the crates that differ from the last commit, by name, without
        /// `headwater-` if you like, or by storey
        crates: Vec<String>,
        /// Compare with this revision in place of the last commit
        #[arg(long, value_name = "REV", conflicts_with = "crates")]
        since: Option<String>,
    },
    /// Builds the benchmark with its peers and runs it; `--all` adds the peers that need other
    /// tools, and installs these
    Bench {
        /// The benchmark's own arguments; `-- --help` lists them
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<OsString>,
    },
    /// Draws under random forks, signals, jumps, dropped pages and reseeds, and checks that nothing
    /// repeats
    Soak {
        /// The soak's own arguments: `--minutes N`, `--seed N`, `--round N`, `--no-sections`
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<OsString>,
    },
    /// Builds the command, the C library and OpenSSL's module, and installs them with header, man
    /// pages and files for build tools
    Install(install::Places),
    /// Removes the files of an installation; takes the same places as `install`
    Uninstall(install::Places),
    /// Boots and clones every recorded kernel in QEMU, and records the results
    Lab,
    /// Checks the machine code of the quick paths, and every function that they can reach
    MachineCode,
    /// Builds OpenSSL's module, and unpacks the OpenSSL of Debian 13 to test the module with
    Openssl {
        /// Also measure RAND_bytes with the module, OpenSSL's own generator, and an empty one
        #[arg(long)]
        speed: bool,
    },
    /// Searches memory and registers for keys and unserved bytes after a draw, in users' builds
    Residue {
        /// Search every profile and backend, and not only those of a test run
        #[arg(long)]
        all: bool,
        /// Also let the library report its keys, and search for parts of them
        #[arg(long)]
        witness: bool,
        /// Search programs for this architecture; those for another machine's run in a guest of
        /// the lab [default: this machine's]
        #[arg(long, value_parser = ["aarch64"])]
        arch: Option<String>,
    },
    /// Writes the parts of the fronts that follow from the table of kinds: Java's enums, Python's
    /// methods and stubs, C's functions, and tables of the documents
    Generate,
    /// Builds DuckDB's extension for this machine, and prints the path of the file
    Duckdb,
    /// Prints the packages from outside that a program links with the core, with their checksums,
    /// and compares them with core/packages.txt
    Packages {
        /// Write core/packages.txt anew; read the difference before you commit it
        #[arg(long)]
        bless: bool,
    },
    /// Lists the places that break a rule of prose, with file, line and sentence
    Prose {
        /// A storey, directory or file, such as `fronts`, `docs` or `core/headwater/src`
        area: Option<String>,
    },
    /// Prints the version, and compares every place that repeats it
    Version {
        /// Write the version of Cargo.toml to these places
        #[arg(long)]
        bless: bool,
    },
    /// Builds everything that a release consists of into dist/, with sums and lists of components
    Release(release::Options),
    /// Compares the places of `unsafe` with the record
    UnsafeList {
        /// Write today's list to the record
        #[arg(long)]
        bless: bool,
    },
}

fn main() -> ExitCode {
    let done = match Arguments::parse().verb {
        Verb::Test { list: true, .. } => test::list(),
        Verb::Test { storey: Some(name), .. } => {
            storeys::named(&name).and_then(|storey| test::test(Choice::Storey(storey)))
        }
        Verb::Test { all: true, .. } => test::test(Choice::All),
        Verb::Test { only, .. } if only.is_empty() => test::test(Choice::Ordinary),
        Verb::Test { only, .. } => test::test(Choice::Only(only)),
        Verb::Quick { crates, since } => quick::quick(&crates, since.as_deref()),
        Verb::Bench { arguments } => bench::run(&arguments),
        Verb::Soak { arguments } => process::pass_on(&mut process::program(SOAK), &arguments),
        Verb::Install(places) => install::install(places),
        Verb::Uninstall(places) => install::uninstall(places),
        Verb::Lab => lab::all(),
        Verb::MachineCode => machine_code::check(),
        Verb::Openssl { speed } => openssl::prepare(speed),
        Verb::Residue { all, witness, arch } => residue::residue(all, witness, arch.as_deref()),
        Verb::Generate => generate::generate(),
        Verb::Duckdb => duckdb::extension(),
        Verb::Packages { bless } => packages::packages(bless),
        Verb::Prose { area } => prose::list(area.as_deref()),
        Verb::Version { bless: true } => version::bless(),
        Verb::Version { bless: false } => version::check(),
        Verb::Release(options) => release::release(options),
        Verb::UnsafeList { bless: true } => unsafe_list::bless(),
        Verb::UnsafeList { bless: false } => unsafe_list::list_and_check(),
    };
    done.unwrap_or_else(|error| {
        eprintln!("cargo xtask: {error:#}");
        ExitCode::FAILURE
    })
}
