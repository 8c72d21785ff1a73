//! Tables and figures as text, within a width.

use crate::measure::row::Row;
use comfy_table::{CellAlignment, ContentArrangement, Table, presets};
use headwater_text::time::from_ns;

/// The columns of a terminal's line.
pub(crate) const COLUMNS: u16 = 100;
/// Columns of figures in one table, if they fit: more are hard to read.
pub(crate) const ABREAST: usize = 5;

/// Splits columns into groups that fit side by side after a first column of `first` characters, at
/// least one in each group.
pub(crate) fn abreast<T>(first: usize, columns: &[T], width: impl Fn(&T) -> usize) -> Vec<&[T]> {
    const FRAME: usize = 3; // a line, and a blank on each side
    let room = usize::from(COLUMNS).saturating_sub(first + FRAME + 1);
    let mut parts = Vec::new();
    let mut rest = columns;
    while !rest.is_empty() {
        let mut used = 0;
        let fit = rest.iter().take(ABREAST).take_while(|column| {
            used += width(column) + FRAME;
            used <= room
        });
        let (part, others) = rest.split_at(fit.count().max(1));
        parts.push(part);
        rest = others;
    }
    parts
}

pub(crate) fn widest(texts: impl IntoIterator<Item = String>) -> usize {
    texts.into_iter().map(|text| text.chars().count()).max().unwrap_or(0)
}

/// Returns a table whose first column is words and whose other columns are figures.
pub(crate) fn table(first: &str, columns: &[String], body: Vec<Vec<String>>) -> String {
    let header = std::iter::once(first.to_owned()).chain(columns.iter().cloned()).collect();
    let mut table = plain(header, body);
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table.trim_fmt()
}

/// Returns a table of words.
pub(crate) fn words(header: [&str; 3], body: Vec<Vec<String>>) -> String {
    plain(header.map(str::to_owned).to_vec(), body).trim_fmt()
}

fn plain(header: Vec<String>, body: Vec<Vec<String>>) -> Table {
    let mut table = Table::new();
    table
        .load_style(presets::ASCII_MARKDOWN)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_width(COLUMNS)
        .set_header(header)
        .add_rows(body);
    table
}

pub(crate) fn names(rows: &[&Row]) -> Vec<String> {
    distinct(rows.iter().map(|row| row.implementation.clone()))
}

/// Returns each value once, in the order of first appearance.
pub(crate) fn distinct<T: PartialEq>(values: impl Iterator<Item = T>) -> Vec<T> {
    let mut list = Vec::new();
    for value in values {
        if !list.contains(&value) {
            list.push(value);
        }
    }
    list
}

pub(crate) fn time_and_spread(row: &Row) -> String {
    format!("{} ±{:.0}%", from_ns(row.ns_per_call), 100.0 * row.spread())
}
