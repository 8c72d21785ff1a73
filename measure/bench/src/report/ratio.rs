//! One against another, round by round.

use crate::impls::names::is_headwater;
use crate::measure::row::Row;
use crate::stats::{Interval, speedup};
use serde::Serialize;

/// The speed of one implementation divided by that of another: the median over the rounds of the
/// ratio of their times, and its 95 % interval.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Ratio {
    /// The case.
    pub case: String,
    /// Random bytes drawn by one call.
    pub len: usize,
    /// Threads that drew at the same time.
    pub threads: usize,
    /// Processes that drew at the same time.
    pub procs: usize,
    /// The pinning of the threads.
    pub pin: Option<String>,
    /// The implementation whose speed is divided by the other's.
    #[serde(rename = "impl")]
    pub implementation: String,
    /// The one that it is compared with.
    pub against: String,
    /// Above 1 where `implementation` is the faster one.
    pub ratio: f64,
    /// The lower end of the interval; `None` with fewer than six rounds.
    pub low: Option<f64>,
    /// The upper end, as `low`.
    pub high: Option<f64>,
}

impl Ratio {
    fn new(subject: &Row, other: &Row) -> Ratio {
        let Interval { median, low, high } = speedup(&subject.rounds, &other.rounds);
        Ratio {
            case: subject.case.clone(),
            len: subject.len,
            threads: subject.threads,
            procs: subject.procs,
            pin: subject.pin.clone(),
            implementation: subject.implementation.clone(),
            against: other.implementation.clone(),
            ratio: median,
            low,
            high,
        }
    }

    /// Returns the ratio with its interval.
    pub fn interval(&self) -> Interval {
        Interval { median: self.ratio, low: self.low, high: self.high }
    }
}

/// Returns the ratios of headwater in each of its forms to all others, and of its forms to each
/// other.
pub(crate) fn ratios(rows: &[Row]) -> Vec<Ratio> {
    // A row of `upper-halves` is compared with the other row of its implementation only.
    let rows: Vec<&Row> = rows.iter().filter(|row| row.case != "upper-halves").collect();
    let subjects = rows.iter().copied().filter(|row| is_headwater(&row.implementation));
    let pairs = subjects.flat_map(|subject| {
        let others = rows.iter().copied().filter(move |other| {
            other.implementation != subject.implementation && other.in_same_rounds(subject)
        });
        others.map(move |other| Ratio::new(subject, other))
    });
    pairs.collect()
}
