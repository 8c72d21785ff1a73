//! `headwater bytes N`: any number of random bytes, raw or as text.

use crate::dump::{self, Form};
use crate::failure::Failure;

/// Write N random bytes: as hex on a terminal, raw elsewhere
#[derive(clap::Args)]
#[group(skip)]
pub(crate) struct Args {
    /// How many bytes; with k, M or G (also KiB, MiB, GiB) in units of 1024, 1024^2, 1024^3
    #[arg(value_name = "N", value_parser = dump::size, allow_negative_numbers = true)]
    n: u64,

    #[command(flatten)]
    form: Form,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    dump::write(&args.form, args.n, |out| Ok(headwater::fill(out)?))
}
