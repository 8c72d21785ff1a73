//! Results as tables for a terminal.

use crate::document::{Document, ExtentReport, NAMES, TargetReport, Verdict, Writing, rate};
use crate::map::{WORDS, map};
use crate::target::Target;
use crate::write::End;
use comfy_table::{CellAlignment, Table, presets};
use headwater_text::escape::untrusted;
use headwater_text::number::{counted, grouped};
use headwater_text::size::rounded;
use headwater_text::time::from_s;
use std::fmt::Write;

/// Extents of a target that the text lists. `--json` and `--html` have more.
const LISTED: usize = 20;

/// Returns one line about a target: what an overwrite would destroy.
pub fn describe(target: &Target, from: u64, to: u64) -> String {
    let mut text =
        format!("{}: {}", untrusted(&target.path.display().to_string()), rounded(target.size));
    if let Some(model) = &target.identity.model {
        let _ = write!(text, ", {model}");
    }
    if let Some(serial) = &target.identity.serial {
        let _ = write!(text, ", serial {serial}");
    }
    match (from, to) {
        (0, to) if to >= target.size => text.push_str("; all of it"),
        (from, to) => {
            let _ = write!(text, "; bytes {} to {}", grouped(from), grouped(to));
        }
    }
    text
}

fn columns(header: &[&str], right: &[usize]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_header(header);
    for (i, column) in table.column_iter_mut().enumerate() {
        column.set_padding((0, 2));
        if right.contains(&i) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table
}

/// Returns a table's text without the blanks that it has at the ends of lines.
fn text(table: &Table) -> String {
    table.lines().fold(String::new(), |text, line| text + line.trim_end() + "\n")
}

fn speed(rate: Option<f64>) -> String {
    rate.map_or(String::new(), |rate| format!("{}/s", rounded(rate as u64)))
}

fn way(direct: bool) -> &'static str {
    if direct { "direct" } else { "page cache" }
}

/// Returns the table of what was written.
pub fn table(results: &[Writing]) -> String {
    let mut table =
        columns(&["target", "written", "time", "rate", "through", "result"], &[1, 2, 3]);
    for one in results {
        let result = match &one.end {
            Ok(End::Complete) => "complete".to_owned(),
            Ok(End::Stopped(done)) => format!("stopped at byte {}", grouped(*done)),
            Err(_) => "failed".to_owned(),
        };
        table.add_row([
            untrusted(&one.path),
            rounded(one.written),
            from_s(one.seconds),
            speed(rate(one.written, one.seconds)),
            way(one.direct).to_owned(),
            result,
        ]);
    }
    text(&table)
}

impl Document {
    /// Returns the report as text: one table of targets, and below it the damage of each.
    pub fn text(&self) -> String {
        let header = ["target", "verified", "time", "rate", "through", "result"];
        let mut table = columns(&header, &[1, 2, 3]);
        for target in &self.targets {
            table.add_row([
                untrusted(&target.path),
                rounded(target.verified_to - target.from),
                from_s(target.seconds),
                speed(target.bytes_per_second),
                way(target.direct).to_owned(),
                result(target),
            ]);
        }
        let mut report = text(&table);
        for target in self.targets.iter().filter(|target| target.verdict != Verdict::Intact) {
            damage(target, &mut report);
        }
        report
    }
}

fn result(target: &TargetReport) -> String {
    match target.verdict {
        Verdict::Wrong | Verdict::Unread if target.error.is_none() => {
            let extents: u64 = target.counts.all().iter().map(|tally| tally.extents).sum();
            let bytes = rounded(target.wrong_bytes);
            format!("{}: {}, {bytes}", target.verdict.word(), counted(extents as usize, "extent"))
        }
        verdict => verdict.word().to_owned(),
    }
}

/// Appends the damage of one target: counts, extents, map.
fn damage(target: &TargetReport, report: &mut String) {
    let _ = writeln!(report, "\n{}", untrusted(&target.path));
    if let Some(error) = &target.error {
        let _ = writeln!(report, "  {}", untrusted(error));
        return;
    }
    if let Some(size) = target.shrank_to {
        let _ = writeln!(
            report,
            "  the file became shorter while it was read: {} bytes",
            grouped(size)
        );
    }
    if target.verified_to < target.to {
        let place = grouped(target.verified_to);
        let _ = writeln!(
            report,
            "  stopped at byte {place}; continue with --from {}",
            target.verified_to
        );
    }
    if is_foreign(target) {
        report.push_str(
            "  damage everywhere, as other options make it: is the seed another, or the engine, \
             --substream,\n  --child, --pass, --compressible, --dedup or --chunk?\n",
        );
    }
    if target.wrong_bytes > 0 {
        let mut kinds = columns(&["kind", "extents", "bytes"], &[1, 2]);
        for (tally, words) in target.counts.all().iter().zip(WORDS) {
            if tally.extents > 0 {
                kinds.add_row([words.to_owned(), grouped(tally.extents), grouped(tally.bytes)]);
            }
        }
        let mut extents = columns(&["from", "to", "bytes", "stands there"], &[0, 1, 2]);
        for extent in target.extents.iter().take(LISTED) {
            extents.add_row([
                grouped(extent.from),
                grouped(extent.to),
                grouped(extent.to - extent.from),
                stands_there(extent),
            ]);
        }
        let _ = write!(report, "{}\n{}", text(&kinds), text(&extents));
        let further = target.extents.len().saturating_sub(LISTED) as u64 + target.extents_left_out;
        if further > 0 {
            let _ = writeln!(report, "  and {} more extents", grouped(further));
        }
    }
    let _ = write!(report, "\n{}", map(target));
}

/// Returns the data of an extent in words.
pub(crate) fn stands_there(extent: &ExtentReport) -> String {
    let place = extent.place.map(grouped).unwrap_or_default();
    match extent.kind {
        "zeros" => "zeros: a lost write, or a hole".to_owned(),
        "elsewhere" if extent.of.is_some() => {
            format!("data of {}, byte {place}", of(extent))
        }
        "elsewhere" => {
            format!("data of byte {place}, substream {}", extent.substream.unwrap_or_default())
        }
        "older" => {
            if extent.place == Some(extent.from) {
                format!("data of {}: the new write was lost", of(extent))
            } else {
                format!("data of {}, byte {place}", of(extent))
            }
        }
        "flipped_bit" => format!("bit {} flipped", extent.bit.unwrap_or_default()),
        "unreadable" => "the device cannot read it".to_owned(),
        "missing" => "nothing: the file ends before".to_owned(),
        _ => "other data".to_owned(),
    }
}

fn of(extent: &ExtentReport) -> String {
    untrusted(extent.of.as_deref().unwrap_or_default())
}

/// Reports whether so much is wrong that rather the options are: nearly every byte, or, where a
/// shape was forgotten whose data is right in part, an extent in nearly each of its 4 KiB.
fn is_foreign(target: &TargetReport) -> bool {
    const SHAPED: u64 = 4096;
    let range = target.verified_to - target.from;
    let (other, elsewhere) = (target.counts.other, target.counts.elsewhere);
    let is_most = |part: u64, whole: u64| whole >= 16 && part >= whole - whole / 10;
    other.extents > 0
        && (is_most(other.bytes + elsewhere.bytes, range)
            || is_most(other.extents + elsewhere.extents, range / SHAPED))
}

const _: () = assert!(NAMES.len() == WORDS.len());
