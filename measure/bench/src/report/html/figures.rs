//! The tables of a page: each figure with its spread, and how headwater compares.

use crate::report::html::charts::what;
use crate::report::html::record::{Record, RecordRatio, RecordRow, distinct, join};
use crate::size;
use crate::stats;
use crate::stats::Interval;
use headwater_text::time::from_ns;
use maud::{Markup, html};

/// Ratios are of these implementations' speeds.
const SUBJECT: &str = "headwater";

/// The difference between the columns of a table.
type Column<'a> = (&'a str, usize, Option<&'a str>);

/// Returns one table of fills and one of everything else, for each load. The table of the crowd and
/// the ratios follow, where the record has any.
pub(super) fn tables(record: &Record) -> Markup {
    html! {
        h2 { "Figures" }
        p { "Time of one call, its median ± MAD." }
        @for load in record.loads() {
            @let rows = record.rows.iter().filter(|row| row.load() == load && row.ns_per_call.is_some());
            @let rows = rows.filter(|row| row.case != "crowd");
            @let (fills, others): (Vec<&RecordRow>, Vec<&RecordRow>) = rows.partition(|row| row.case == "fill");
            (figures(&format!("fill, {}", load.show()), &fills, |(_, len, _)| size::show(len)))
            (figures(&format!("other cases, {}", load.show()), &others, head))
        }
        (crowd(record))
        (ratios(record))
    }
}

/// Shows the draws per second of all threads together, by the number of threads.
fn crowd(record: &Record) -> Markup {
    let rows = record.rows.iter().filter(|row| row.case == "crowd");
    let cells: Vec<(&str, Column, String)> = rows
        .filter_map(|row| {
            let rate = whole(&format!("{} M/s", stats::figure(row.million_calls_per_s()?)));
            let spread = row.mad.zip(row.ns_per_call).map(|(mad, ns)| percent(mad / ns));
            let column = ("crowd", row.load().threads, None);
            Some((&*row.implementation, column, [rate, spread.unwrap_or_default()].join(" ")))
        })
        .collect();
    let head = |(_, threads, _): Column| match threads {
        1 => "one thread".to_owned(),
        threads => format!("{threads} threads"),
    };
    table_of("crowd: draws per second of all threads together", ("implementation", head), &cells)
}

fn figures(title: &str, rows: &[&RecordRow], head: fn(Column) -> String) -> Markup {
    // A note makes a column of its own only where one implementation has several rows.
    let is_alone = |row: &RecordRow| {
        let same = |other: &&&RecordRow| {
            (&other.implementation, &other.case, other.len)
                == (&row.implementation, &row.case, row.len)
        };
        rows.iter().filter(same).count() == 1
    };
    let is_paired =
        |row: &RecordRow| rows.iter().any(|other| other.case == row.case && !is_alone(other));
    let cells: Vec<(&str, Column, String)> = rows
        .iter()
        .map(|row| {
            let note = row.note.as_deref().filter(|_| is_paired(row));
            (row.implementation.as_str(), (&*row.case, row.len, note), figure(row))
        })
        .collect();
    table_of(title, ("implementation", head), &cells)
}

/// Returns the table of headwater's speed divided by that of each of the others.
fn ratios(record: &Record) -> Markup {
    let ratios = || record.ratios.iter().filter(|ratio| ratio.implementation == SUBJECT);
    let loads = distinct(ratios().map(RecordRatio::load));
    html! {
        @if !loads.is_empty() {
            h2 { "Ratios" }
            p {
                "The speed of headwater divided by the other's in the same rounds, with the 95 % interval; "
                "less than 1 means that headwater was slower."
            }
        }
        @for load in loads {
            @let cells: Vec<(&str, Column, String)> = ratios()
                .filter(|ratio| ratio.load() == load)
                .filter_map(|ratio| Some((ratio.against.as_str(), (ratio.case.as_str(), ratio.len, None), times(ratio)?)))
                .collect();
            (table_of(&format!("headwater against others, {}", load.show()), ("against", head), &cells))
        }
    }
}

/// Returns a table of `cells`, each of which comes with the name of its row and with its column.
fn table_of(
    title: &str,
    (corner, head): (&str, fn(Column) -> String),
    cells: &[(&str, Column, String)],
) -> Markup {
    let columns = distinct(cells.iter().map(|(_, column, _)| *column));
    let names = distinct(cells.iter().map(|(name, ..)| *name));
    let text_of = |name: &str, at: Column| {
        let cell = cells.iter().find(|(row, column, _)| (*row, *column) == (name, at));
        cell.map_or("", |(.., text)| text)
    };
    html! {
        @if !cells.is_empty() {
            h3 { (title) }
            // A region that scrolls must be reachable by keyboard.
            div.scroll tabindex="0" {
                table {
                    thead {
                        tr { th scope="col" { (corner) }
                            @for &at in &columns { th scope="col" { (head(at)) } } }
                    }
                    tbody {
                        @for name in names {
                            tr { th scope="row" { (name) }
                                @for &at in &columns { td { (text_of(name, at)) } } }
                        }
                    }
                }
            }
        }
    }
}

/// Returns the head of a column, such as `fill 16 B` or `u64`, and the note on any other
/// difference.
fn head((case, len, note): Column) -> String {
    join(&[what(case, len), note.unwrap_or_default().to_owned()])
}

fn figure(row: &RecordRow) -> String {
    let ns = row.ns_per_call.unwrap_or(f64::NAN);
    let spread = row.mad.map(|mad| percent(mad / ns));
    [whole(&from_ns(ns)), spread.unwrap_or_default()].join(" ")
}

/// Shows a spread as a part of its median.
fn percent(part: f64) -> String {
    whole(&format!("±{:.0} %", 100.0 * part))
}

/// Returns a ratio and its interval as text, or `-` for a ratio without an interval. Returns `None`
/// where the record has no ratio.
fn times(ratio: &RecordRatio) -> Option<String> {
    let interval = Interval { median: ratio.ratio?, low: ratio.low, high: ratio.high };
    Some(whole(&interval.show()))
}

/// Returns text in which no line is broken.
pub(super) fn whole(text: &str) -> String {
    text.replace(' ', "\u{a0}")
}
