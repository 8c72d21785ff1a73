//! One against another, round by round.

use crate::compare;
use crate::row::Row;
use crate::stats::{Interval, speedup};
use serde::Serialize;

/// How many times as fast one is as another: the median over the rounds of the ratio of their times, and
/// its 95 % interval.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Ratio {
    /// What one call does.
    pub case: String,
    /// Random bytes drawn by one call.
    pub len: usize,
    /// Threads that drew at the same time.
    pub threads: usize,
    /// Processes that drew at the same time.
    pub procs: usize,
    /// How threads were pinned.
    pub pin: Option<String>,
    /// The one whose speed is told.
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

    /// The ratio with its interval.
    pub fn interval(&self) -> Interval {
        Interval { median: self.ratio, low: self.low, high: self.high }
    }
}

/// headwater in each of its forms against everybody else, and its forms against each other.
pub(crate) fn ratios(rows: &[Row]) -> Vec<Ratio> {
    // A row of `upper-halves` is compared with the other row of its implementation only.
    let rows: Vec<&Row> = rows.iter().filter(|row| row.case != "upper-halves").collect();
    let subjects = rows.iter().copied().filter(|row| compare::is_headwater(&row.implementation));
    let pairs = subjects.flat_map(|subject| {
        let others = rows.iter().copied().filter(move |other| {
            other.implementation != subject.implementation && other.in_same_rounds(subject)
        });
        others.map(move |other| Ratio::new(subject, other))
    });
    pairs.collect()
}
