//! `headwater bytes N`: any number of random bytes, raw or as text.

use crate::dump::{self, Form};
use crate::failure::Failure;

/// Write N random bytes: as hex on a terminal, raw elsewhere
#[derive(clap::Args)]
#[group(skip)]
pub(crate) struct Args {
    /// Number of bytes; k, M, G and T (also KiB, MiB, GiB, TiB) are powers of 1024
    #[arg(value_name = "N", value_parser = headwater_text::size::parse, allow_negative_numbers = true)]
    n: u64,

    #[command(flatten)]
    form: Form,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    dump::write(&args.form, args.n, |out| Ok(headwater::fill(out)?))
}
