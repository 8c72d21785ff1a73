//! The request: options, and their meaning for a run.

use crate::Error;
use crate::effort::Effort;
use crate::sources::{self, Group, Named};
use std::ops::Range;
use std::path::PathBuf;

/// Judge a generator by statistical tests
#[derive(clap::Args, Clone, Debug, Default)]
#[group(skip)]
#[command(after_help = "\
Exit status: 0 clean or weak; 1 failed; 2 wrong usage; 3 no verdict: no data, too little data, or no place for the report.
A run over perfect numbers fails once in a million times, and is weak once in a hundred.")]
pub struct Args {
    /// A name of --list, or - for bytes from standard input
    #[arg(value_name = "SOURCE", default_value = "headwater")]
    pub source: String,

    /// List all sources by name
    #[arg(long)]
    pub list: bool,

    /// About a second: 4 MiB
    #[arg(long, group = "effort")]
    pub fast: bool,

    /// At most a minute: 128 MiB, then streams, seeds and keys; stops at the first failure
    /// (default)
    #[arg(long, group = "effort")]
    pub standard: bool,

    /// With --standard: continue after a failure, for the whole picture
    #[arg(long, conflicts_with_all = ["fast", "deep"])]
    pub all: bool,

    /// Hours: --size of each arrangement of streams; an interrupted run continues where it was
    #[arg(long, group = "effort")]
    pub deep: bool,

    /// Seed of a reproducible generator [default: 1]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,

    /// Judge only this number of its streams, a word of each in turn
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1 << 20))]
    pub streams: Option<u64>,

    /// Judge only the streams of these seeds, a word of each in turn
    #[arg(long, value_name = "A..B", value_parser = seeds)]
    pub seeds: Option<Range<u64>>,

    /// Judge only these arrangements of streams, such as one,keys,key-bits
    #[arg(long, value_name = "KIND", value_delimiter = ',', conflicts_with_all = ["streams", "seeds"])]
    pub only: Vec<Group>,

    /// With --deep: GiB of each arrangement [default: 64]
    #[arg(long, value_name = "GIB")]
    pub size: Option<f64>,

    /// With --deep: file that keeps the counts between sittings
    #[arg(long, value_name = "FILE")]
    pub state: Option<PathBuf>,

    /// Number of threads [default: the number of CPUs]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1024))]
    pub threads: Option<u64>,

    /// Estimate the entropy of standard input as of a noise source (always done for hwrng and
    /// rdrand)
    #[arg(long)]
    pub entropy: bool,

    /// Only estimate the min-entropy of standard input by NIST SP 800-90B, its samples a byte each
    #[arg(long = "90b", conflicts_with_all = [
        "list", "effort", "all", "seed", "streams", "seeds", "only", "size", "state", "entropy",
        "external", "battery", "html",
    ])]
    pub sp800_90b: bool,

    /// With --90b: test whether the samples are independent and identically distributed, and
    /// estimate by their most common value if they are
    #[arg(long, requires = "sp800_90b")]
    pub iid: bool,

    /// With --90b: judge 1,000 restarts of 1,000 samples, one after another, beside the initial
    /// estimate, in bits a sample
    #[arg(long, value_name = "BITS", requires = "sp800_90b")]
    pub restart: Option<f64>,

    /// Run other batteries too, if installed: ent, rngtest, dieharder, RNG_test (PractRand)
    #[arg(long)]
    pub external: bool,

    /// Run this command too: a battery that reads standard input, such as a driver of TestU01
    #[arg(long, value_name = "COMMAND")]
    pub battery: Vec<String>,

    /// Words of the main block, for tests.
    #[arg(skip)]
    #[doc(hidden)]
    pub block_words: Option<usize>,

    /// Print JSON (schema headwater.quality/1)
    #[arg(long)]
    pub json: bool,

    /// Write the report also as an HTML page
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
}

/// The checked request.
#[derive(Clone)]
pub(crate) struct Request {
    /// `None`: standard input.
    pub(crate) source: Option<&'static Named>,
    pub(crate) effort: Effort,
    pub(crate) seed: u64,
    /// Continue after a failure.
    pub(crate) all: bool,
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
        self.refuse_idle(source, effort)?;
        let size = self.size.unwrap_or(64.0);
        if !(size > 0.0 && size < 1e9) {
            return Err(Error::Usage("a size is a number of GiB, greater than 0".to_owned()));
        }
        let cpus = std::thread::available_parallelism().map_or(1, std::num::NonZeroUsize::get);
        Ok(Request {
            source,
            effort,
            seed: self.seed.unwrap_or(1),
            all: self.all || effort != Effort::Standard,
            streams: self.streams,
            seeds: self.seeds.clone(),
            only: self.only.clone(),
            bytes: (size * (1_u64 << 30) as f64) as u64,
            state: self.state.clone(),
            threads: self.threads.map_or(cpus, |threads| threads as usize),
            entropy: self.entropy,
            external: self.external,
            batteries: self.battery.clone(),
            block: self.block_words.unwrap_or(effort.block()),
        })
    }
}

impl Args {
    /// Refuses options that would have no effect: their user expects one.
    fn refuse_idle(&self, source: Option<&Named>, effort: Effort) -> Result<(), Error> {
        let deep = effort == Effort::Deep;
        let seeded = source.is_some_and(Named::is_reproducible);
        let noise = source.is_some_and(|source| source.kind == sources::SourceKind::Noise);
        let why = match self {
            Args { state: Some(_), .. } if !deep => "only --deep keeps a state",
            Args { state: Some(_), .. } if source.is_none() => {
                "standard input has no state to keep"
            }
            Args { size: Some(_), .. } if !deep => {
                "only --deep has a size; use --fast or --standard as they are"
            }
            Args { size: Some(_), .. } if source.is_none() => {
                "--deep reads standard input to its end"
            }
            Args { seed: Some(_), .. } if !seeded => "this source has no seed",
            Args { seed: Some(_), streams: None, seeds: Some(_), .. } => "--seeds replaces --seed",
            Args { entropy: true, .. } if deep => "--entropy needs --fast or --standard",
            Args { entropy: true, .. } if source.is_some() && !noise => {
                "only noise sources and standard input have entropy to estimate"
            }
            _ => return Ok(()),
        };
        Err(Error::Usage(why.to_owned()))
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
