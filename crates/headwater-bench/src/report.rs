//! The result of a run, as data.

use crate::contender::Contender;
use crate::impls::Absent;
use crate::measure::Timing;
use crate::plan::Cell;
use crate::stats::Interval;
use crate::{Error, Machine};
use crate::{lead, size, stats};
use serde::Serialize;
use std::fmt;

/// A median whose MAD is above this part of it was not measured on a quiet machine.
const NOISY: f64 = 0.05;

/// Some three cycles of today's CPUs, in which nothing is both drawn and counted as drawn.
const LEAST_NS_PER_CALL: f64 = 0.75;
/// Six times the fastest AES-256-CTR measured for this project, and about what memset does in a cache.
const MOST_GB_PER_S: f64 = 100.0;

/// Everything that a run found out.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Report {
    /// The name and version of this layout.
    pub schema: &'static str,
    /// What it was measured on.
    pub machine: Machine,
    /// One figure each.
    pub rows: Vec<Row>,
    /// What was not measured, and why.
    pub skipped: Vec<Skipped>,
    /// What casts doubt on the figures, one line each.
    pub warnings: Vec<String>,
    /// Those of `warnings` that do not follow from the rows.
    #[serde(skip)]
    notices: Vec<String>,
}

/// One figure with its spread. Times are nanoseconds; what is unknown is `None`, never 0.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// What one call does.
    pub case: String,
    /// The function that was called, with the mode it was asked to be in.
    #[serde(rename = "impl")]
    pub implementation: String,
    /// The mode that headwater served in.
    pub mode: Option<String>,
    /// Random bytes drawn by one call.
    pub len: usize,
    /// Threads that drew at the same time.
    pub threads: usize,
    /// Wall time for each call of a thread: the median over the rounds.
    pub ns_per_call: f64,
    /// Bytes of all threads together, in 10^9 per second.
    pub gb_per_s: f64,
    /// Median absolute deviation of `ns_per_call` over the rounds.
    pub mad: f64,
    /// `ns_per_call` of the slowest round.
    pub max: f64,
    /// Rounds.
    pub samples: usize,
    /// Calls of each thread in each round.
    pub calls: u64,
    /// Wall time of all rounds together, in seconds.
    pub seconds: f64,
    /// The version of the library that the function belongs to.
    pub version: Option<String>,
    /// How threads were pinned to CPUs.
    pub pin: Option<String>,
    /// Processes that drew at the same time.
    pub procs: usize,
    /// Bytes drawn and thrown away unserved during the run, where that is counted.
    pub discarded_bytes: Option<u64>,
    /// What else was different in this row.
    pub note: Option<String>,
    /// How many times faster headwater was in the same rounds, where both were measured.
    pub headwater_speedup: Option<Interval>,
    /// `ns_per_call` of each round, in the order of the rounds, which all rows of a comparison share.
    #[serde(skip)]
    pub rounds: Vec<f64>,
}

impl Row {
    /// A row of one thread's samples, each of so many `calls`, with everything else unknown.
    pub fn new(case: &str, implementation: &str, len: usize, calls: u64, rounds: Vec<f64>) -> Row {
        let ns_per_call = stats::median(&rounds);
        Row {
            case: case.to_owned(),
            implementation: implementation.to_owned(),
            mode: None,
            len,
            threads: 1,
            ns_per_call,
            gb_per_s: len as f64 / ns_per_call, // bytes per nanosecond
            mad: stats::mad(&rounds),
            max: rounds.iter().copied().fold(f64::NAN, f64::max),
            samples: rounds.len(),
            calls,
            seconds: rounds.iter().sum::<f64>() * calls as f64 * 1e-9,
            version: None,
            pin: Some("none".to_owned()),
            procs: 1,
            discarded_bytes: None,
            note: None,
            headwater_speedup: None,
            rounds,
        }
    }

    pub(crate) fn measured(cell: &Cell, contender: &Contender, timing: Timing) -> Row {
        let row = Row::new(cell.case.name(), &contender.name(), cell.len, timing.calls, timing.ns);
        Row {
            mode: timing.mode.map(str::to_owned),
            threads: cell.threads,
            gb_per_s: row.gb_per_s * cell.threads as f64,
            version: (contender.implementation.version)(),
            discarded_bytes: timing.discarded_bytes,
            ..row
        }
    }

    /// The MAD as a part of the median.
    pub fn spread(&self) -> f64 {
        self.mad / self.ns_per_call
    }

    /// `fill 16 B, headwater`, and what sets it apart from others of that name.
    fn title(&self) -> String {
        let mut title = self.case.clone();
        if self.case == "fill" {
            title += &format!(" {}", size::show(self.len));
        }
        if self.threads > 1 {
            title += &format!(" on {} threads", self.threads);
        }
        title += &format!(", {}", self.implementation);
        if let Some(note) = &self.note {
            title += &format!(", {note}");
        }
        title
    }
}

/// An implementation that was asked for and not measured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Skipped {
    /// Its name.
    #[serde(rename = "impl")]
    pub implementation: String,
    /// Why, as one clause.
    pub reason: String,
}

impl Skipped {
    pub(crate) fn new(contender: &Contender, Absent(reason): Absent) -> Skipped {
        Skipped { implementation: contender.name(), reason }
    }
}

impl fmt::Display for Skipped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.implementation, self.reason)
    }
}

impl Report {
    /// A report of this machine, now.
    pub(crate) fn new(mut rows: Vec<Row>, skipped: Vec<Skipped>, notices: Vec<String>) -> Report {
        lead::fill_in(&mut rows);
        Report {
            schema: "headwater.bench/1",
            machine: crate::machine(),
            warnings: warnings(&rows, &notices),
            rows,
            skipped,
            notices,
        }
    }

    /// A report of rows that were measured elsewhere, with the warnings that they call for.
    pub fn of(rows: Vec<Row>) -> Report {
        Report::new(rows, Vec::new(), Vec::new())
    }

    /// Adds what another run on this machine found; what both skipped or warned of is said once.
    pub fn extend(&mut self, other: Report) {
        self.rows.extend(other.rows);
        extend_distinct(&mut self.skipped, other.skipped);
        extend_distinct(&mut self.notices, other.notices);
        self.warnings = warnings(&self.rows, &self.notices);
    }

    /// The report as a page of HTML that needs no network.
    ///
    /// # Errors
    ///
    /// [`Error::BadRecord`] if the report does not read back, as a figure that is no number would not.
    pub fn html(&self) -> Result<String, Error> {
        let json =
            serde_json::to_string(self).map_err(|error| Error::BadRecord(error.to_string()))?;
        crate::html::page(&json)
    }

    /// The report as text of at most 100 columns.
    pub fn table(&self) -> String {
        crate::table::render(self)
    }
}

fn too_fast(row: &Row) -> Option<String> {
    let gb_per_s_of_one = row.gb_per_s / row.threads as f64;
    (row.ns_per_call < LEAST_NS_PER_CALL || gb_per_s_of_one > MOST_GB_PER_S).then(|| {
        format!(
            "{}: {:.2} ns per call is too fast to be true; do not use this figure",
            row.title(),
            row.ns_per_call
        )
    })
}

/// One line for all, with the worst, so that a busy machine does not bury the rest.
fn noisy(rows: &[Row]) -> Option<String> {
    const NAMED: usize = 3;
    let mut noisy: Vec<&Row> = rows.iter().filter(|row| row.spread() > NOISY).collect();
    noisy.sort_by(|a, b| b.spread().total_cmp(&a.spread()));
    let named = noisy
        .iter()
        .take(NAMED)
        .map(|row| format!("{} ({:.0} %)", row.title(), 100.0 * row.spread()));
    (!noisy.is_empty()).then(|| {
        format!(
            "the MAD of {} of {} figures is above 5 %, so the machine was not quiet; the widest: {}",
            noisy.len(),
            rows.len(),
            named.collect::<Vec<_>>().join("; ")
        )
    })
}

fn warnings(rows: &[Row], notices: &[String]) -> Vec<String> {
    notices.iter().cloned().chain(rows.iter().filter_map(too_fast)).chain(noisy(rows)).collect()
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
        ] {
            assert!(row.contains_key(field), "{field}");
        }
        assert_eq!(row["ns_per_call"], 4.0);
        assert_eq!(row["gb_per_s"], 4.0);
        assert_eq!(row["samples"], 3);
        assert!(row["version"].is_null(), "unknown is null");
        assert!(row["discarded_bytes"].is_null(), "unknown is null, not 0");
        assert!(!row.contains_key("rounds"));
    }

    #[test]
    fn sums_up_its_rounds() {
        let row = row(&[1.0, 2.0, 6.0]);
        assert_eq!((row.ns_per_call, row.mad, row.max), (2.0, 1.0, 6.0));
        assert!((row.seconds - 9e-6).abs() < 1e-12);
    }

    #[test]
    fn doubts_what_is_too_fast_and_what_is_noisy() {
        let warnings = |row| Report::new(vec![row], Vec::new(), Vec::new()).warnings;
        assert_eq!(warnings(row(&[4.0, 4.0, 5.0])), [""; 0]);
        assert_eq!(
            warnings(row(&[0.2, 0.2, 0.2])),
            [
                "fill 16 B, headwater: 0.20 ns per call is too fast to be true; do not use this figure"
            ]
        );
        assert_eq!(
            warnings(row(&[3.0, 4.0, 5.0])),
            [
                "the MAD of 1 of 1 figures is above 5 %, so the machine was not quiet; the widest: fill 16 B, headwater (25 %)"
            ]
        );
    }
}
