//! `cargo xtask bench`: the benchmark with the peers that can be built here.

use crate::process::{pass_on, program};
use anyhow::{Context, Result};
use std::ffi::OsString;
use std::process::ExitCode;

const PROGRAM: &str = "--release -p headwater-bench --bin headwater-bench --features";

/// With `--all` among the arguments, also peers that take minutes to build, if their tools are here.
pub(crate) fn bench(arguments: &[OsString]) -> Result<ExitCode> {
    let all = arguments.iter().any(|argument| argument == "--all");
    let features = if all && builds("peers-all")? { "peers-all" } else { "peers" };
    pass_on(&format!("cargo run {PROGRAM} {features} --"), arguments)
}

/// Whether the benchmark builds with them; if not, cargo has said why.
fn builds(features: &str) -> Result<bool> {
    let mut build = program(&format!("cargo build {PROGRAM} {features}"));
    let built = build.status().context("cannot run cargo")?.success();
    if !built {
        eprintln!(
            "cargo xtask: boring is left out: it does not build here without cmake and clang"
        );
    }
    Ok(built)
}
