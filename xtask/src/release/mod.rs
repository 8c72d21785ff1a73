//! `cargo xtask release`: the files of a release, in `dist/`.

mod command;
mod container;
pub(crate) mod debian;
mod recipes;
mod stage;

use crate::process::root;
use anyhow::Result;
use std::fs;
use std::process::ExitCode;

/// Builds every package into `dist/`.
pub(crate) fn release() -> Result<ExitCode> {
    let dist = root()?.join("dist");
    fs::create_dir_all(&dist)?;
    debian::build(&dist)?;
    command::build(&dist)?;
    container::build(&dist)?;
    recipes::build(&dist)?;
    Ok(ExitCode::SUCCESS)
}
