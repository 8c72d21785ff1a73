//! `headwater stream --seed S N`: bytes of a reproducible stream, raw or as text.

use crate::dump::{self, Form};
use crate::failure::Failure;
use headwater_streams::{Engine, Key, Seed};

/// Write N bytes that follow from a seed, the same ones each time and everywhere: not for secrets
#[derive(clap::Args)]
#[group(skip)]
pub(crate) struct Args {
    /// How many bytes; with k, M or G (also KiB, MiB, GiB) in units of 1024, 1024^2, 1024^3
    #[arg(value_name = "N", value_parser = dump::size, allow_negative_numbers = true)]
    n: u64,

    /// The seed: a whole number (42, -1, 0x2a), a text, or bytes as hex:00ff
    #[arg(long, value_name = "S", value_parser = seed, allow_hyphen_values = true)]
    seed: Seed<'static>,

    /// The generator: ars7, ars5 or philox4x32
    #[arg(long, value_name = "E", default_value_t)]
    engine: Engine,

    /// Which of the seed's streams, from 0 to 2^48 - 1
    #[arg(long, value_name = "K", default_value = "0", allow_negative_numbers = true)]
    substream: u64,

    /// How many bytes of it come before the first one written; units as for N
    #[arg(long, value_name = "BYTES", value_parser = dump::size, default_value = "0")]
    #[arg(allow_negative_numbers = true)]
    offset: u64,

    #[command(flatten)]
    form: Form,
}

/// Said so, because clap would take the text itself for the seed, which a seed can be made from as well.
fn seed(typed: &str) -> Result<Seed<'static>, headwater_streams::Error> {
    typed.parse()
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let usage = |error: headwater_streams::Error| Failure::Usage(error.to_string());
    let key = Key::with_engine(args.engine, args.seed.clone());
    let stream = key.stream(args.substream).map_err(usage)?;
    if args.offset.checked_add(args.n).is_none() {
        return Err(Failure::Usage(format!(
            "a stream has 2^64 - 1 bytes, and {} from byte {} on are more than are left",
            args.n, args.offset
        )));
    }
    let mut at = args.offset;
    dump::write(&args.form, args.n, |out| {
        stream.fill_u8(at, out).map_err(usage)?;
        at += out.len() as u64;
        Ok(())
    })
}
