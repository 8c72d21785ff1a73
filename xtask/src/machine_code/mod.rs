//! `cargo xtask machine-code`
mod object;
mod reach;
mod order;
mod trace;
mod tracee;
use anyhow::Result;
use std::process::ExitCode;
pub(crate) fn check() -> Result<ExitCode> {
    let p = std::fs::canonicalize("target/release/probe")?;
    println!("{:?}", trace::check(&p)?);
    Ok(ExitCode::SUCCESS)
}
