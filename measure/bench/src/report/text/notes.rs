//! The lines below the tables.

use crate::measure::row::Row;
use crate::report::document::Report;
use crate::report::text::layout::{COLUMNS, distinct, names};
use comfy_table::{ContentArrangement, Table, presets};

/// Returns the machine, the versions, and everything else that a reader must know before quoting a
/// figure.
pub(crate) fn notes(report: &Report) -> String {
    let mut lines: Vec<(&str, String)> = Vec::new();
    lines.extend(details(report).into_iter().map(|detail| ("machine", detail)));
    let rows: Vec<&Row> = report.rows.iter().collect();
    let versions = names(&rows).into_iter().map(|name| {
        let row = rows.iter().find(|row| row.implementation == name);
        let version = row.and_then(|row| row.version.as_deref()).unwrap_or("version unknown");
        let mode = row.and_then(|row| row.mode.as_ref()).map(|mode| format!(", {mode} mode"));
        format!("{name}: {version}{}", mode.unwrap_or_default())
    });
    lines.extend(versions.map(|version| ("version", version)));
    lines.extend(row_notes(&rows).map(|note| ("note", note)));
    lines.extend(without_generation(report).map(|legend| ("kernel", legend)));
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

/// Returns the machine's facts that the first line leaves out, and the names of the unknown ones,
/// which a reader must know too.
fn details(report: &Report) -> Vec<String> {
    let machine = &report.machine;
    let known = |value: &Option<String>| value.clone().unwrap_or_else(|| "unknown".to_owned());
    vec![
        format!(
            "microcode {}, governor {}, built by {}",
            known(&machine.microcode),
            known(&machine.governor),
            known(&machine.rustc)
        ),
        format!("mitigations: {}", known(&machine.mitigations)),
    ]
}

/// Returns each note with all its implementations. The notes of first bytes and of upper halves
/// stand in tables of their own.
fn row_notes(rows: &[&Row]) -> impl Iterator<Item = String> {
    let noted: Vec<&Row> = rows.iter().copied().filter(|row| !stand_apart(row)).collect();
    distinct(noted.iter().filter_map(|row| row.note.clone())).into_iter().map(move |note| {
        let about = noted.iter().copied().filter(|row| row.note.as_ref() == Some(&note));
        format!("{}: {note}", names(&about.collect::<Vec<_>>()).join(", "))
    })
}

fn stand_apart(row: &Row) -> bool {
    row.case.starts_with("first-byte") || row.case == "upper-halves"
}

/// Names the row that shows headwater on a kernel without a reseed generation, which has no mode of
/// its own. `auto` chooses `hedged` there, or `strict` on a CPU that cannot hedge.
fn without_generation(report: &Report) -> Option<String> {
    let serves = |mode: &str| {
        report.rows.iter().find(|row| {
            row.implementation.split('[').next() == Some("headwater")
                && row.mode.as_deref() == Some(mode)
        })
    };
    let cannot_hedge =
        report.skipped.iter().any(|skipped| skipped.implementation == "headwater[hedged]");
    let row = if cannot_hedge { serves("strict") } else { serves("hedged") };
    row.map(|row| {
        format!(
            "{} is how headwater serves by default where the kernel shows no reseed generation",
            row.implementation
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::skipped::Skipped;

    #[test]
    fn a_note_is_said_once_for_all_that_it_is_about() {
        let noted = |case, implementation, note: &str| Row {
            note: Some(note.to_owned()),
            ..Row::new(case, implementation, 16, 1, vec![1e6; 6])
        };
        let rows = [
            noted("fill", "go", "own clock"),
            noted("u64", "go", "own clock"),
            noted("fill", "fastrand", "not secure"),
            noted("fill", "java", "own clock"),
            noted("first-byte-after-start", "headwater", "as started"),
        ];
        let rows: Vec<&Row> = rows.iter().collect();
        let notes: Vec<String> = row_notes(&rows).collect();
        assert_eq!(notes, ["go, java: own clock", "fastrand: not secure"]);
    }

    #[test]
    fn says_which_row_a_kernel_without_generation_would_give() {
        let row = |implementation: &str, mode: &str| Row {
            mode: Some(mode.to_owned()),
            ..Row::new("fill", implementation, 16, 1, vec![9.0, 10.0, 12.0])
        };
        let named = |rows: Vec<Row>, skipped: &[&str]| {
            let skipped = skipped.iter().map(|name| Skipped {
                implementation: (*name).to_owned(),
                reason: "it cannot".to_owned(),
            });
            let legend = without_generation(&Report::new(rows, skipped.collect(), Vec::new()));
            legend.and_then(|legend| Some(legend.split_once(" is how ")?.0.to_owned()))
        };
        let all = || {
            vec![
                row("headwater-rng", "hedged"),
                row("headwater", "buffered"),
                row("headwater[hedged]", "hedged"),
                row("headwater[strict]", "strict"),
            ]
        };
        assert_eq!(named(all(), &[]).as_deref(), Some("headwater[hedged]"));
        let without_hedged =
            || all().into_iter().filter(|row| row.mode.as_deref() != Some("hedged"));
        assert_eq!(
            named(without_hedged().collect(), &["headwater[hedged]"]).as_deref(),
            Some("headwater[strict]")
        );
        assert_eq!(named(without_hedged().collect(), &[]), None, "not measured, so not known");
        assert_eq!(named(vec![row("headwater", "hedged")], &[]).as_deref(), Some("headwater"));
    }
}
