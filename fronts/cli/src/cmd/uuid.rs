//! `headwater uuid`: UUIDs, one a line.

use crate::failure::Failure;
use crate::output;
use std::io::{BufWriter, Write};

/// Print random UUIDs
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Number of UUIDs
    #[arg(short, value_name = "N", value_parser = count, default_value = "1")]
    #[arg(allow_negative_numbers = true)] // so that -1 is refused as a count, not as an option
    n: u64,

    /// Make version 7, which starts with the time and sorts by it
    #[arg(long)]
    v7: bool,
}

fn count(typed: &str) -> Result<u64, &'static str> {
    typed.parse().map_err(|_| "expected a whole number from 0 to 2^64 - 1")
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
