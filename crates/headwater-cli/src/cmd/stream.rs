//! `headwater stream --seed S N`: bytes of a reproducible stream, raw or as text.

mod generator;

use crate::dump::{self, Form};
use crate::failure::Failure;
use clap::ValueEnum;
use generator::Generator;
use headwater_streams::{Engine, Key, Seed};

/// Write N bytes that follow from a seed, the same on every machine; not for secrets
#[derive(clap::Args)]
#[group(skip)]
pub(crate) struct Args {
    /// Number of bytes; k, M, G and T (also KiB, MiB, GiB, TiB) are powers of 1024
    #[arg(value_name = "N", value_parser = headwater_text::size::parse, allow_negative_numbers = true)]
    n: u64,

    /// The seed: a whole number (42, -1, 0x2a), a text, or bytes as hex:00ff
    #[arg(long, value_name = "S", value_parser = seed, allow_hyphen_values = true)]
    seed: Seed<'static>,

    /// The generator
    #[arg(long, value_name = "E", value_enum, default_value_t = Name::Ars7)]
    engine: Name,

    /// Number of the stream, from 0 on [default: 0; for NumPy's generators the seed's own stream]
    #[arg(long, value_name = "K", allow_negative_numbers = true)]
    substream: Option<u64>,

    /// Number of bytes to skip; units as for N
    #[arg(long, value_name = "BYTES", value_parser = headwater_text::size::parse, default_value = "0")]
    #[arg(allow_negative_numbers = true)]
    offset: u64,

    #[command(flatten)]
    form: Form,
}

/// Parses a seed. Without this function clap would take the text itself for the seed.
fn seed(typed: &str) -> Result<Seed<'static>, headwater_streams::Error> {
    typed.parse()
}

/// Names of `--engine`.
#[derive(Clone, Copy, ValueEnum)]
enum Name {
    /// AES rounds on a counter; 2^48 streams
    Ars7,
    /// Five rounds instead of seven, bit-compatible with Intel's MKL
    Ars5,
    /// Multiplications on a counter, bit-compatible with GPU libraries; 2^48 streams
    Philox4x32,
    /// 256 bits of state; streams 2^128 words apart
    Xoshiro256pp,
    /// Eight interleaved streams of xoshiro256++
    #[value(name = "xoshiro256pp-x8")]
    Xoshiro256ppX8,
    /// For comparison only: its defects are known; streams 2^64 words apart
    Xorshift128p,
    /// NumPy's PCG64DXSM(S); streams are children of NumPy's SeedSequence(S)
    Pcg64dxsm,
    /// NumPy's SFC64(S), streams as for pcg64dxsm; cannot skip
    Sfc64,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    match args.engine {
        Name::Ars7 => by_index(Engine::Ars7, args),
        Name::Ars5 => by_index(Engine::Ars5, args),
        Name::Philox4x32 => by_index(Engine::Philox4x32, args),
        Name::Xoshiro256pp => in_order(Generator::Xoshiro256pp, args),
        Name::Xoshiro256ppX8 => in_order(Generator::Xoshiro256ppX8, args),
        Name::Xorshift128p => in_order(Generator::Xorshift128p, args),
        Name::Pcg64dxsm => in_order(Generator::Pcg64Dxsm, args),
        Name::Sfc64 => in_order(Generator::Sfc64, args),
    }
}

fn by_index(engine: Engine, args: &Args) -> Result<(), Failure> {
    let usage = |error: headwater_streams::Error| Failure::Usage(error.to_string());
    let key = Key::with_engine(engine, args.seed.clone());
    let stream = key.stream(args.substream.unwrap_or(0)).map_err(usage)?;
    if args.offset.checked_add(args.n).is_none() {
        return Err(Failure::Usage(format!(
            "{} bytes from byte {} on pass the end of the stream at 2^64 - 1",
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

fn in_order(generator: Generator, args: &Args) -> Result<(), Failure> {
    let start = generator.start(&args.seed, args.substream, args.offset);
    let mut bytes = start.map_err(Failure::Usage)?;
    dump::write(&args.form, args.n, |out| {
        bytes.fill(out);
        Ok(())
    })
}
