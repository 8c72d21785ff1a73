//! `headwater uuid`: UUIDs, one a line.

use crate::failure::Failure;
use crate::output;
use std::io::{BufWriter, Write};

/// Print random UUIDs
#[derive(clap::Args)]
pub(crate) struct Args {
    /// How many
    #[arg(short, value_name = "N", value_parser = count, default_value = "1")]
    #[arg(allow_negative_numbers = true)] // so that -1 is told to be no count, not no option
    n: u64,

    /// Version 7, which begins with the time, so that later ones sort after earlier ones
    #[arg(long)]
    v7: bool,
}

fn count(typed: &str) -> Result<u64, &'static str> {
    typed.parse().map_err(|_| "a count is a whole number from 0 to 2^64 - 1")
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let make = if args.v7 { headwater::uuid::v7 } else { headwater::uuid::v4 };
    let mut out = BufWriter::new(output::unbuffered()?);
    for _ in 0..args.n {
        writeln!(out, "{}", make()?)?;
    }
    out.flush()?;
    Ok(())
}
