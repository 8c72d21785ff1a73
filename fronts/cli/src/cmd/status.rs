//! `headwater` and `headwater status`: the status of this machine.

use crate::facts::Facts;
use crate::failure::Failure;
use crate::{json, output, screen};

/// Show the status of this machine, as `headwater` alone does
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Print JSON (schema headwater.status/1), without the speed table
    #[arg(long)]
    json: bool,

    /// Measure speed too, which takes half a second
    #[arg(long, requires = "json")]
    speed: bool,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    if !args.json {
        return screen();
    }
    let facts = Facts::gather(args.speed)?;
    output::json(&json::document(&facts))?;
    Ok(())
}

/// Prints the screen of `headwater` without a verb.
pub(crate) fn screen() -> Result<(), Failure> {
    let facts = Facts::gather(true)?;
    output::coloured(&screen::render(&facts))?;
    Ok(())
}
