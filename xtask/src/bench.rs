//! `cargo xtask bench`: the benchmark with the peers that need building.

use crate::process::program;
use anyhow::{Context, Result};
use std::ffi::OsString;
use std::process::ExitCode;

const RUN: &str =
    "cargo run --release -p headwater-bench --features peers --bin headwater-bench --";

/// Builds it and runs it where the caller stands, so that the files it names are the caller's.
pub(crate) fn run(arguments: &[OsString]) -> Result<ExitCode> {
    let status = program(RUN).args(arguments).status().context("cannot run cargo")?;
    // No code means that a signal ended it; 1 stands for all of those.
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    Ok(code.unwrap_or(1).into())
}
