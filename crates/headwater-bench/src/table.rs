//! The report as text.

use crate::report::{Report, Row};
use crate::{rfc, size};
use comfy_table::{CellAlignment, ContentArrangement, Table, presets};

const COLUMNS: u16 = 100;
/// Lengths in one table: with the longest names, what fits.
const LENGTHS_ABREAST: usize = 5;
/// From here on the bytes of a call count more than the call.
const LONG: usize = 4096;

pub(crate) fn render(report: &Report) -> String {
    let mut blocks = vec![machine(report)];
    let mut threads: Vec<usize> = report.rows.iter().map(|row| row.threads).collect();
    threads.sort_unstable();
    threads.dedup();
    for threads in threads {
        let rows: Vec<&Row> = report.rows.iter().filter(|row| row.threads == threads).collect();
        let on = if threads > 1 { format!(" on each of {threads} threads") } else { String::new() };
        blocks.extend(fills(&rows, &on));
        blocks.extend(draws(&rows, &on));
        blocks.extend(rfc_table(&rows));
        blocks.extend(first_fills(&rows));
    }
    blocks.push(notes(report));
    blocks.retain(|block| !block.is_empty());
    blocks.join("\n\n")
}

fn machine(report: &Report) -> String {
    let machine = &report.machine;
    let parts = [
        machine.cpu.clone(),
        machine.cores.map(|cores| format!("{cores} CPUs")),
        machine.kernel.as_ref().map(|kernel| format!("Linux {kernel}")),
        machine.libc.clone(),
        machine
            .hypervisor
            .map(|virtual_| if virtual_ { "virtual machine" } else { "no hypervisor" }.to_owned()),
        machine.governor.as_ref().map(|governor| format!("governor {governor}")),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// Time per call by length, and bytes per second of the long ones.
fn fills(rows: &[&Row], on: &str) -> Vec<String> {
    let rows: Vec<&Row> = rows.iter().copied().filter(|row| row.case == "fill").collect();
    let lengths = distinct(rows.iter().map(|row| row.len));
    let long: Vec<usize> = lengths.iter().copied().filter(|&len| len >= LONG).collect();
    let cell = |format: fn(&Row) -> String, name: &str, len: usize| {
        rows.iter()
            .find(|row| row.implementation == name && row.len == len)
            .map_or_else(String::new, |row| format(row))
    };
    let block = |title: String, lengths: &[usize], format: fn(&Row) -> String| {
        let columns: Vec<String> = lengths.iter().map(|&len| size::show(len)).collect();
        let body = names(&rows).into_iter().map(|name| {
            let cells = lengths.iter().map(|&len| cell(format, &name, len));
            std::iter::once(name.clone()).chain(cells).collect()
        });
        format!("{title}\n{}", table("implementation", &columns, body.collect()))
    };
    let mut blocks: Vec<String> = lengths
        .chunks(LENGTHS_ABREAST)
        .map(|lengths| {
            block(format!("fill: time per call{on}, median ± MAD"), lengths, time_and_spread)
        })
        .collect();
    let together = if on.is_empty() { "" } else { ", all threads together" };
    blocks.extend(long.chunks(LENGTHS_ABREAST).map(|lengths| {
        block(format!("fill: GB/s{together}"), lengths, |row| format!("{:.2}", row.gb_per_s))
    }));
    blocks
}

/// Time per call of the cases without a length.
fn draws(rows: &[&Row], on: &str) -> Option<String> {
    let rows: Vec<&Row> = rows
        .iter()
        .copied()
        .filter(|row| ["u32", "u64", "uuid-v4"].contains(&row.case.as_str()))
        .collect();
    let cases = distinct(rows.iter().map(|row| row.case.clone()));
    let body = names(&rows).into_iter().map(|name| {
        let cells = cases.iter().map(|case| {
            let row = rows.iter().find(|row| row.implementation == name && row.case == *case);
            row.map_or_else(String::new, |row| time_and_spread(row))
        });
        std::iter::once(name.clone()).chain(cells).collect()
    });
    let body: Vec<Vec<String>> = body.collect();
    (!body.is_empty()).then(|| {
        format!("draws: time per call{on}, median ± MAD\n{}", table("implementation", &cases, body))
    })
}

/// The table of the RFC, with its columns.
fn rfc_table(rows: &[&Row]) -> Option<String> {
    let rows = rows.iter().filter(|row| row.case == "rfc-u32");
    let body: Vec<Vec<String>> = rows
        .clone()
        .map(|row| {
            vec![
                rfc::title(&row.implementation).to_owned(),
                format!("{:.4}", row.seconds),
                format!("{:.1}", 1e3 / row.ns_per_call),
                format!("{:.1} ±{:.1}", row.ns_per_call, row.mad),
                row.discarded_bytes.map_or_else(|| "-".to_owned(), grouped),
            ]
        })
        .collect();
    let draws = rows.map(|row| row.calls * row.samples as u64).max()?;
    let columns = [
        "seconds".to_owned(),
        "M u32/s".to_owned(),
        "ns per u32".to_owned(),
        "bytes discarded".to_owned(),
    ];
    Some(format!("rfc-u32: {} draws of a u32\n{}", grouped(draws), table("way", &columns, body)))
}

fn first_fills(rows: &[&Row]) -> Option<String> {
    let rows = rows.iter().filter(|row| row.case == "first-fill");
    let body: Vec<Vec<String>> = rows
        .map(|row| {
            vec![
                row.note.clone().unwrap_or_default(),
                time_and_spread(row),
                time(row.max),
                row.samples.to_string(),
            ]
        })
        .collect();
    let columns = ["median ± MAD".to_owned(), "slowest".to_owned(), "processes".to_owned()];
    (!body.is_empty()).then(|| {
        format!("first-fill: the first fill of a process\n{}", table("process", &columns, body))
    })
}

/// Versions, and everything that a reader must know before quoting a figure.
fn notes(report: &Report) -> String {
    let mut lines: Vec<(&str, String)> = Vec::new();
    let rows: Vec<&Row> = report.rows.iter().collect();
    let versions = names(&rows).into_iter().map(|name| {
        let row = rows.iter().find(|row| row.implementation == name);
        let version = row.and_then(|row| row.version.as_deref()).unwrap_or("version unknown");
        let mode = row.and_then(|row| row.mode.as_ref()).map(|mode| format!(", {mode} mode"));
        format!("{name}: {version}{}", mode.unwrap_or_default())
    });
    lines.extend(versions.map(|version| ("version", version)));
    lines.extend(report.skipped.iter().map(|skipped| ("skipped", skipped.to_string())));
    lines.extend(report.warnings.iter().map(|warning| ("warning", warning.clone())));
    let mut table = Table::new();
    table
        .load_style(presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_width(COLUMNS);
    table.add_rows(lines.into_iter().map(|(kind, text)| vec![kind.to_owned(), text]));
    if let Some(column) = table.column_mut(0) {
        column.set_padding((0, 1));
    }
    table.trim_fmt()
}

/// A table whose first column is words and whose others are figures.
fn table(first: &str, columns: &[String], body: Vec<Vec<String>>) -> String {
    let mut table = Table::new();
    table
        .load_style(presets::ASCII_MARKDOWN)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_width(COLUMNS)
        .set_header(std::iter::once(first.to_owned()).chain(columns.iter().cloned()))
        .add_rows(body);
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table.trim_fmt()
}

fn names(rows: &[&Row]) -> Vec<String> {
    distinct(rows.iter().map(|row| row.implementation.clone()))
}

/// Each value once, in the order of first appearance.
fn distinct<T: PartialEq>(values: impl Iterator<Item = T>) -> Vec<T> {
    let mut list = Vec::new();
    for value in values {
        if !list.contains(&value) {
            list.push(value);
        }
    }
    list
}

fn time_and_spread(row: &Row) -> String {
    format!("{} ±{:.0}%", time(row.ns_per_call), 100.0 * row.spread())
}

/// Three or four digits and a unit.
pub(crate) fn time(ns: f64) -> String {
    match ns {
        ns if ns < 100.0 => format!("{ns:.1} ns"),
        ns if ns < 10_000.0 => format!("{ns:.0} ns"),
        ns if ns < 1e6 => format!("{:.1} µs", ns / 1e3),
        ns if ns < 1e9 => format!("{:.1} ms", ns / 1e6),
        ns => format!("{:.1} s", ns / 1e9),
    }
}

/// `1000000` as `1,000,000`.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let groups: Vec<&str> = digits
        .as_bytes()
        .rchunks(3)
        .rev()
        .filter_map(|group| std::str::from_utf8(group).ok())
        .collect();
    groups.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(rows: Vec<Row>) -> Report {
        Report::new(rows, Vec::new(), vec!["w ".repeat(200)])
    }

    #[test]
    fn fits_100_columns_with_everything_at_its_longest() {
        let mut rows = Vec::new();
        for implementation in ["headwater-rng[buffered]", "rand-thread_rng-held"] {
            for len in [4, 16, 32, 64, 256, 1024, 4096, 65536, 1 << 20, 64 << 20] {
                let ns = 98_765.4 * len as f64;
                rows.push(Row::new("fill", implementation, len, 1, vec![ns, ns * 1.5, ns * 3.0]));
            }
            for case in ["u32", "u64", "uuid-v4", "rfc-u32", "first-fill"] {
                rows.push(Row::new(case, implementation, 8, 10_000_000, vec![1e6, 2e6, 3e6]));
            }
        }
        let text = report(rows).table();
        for line in text.lines() {
            assert!(line.chars().count() <= usize::from(COLUMNS), "{line}");
        }
        for expected in ["64 MiB", "uuid-v4", "bytes discarded", "slowest", "warning"] {
            assert!(text.contains(expected), "{expected} in\n{text}");
        }
    }

    #[test]
    fn figures_carry_their_spread_and_the_unknown_is_a_dash() {
        let mut row = Row::new("rfc-u32", "getrandom-vdso[pool]", 4, 10_000, vec![9.0, 10.0, 12.0]);
        row.discarded_bytes = Some(1_016_000);
        let direct = Row::new("rfc-u32", "getrandom-vdso", 4, 10_000, vec![9.0, 10.0, 12.0]);
        let text = report(vec![row, direct]).table();
        assert!(text.contains("rfc-u32: 30,000 draws of a u32"), "{text}");
        assert!(
            text.contains(
                "| pooled over the vDSO |  0.0003 |   100.0 |  10.0 ±1.0 |       1,016,000 |"
            ),
            "{text}"
        );
        assert!(
            text.contains(
                "| direct vDSO          |  0.0003 |   100.0 |  10.0 ±1.0 |               - |"
            ),
            "{text}"
        );
    }

    #[test]
    fn times_have_readable_units() {
        for (ns, text) in
            [(4.04, "4.0 ns"), (364.0, "364 ns"), (168_700.0, "168.7 µs"), (1.5e8, "150.0 ms")]
        {
            assert_eq!(time(ns), text);
        }
    }
}
