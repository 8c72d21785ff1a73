//! The records, and what a figure in them is when rounded.

use crate::document::numbers;
use crate::entries::Query;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

pub(crate) struct Records(BTreeMap<String, Record>);

struct Record {
    bench: Value,
    /// The verdicts of `--check`, in which ratios of the first record stand.
    check: String,
}

impl Records {
    /// Reads all records in a directory, if the directory exists.
    pub(crate) fn read(folder: &Path) -> Option<Records> {
        let mut records = BTreeMap::new();
        for entry in fs::read_dir(folder).ok()? {
            let path = entry.unwrap().path();
            // Other instruments keep their records here too, without this file.
            let Ok(text) = fs::read_to_string(path.join("bench.json")) else { continue };
            let record = Record {
                bench: serde_json::from_str(&text).unwrap(),
                check: fs::read_to_string(path.join("check.txt")).unwrap_or_default(),
            };
            records.insert(path.file_name().unwrap().to_str().unwrap().to_owned(), record);
        }
        Some(Records(records))
    }

    /// Returns the value that a query names, in the unit of the figure. A ratio has three values:
    /// the ratio and the ends of its interval.
    pub(crate) fn find(&self, query: &Query) -> Result<Vec<f64>, String> {
        let record =
            self.0.get(&query.record).ok_or_else(|| format!("no record '{}'", query.record))?;
        match &query.against {
            Some(against) => record
                .ratio(query, against)
                .or_else(|| record.verdict(query, against))
                .ok_or_else(|| "the record has no such ratio".to_owned()),
            None => {
                let (field, scale) = match query.unit {
                    "GB/s" => ("gb_per_s", 1.0),
                    "ms" => ("ns_per_call", 1e6),
                    "us" => ("ns_per_call", 1e3),
                    _ => ("ns_per_call", 1.0),
                };
                let row = record.row(query).ok_or("the record has no such row")?;
                let value = row[field].as_f64().ok_or("the record has no such figure")?;
                Ok(vec![value / scale])
            }
        }
    }

    /// Reports whether any row of the oldest record takes so many nanoseconds.
    pub(crate) fn first_has(&self, figure: &str) -> bool {
        let rows = self.0.values().next().and_then(|record| record.bench["rows"].as_array());
        rows.is_some_and(|rows| {
            rows.iter()
                .filter_map(|row| row["ns_per_call"].as_f64())
                .any(|ns| is_rounded(figure, ns))
        })
    }
}

impl Record {
    fn row(&self, query: &Query) -> Option<&Value> {
        self.bench["rows"].as_array()?.iter().find(|row| {
            row["case"] == *query.case
                && row["len"] == query.len
                && row["impl"] == *query.implementation
                && row["threads"] == 1
                && row["note"].as_str() == query.note.as_deref()
        })
    }

    fn ratio(&self, query: &Query, against: &str) -> Option<Vec<f64>> {
        let ratio = self.bench["ratios"].as_array()?.iter().find(|ratio| {
            ratio["case"] == *query.case
                && ratio["len"] == query.len
                && ratio["impl"] == *query.implementation
                && ratio["against"] == *against
                && ratio["threads"] == 1
        })?;
        ["ratio", "low", "high"].into_iter().map(|field| ratio[field].as_f64()).collect()
    }

    /// Finds the ratio in the output of `--check`, whose lines have this form:
    /// `| fill 16 B headwater | aws-lc | 10.0 | 8.54 (8.53 to 8.56) | short |`.
    fn verdict(&self, query: &Query, against: &str) -> Option<Vec<f64>> {
        let len = match query.case.as_str() {
            "fill" => format!(" {}", headwater_bench::show_size(query.len)),
            _ => String::new(),
        };
        let title = format!("{}{len} {}", query.case, query.implementation);
        let cells = self.check.lines().find_map(|line| {
            let cells: Vec<&str> = line.split('|').map(str::trim).collect();
            (cells.len() > 4 && cells[1] == title && cells[2] == against)
                .then(|| cells[4].to_owned())
        })?;
        numbers(&cells).iter().map(|number| number.parse().ok()).collect()
    }
}

/// Reports whether `figure` is `value` to as many digits as it shows, which must be two at least.
/// Zeros at the end of a whole number may be digits or only places.
pub(crate) fn is_rounded(figure: &str, value: f64) -> bool {
    let figure = figure.replace(',', "");
    if let Some((_, decimals)) = figure.split_once('.') {
        return format!("{value:.*}", decimals.len()) == figure;
    }
    let zeros = figure.len() - figure.trim_end_matches('0').len();
    let most = zeros.min(figure.len().saturating_sub(2));
    figure.len() >= 2
        && (0..=most).any(|places| {
            let unit = 10_f64.powi(places as i32);
            format!("{:.0}", (value / unit).round() * unit) == figure
        })
}
