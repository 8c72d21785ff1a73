//! A report of an earlier run, read back. Only the fields that a comparison needs are read, so that
//! records of other versions of this program, with more or fewer fields, can be compared with.

use crate::machine::Machine;
use crate::report::parse;
use crate::stats::{Interval, spread_interval};
use serde::Deserialize;

/// The output of an earlier `--json`, or the `bench.json` of a record.
#[derive(Deserialize)]
pub(crate) struct BaselineReport {
    pub(crate) machine: Machine,
    pub(crate) rows: Vec<BaselineRow>,
}

/// A row of that report.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct BaselineRow {
    pub(crate) case: String,
    #[serde(rename = "impl")]
    pub(crate) implementation: String,
    pub(crate) mode: Option<String>,
    pub(crate) len: usize,
    pub(crate) threads: usize,
    pub(crate) procs: Option<usize>,
    pub(crate) pin: Option<String>,
    pub(crate) note: Option<String>,
    pub(crate) version: Option<String>,
    pub(crate) ns_per_call: f64,
    pub(crate) mad: f64,
    pub(crate) samples: usize,
    low: Option<f64>,
    high: Option<f64>,
}

impl BaselineRow {
    /// Returns the interval of the median. A row without an interval, of an old record or of too
    /// few rounds, gets an interval out of its spread.
    pub(crate) fn interval(&self) -> Interval {
        match (self.low, self.high) {
            (Some(_), Some(_)) => {
                Interval { median: self.ns_per_call, low: self.low, high: self.high }
            }
            _ => spread_interval(self.ns_per_call, self.mad, self.samples),
        }
    }
}

impl BaselineReport {
    /// Reads a report out of JSON.
    pub(super) fn parse(text: &str) -> Result<BaselineReport, String> {
        parse::parse(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::row::Row;
    use crate::report::document::Report;

    /// The first record of this repository.
    const OLD: &str = include_str!("../../../../records/bench/2026-11-21-amd-epyc/bench.json");

    #[test]
    fn reads_what_a_report_prints_and_what_it_printed_before() {
        let row = Row::new("fill", "headwater", 16, 1000, vec![4.0; 9]);
        let text = serde_json::to_string(&Report::of(vec![row])).unwrap();
        let baseline = BaselineReport::parse(&text).unwrap();
        assert_eq!(baseline.rows[0].interval().low, Some(4.0));
        let old = BaselineReport::parse(OLD).unwrap();
        assert_eq!(old.rows.len(), 150);
        assert_eq!(old.machine.cpu.as_deref(), Some("AMD EPYC"));
    }

    #[test]
    fn the_interval_of_an_old_record_is_made_of_its_spread() {
        let row = &BaselineReport::parse(OLD).unwrap().rows[0];
        let interval = row.interval();
        let half = 3.64 * row.mad / (row.samples as f64).sqrt();
        assert!((interval.high.unwrap() - row.ns_per_call - half).abs() < 0.01 * half);
    }

    #[test]
    fn what_is_no_report_is_refused_in_one_line() {
        let refused = |text| BaselineReport::parse(text).err().unwrap();
        assert_eq!(refused("hello"), "not a report in JSON");
        assert_eq!(
            refused(r#"{"schema": "headwater.status/1"}"#),
            "its schema is 'headwater.status/1': use a 'headwater.bench/1'"
        );
        assert!(!refused(r#"{"schema": "headwater.bench/1"}"#).contains('\n'));
        let absent =
            parse::read(std::path::Path::new("/nonesuch/bench.json"), BaselineReport::parse)
                .err()
                .unwrap();
        assert!(absent.is_usage());
        assert!(absent.to_string().starts_with("cannot use the report: /nonesuch/bench.json: "));
    }
}
