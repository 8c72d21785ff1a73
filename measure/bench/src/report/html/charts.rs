//! The charts of a page, as data: `assets/page.js` passes it to uPlot.

use crate::report::html::record::{Load, Record, RecordRow, distinct, join};
use crate::size;
use serde::Serialize;

/// One chart: lines over common places on the x axis.
#[derive(Debug, PartialEq, Serialize)]
pub(super) struct Chart {
    pub(super) title: String,
    x: Axis,
    y: Axis,
    places: Vec<f64>,
    /// The labels of the places, where numbers would not do.
    names: Option<Vec<&'static str>>,
    lines: Vec<Line>,
}

/// `log` is the base of a logarithmic axis.
#[derive(Debug, PartialEq, Serialize)]
struct Axis {
    label: &'static str,
    unit: &'static str,
    log: Option<u8>,
}

/// One implementation.
#[derive(Debug, PartialEq, Serialize)]
struct Line {
    name: String,
    /// Its place in the list of all, which decides how it looks: the same in each chart. 0 is
    /// headwater.
    look: usize,
    /// One for each of the places.
    values: Vec<Option<f64>>,
    /// The line is drawn before anything is chosen.
    shown: bool,
}

const SIZE: Axis = Axis { label: "bytes of one call", unit: "bytes", log: Some(2) };
const THREADS: Axis = Axis { label: "threads", unit: "count", log: Some(2) };
const TIME: Axis = Axis { label: "time of one call", unit: "ns", log: Some(10) };
const BANDWIDTH: Axis = Axis { label: "10⁹ bytes per second", unit: "GB/s", log: None };
const RATE: Axis = Axis { label: "million calls per second", unit: "M/s", log: Some(10) };
const PERCENTILE: Axis =
    Axis { label: "share of the calls that took no longer", unit: "name", log: None };

/// A reader can distinguish so many lines.
const FEW: usize = 8;

/// Most readers look for these lines.
const FIRST: [&str; 8] = [
    "headwater",
    "headwater-rng",
    "headwater[hedged]",
    "getrandom-vdso",
    "getrandom-syscall",
    "openssl-RAND_bytes",
    "rand-thread_rng",
    "aws-lc",
];

/// The values, as [`values`] returns them.
const PERCENTILES: [&str; 5] = ["50 %", "90 %", "99 %", "99.9 %", "all"];

/// Returns every chart that the record has at least two places for.
pub(super) fn charts(record: &Record) -> Vec<Chart> {
    let mut charts = Vec::new();
    for load in record.loads() {
        let rows = |case: &str| -> Vec<&RecordRow> {
            record.rows.iter().filter(|row| row.case == case && row.load() == load).collect()
        };
        let fills = rows("fill");
        let by_size = |title: &str, y, value: fn(&RecordRow) -> Option<f64>| {
            over(record, title_of(title, &load), (SIZE, y), &fills, |row| row.len as f64, value)
        };
        charts.push(by_size("Time of one fill", TIME, |row| row.ns_per_call));
        charts.push(by_size("Bytes per second", BANDWIDTH, |row| row.gb_per_s));
    }
    charts.extend(by_threads(record));
    charts.extend(latencies(record));
    charts.retain(|chart| chart.places.len() > 1 && !chart.lines.is_empty());
    charts.iter_mut().for_each(Chart::choose);
    charts
}

impl Chart {
    /// Hides all but a few of many lines, which a reader may choose in the legend.
    fn choose(&mut self) {
        if self.lines.len() > FEW {
            for line in &mut self.lines {
                line.shown = FIRST.contains(&line.name.as_str());
            }
            // A record may hold none of these names.
            if !self.lines.iter().any(|line| line.shown) {
                self.lines.iter_mut().take(FEW).for_each(|line| line.shown = true);
            }
        }
    }
}

/// Returns one chart for each case, length and load apart from threads, with a place for each
/// number of threads. `charts` drops a chart of only one number of threads.
fn by_threads(record: &Record) -> Vec<Chart> {
    let kinds = distinct(record.rows.iter().map(|row| (row.case.as_str(), row.len)));
    let loads = record.loads();
    let mut charts = Vec::new();
    for (index, load) in loads.iter().enumerate() {
        if loads[..index].iter().any(|earlier| earlier.same_but_threads(load)) {
            continue;
        }
        charts.extend(kinds.iter().map(|&(case, len)| {
            let rows: Vec<&RecordRow> = record
                .rows
                .iter()
                .filter(|row| row.case == case && row.len == len)
                .filter(|row| row.load().same_but_threads(load))
                .collect();
            let what = join(&[what(case, len), load.apart_from_threads()]);
            let title = format!("Throughput of all threads together: {what}");
            let threads = |row: &RecordRow| row.load().threads as f64;
            over(record, title, (THREADS, RATE), &rows, threads, RecordRow::million_calls_per_s)
        }));
    }
    charts
}

/// Returns one chart for each case, length and load whose single calls were timed.
fn latencies(record: &Record) -> Vec<Chart> {
    let rows: Vec<&RecordRow> =
        record.rows.iter().filter(|row| row.percentiles.is_some()).collect();
    let kinds = distinct(rows.iter().map(|row| (row.case.as_str(), row.len, row.load())));
    let charts = kinds.into_iter().map(|(case, len, load)| {
        let rows = rows
            .iter()
            .filter(|row| (row.case.as_str(), row.len) == (case, len) && row.load() == load);
        let clock = rows.clone().find_map(|row| {
            let percentiles = row.percentiles.as_ref()?;
            Some(format!(
                "with the {:.0} ns that {} takes to read",
                percentiles.clock_ns?,
                percentiles.clock.as_deref().unwrap_or("the clock")
            ))
        });
        let lines = rows.map(|row| line(record, &row.implementation, values(row)));
        Chart {
            title: join(&[
                title_of(&format!("Latency of single calls: {}", what(case, len)), &load),
                clock.unwrap_or_default(),
            ]),
            x: PERCENTILE,
            y: TIME,
            places: (0..PERCENTILES.len()).map(|place| place as f64).collect(),
            names: Some(PERCENTILES.to_vec()),
            lines: lines.collect(),
        }
    });
    charts.collect()
}

fn values(row: &RecordRow) -> Vec<Option<f64>> {
    let Some(of) = &row.percentiles else {
        return vec![None; PERCENTILES.len()];
    };
    vec![of.p50, of.p90, of.p99, of.p99_9, of.max].into_iter().map(positive).collect()
}

/// Returns a chart with one line of `rows` for each implementation. The chart has a place wherever
/// any implementation has a row, and a line has its own values there.
fn over(
    record: &Record,
    title: String,
    (x, y): (Axis, Axis),
    rows: &[&RecordRow],
    place: impl Fn(&RecordRow) -> f64,
    value: impl Fn(&RecordRow) -> Option<f64>,
) -> Chart {
    let mut places = distinct(rows.iter().map(|row| place(row)));
    places.sort_by(f64::total_cmp);
    let lines =
        distinct(rows.iter().map(|row| row.implementation.as_str())).into_iter().map(|name| {
            let values = places.iter().map(|&at| {
                let row = rows.iter().find(|row| row.implementation == name && place(row) == at);
                row.and_then(|row| positive(value(row)))
            });
            line(record, name, values.collect())
        });
    let lines = lines.filter(|line| line.values.iter().any(Option::is_some)).collect();
    Chart { title, x, y, places, names: None, lines }
}

fn line(record: &Record, name: &str, values: Vec<Option<f64>>) -> Line {
    let others = record.names().into_iter().filter(|name| *name != "headwater");
    let look = std::iter::once("headwater").chain(others).position(|other| other == name);
    Line { name: name.to_owned(), look: look.unwrap_or_default(), values, shown: true }
}

/// Drops a value that is not above 0, because a logarithmic axis has no place for 0.
fn positive(value: Option<f64>) -> Option<f64> {
    value.filter(|value| *value > 0.0)
}

/// Returns the name of a case, such as `u64`. The cases `fill` and `latency` both get the name of a
/// fill with its length, such as `fill 16 B`.
pub(super) fn what(case: &str, len: usize) -> String {
    match case {
        "fill" | "latency" => format!("fill {}", size::show(len)),
        other => other.to_owned(),
    }
}

/// Returns `title` followed by the load. A load of one thread is not mentioned, because one thread
/// goes without saying.
pub(super) fn title_of(title: &str, load: &Load) -> String {
    if load.show() == "one thread" { title.to_owned() } else { format!("{title}, {}", load.show()) }
}
