//! A report of an earlier run, read back. Only what a comparison needs is read, so that records of other
//! versions of this program, with more or fewer fields, can be compared with.

use crate::compare::check_machine;
use crate::report;
use crate::stats::Interval;
use crate::stats::spread_interval;
use crate::{Args, Error, Machine, Report};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::fs;
use std::path::Path;

/// The run that `--compare` names. Opened before anything is measured, so that a wrong one costs no time.
pub struct Baseline(Former);

impl Baseline {
    /// The run to compare with, if `args` names one.
    ///
    /// # Errors
    ///
    /// If it cannot be read, or is of another machine and that was not asked for.
    pub fn open(args: &Args) -> Result<Option<Baseline>, Error> {
        let Some(path) = &args.compare else {
            return Ok(None);
        };
        let former = read(path, Former::parse)?;
        if !args.compare_any_machine {
            check_machine(&former.machine, &crate::machine())?;
        }
        Ok(Some(Baseline(former)))
    }

    /// Notes in `report` what has changed.
    pub fn compare(&self, report: &mut Report) {
        report.compare(&self.0);
    }
}

/// What `--json` printed some time ago, or the `bench.json` of a record.
#[derive(Deserialize)]
pub(crate) struct Former {
    pub(crate) machine: Machine,
    pub(crate) rows: Vec<FormerRow>,
}

/// A row of that report.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct FormerRow {
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

impl FormerRow {
    /// The interval of the median; out of the spread where the record is older than its own intervals.
    pub(crate) fn interval(&self) -> Interval {
        match (self.low, self.high) {
            (Some(_), Some(_)) => {
                Interval { median: self.ns_per_call, low: self.low, high: self.high }
            }
            _ => spread_interval(self.ns_per_call, self.mad, self.samples),
        }
    }
}

impl Former {
    fn parse(text: &str) -> Result<Former, String> {
        parse(text)
    }
}

/// Reads the report in `path`, or in the file `bench.json` of a record's folder, as what `parse` makes of it.
pub(crate) fn read<T>(
    path: &Path,
    parse: impl FnOnce(&str) -> Result<T, String>,
) -> Result<T, Error> {
    let path = if path.is_dir() { path.join("bench.json") } else { path.to_owned() };
    let bad = |reason: String| Error::BadRecord(format!("{}: {reason}", path.display()));
    let text = fs::read_to_string(&path).map_err(|error| bad(error.to_string()))?;
    parse(&text).map_err(bad)
}

/// What `T` wants to know of a report.
pub(crate) fn parse<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    // The schema first: what is wrong with another document is that it is another document.
    #[derive(Deserialize)]
    struct Schema {
        schema: String,
    }
    let Schema { schema } =
        serde_json::from_str(text).map_err(|_| "not a report in JSON".to_owned())?;
    if schema != report::SCHEMA {
        return Err(format!("its schema is '{schema}': use a '{}'", report::SCHEMA));
    }
    serde_json::from_str(text).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::Row;

    /// The first record of this repository.
    const OLD: &str = include_str!("../../../records/bench/2026-11-21-amd-epyc/bench.json");

    #[test]
    fn reads_what_a_report_prints_and_what_it_printed_before() {
        let row = Row::new("fill", "headwater", 16, 1000, vec![4.0; 9]);
        let text = serde_json::to_string(&Report::of(vec![row])).unwrap();
        let former = Former::parse(&text).unwrap();
        assert_eq!(former.rows[0].interval().low, Some(4.0));
        let old = Former::parse(OLD).unwrap();
        assert_eq!(old.rows.len(), 150);
        assert_eq!(old.machine.cpu.as_deref(), Some("AMD EPYC"));
    }

    #[test]
    fn the_interval_of_an_old_record_is_made_of_its_spread() {
        let row = &Former::parse(OLD).unwrap().rows[0];
        let interval = row.interval();
        let half = 3.64 * row.mad / (row.samples as f64).sqrt();
        assert!((interval.high.unwrap() - row.ns_per_call - half).abs() < 0.01 * half);
    }

    #[test]
    fn what_is_no_report_is_refused_in_one_line() {
        let refused = |text| Former::parse(text).err().unwrap();
        assert_eq!(refused("hello"), "not a report in JSON");
        assert_eq!(
            refused(r#"{"schema": "headwater.status/1"}"#),
            "its schema is 'headwater.status/1': use a 'headwater.bench/1'"
        );
        assert!(!refused(r#"{"schema": "headwater.bench/1"}"#).contains('\n'));
        let absent = read(Path::new("/nonesuch/bench.json"), Former::parse).err().unwrap();
        assert!(absent.is_usage());
        assert!(absent.to_string().starts_with("cannot use the report: /nonesuch/bench.json: "));
    }
}
