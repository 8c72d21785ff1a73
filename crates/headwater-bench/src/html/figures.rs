//! The tables of a page: each figure with its spread, and how headwater compares.

use super::charts::what;
use super::record::{Ratio, Record, Row, distinct, join};
use crate::stats::Interval;
use crate::{layout, size};
use maud::{Markup, html};

/// Whose speed the ratios tell.
const SUBJECT: &str = "headwater";

/// What the columns of a table differ in.
type Column<'a> = (&'a str, usize, Option<&'a str>);

/// One table of fills and one of everything else, for each load; then the ratios, where there are any.
pub(super) fn tables(record: &Record) -> Markup {
    html! {
        h2 { "Figures" }
        p { "Time of one call, its median ± MAD." }
        @for load in record.loads() {
            @let rows = record.rows.iter().filter(|row| row.load() == load && row.ns_per_call.is_some());
            @let (fills, others): (Vec<&Row>, Vec<&Row>) = rows.partition(|row| row.case == "fill");
            (figures(&format!("fill, {}", load.show()), &fills, |(_, len, _)| size::show(len)))
            (figures(&format!("other cases, {}", load.show()), &others, head))
        }
        (ratios(record))
    }
}

fn figures(title: &str, rows: &[&Row], head: fn(Column) -> String) -> Markup {
    let cells: Vec<(&str, Column, String)> = rows
        .iter()
        .map(|row| {
            (row.implementation.as_str(), (&*row.case, row.len, row.note.as_deref()), figure(row))
        })
        .collect();
    table_of(title, ("implementation", head), &cells)
}

/// How many times as fast headwater is as each of the others.
fn ratios(record: &Record) -> Markup {
    let ratios = || record.ratios.iter().filter(|ratio| ratio.implementation == SUBJECT);
    let loads = distinct(ratios().map(Ratio::load));
    html! {
        @if !loads.is_empty() {
            h2 { "Ratios" }
            p {
                "How many times as fast headwater was in the same rounds, with the 95 % interval; "
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

/// A table of cells, each with the name of its row and with its column.
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

/// `fill 16 B`, `u64`, and what else was different.
fn head((case, len, note): Column) -> String {
    join(&[what(case, len), note.unwrap_or_default().to_owned()])
}

fn figure(row: &Row) -> String {
    let ns = row.ns_per_call.unwrap_or(f64::NAN);
    let spread = row.mad.map(|mad| whole(&format!("±{:.0} %", 100.0 * mad / ns)));
    [whole(&layout::time(ns)), spread.unwrap_or_default()].join(" ")
}

/// A ratio and its interval; `-` without one.
fn times(ratio: &Ratio) -> Option<String> {
    let interval = Interval { median: ratio.ratio?, low: ratio.low, high: ratio.high };
    Some(whole(&interval.show()))
}

/// What no line is broken in.
fn whole(text: &str) -> String {
    text.replace(' ', "\u{a0}")
}
