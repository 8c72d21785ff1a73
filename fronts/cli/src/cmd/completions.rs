//! `headwater completions SHELL`.

use crate::args::Cli;
use crate::failure::Failure;
use crate::output;
use clap::CommandFactory;
use clap_complete::{Shell, generate};
use std::io::Write;

/// Print the completion script of a shell
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The shell
    shell: Shell,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    // Into memory first, because `generate` panics if a write fails, as to a closed pipe.
    let mut script = Vec::new();
    generate(args.shell, &mut Cli::command(), "headwater", &mut script);
    output::unbuffered()?.write_all(&script)?;
    Ok(())
}
