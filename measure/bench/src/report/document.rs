//! The result of a run, as data.

use crate::machine::{self, Machine};
use crate::measure::row::Row;
use crate::plan::skipped::Skipped;
use crate::report::change::Changes;
use crate::report::ratio::{Ratio, ratios};
use crate::report::warnings::warnings;
use serde::Serialize;

/// The name and version of the layout.
pub(crate) const SCHEMA: &str = "headwater.bench/1";

/// Everything that a run found out.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Report {
    /// The name and version of this layout.
    pub schema: &'static str,
    /// The machine of the run.
    pub machine: Machine,
    /// One figure each.
    pub rows: Vec<Row>,
    /// The speed of headwater divided by that of each other implementation of the same rounds.
    pub ratios: Vec<Ratio>,
    /// The changes since an earlier run, if one was named.
    pub comparison: Option<Changes>,
    /// The implementations that were not measured, with the reasons.
    pub skipped: Vec<Skipped>,
    /// Reasons to doubt the figures, one line each.
    pub warnings: Vec<String>,
    /// The part of `warnings` that does not follow from the rows.
    #[serde(skip)]
    notices: Vec<String>,
    /// CPUs of the first NUMA node, if threads filled one of several after the other.
    #[serde(skip)]
    pub(crate) first_node: Option<usize>,
}

impl Report {
    /// Returns a report of this machine, with the present time as its date.
    pub(crate) fn new(rows: Vec<Row>, skipped: Vec<Skipped>, notices: Vec<String>) -> Report {
        Report {
            schema: SCHEMA,
            machine: machine::machine(),
            ratios: ratios(&rows),
            comparison: None,
            warnings: all_warnings(&rows, &notices),
            rows,
            skipped,
            notices,
            first_node: None,
        }
    }

    /// Returns a report of rows that were measured elsewhere, with the warnings that the rows call
    /// for.
    pub fn of(rows: Vec<Row>) -> Report {
        Report::new(rows, Vec::new(), Vec::new())
    }

    /// Adds what another run on this machine found; what both skipped or warned of is said once.
    pub fn extend(&mut self, other: Report) {
        self.rows.extend(other.rows);
        self.ratios.extend(other.ratios); // of one run, because rounds of two are not the same
        extend_distinct(&mut self.skipped, other.skipped);
        extend_distinct(&mut self.notices, other.notices);
        self.first_node = self.first_node.or(other.first_node);
        self.warnings = all_warnings(&self.rows, &self.notices);
    }

    /// Counts headwater's figures that are slower than in the baseline, by more than noise.
    pub fn regressions(&self) -> usize {
        self.comparison.iter().flat_map(Changes::regressions).count()
    }
}

fn all_warnings(rows: &[Row], notices: &[String]) -> Vec<String> {
    notices.iter().cloned().chain(warnings(rows)).collect()
}

fn extend_distinct<T: PartialEq>(list: &mut Vec<T>, items: Vec<T>) {
    for item in items {
        if !list.contains(&item) {
            list.push(item);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(rounds: &[f64]) -> Row {
        Row::new("fill", "headwater", 16, 1000, rounds.to_vec())
    }

    #[test]
    fn json_has_the_documented_fields() {
        let report = Report::new(vec![row(&[4.0, 4.0, 5.0])], Vec::new(), Vec::new());
        let json = serde_json::to_value(&report).unwrap();
        assert_eq!(json["schema"], "headwater.bench/1");
        assert!(json["machine"].is_object());
        let row = json["rows"][0].as_object().unwrap();
        for field in [
            "case",
            "impl",
            "len",
            "threads",
            "ns_per_call",
            "gb_per_s",
            "mad",
            "samples",
            "version",
            "pin",
            "procs",
            "discarded_bytes",
            "low",
            "high",
            "outliers",
            "percentiles",
            "calls_per_s",
        ] {
            assert!(row.contains_key(field), "{field}");
        }
        assert_eq!(row["ns_per_call"], 4.0);
        assert_eq!(row["gb_per_s"], 4.0);
        assert_eq!(row["samples"], 3);
        assert!(row["version"].is_null(), "unknown is null");
        assert!(row["count"].is_null(), "not counted is null");
        assert!(row["discarded_bytes"].is_null(), "unknown is null, not 0");
        assert!(!row.contains_key("rounds"));
    }

    #[test]
    fn ratios_are_of_the_same_rounds_with_an_interval() {
        let rows = |ns: f64| {
            let rounds = |ns: f64| (1..10).map(|k| ns * f64::from(k)).collect::<Vec<_>>();
            vec![
                Row::new("fill", "headwater", 16, 1, rounds(ns)),
                Row::new("fill", "urandom-read", 16, 1, rounds(3.0 * ns)),
                Row::new("fill", "urandom-read", 64, 1, rounds(9.0 * ns)),
            ]
        };
        let mut report = Report::of(rows(1.0));
        report.extend(Report::of(rows(2.0)));
        assert_eq!(report.ratios.len(), 2, "{:?}", report.ratios);
        for ratio in &report.ratios {
            assert_eq!((ratio.implementation.as_str(), ratio.len), ("headwater", 16));
            assert_eq!(ratio.interval().show(), "3.00 (3.00 to 3.00)");
        }
    }
}
