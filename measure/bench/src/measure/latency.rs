//! The times of single calls, which a median of batches hides.

use crate::stats;
use crate::system::clock::Clock;
use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

/// Calls of one round at most: their times are kept until the round is over.
pub(crate) const CALLS_MAX: u64 = 10_000;
/// Digits that a percentile keeps.
const DIGITS: u8 = 3;
/// The longest time that keeps its digits, in ticks: minutes.
const LONGEST: u64 = 1 << 40;

/// Percentiles of single calls, in nanoseconds, with what reading the clock costs still in them.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Percentiles {
    /// The median.
    pub p50: f64,
    /// One call in ten took longer.
    pub p90: f64,
    /// One in a hundred.
    pub p99: f64,
    /// One in a thousand.
    pub p99_9: f64,
    /// The slowest.
    pub max: f64,
    /// Calls that were timed.
    pub calls: u64,
    /// The clock: `rdtsc`, `cntvct` or `monotonic`.
    pub clock: String,
    /// The cost of reading the clock: the median of timing no call.
    pub clock_ns: f64,
}

/// The times of single calls, collected over all rounds.
pub(crate) struct Latencies {
    clock: &'static Clock,
    all: Histogram<u64>,
}

/// Times in the form that passes from one process to another: ticks, and the number of calls that
/// took them.
#[derive(Debug, Default, Deserialize, Serialize)]
pub(crate) struct Counts(Vec<(u64, u64)>);

impl Latencies {
    pub(crate) fn new() -> Latencies {
        let all = Histogram::new_with_bounds(1, LONGEST, DIGITS);
        Latencies { clock: Clock::get(), all: all.expect("constant bounds, within the crate's") }
    }

    /// Adds a round and returns its median, in nanoseconds.
    pub(crate) fn add(&mut self, ticks: &[u64]) -> f64 {
        for &ticks in ticks {
            self.all.saturating_record(ticks);
        }
        let ns: Vec<f64> = ticks.iter().map(|&ticks| self.clock.ns(ticks)).collect();
        stats::median(&ns)
    }

    pub(crate) fn counts(&self) -> Counts {
        let values = self.all.iter_recorded();
        Counts(values.map(|at| (at.value_iterated_to(), at.count_at_value())).collect())
    }

    /// Adds what another thread or process collected.
    pub(crate) fn merge(&mut self, Counts(counts): &Counts) {
        for &(ticks, calls) in counts {
            self.all.saturating_record_n(ticks, calls);
        }
    }

    /// Returns `None` before the first call.
    pub(crate) fn percentiles(&self) -> Option<Percentiles> {
        let at = |quantile| self.clock.ns(self.all.value_at_quantile(quantile));
        (!self.all.is_empty()).then(|| Percentiles {
            p50: at(0.5),
            p90: at(0.9),
            p99: at(0.99),
            p99_9: at(0.999),
            max: self.clock.ns(self.all.max()),
            calls: self.all.len(),
            clock: self.clock.name().to_owned(),
            clock_ns: self.clock.cost_ns,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_those_of_the_calls() {
        let mut latencies = Latencies::new();
        assert_eq!(latencies.percentiles(), None);
        let ticks: Vec<u64> = (1..=10_000).collect();
        let median = latencies.add(&ticks);
        let found = latencies.percentiles().unwrap();
        let tick = Clock::get().ns(1);
        let near = |ns: f64, ticks: f64| (ns / (ticks * tick) - 1.0).abs() < 0.002;
        assert!((median / (5000.5 * tick) - 1.0).abs() < 1e-9);
        assert!(near(found.p50, 5000.0) && near(found.p90, 9000.0), "{found:?}");
        assert!(near(found.p99, 9900.0) && near(found.p99_9, 9990.0), "{found:?}");
        assert!(near(found.max, 10_000.0) && found.calls == 10_000, "{found:?}");
    }

    #[test]
    fn nothing_is_lost_between_processes() {
        let mut there = Latencies::new();
        there.add(&[5, 5, 70, 1 << 30]);
        let mut here = Latencies::new();
        here.add(&[6]);
        let text = serde_json::to_string(&there.counts()).unwrap();
        here.merge(&serde_json::from_str(&text).unwrap());
        let found = here.percentiles().unwrap();
        assert_eq!(found.calls, 5);
        assert_eq!(found.p50, Clock::get().ns(6));
        assert_eq!(found.max, there.percentiles().unwrap().max);
    }
}
