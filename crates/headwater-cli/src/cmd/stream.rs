//! `headwater stream --seed S N`: bytes of a reproducible stream, raw or as text.

mod generator;

use crate::dump::{self, Form};
use crate::failure::Failure;
use clap::ValueEnum;
use generator::Generator;
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

    /// The generator
    #[arg(long, value_name = "E", value_enum, default_value_t = Name::Ars7)]
    engine: Name,

    /// Which of the seed's streams, from 0 on; without it, stream 0, and for NumPy's generators the seed's own
    #[arg(long, value_name = "K", allow_negative_numbers = true)]
    substream: Option<u64>,

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

/// What `--engine` may be.
#[derive(Clone, Copy, ValueEnum)]
enum Name {
    /// AES rounds on a counter; 2^48 streams
    Ars7,
    /// The same with fewer rounds: Intel MKL's
    Ars5,
    /// Multiplications on a counter, as GPUs have it; 2^48 streams
    Philox4x32,
    /// 256 bits of state; streams 2^128 words apart
    Xoshiro256pp,
    /// Eight streams of that side by side
    #[value(name = "xoshiro256pp-x8")]
    Xoshiro256ppX8,
    /// For comparison, its defects are known; streams 2^64 words apart
    Xorshift128p,
    /// NumPy's PCG64DXSM(S); streams are children of NumPy's SeedSequence(S)
    Pcg64dxsm,
    /// NumPy's SFC64(S), likewise; cannot skip
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

fn in_order(generator: Generator, args: &Args) -> Result<(), Failure> {
    let start = generator.start(&args.seed, args.substream, args.offset);
    let mut bytes = start.map_err(Failure::Usage)?;
    dump::write(&args.form, args.n, |out| {
        bytes.fill(out);
        Ok(())
    })
}
