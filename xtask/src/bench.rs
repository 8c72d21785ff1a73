//! The benchmark, built with its peers.

use crate::process::{self, program};
use crate::{openssl, tools};
use anyhow::Result;
use std::ffi::OsString;
use std::process::ExitCode;

/// The fastest Python packages for arrays of random numbers.
const PYTHON: [&str; 2] = ["numpy", "mkl_random"];

/// Builds the benchmark, with more peers if `--all` is given, and passes the arguments on.
pub(crate) fn run(arguments: &[OsString]) -> Result<ExitCode> {
    if let Err(error) = openssl::dist() {
        eprintln!("skipped: openssl-headwater: {error:#}");
    }
    let all = arguments.iter().any(|argument| argument == "--all");
    let peers = if all && can_build_boring() { "peers-all" } else { "peers" };
    let mut command = program(&format!(
        "cargo run --release -p headwater-bench --features {peers} --bin headwater-bench --"
    ));
    if all {
        match tools::python(&PYTHON) {
            Ok(python) => drop(command.env("HEADWATER_BENCH_PYTHON", python)),
            Err(error) => eprintln!("skipped: numpy, mkl_random: {error:#}"),
        }
    }
    process::pass_on(&mut command, arguments)
}

/// Installs the tools that build BoringSSL. Other peers of `--all` name their missing tools
/// themselves.
fn can_build_boring() -> bool {
    let tools = tools::packages(&["cmake", "clang", "libclang-dev"]);
    if let Err(error) = &tools {
        eprintln!("skipped: boring: it takes cmake and libclang to build: {error:#}");
    }
    tools.is_ok()
}
