//! `headwater stream --seed S N`: bytes of a reproducible stream, raw or as text; below it the
//! verbs `stream write` and `stream verify` for devices and files.

mod ask;
mod engine;
mod interrupt;
mod source;
mod verify;
mod write;

use crate::dump::{self, Form};
use crate::failure::Failure;
use engine::Engine;
use headwater_streams::Seed;

/// Write N bytes that follow from a seed, the same on every machine; not for secrets
#[derive(clap::Args)]
#[group(skip)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    disable_help_subcommand = true
)]
pub(crate) struct Args {
    #[command(subcommand)]
    verb: Option<Verb>,

    /// Number of bytes; k, M, G and T (also KiB, MiB, GiB, TiB) are powers of 1024
    #[arg(value_name = "N", value_parser = headwater_text::size::parse, allow_negative_numbers = true)]
    #[arg(required = true)]
    n: Option<u64>,

    /// The seed: a whole number (42, -1, 0x2a), a text, or bytes as hex:00ff
    #[arg(long, value_name = "S", value_parser = seed, allow_hyphen_values = true)]
    #[arg(required = true)]
    seed: Option<Seed<'static>>,

    /// The generator; 'headwater quality' takes the same names
    #[arg(long, value_name = "E", value_enum, default_value_t = Engine::Ars7)]
    engine: Engine,

    /// Number of the stream, from 0 on [default: 0; for NumPy's generators the seed's own stream]
    #[arg(long, value_name = "K", allow_negative_numbers = true)]
    substream: Option<u64>,

    /// Take the child NAME of the seed's key; several options descend further
    #[arg(long, value_name = "NAME")]
    child: Vec<String>,

    /// Number of bytes to skip; units as for N
    #[arg(long, value_name = "BYTES", value_parser = headwater_text::size::parse, default_value = "0")]
    #[arg(allow_negative_numbers = true)]
    offset: u64,

    #[command(flatten)]
    form: Form,
}

#[derive(clap::Subcommand)]
enum Verb {
    Write(Box<write::Args>),
    Verify(Box<verify::Args>),
}

/// Names the parser explicitly: clap would otherwise convert the text by `From`, which makes every
/// text a seed.
fn seed(typed: &str) -> Result<Seed<'static>, headwater_streams::Error> {
    typed.parse()
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    match &args.verb {
        Some(Verb::Write(args)) => return write::run(args),
        Some(Verb::Verify(args)) => return verify::run(args),
        None => {}
    }
    let (Some(n), Some(seed)) = (args.n, &args.seed) else {
        return Err(Failure::Usage("N and --seed are required".to_owned()));
    };
    let start = args.engine.start(seed, &args.child, args.substream, args.offset, n);
    let mut bytes = start.map_err(Failure::Usage)?;
    dump::write(&args.form, n, |out| bytes.fill(out))
}
