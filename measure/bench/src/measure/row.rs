//! One figure.

use crate::count::counted::Count;
use crate::draw::crowd::Counters;
use crate::impls::variant::Variant;
use crate::measure::latency::Percentiles;
use crate::measure::timing::Timing;
use crate::plan::comparison::Comparison;
use crate::size;
use crate::stats;
use crate::stats::Interval;
use serde::Serialize;

/// A round that took so many times the median was interrupted by something.
const OUTLIER: f64 = 1.5;

/// One figure with its spread. Times are nanoseconds; what is unknown is `None`, never 0.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Row {
    /// The case, which names the work of one call.
    pub case: String,
    /// The function that was called, with the mode it was asked to be in.
    #[serde(rename = "impl")]
    pub implementation: String,
    /// The mode that headwater served in.
    pub mode: Option<String>,
    /// Random bytes drawn by one call.
    pub len: usize,
    /// Threads of each process that drew at the same time.
    pub threads: usize,
    /// Wall time for each call of a thread: the median over the rounds.
    pub ns_per_call: f64,
    /// Bytes of all threads and processes together, in 10^9 per second.
    pub gb_per_s: f64,
    /// Calls of all threads and processes together, in one second.
    pub calls_per_s: f64,
    /// Median absolute deviation of `ns_per_call` over the rounds.
    pub mad: f64,
    /// `ns_per_call` of the slowest round.
    pub max: f64,
    /// The lower end of the 95 % interval of `ns_per_call` over the rounds; `None` with fewer than
    /// six.
    pub low: Option<f64>,
    /// The upper end, as `low`.
    pub high: Option<f64>,
    /// Rounds that took at least 1.5 times the median.
    pub outliers: usize,
    /// Rounds.
    pub samples: usize,
    /// Calls of each thread in each round.
    pub calls: u64,
    /// Wall time of all rounds together, in seconds.
    pub seconds: f64,
    /// The version of the library that the function belongs to.
    pub version: Option<String>,
    /// The times of single calls, where each call was timed by itself.
    pub percentiles: Option<Percentiles>,
    /// The pinning of threads to CPUs: `none`, `core` or `node`.
    pub pin: Option<String>,
    /// Processes that drew at the same time.
    pub procs: usize,
    /// Bytes drawn and thrown away unserved during the run, where that is counted.
    pub discarded_bytes: Option<u64>,
    /// The work of one call, where it was counted.
    pub count: Option<Count>,
    /// The case `crowd` counts these events at headwater's pools, summed over the rounds.
    pub counters: Option<Counters>,
    /// Other differences of this row.
    pub note: Option<String>,
    /// `ns_per_call` of each round, in the order of the rounds, which all rows of a comparison
    /// share.
    #[serde(skip)]
    pub rounds: Vec<f64>,
}

impl Row {
    /// Returns a row of one thread's samples, each of so many `calls`, with everything else
    /// unknown.
    pub fn new(case: &str, implementation: &str, len: usize, calls: u64, rounds: Vec<f64>) -> Row {
        let Interval { median: ns_per_call, low, high } = Interval::of(&rounds);
        Row {
            case: case.to_owned(),
            implementation: implementation.to_owned(),
            mode: None,
            len,
            threads: 1,
            ns_per_call,
            gb_per_s: len as f64 / ns_per_call, // bytes per nanosecond
            calls_per_s: 1e9 / ns_per_call,
            mad: stats::mad(&rounds),
            max: rounds.iter().copied().fold(f64::NAN, f64::max),
            low,
            high,
            outliers: rounds.iter().filter(|&&ns| ns >= OUTLIER * ns_per_call).count(),
            samples: rounds.len(),
            calls,
            seconds: rounds.iter().sum::<f64>() * calls as f64 * 1e-9,
            version: None,
            percentiles: None,
            pin: Some("none".to_owned()),
            procs: 1,
            discarded_bytes: None,
            count: None,
            counters: None,
            note: None,
            rounds,
        }
    }

    pub(crate) fn measured(comparison: &Comparison, variant: &Variant, timing: Timing) -> Row {
        let row = Row::new(
            comparison.case.name(),
            &variant.name(),
            comparison.len,
            timing.calls,
            timing.ns,
        );
        let crowd = (comparison.threads * comparison.procs) as f64;
        Row {
            mode: timing.mode.map(str::to_owned),
            threads: comparison.threads,
            procs: comparison.procs,
            gb_per_s: row.gb_per_s * crowd,
            calls_per_s: row.calls_per_s * crowd,
            version: (variant.implementation.version)(),
            percentiles: timing.percentiles,
            pin: Some(comparison.pins.pin.name().to_owned()),
            discarded_bytes: timing.discarded_bytes,
            counters: timing.counters,
            note: timing.note.map(str::to_owned),
            ..row
        }
    }

    /// Returns the MAD as a part of the median.
    pub fn spread(&self) -> f64 {
        self.mad / self.ns_per_call
    }

    /// Reports whether the rounds of `other` are those of this row, so that the two may be compared
    /// round by round.
    pub(crate) fn in_same_rounds(&self, other: &Row) -> bool {
        self.case == other.case
            && self.len == other.len
            && self.threads == other.threads
            && self.procs == other.procs
            && self.pin == other.pin
            && self.samples == other.samples
            && (self.note.is_none() || self.note != other.note)
    }

    /// Returns the median of the rounds and its interval.
    pub fn interval(&self) -> Interval {
        Interval { median: self.ns_per_call, low: self.low, high: self.high }
    }

    /// Returns a title such as `fill 16 B, headwater`. Threads, processes and a note set a row
    /// apart from others of the same case and implementation.
    pub(crate) fn title(&self) -> String {
        let mut title = self.case.clone();
        if ["fill", "latency"].contains(&self.case.as_str()) {
            title += &format!(" {}", size::show(self.len));
        }
        if self.threads > 1 {
            title += &format!(" on {} threads", self.threads);
        }
        if self.procs > 1 {
            title += &format!(" in {} processes", self.procs);
        }
        title += &format!(", {}", self.implementation);
        if let Some(note) = &self.note {
            title += &format!(", {note}");
        }
        title
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_up_its_rounds() {
        let row = Row::new("fill", "headwater", 16, 1000, vec![1.0, 2.0, 6.0]);
        assert_eq!((row.ns_per_call, row.mad, row.max), (2.0, 1.0, 6.0));
        assert!((row.seconds - 9e-6).abs() < 1e-12);
    }
}
