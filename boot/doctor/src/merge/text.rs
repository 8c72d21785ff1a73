//! The summary for a terminal: the worst first, grouped by cause and fix.

use super::Merged;
use super::fleet::{Cause, Fleet, about};
use crate::report::{fill, of, time};
use crate::{Severity, Verdict};
use anstyle::{AnsiColor, Style};
use headwater_text::escape::untrusted;
use headwater_text::number::grouped;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Hosts that are named one by one; JSON, CSV and the page have all.
const NAMED: usize = 5;
/// Refused reports that are listed.
const LISTED: usize = 20;
/// Causes that are listed; a fleet of one make has a dozen.
const CAUSES: usize = 40;
/// Groups of clones that are listed.
const GROUPS: usize = 20;

const BOLD: Style = Style::new().bold();
const QUIET: Style = Style::new().dimmed();

impl Merged {
    /// Returns the summary for a terminal, with colours (ECMA-48); a caller that writes elsewhere
    /// strips them.
    pub fn text(&self) -> String {
        let fleet = &self.0;
        let mut out = String::new();
        let style = match fleet.verdict() {
            Verdict::Findings => of(Severity::Critical),
            Verdict::Healthy => AnsiColor::Green.on_default().bold(),
            Verdict::Incomplete | Verdict::CouldNotCheck => of(Severity::Warning),
        };
        let _ = writeln!(out, "{style}{}{style:#}", self.headline());
        write_clones(&mut out, fleet);
        let is_note = |cause: &&Cause| cause.severity == Severity::Note;
        let graver = || fleet.causes.iter().filter(|cause| !is_note(cause));
        for cause in graver().take(CAUSES) {
            out.push('\n');
            write_cause(&mut out, fleet, cause);
        }
        if let Some(more @ 1..) = graver().count().checked_sub(CAUSES) {
            let _ = writeln!(out, "\nand {more} more causes; --json and --html have all");
        }
        write_notes(&mut out, fleet.causes.iter().filter(is_note));
        write_bad(&mut out, fleet);
        let notes = self.notes();
        if !notes.is_empty() {
            out.push('\n');
        }
        for note in notes {
            fill(&mut out, "", "", &note);
        }
        out
    }

    /// Returns the verdict in one line.
    pub fn headline(&self) -> String {
        let fleet = &self.0;
        if fleet.rows.is_empty() {
            return "No report could be read".to_owned();
        }
        let parts: Vec<String> = [
            (Verdict::Findings, "with findings"),
            (Verdict::Incomplete, "incomplete"),
            (Verdict::CouldNotCheck, "could not be checked"),
            (Verdict::Healthy, "healthy"),
        ]
        .into_iter()
        .filter_map(|(verdict, words)| match fleet.count(verdict) {
            0 => None,
            count => Some(format!("{} {words}", grouped(count as u64))),
        })
        .collect();
        let clones: usize = fleet.clones.groups.iter().map(|group| group.hosts.len()).sum();
        let clones = match clones {
            0 => String::new(),
            count => format!("; {} of a common image", hosts(count)),
        };
        format!("{}: {}{clones}", hosts(fleet.rows.len()), parts.join(", "))
    }

    /// Returns remarks about the input, in sentences.
    pub(super) fn notes(&self) -> Vec<String> {
        let fleet = &self.0;
        let mut notes = Vec::new();
        match fleet.replaced() {
            0 => {}
            count => notes.push(format!(
                "{} of a host with a newer report: the newest counts. Clones that share name and \
                 machine id look like one host; a report with --identity separates them.",
                plural(count, "report was", "reports were")
            )),
        }
        if fleet.salts.len() > 1 {
            notes.push(format!(
                "The reports were hashed with {} salts. Hosts are compared with hosts of the same \
                 salt only.",
                fleet.salts.len()
            ));
        }
        if !fleet.rows.is_empty() && fleet.salts.is_empty() {
            notes.push(
                "No report has hashed evidence (--identity), so SSH host keys and saved seeds were \
                 not compared."
                    .to_owned(),
            );
        }
        notes
    }
}

/// Returns a number with its noun and verb.
fn plural(count: usize, one: &str, many: &str) -> String {
    format!("{} {}", grouped(count as u64), if count == 1 { one } else { many })
}

/// Returns a number of hosts in words.
pub(super) fn hosts(count: usize) -> String {
    let noun = if count == 1 { "host" } else { "hosts" };
    format!("{} {noun}", grouped(count as u64))
}

/// Returns the names of the first hosts, and the number of the others.
pub(super) fn names(fleet: &Fleet, hosts: &[u32], most: usize) -> String {
    let named = hosts.iter().take(most).map(|at| untrusted(fleet.name(*at)));
    let names = named.collect::<Vec<String>>().join(", ");
    match hosts.len().saturating_sub(most) {
        0 => names,
        more => format!("{names} and {} more", grouped(more as u64)),
    }
}

/// Returns the cause in a clause: "a VM without a random device (ganeti)".
pub(super) fn subject(fleet: &Fleet, cause: &Cause) -> String {
    let platform = fleet.text(cause.platform);
    let about = about(&cause.id);
    if platform.is_empty() {
        about.to_owned()
    } else {
        format!("{about} ({})", untrusted(platform))
    }
}

fn write_cause(out: &mut String, fleet: &Fleet, cause: &Cause) {
    let style = of(cause.severity);
    let severity = crate::report::severity(cause.severity).to_uppercase();
    let head = format!("{severity} {}: {}", hosts(cause.hosts.len()), untrusted(&cause.id));
    let _ = writeln!(out, "{style}{head}{style:#} {}", subject(fleet, cause));
    let (host, title) = &cause.example;
    let example = format!("{}: {}", untrusted(fleet.name(*host)), untrusted(title));
    fill(out, "  such as ", "    ", &example);
    if !cause.what.is_empty() {
        fill(out, "  do: ", "    ", &untrusted(&cause.what));
    }
    for line in cause.exact.iter().flat_map(|exact| exact.lines()) {
        let _ = writeln!(out, "      {BOLD}{}{BOLD:#}", untrusted(line));
    }
    let mut plain = String::new();
    fill(&mut plain, "  hosts: ", "    ", &names(fleet, &cause.hosts, NAMED));
    let _ = writeln!(out, "{QUIET}{}{QUIET:#}", plain.trim_end());
}

/// Writes a line for each check that has notes only. There is nothing to do about a note.
fn write_notes<'a>(out: &mut String, notes: impl Iterator<Item = &'a Cause>) {
    let mut counts = BTreeMap::<&str, usize>::new();
    for cause in notes {
        *counts.entry(&cause.id).or_default() += cause.hosts.len();
    }
    if !counts.is_empty() {
        let _ = writeln!(out, "\n{BOLD}Notes{BOLD:#}");
    }
    for (id, count) in counts {
        let line = format!("{}, {}: {}", untrusted(id), about(id), hosts(count));
        fill(out, "  ", "    ", &line);
    }
}

fn write_clones(out: &mut String, fleet: &Fleet) {
    let groups = &fleet.clones.groups;
    for group in groups.iter().take(GROUPS) {
        let style = of(Severity::Critical);
        let size = group.hosts.len();
        let _ = writeln!(out, "\n{style}CLONES {}{style:#} of one image", hosts(size));
        for (kind, count) in &group.shared {
            fill(out, "  ", "    ", &group.says(*kind, *count));
            fill(out, "    do: ", "      ", kind.fix());
        }
        fill(out, "  hosts: ", "    ", &names(fleet, &group.hosts, NAMED));
    }
    if let Some(more @ 1..) = groups.len().checked_sub(GROUPS) {
        let _ = writeln!(out, "\nand {} more groups of clones", grouped(more as u64));
    }
}

fn write_bad(out: &mut String, fleet: &Fleet) {
    if fleet.bad_count == 0 {
        return;
    }
    let count = plural(fleet.bad_count, "report does", "reports do");
    let _ = writeln!(out, "\n{BOLD}{count} not count{BOLD:#}");
    for bad in fleet.bad.iter().take(LISTED) {
        let line = format!("{}: {}", untrusted(&bad.source), untrusted(&bad.reason));
        fill(out, "  ", "    ", &line);
    }
    if let Some(more @ 1..) = fleet.bad_count.checked_sub(LISTED) {
        let _ = writeln!(out, "  and {} more", grouped(more as u64));
    }
}

/// Returns a time in words; empty if unknown.
pub(super) fn seconds(seconds: Option<f64>) -> String {
    seconds.map(time).unwrap_or_default()
}
