//! A report for a terminal.

use crate::report::{FALSE_ALARMS, Report, Row, Verdict, WEAK_ALARMS};
use comfy_table::{Cell, CellAlignment, Table, presets};
use headwater_text::size::rounded;
use std::fmt::Write;

impl Report {
    /// Returns the report as text with one table, for a terminal.
    pub fn table(&self) -> String {
        let mut text = String::new();
        let _ = writeln!(text, "{}: {}", self.source, self.about());
        let _ = writeln!(
            text,
            "{} of data, {} figures, {:.1} s\n",
            rounded(self.bytes),
            self.rows.len(),
            self.seconds
        );
        let _ = writeln!(text, "{}\n", summary(self));
        let _ = writeln!(text, "{}", worst(&self.rows));
        for (test, rows) in findings(&self.rows) {
            let _ = writeln!(
                text,
                "{test}: {}{}",
                rows[0].meaning.unwrap_or_default(),
                planes(rows[0])
            );
            for row in rows.iter().take(3) {
                let _ = writeln!(text, "  {} {}", word(row.verdict), place(row));
            }
            if rows.len() > 3 {
                let _ = writeln!(text, "  and {} more figures", rows.len() - 3);
            }
        }
        self.others(&mut text);
        let _ = writeln!(text, "\nNot tested");
        for line in &self.not_tested {
            let _ = writeln!(text, "  {line}");
        }
        let _ = write!(
            text,
            "\nAn ideal generator fails one run in {:.0}, and is weak in one of {:.0}.",
            1.0 / FALSE_ALARMS,
            1.0 / WEAK_ALARMS
        );
        text
    }

    fn others(&self, text: &mut String) {
        if let Some(entropy) = &self.entropy {
            let _ = writeln!(text, "\nMin-entropy, bits a byte ({})", entropy.note);
            for estimate in &entropy.estimates {
                let _ = writeln!(
                    text,
                    "  {:5.2}  {} (SP 800-90B, {})",
                    estimate.bits, estimate.name, estimate.section
                );
            }
            for test in &entropy.health {
                let _ = writeln!(
                    text,
                    "  {}: {} alarms; highest count {}, cutoff {} at {} bits a byte",
                    test.name, test.alarms, test.highest, test.cutoff, entropy.claim
                );
            }
        }
        for battery in &self.external {
            let version = battery.version.as_deref().unwrap_or("version unknown");
            match &battery.skipped {
                Some(reason) => {
                    let _ = writeln!(text, "\nskipped: {}: {reason}", battery.name);
                }
                None => {
                    let taken = rounded(battery.bytes);
                    let _ = writeln!(
                        text,
                        "\n{} ({version}): {}; took {taken}",
                        battery.command,
                        word(battery.verdict())
                    );
                }
            }
            for outcome in &battery.results {
                let _ = writeln!(
                    text,
                    "  {:7} {}: {}",
                    word(outcome.verdict),
                    outcome.test,
                    outcome.words
                );
            }
        }
    }
}

/// Returns the verdict as a sentence.
pub(crate) fn summary(report: &Report) -> String {
    let of = |verdict| report.rows.iter().filter(|row| row.verdict == verdict).count();
    match report.verdict {
        Verdict::Failed if of(Verdict::Failed) == 0 => {
            "FAILED: by a health test or another battery, not by the figures below.".to_owned()
        }
        Verdict::Failed => {
            let after = report.failed_after.map(|after| format!(" The first was known after {after:.2} s."));
            format!("FAILED: {} figures cannot be chance.{}", of(Verdict::Failed), after.unwrap_or_default())
        }
        Verdict::Weak => "weak: one clean run in a hundred looks like this. Judge again, longer or with another seed.".to_owned(),
        Verdict::Clean => "clean: no figure is suspicious.".to_owned(),
    }
}

/// Returns a table of the smallest p-value of each test.
fn worst(rows: &[Row]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_header(["test", "p", "", "of", "over", "streams"]);
    let mut seen: Vec<&str> = Vec::new();
    for row in rows {
        if !seen.contains(&row.test.as_str()) {
            seen.push(&row.test);
            table.add_row([
                Cell::new(&row.test),
                Cell::new(p(row.p)).set_alignment(CellAlignment::Right),
                Cell::new(word(row.verdict)),
                Cell::new(&row.part),
                Cell::new(&row.form),
                Cell::new(&row.streams),
            ]);
        }
    }
    table
}

/// Returns the figures that are not clean, by test: one defect often fails many figures of a test.
pub(crate) fn findings(rows: &[Row]) -> Vec<(&str, Vec<&Row>)> {
    let mut tests: Vec<(&str, Vec<&Row>)> = Vec::new();
    for row in rows.iter().filter(|row| row.verdict != Verdict::Clean) {
        match tests.iter_mut().find(|(test, _)| *test == row.test) {
            Some((_, rows)) => rows.push(row),
            None => tests.push((&row.test, vec![row])),
        }
    }
    tests
}

pub(crate) fn place(row: &Row) -> String {
    format!("{}, {}, {}: p {}", row.part, row.form, row.streams, p(row.p))
}

/// Names the failed planes, if the figure has planes.
pub(crate) fn planes(row: &Row) -> String {
    let Some(planes) = &row.planes else { return String::new() };
    let bad: Vec<String> = (0..planes.len())
        .filter(|&plane| planes[plane] < 1e-9)
        .map(|plane| plane.to_string())
        .collect();
    match bad.len() {
        0 => String::new(),
        n if n == planes.len() => " All planes.".to_owned(),
        _ => format!(" Planes {} (0 is the lowest bit).", bad.join(", ")),
    }
}

pub(crate) fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Clean => "clean",
        Verdict::Weak => "weak",
        Verdict::Failed => "FAILED",
    }
}

pub(crate) fn p(p: f64) -> String {
    match p {
        0.0 => "< 1e-300".to_owned(),
        p if p < 0.001 => format!("{p:.0e}"),
        p => format!("{p:.3}"),
    }
}
