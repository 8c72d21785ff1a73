//! The engines of the crate headwater-streams, one line each.

use super::{Named, Open, Source, SourceKind, Way, endless, splitmix, words_from};
use crate::Error;
use headwater_streams::generators::{Pcg64Dxsm, SeedSequence, Sfc64, Xoshiro256pp};
use headwater_streams::{Engine, Key, random_pseudo_bytes};

pub(super) const ALL: &[Named] = &[
    engine(
        "ars7",
        "AES rounds over a counter; the default",
        Open::Keyed(|s, way| counter(Engine::Ars7, s, way)),
    ),
    engine(
        "ars5",
        "the same with five rounds, as Intel's MKL",
        Open::Keyed(|s, way| counter(Engine::Ars5, s, way)),
    ),
    engine(
        "philox4x32",
        "multiplications over a counter",
        Open::Keyed(|s, way| counter(Engine::Philox4x32, s, way)),
    ),
    engine(
        "xoshiro256pp",
        "sequential, with jumps; streams are 2^128 words apart",
        Open::Streams(xoshiro),
    ),
    engine("xoshiro256pp-x8", "eight of its streams at a time", Open::Streams(xoshiro_lanes)),
    engine("pcg64dxsm", "NumPy's; streams are children of its SeedSequence", Open::Streams(pcg)),
    engine("sfc64", "NumPy's; streams are children of its SeedSequence", Open::Streams(sfc)),
    engine(
        "random_pseudo_bytes",
        "a state for each CPU, seeded by headwater",
        Open::Live(|| Ok(Box::new(Pseudo))),
    ),
];

const fn engine(name: &'static str, about: &'static str, open: Open) -> Named {
    Named { name, kind: SourceKind::Engine, about, open }
}

/// A stream of words addressed by index, and the next index.
struct Counter {
    stream: headwater_streams::Stream,
    next: u64,
}

fn counter(engine: Engine, mut seed: u64, way: Way) -> Result<Box<dyn Source>, Error> {
    let key = Key::with_engine(engine, seed);
    // Neighbours without the hash that seeds and labels go through: what is tested is the engine.
    let base = u128::from(splitmix(&mut seed)) << 64 | u128::from(splitmix(&mut seed));
    let raw = |bits: u128| Key::from_raw(engine, bits.to_le_bytes());
    let (key, id) = match way {
        Way::Plain => (key, 0),
        Way::Stream(id) => (key, id),
        Way::Child(label) => (key.child(label), 0),
        Way::Key(distance) => (raw(base.wrapping_add(u128::from(distance))), 0),
        Way::KeyBit(bit) => (raw(base ^ 1 << bit), 0),
    };
    let stream = key.stream(id).map_err(|error| Error::Usage(error.to_string()))?;
    Ok(Box::new(Counter { stream, next: 0 }))
}

impl Source for Counter {
    fn fill(&mut self, out: &mut [u64]) -> Result<usize, Error> {
        let filled = self.stream.fill_u64(self.next, out);
        filled.map_err(|error| Error::Source {
            source: self.stream.key().engine().name().to_owned(),
            reason: error.to_string(),
        })?;
        self.next += out.len() as u64;
        Ok(out.len())
    }
}

fn xoshiro(seed: u64, stream: u64) -> Box<dyn Source> {
    let mut engine = Xoshiro256pp::from_u64(seed).stream(stream);
    endless(move || engine.next_u64())
}

fn xoshiro_lanes(seed: u64, stream: u64) -> Box<dyn Source> {
    let mut engine = Xoshiro256pp::from_u64(seed).lanes().stream(stream);
    endless(move || engine.next_u64())
}

fn pcg(seed: u64, stream: u64) -> Box<dyn Source> {
    let mut engine = Pcg64Dxsm::from_seed_sequence(&sequence(seed, stream));
    endless(move || engine.next_u64())
}

fn sfc(seed: u64, stream: u64) -> Box<dyn Source> {
    let mut engine = Sfc64::from_seed_sequence(&sequence(seed, stream));
    endless(move || engine.next_u64())
}

/// Returns the seed sequence of a stream: stream 0 is the seed itself, the others are its children.
fn sequence(seed: u64, stream: u64) -> SeedSequence {
    let root = SeedSequence::from(seed);
    match u32::try_from(stream) {
        Ok(0) => root,
        Ok(stream) => root.child(stream - 1),
        Err(_) => unreachable!("the command line takes at most 2^20 streams"),
    }
}

struct Pseudo;

impl Source for Pseudo {
    fn fill(&mut self, out: &mut [u64]) -> Result<usize, Error> {
        words_from(out, |bytes| {
            random_pseudo_bytes(bytes).map_err(|error| Error::Source {
                source: "random_pseudo_bytes".to_owned(),
                reason: error.to_string(),
            })
        })
    }
}
