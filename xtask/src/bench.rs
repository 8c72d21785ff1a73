//! The benchmark with the peers that need building.

use crate::{process, tools};
use anyhow::Result;
use std::ffi::OsString;
use std::process::ExitCode;

/// Builds it, with more peers where `--all` is among the arguments, and hands them on.
pub(crate) fn run(arguments: &[OsString]) -> Result<ExitCode> {
    let peers = if arguments.iter().any(|argument| argument == "--all") { all() } else { "peers" };
    let command = format!(
        "cargo run --release -p headwater-bench --features {peers} --bin headwater-bench --"
    );
    process::pass_on(&command, arguments)
}

/// Everything, or all but what cannot be built here. The others that `--all` adds say themselves what they lack.
fn all() -> &'static str {
    match tools::packages(&["cmake", "clang", "libclang-dev"]) {
        Ok(()) => "peers-all",
        Err(error) => {
            eprintln!("skipped: boring: it takes cmake and libclang to build: {error:#}");
            "peers"
        }
    }
}
