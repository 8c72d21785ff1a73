//! What can be asked for.

use crate::Error;
use crate::effort::Effort;
use crate::sources::{self, Group, Named};
use std::ops::Range;
use std::path::PathBuf;

/// Judge a generator by statistical tests
#[derive(clap::Args, Clone, Debug, Default)]
#[group(skip)]
#[command(after_help = "\
Exit status: 0 clean; 1 failed; 2 wrong usage; 3 could not be judged, or too little data.
A run over perfect numbers fails once in a million times, and shows something weak once in a hundred.")]
pub struct Args {
    /// What to judge: a name of --list, or - for bytes from standard input
    #[arg(value_name = "SOURCE", default_value = "headwater")]
    pub source: String,

    /// Name what can be judged
    #[arg(long)]
    pub list: bool,

    /// At most half a second: 4 MiB
    #[arg(long, group = "effort")]
    pub fast: bool,

    /// A minute at most: 128 MiB, and as many streams, seeds and keys as there are (default)
    #[arg(long, group = "effort")]
    pub standard: bool,

    /// Hours: --size of each arrangement of streams; can be stopped, and goes on where it was
    #[arg(long, group = "effort")]
    pub deep: bool,

    /// The seed of a reproducible generator
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,

    /// Only so many of its streams, a word of each in turn
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1 << 20))]
    pub streams: Option<u64>,

    /// Only the streams of these seeds, a word of each in turn
    #[arg(long, value_name = "A..B", value_parser = seeds)]
    pub seeds: Option<Range<u64>>,

    /// Only these arrangements of streams, such as one,keys,key-bits
    #[arg(long, value_name = "KIND", value_delimiter = ',', conflicts_with_all = ["streams", "seeds"])]
    pub only: Vec<Group>,

    /// With --deep: how much of each arrangement, in GiB
    #[arg(long, value_name = "GIB", default_value_t = 64.0)]
    pub size: f64,

    /// With --deep: where to keep what was counted so far
    #[arg(long, value_name = "FILE")]
    pub state: Option<PathBuf>,

    /// Threads; as many as there are CPUs, if not given
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1024))]
    pub threads: Option<u64>,

    /// Estimate the entropy of standard input as a noise source's (always done for hwrng and rdrand)
    #[arg(long)]
    pub entropy: bool,

    /// Other batteries too: ent, rngtest, dieharder, RNG_test (PractRand), as far as installed; with --deep at full length
    #[arg(long)]
    pub external: bool,

    /// A battery of your own, such as a driver of TestU01, that reads standard input
    #[arg(long, value_name = "COMMAND")]
    pub battery: Vec<String>,

    /// Words of a block of --deep, for tests: what it counts is another thing with each length.
    #[arg(skip)]
    #[doc(hidden)]
    pub block_words: Option<usize>,

    /// Print JSON (schema headwater.quality/1)
    #[arg(long)]
    pub json: bool,

    /// Write the report as one page for a browser, too
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
}

/// What was asked for, checked.
#[derive(Clone)]
pub(crate) struct Request {
    /// `None`: standard input.
    pub(crate) source: Option<&'static Named>,
    pub(crate) effort: Effort,
    pub(crate) seed: u64,
    pub(crate) streams: Option<u64>,
    pub(crate) seeds: Option<Range<u64>>,
    pub(crate) only: Vec<Group>,
    pub(crate) bytes: u64,
    pub(crate) state: Option<PathBuf>,
    pub(crate) threads: usize,
    pub(crate) entropy: bool,
    pub(crate) external: bool,
    pub(crate) batteries: Vec<String>,
    /// Words of the main block.
    pub(crate) block: usize,
}

impl Args {
    pub(crate) fn request(&self) -> Result<Request, Error> {
        let source = match self.source.as_str() {
            "-" => None,
            name => Some(sources::by_name(name)?),
        };
        let effort = match self {
            Args { fast: true, .. } => Effort::Fast,
            Args { deep: true, .. } => Effort::Deep,
            _ => Effort::Standard,
        };
        let seeded = source.is_some_and(Named::is_reproducible);
        if self.seeds.is_some() && !seeded {
            return Err(Error::Usage(format!("{} has no seeds", self.source)));
        }
        if (self.streams.is_some() || !self.only.is_empty()) && source.is_none() {
            return Err(Error::Usage("standard input is one stream".to_owned()));
        }
        if source.is_none() && (self.external || !self.battery.is_empty()) {
            return Err(Error::Usage(
                "standard input can be read once; pipe it into the other batteries yourself"
                    .to_owned(),
            ));
        }
        if self.state.is_some() && effort != Effort::Deep {
            return Err(Error::Usage("only --deep keeps a state".to_owned()));
        }
        if !(self.size > 0.0 && self.size < 1e9) {
            return Err(Error::Usage("a size is a number of GiB, greater than 0".to_owned()));
        }
        let cpus = std::thread::available_parallelism().map_or(1, std::num::NonZeroUsize::get);
        Ok(Request {
            source,
            effort,
            seed: self.seed,
            streams: self.streams,
            seeds: self.seeds.clone(),
            only: self.only.clone(),
            bytes: (self.size * (1_u64 << 30) as f64) as u64,
            state: self.state.clone(),
            threads: self.threads.map_or(cpus, |threads| threads as usize),
            entropy: self.entropy,
            external: self.external,
            batteries: self.battery.clone(),
            block: self.block_words.unwrap_or(effort.block()),
        })
    }
}

fn seeds(typed: &str) -> Result<Range<u64>, String> {
    let wrong = || "seeds are two numbers, such as 0..1024, the second greater".to_owned();
    let (from, to) = typed.split_once("..").ok_or_else(wrong)?;
    let range: Range<u64> = from.parse().map_err(|_| wrong())?..to.parse().map_err(|_| wrong())?;
    match range.end.checked_sub(range.start) {
        None | Some(0) => Err(wrong()),
        Some(n) if n > 1 << 20 => Err("at most 2^20 seeds at a time".to_owned()),
        Some(_) => Ok(range),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_are_a_range_that_is_not_empty() {
        assert_eq!(seeds("0..1024"), Ok(0..1024));
        for wrong in ["", "5", "5..", "..5", "5..5", "6..5", "-1..2", "0..2000000", "a..b"] {
            assert!(seeds(wrong).is_err(), "{wrong}");
        }
    }
}
