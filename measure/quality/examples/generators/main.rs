//! Generators that are not headwater's, for `headwater quality` and other batteries to judge.
//!
//! ```sh
//! cargo run --release -p headwater-quality --example generators -- mwc1616 | headwater quality -
//! cargo run --release -p headwater-quality --example generators -- --list
//! ```
//!
//! Each writes its numbers to standard output without end, in little-endian order and as wide as
//! the generator makes them. The seed is 1 unless a second argument names another. The table of
//! records/quality compares what two batteries need to reject each.

mod arithmetic;
mod chaotic;
mod ciphers;
mod combined;
mod defects;
mod drifts;
mod echoes;
mod permuted;
mod registers;
mod shifts;
#[cfg(test)]
mod vectors;

use std::io::{ErrorKind, Write};
use std::process::ExitCode;

/// A generator: its name, its source, and a function that makes it from a seed.
struct Generator {
    name: &'static str,
    source: &'static str,
    open: fn(u64) -> Numbers,
}

/// An endless sequence of numbers of one width.
enum Numbers {
    U8(Box<dyn FnMut() -> u8>),
    U16(Box<dyn FnMut() -> u16>),
    U32(Box<dyn FnMut() -> u32>),
    U64(Box<dyn FnMut() -> u64>),
}

impl Numbers {
    fn bits(&self) -> u32 {
        match self {
            Numbers::U8(_) => 8,
            Numbers::U16(_) => 16,
            Numbers::U32(_) => 32,
            Numbers::U64(_) => 64,
        }
    }

    fn fill(&mut self, out: &mut [u8]) {
        fn each<const WIDTH: usize>(out: &mut [u8], mut next: impl FnMut() -> [u8; WIDTH]) {
            out.as_chunks_mut().0.iter_mut().for_each(|place| *place = next());
        }
        match self {
            Numbers::U8(next) => each(out, || [next()]),
            Numbers::U16(next) => each(out, || next().to_le_bytes()),
            Numbers::U32(next) => each(out, || next().to_le_bytes()),
            Numbers::U64(next) => each(out, || next().to_le_bytes()),
        }
    }
}

fn u8s(next: impl FnMut() -> u8 + 'static) -> Numbers {
    Numbers::U8(Box::new(next))
}

fn u16s(next: impl FnMut() -> u16 + 'static) -> Numbers {
    Numbers::U16(Box::new(next))
}

fn u32s(next: impl FnMut() -> u32 + 'static) -> Numbers {
    Numbers::U32(Box::new(next))
}

fn u64s(next: impl FnMut() -> u64 + 'static) -> Numbers {
    Numbers::U64(Box::new(next))
}

const fn generator(
    name: &'static str,
    source: &'static str,
    open: fn(u64) -> Numbers,
) -> Generator {
    Generator { name, source, open }
}

/// Seeds of states: SplitMix64 (Steele, Lea and Flood 2014).
struct Seeds(u64);

impl Seeds {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn half(&mut self) -> u32 {
        (self.next() >> 32) as u32
    }

    fn words<const N: usize>(&mut self) -> [u64; N] {
        std::array::from_fn(|_| self.next())
    }

    fn halves<const N: usize>(&mut self) -> [u32; N] {
        std::array::from_fn(|_| self.half())
    }
}

fn main() -> ExitCode {
    let families = [
        arithmetic::ALL,
        shifts::ALL,
        combined::ALL,
        permuted::ALL,
        chaotic::ALL,
        ciphers::ALL,
        defects::ALL,
        drifts::ALL,
        echoes::ALL,
        registers::ALL,
    ];
    let mut arguments = std::env::args().skip(1);
    let Some(name) = arguments.next() else {
        eprintln!("usage: generators NAME [SEED] | generators --list");
        return ExitCode::from(2);
    };
    if name == "--list" {
        for generator in families.into_iter().flatten() {
            let bits = (generator.open)(1).bits();
            // A reader may close the pipe early.
            let _ = writeln!(
                std::io::stdout(),
                "{:<20} {bits:>2} bits  {}",
                generator.name,
                generator.source
            );
        }
        return ExitCode::SUCCESS;
    }
    let Some(generator) = families.into_iter().flatten().find(|generator| generator.name == name)
    else {
        eprintln!("no generator '{name}'; --list shows all");
        return ExitCode::from(2);
    };
    let seed = match arguments.next().map(|seed| seed.parse()) {
        None => 1,
        Some(Ok(seed)) => seed,
        Some(Err(error)) => {
            eprintln!("the seed: {error}");
            return ExitCode::from(2);
        }
    };
    let mut numbers = (generator.open)(seed);
    let mut buffer = vec![0; 1 << 16];
    let mut out = std::io::stdout().lock();
    loop {
        numbers.fill(&mut buffer);
        match out.write_all(&buffer) {
            Ok(()) => {}
            // The reader has enough.
            Err(error) if error.kind() == ErrorKind::BrokenPipe => return ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("cannot write: {error}");
                return ExitCode::from(3);
            }
        }
    }
}
