//! The sources of numbers: one table of everything that the tests know by name.

mod controls;
mod engines;
mod interleave;
mod rdrand;
mod secure;
mod stdin;
mod system;

pub use interleave::Group;
pub(crate) use interleave::{Arrangement, open};
pub(crate) use stdin::Stdin;

use crate::Error;

/// A stream of 64-bit words.
pub trait Source: Send {
    /// Writes the next words and returns their number: fewer than asked for only at the stream's
    /// end.
    ///
    /// # Errors
    ///
    /// [`Error::Source`] if the source fails.
    fn fill(&mut self, out: &mut [u64]) -> Result<usize, Error>;
}

/// The kind of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SourceKind {
    /// Bytes that must not be guessed.
    Secure,
    /// A reproducible stream of the crate headwater-streams.
    Engine,
    /// A generator of the operating system.
    System,
    /// Raw or conditioned noise of hardware: its entropy is estimated as well.
    Noise,
    /// A bad generator, for tests of the tests.
    Control,
}

/// A choice among a generator's streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// The stream of the seed alone.
    Plain,
    /// The stream of the key with this number.
    Stream(u64),
    /// The child of the key with this label.
    Child(u64),
    /// The key that is this much greater.
    Key(u64),
    /// The key that differs in this bit.
    KeyBit(u32),
}

/// A way to open a stream.
pub enum Open {
    /// The source has no seed, so its numbers differ each time.
    Live(fn() -> Result<Box<dyn Source>, Error>),
    /// The source has a seed.
    Seeded(fn(u64) -> Box<dyn Source>),
    /// The source has a seed and numbered streams. Stream 0 is that of the seed alone.
    Streams(fn(u64, u64) -> Box<dyn Source>),
    /// The source has a seed and keys, and opens streams in every way.
    Keyed(fn(u64, Way) -> Result<Box<dyn Source>, Error>),
}

/// A line of the table.
pub struct Named {
    /// The name on the command line.
    pub name: &'static str,
    /// The kind of source.
    pub kind: SourceKind,
    /// A short description.
    pub about: &'static str,
    /// The function that opens it.
    pub open: Open,
}

impl Named {
    /// Returns true if equal seeds make equal words.
    pub fn is_reproducible(&self) -> bool {
        !matches!(self.open, Open::Live(_))
    }

    /// Returns true if one seed makes many streams.
    pub fn has_streams(&self) -> bool {
        matches!(self.open, Open::Streams(_) | Open::Keyed(_))
    }

    /// Returns true if the source has keys, and children of keys.
    pub fn has_keys(&self) -> bool {
        matches!(self.open, Open::Keyed(_))
    }

    /// Begins a stream.
    ///
    /// # Errors
    ///
    /// [`Error::Source`] if the machine lacks the source.
    pub(crate) fn begin(&self, seed: u64, way: Way) -> Result<Box<dyn Source>, Error> {
        match (&self.open, way) {
            (Open::Keyed(open), way) => open(seed, way),
            (Open::Streams(open), Way::Plain) => Ok(open(seed, 0)),
            (Open::Streams(open), Way::Stream(stream)) => Ok(open(seed, stream)),
            (Open::Live(open), Way::Plain) => open(),
            (Open::Seeded(open), Way::Plain) => Ok(open(seed)),
            _ => Err(Error::Usage(format!(
                "{} has no children and no keys; it has --seeds",
                self.name
            ))),
        }
    }
}

/// Returns every source except standard input, those that should pass first.
pub fn all() -> impl Iterator<Item = &'static Named> {
    secure::ALL.iter().chain(engines::ALL).chain(system::ALL).chain(controls::ALL)
}

/// Returns the source with this name.
///
/// # Errors
///
/// [`Error::UnknownSource`]
pub(crate) fn by_name(name: &str) -> Result<&'static Named, Error> {
    // The authors write a plus where names of files and options need a letter.
    let with_letter = name.strip_suffix('+').map(|name| format!("{name}p"));
    all()
        .find(|source| source.name == name)
        .or_else(|| all().find(|source| Some(source.name) == with_letter.as_deref()))
        .ok_or_else(|| Error::UnknownSource(name.to_owned()))
}

/// A generator that is one function.
struct Words<F>(F);

impl<F: FnMut() -> u64 + Send> Source for Words<F> {
    fn fill(&mut self, out: &mut [u64]) -> Result<usize, Error> {
        out.fill_with(&mut self.0);
        Ok(out.len())
    }
}

/// Makes a source without an end from a function that returns one word after the other.
fn endless(next: impl FnMut() -> u64 + Send + 'static) -> Box<dyn Source> {
    Box::new(Words(next))
}

/// Writes words from a function that fills bytes, little-endian.
fn words_from(
    out: &mut [u64],
    mut fill: impl FnMut(&mut [u8]) -> Result<(), Error>,
) -> Result<usize, Error> {
    let mut bytes = [0; 4096];
    for out in out.chunks_mut(bytes.len() / 8) {
        let bytes = &mut bytes[..8 * out.len()];
        fill(bytes)?;
        for (word, bytes) in out.iter_mut().zip(bytes.chunks_exact(8)) {
            *word = u64::from_le_bytes(bytes.try_into().expect("chunks of eight"));
        }
    }
    Ok(out.len())
}

/// Makes state out of a seed where a generator's author says so: SplitMix64 (Steele, Lea and Flood
/// 2014, constants by Stafford and Vigna).
fn splitmix(seed: &mut u64) -> u64 {
    *seed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *seed;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
