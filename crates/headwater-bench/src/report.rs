//! The result of a run, as data.

use crate::compare::{self, Comparison};
use crate::contender::Contender;
use crate::former::Former;
use crate::impls::Absent;
use crate::latency::Percentiles;
use crate::measure::Timing;
use crate::plan::Cell;
use crate::stats::{Interval, speedup};
use crate::{Count, Error, Machine, size, stats};
use serde::Serialize;
use std::fmt;

/// The name and version of the layout.
pub(crate) const SCHEMA: &str = "headwater.bench/1";

/// A median whose MAD is above this part of it was not measured on a quiet machine.
const NOISY: f64 = 0.05;

/// A round that took so many times the median was interrupted by something.
const OUTLIER: f64 = 1.5;
/// And where more than this part of the rounds were, the median may have moved too.
const MANY_OUTLIERS: f64 = 0.05;

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
    /// How many times as fast headwater is as each of the others that were timed in the same rounds.
    pub ratios: Vec<Ratio>,
    /// What has changed since an earlier run, where that was asked for.
    pub comparison: Option<Comparison>,
    /// What was not measured, and why.
    pub skipped: Vec<Skipped>,
    /// What casts doubt on the figures, one line each.
    pub warnings: Vec<String>,
    /// Those of `warnings` that do not follow from the rows.
    #[serde(skip)]
    notices: Vec<String>,
    /// CPUs of the first NUMA node, if threads filled one of several after the other.
    #[serde(skip)]
    pub(crate) first_node: Option<usize>,
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
    /// The lower end of the 95 % interval of `ns_per_call` over the rounds; `None` with fewer than six.
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
    /// How long single calls took, where they were timed one by one.
    pub percentiles: Option<Percentiles>,
    /// How threads were pinned to CPUs: `none`, `core` or `node`.
    pub pin: Option<String>,
    /// Processes that drew at the same time.
    pub procs: usize,
    /// Bytes drawn and thrown away unserved during the run, where that is counted.
    pub discarded_bytes: Option<u64>,
    /// What one call does, where that was counted.
    pub count: Option<Count>,
    /// What else was different in this row.
    pub note: Option<String>,
    /// `ns_per_call` of each round, in the order of the rounds, which all rows of a comparison share.
    #[serde(skip)]
    pub rounds: Vec<f64>,
}

impl Row {
    /// A row of one thread's samples, each of so many `calls`, with everything else unknown.
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
            note: None,
            rounds,
        }
    }

    pub(crate) fn measured(cell: &Cell, contender: &Contender, timing: Timing) -> Row {
        let row = Row::new(cell.case.name(), &contender.name(), cell.len, timing.calls, timing.ns);
        let crowd = (cell.threads * cell.procs) as f64;
        Row {
            mode: timing.mode.map(str::to_owned),
            threads: cell.threads,
            procs: cell.procs,
            gb_per_s: row.gb_per_s * crowd,
            calls_per_s: row.calls_per_s * crowd,
            version: (contender.implementation.version)(),
            percentiles: timing.percentiles,
            pin: Some(cell.pins.pin.name().to_owned()),
            discarded_bytes: timing.discarded_bytes,
            note: timing.note.map(str::to_owned),
            ..row
        }
    }

    /// The MAD as a part of the median.
    pub fn spread(&self) -> f64 {
        self.mad / self.ns_per_call
    }

    /// Whether the rounds of `other` are those of this row, so that the two may be compared round by round.
    pub(crate) fn in_same_rounds(&self, other: &Row) -> bool {
        self.case == other.case
            && self.len == other.len
            && self.threads == other.threads
            && self.procs == other.procs
            && self.pin == other.pin
            && self.samples == other.samples
            && (self.note.is_none() || self.note != other.note)
    }

    /// The median of the rounds and its interval.
    pub fn interval(&self) -> Interval {
        Interval { median: self.ns_per_call, low: self.low, high: self.high }
    }

    /// `fill 16 B, headwater`, and what sets it apart from others of that name.
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
    pub(crate) fn new(rows: Vec<Row>, skipped: Vec<Skipped>, notices: Vec<String>) -> Report {
        Report {
            schema: SCHEMA,
            machine: crate::machine(),
            ratios: ratios(&rows),
            comparison: None,
            warnings: warnings(&rows, &notices),
            rows,
            skipped,
            notices,
            first_node: None,
        }
    }

    /// A report of rows that were measured elsewhere, with the warnings that they call for.
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
        self.warnings = warnings(&self.rows, &self.notices);
    }

    /// Notes what has changed since `former`.
    pub(crate) fn compare(&mut self, former: &Former) {
        self.comparison = Some(Comparison::new(former, &self.rows, &self.machine));
    }

    /// headwater's figures that are slower than in the run compared with, by more than noise.
    pub fn regressions(&self) -> usize {
        self.comparison.iter().flat_map(Comparison::regressions).count()
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
    let gb_per_s_of_one = row.gb_per_s / (row.threads * row.procs) as f64;
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

/// As `noisy`. The two differ: a machine that runs at one of two speeds is noisy without an outlier.
fn interrupted(rows: &[Row]) -> Option<String> {
    let share = |row: &Row| row.outliers as f64 / row.samples as f64;
    // One in six rounds of a quick look is no sign of anything.
    let many = rows.iter().filter(|row| row.outliers > 2 && share(row) > MANY_OUTLIERS);
    let many: Vec<&Row> = many.collect();
    let worst = many.iter().max_by(|a, b| share(a).total_cmp(&share(b)))?;
    Some(format!(
        "in {} of {} figures more than 5 % of the rounds took at least 1.5 times the median, so \
         something else ran; the worst: {} ({} of {} rounds)",
        many.len(),
        rows.len(),
        worst.title(),
        worst.outliers,
        worst.samples
    ))
}

fn warnings(rows: &[Row], notices: &[String]) -> Vec<String> {
    let notices = notices.iter().cloned();
    let too_fast = rows.iter().filter_map(too_fast);
    notices.chain(too_fast).chain(noisy(rows)).chain(interrupted(rows)).collect()
}

/// headwater in each of its forms against everybody else, and its forms against each other.
fn ratios(rows: &[Row]) -> Vec<Ratio> {
    let subjects = rows.iter().filter(|row| compare::is_headwater(&row.implementation));
    let pairs = subjects.flat_map(|subject| {
        let others = rows.iter().filter(|other| {
            other.implementation != subject.implementation && other.in_same_rounds(subject)
        });
        others.map(move |other| Ratio::new(subject, other))
    });
    pairs.collect()
}

/// An interval for a median of which only the MAD is known: what it would be of normal values, whose
/// standard deviation is 1.48 MADs, and the standard error of whose median is 1.25 of those by the root of
/// their number.
pub(crate) fn spread_interval(median: f64, mad: f64, samples: usize) -> Interval {
    let half = 1.96 * 1.2533 * 1.4826 * mad / (samples as f64).sqrt();
    Interval { median, low: Some(median - half), high: Some(median + half) }
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
    fn sums_up_its_rounds() {
        let row = row(&[1.0, 2.0, 6.0]);
        assert_eq!((row.ns_per_call, row.mad, row.max), (2.0, 1.0, 6.0));
        assert!((row.seconds - 9e-6).abs() < 1e-12);
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

    #[test]
    fn tells_of_interrupted_rounds_once() {
        let mut rounds = vec![4.0; 100];
        rounds[..5].fill(6.0);
        assert_eq!(Report::of(vec![row(&rounds)]).warnings, [""; 0]);
        rounds[5] = 8.0;
        let warnings = Report::of(vec![row(&rounds), row(&rounds)]).warnings;
        assert_eq!(warnings.len(), 1);
        assert!(warnings[0].starts_with("in 2 of 2 figures more than 5 %"), "{warnings:?}");
        assert!(warnings[0].ends_with("(6 of 100 rounds)"), "{warnings:?}");
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
