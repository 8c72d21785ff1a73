//! Several streams as one: a word of each in turn, so that related streams lie side by side.

use super::{Named, Source, Way};
use crate::Error;
use std::fmt;

/// The streams of a source that make the tested words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Arrangement {
    /// One.
    One,
    /// This number of streams of one key.
    Streams(u64),
    /// This number of children of one key.
    Children(u64),
    /// This number of consecutive keys.
    Keys(u64),
    /// A key and the keys that differ from it in one bit.
    KeyBits,
    /// These seeds.
    Seeds(std::ops::Range<u64>),
    /// A seed and the seeds that differ from it in one bit.
    SeedBits,
}

/// The kinds of arrangements: the values of `--only`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Group {
    /// One stream
    One,
    /// Eight seeds
    Seeds,
    /// Streams of one key
    Streams,
    /// Consecutive keys
    Keys,
    /// A seed, and those that differ from it in one bit
    SeedBits,
    /// A key, and those that differ from it in one bit
    KeyBits,
    /// Children of one key
    Children,
}

impl Arrangement {
    pub(crate) fn group(&self) -> Group {
        match self {
            Arrangement::One => Group::One,
            Arrangement::Seeds(_) => Group::Seeds,
            Arrangement::Streams(_) => Group::Streams,
            Arrangement::Keys(_) => Group::Keys,
            Arrangement::SeedBits => Group::SeedBits,
            Arrangement::KeyBits => Group::KeyBits,
            Arrangement::Children(_) => Group::Children,
        }
    }
}

impl fmt::Display for Arrangement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Arrangement::One => f.write_str("one stream"),
            Arrangement::Streams(n) => write!(f, "{n} streams"),
            Arrangement::Children(n) => write!(f, "{n} children"),
            Arrangement::Keys(n) => write!(f, "{n} neighbouring keys"),
            Arrangement::KeyBits => f.write_str("keys one bit apart"),
            Arrangement::Seeds(seeds) => write!(f, "seeds {}..{}", seeds.start, seeds.end),
            Arrangement::SeedBits => f.write_str("seeds one bit apart"),
        }
    }
}

/// Begins the streams of `source`.
pub(crate) fn open(
    source: &Named,
    seed: u64,
    arrangement: &Arrangement,
) -> Result<Box<dyn Source>, Error> {
    let one = |seed, way| source.begin(seed, way);
    let ways = |ways: &mut dyn Iterator<Item = Way>| {
        ways.map(|way| one(seed, way)).collect::<Result<_, _>>()
    };
    let streams: Vec<Box<dyn Source>> = match arrangement {
        Arrangement::One => return one(seed, Way::Plain),
        Arrangement::Streams(n) if source.has_streams() => ways(&mut (0..*n).map(Way::Stream))?,
        // Each reader of a source without a seed has a stream of its own.
        Arrangement::Streams(n) if !source.is_reproducible() => {
            ways(&mut (0..*n).map(|_| Way::Plain))?
        }
        Arrangement::Streams(n) => {
            let end = seed
                .checked_add(*n)
                .ok_or(Error::Usage("there are no seeds above 2^64 - 1".to_owned()))?;
            (seed..end).map(|seed| one(seed, Way::Plain)).collect::<Result<_, _>>()?
        }
        Arrangement::Children(n) => ways(&mut (0..*n).map(Way::Child))?,
        Arrangement::Keys(n) => ways(&mut (0..*n).map(Way::Key))?,
        Arrangement::KeyBits => {
            ways(&mut std::iter::once(Way::Key(0)).chain((0..127).map(Way::KeyBit)))?
        }
        Arrangement::Seeds(seeds) => {
            seeds.clone().map(|seed| one(seed, Way::Plain)).collect::<Result<_, _>>()?
        }
        Arrangement::SeedBits => {
            let seeds = std::iter::once(seed).chain((0..63).map(|bit| seed ^ 1 << bit));
            seeds.map(|seed| one(seed, Way::Plain)).collect::<Result<_, _>>()?
        }
    };
    Ok(Box::new(Interleaved {
        buffers: vec![[0; BUFFER]; streams.len()],
        streams,
        next: 0,
        at: BUFFER,
    }))
}

/// Words drawn of a stream at a time.
const BUFFER: usize = 128;

struct Interleaved {
    streams: Vec<Box<dyn Source>>,
    buffers: Vec<[u64; BUFFER]>,
    /// The next stream.
    next: usize,
    /// The next place in each buffer.
    at: usize,
}

impl Source for Interleaved {
    fn fill(&mut self, out: &mut [u64]) -> Result<usize, Error> {
        for (done, word) in out.iter_mut().enumerate() {
            if self.at == BUFFER {
                for (stream, buffer) in self.streams.iter_mut().zip(&mut self.buffers) {
                    if stream.fill(buffer)? < BUFFER {
                        return Ok(done);
                    }
                }
                self.at = 0;
            }
            *word = self.buffers[self.next][self.at];
            self.next += 1;
            if self.next == self.streams.len() {
                self.next = 0;
                self.at += 1;
            }
        }
        Ok(out.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sources;

    #[test]
    fn words_are_taken_from_each_stream_in_turn() {
        let source = sources::by_name("sfc64").unwrap();
        let mut apart = vec![vec![0; 1000]; 3];
        for (seed, words) in apart.iter_mut().enumerate() {
            source.begin(5 + seed as u64, Way::Plain).unwrap().fill(words).unwrap();
        }
        let mut together = vec![0; 3000];
        let mut stream = open(source, 0, &Arrangement::Seeds(5..8)).unwrap();
        for piece in together.chunks_mut(77) {
            stream.fill(piece).unwrap();
        }
        for (i, word) in together.iter().enumerate() {
            assert_eq!(*word, apart[i % 3][i / 3], "{i}");
        }
    }
}
