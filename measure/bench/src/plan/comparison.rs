//! One comparison: implementations that are timed in the same rounds, and the pace of the rounds.

use crate::case::Case;
use crate::draw::work::Work;
use crate::impls::variant::Variant;
use crate::system::pin::Pins;
use std::ops::RangeInclusive;
use std::time::{Duration, Instant};

/// The rounds of a crowd, unless the user says otherwise. Each takes long, so there are no more
/// than give a ratio an interval.
const ROUNDS: u32 = 6;

/// The length of a crowd's sample, in multiples of `--time`. By default it is half a second.
const LASTING: u32 = 4;

/// The number of calls of a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Batch {
    /// Calls that together take about this long, but at least one.
    Lasting(Duration),
    /// This number of calls.
    Calls(u64),
}

/// The duration of a comparison.
#[derive(Clone, Debug)]
pub(crate) struct Pace {
    pub(crate) batch: Batch,
    /// Bounds that hold whatever the budget says.
    pub(crate) rounds: RangeInclusive<u32>,
    /// Time for all rounds together.
    pub(crate) budget: Duration,
}

impl Pace {
    /// Returns one item for each round, from now until the time to stop.
    pub(crate) fn begin(&self) -> impl Iterator<Item = u32> {
        let start = Instant::now();
        (0..*self.rounds.end())
            .take_while(move |round| round < self.rounds.start() || start.elapsed() < self.budget)
    }
}

/// One comparison: everything in it is measured in the same rounds.
pub(crate) struct Comparison {
    pub(crate) case: Case,
    pub(crate) work: Work,
    /// Random bytes that one call draws.
    pub(crate) len: usize,
    /// Threads of each process.
    pub(crate) threads: usize,
    pub(crate) procs: usize,
    pub(crate) pins: Pins,
    pub(crate) variants: Vec<Variant>,
    pub(crate) pace: Pace,
    /// True if the work of a call is counted as well.
    pub(crate) counts: bool,
}

impl Comparison {
    /// Returns the number of bytes of output of one call. It is not always `len`, because a call
    /// that writes text writes more bytes than it draws.
    pub(crate) fn output_len(&self) -> usize {
        self.work.output_len().unwrap_or(self.len)
    }

    /// Reports whether headwater's mode changes between the variants.
    pub(crate) fn switches_modes(&self) -> bool {
        self.variants.iter().any(|variant| variant.mode.is_some())
    }
}

/// Returns the pace of a comparison whose implementations have `budget` each for other cases.
pub(crate) fn pace_of_crowd(budget: Duration, rounds: Option<u32>) -> Pace {
    let rounds = rounds.unwrap_or(ROUNDS);
    Pace {
        batch: Batch::Lasting(LASTING * budget),
        rounds: rounds..=rounds,
        budget: Duration::ZERO,
    }
}
