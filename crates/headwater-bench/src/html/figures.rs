//! The tables of a page: each figure with its spread, and how headwater compares.

use super::charts::what;
use super::record::{Load, Record, Row, distinct};
use crate::{size, table};
use maud::{Markup, html};

/// What the columns of a table differ in.
type Column<'a> = (&'a str, usize, Option<&'a str>);

/// One table of fills and one of everything else, for each load.
pub(super) fn tables(record: &Record) -> Markup {
    html! {
        h2 { "Figures" }
        p {
            "Time of one call, its median ± MAD. "
            @if record.rows.iter().any(|row| row.headwater_speedup.is_some()) {
                "Below it, how many times faster headwater was in the same rounds, with the 95 % interval; "
                "less than 1 means that headwater was slower."
            } @else {
                "The record holds no ratios."
            }
        }
        @for load in record.loads() {
            @let rows = record.rows.iter().filter(|row| row.load() == load && row.ns_per_call.is_some());
            @let (fills, others): (Vec<&Row>, Vec<&Row>) = rows.partition(|row| row.case == "fill");
            (table_of("fill", &fills, &load, |(_, len, _)| size::show(len)))
            (table_of("other cases", &others, &load, |(case, len, note)| {
                note.map_or_else(|| what(case, len), |note| format!("{}, {note}", what(case, len)))
            }))
        }
    }
}

fn table_of(title: &str, rows: &[&Row], load: &Load, head: impl Fn(Column) -> String) -> Markup {
    let columns = distinct(rows.iter().map(|row| column(row)));
    let names = distinct(rows.iter().map(|row| row.implementation.as_str()));
    let row_of = |name: &str, at: Column| {
        rows.iter().find(|row| row.implementation == name && column(row) == at)
    };
    html! {
        @if !rows.is_empty() {
            h3 { (title) ", " (load.show()) }
            // A region that scrolls must be reachable by keyboard.
            div.scroll tabindex="0" {
                table {
                    thead {
                        tr { th scope="col" { "implementation" }
                            @for &at in &columns { th scope="col" { (head(at)) } } }
                    }
                    tbody {
                        @for name in names {
                            tr { th scope="row" { (name) }
                                @for &at in &columns { td { @if let Some(row) = row_of(name, at) { (cell(row)) } } } }
                        }
                    }
                }
            }
        }
    }
}

fn column(row: &Row) -> Column<'_> {
    (&row.case, row.len, row.note.as_deref())
}

fn cell(row: &Row) -> Markup {
    html! {
        @if let Some(ns) = row.ns_per_call {
            (whole(&table::time(ns)))
            @if let Some(mad) = row.mad { " " (whole(&format!("±{:.0} %", 100.0 * mad / ns))) }
        }
        @if let Some(ratio) = &row.headwater_speedup {
            small {
                (whole(&format!("{} ×", digits(ratio.median))))
                // Without an interval a ratio would look surer than it is.
                @match (ratio.low, ratio.high) {
                    (Some(low), Some(high)) => {
                        " " (whole(&format!("({} to {})", digits(low), digits(high))))
                    }
                    _ => { " (too few rounds for an interval)" }
                }
            }
        }
    }
}

/// What no line is broken in.
fn whole(text: &str) -> String {
    text.replace(' ', "\u{a0}")
}

/// Three digits, which is more than most runs can tell apart.
fn digits(value: f64) -> String {
    let decimals = match value {
        value if value < 9.995 => 2,
        value if value < 99.95 => 1,
        _ => 0,
    };
    format!("{value:.decimals$}")
}
