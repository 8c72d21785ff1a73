//! The report for a terminal: verdict first, then findings by severity, in 100 columns.
//!
//! Commands and settings are not wrapped, for they are to be copied.

use super::words;
use crate::deep::HealthTest;
use crate::{Evidence, Finding, Fix, Id, Report, Severity, Verdict};
use anstyle::{AnsiColor, Style};
use std::fmt::Write;

/// Wide enough for log lines, narrow enough for a terminal beside another.
pub(crate) const COLUMNS: usize = 100;
/// More evidence than this hides the advice; JSON has all of it.
const MOST_EVIDENCE: usize = 3;

const BOLD: Style = Style::new().bold();
const QUIET: Style = Style::new().dimmed();

impl Report {
    /// Returns the report for a terminal, with colours (ECMA-48); a caller that writes elsewhere
    /// strips them.
    pub fn text(&self) -> String {
        let mut out = String::new();
        let style = match (self.verdict(), words::worst(&self.findings)) {
            (Verdict::CouldNotCheck | Verdict::Incomplete, _) | (_, Some(Severity::Warning)) => {
                of(Severity::Warning)
            }
            (_, Some(Severity::Critical)) => of(Severity::Critical),
            _ => AnsiColor::Green.on_default().bold(),
        };
        let mut headline = String::new();
        wrapped(&mut headline, "", &self.headline());
        let _ = writeln!(out, "{style}{}{style:#}", headline.trim_end());
        let ready = self.readiness();
        if self.verdict() == Verdict::Findings {
            let tally = match ready.as_ref().filter(|_| self.is_excerpt) {
                Some(ready) => format!("{}; {ready}", self.tally()),
                None => self.tally(),
            };
            wrapped(&mut out, "", &tally);
        }
        // Line one has kernel and platform already.
        if !self.is_excerpt || self.verdict() != Verdict::Findings {
            wrapped(&mut out, "", &words::harmless(&self.about()));
        }
        if let Some(ready) =
            ready.filter(|_| !self.is_excerpt || self.verdict() != Verdict::Findings)
        {
            wrapped(&mut out, "", &ready);
        }
        let mut said = Vec::new();
        let mut before: Vec<&Finding> = Vec::new();
        // The finding that line one is about comes first, so that its steps are listed there.
        let answer = self.answer().filter(|_| self.is_excerpt);
        let others = self
            .findings
            .iter()
            .filter(|finding| answer.is_none_or(|answer| !std::ptr::eq(*finding, answer)));
        for finding in answer.into_iter().chain(others) {
            if before.is_empty() || !self.is_excerpt {
                out.push('\n');
            }
            if self.is_excerpt && !before.is_empty() {
                write_briefly(&mut out, finding, &before);
            } else {
                write_finding(&mut out, finding, &before, &mut said, self.is_excerpt);
            }
            before.push(finding);
        }
        self.write_assumed(&mut out);
        self.write_measured(&mut out);
        if !self.not_checked.is_empty() {
            let gap = if self.is_excerpt { "" } else { "\n" };
            let _ = writeln!(out, "{gap}{BOLD}Not checked, or in part{BOLD:#}");
            let mut reasons: Vec<(&str, Vec<String>)> = Vec::new();
            for missed in &self.not_checked {
                match reasons.iter_mut().find(|(why, _)| *why == missed.why) {
                    Some((_, ids)) => ids.push(missed.id.to_string()),
                    None => reasons.push((&missed.why, vec![missed.id.to_string()])),
                }
            }
            for (why, ids) in reasons {
                hanging(&mut out, "  ", &ids.join(", "), &words::harmless(why));
            }
        }
        if let Some(first) = before.first() {
            let gap = if self.is_excerpt { "" } else { "\n" };
            let more = match first.fixes.len().checked_sub(MOST_STEPS) {
                Some(more @ 1..) if self.is_excerpt => format!("; {more} further steps: --json"),
                _ => String::new(),
            };
            let _ = writeln!(
                out,
                "{gap}{QUIET}More about a finding: headwater doctor explain {}{more}{QUIET:#}",
                first.id
            );
        }
        out
    }

    fn write_assumed(&self, out: &mut String) {
        let Some(assumed) = &self.assumed else { return };
        let kernel = words::harmless(&assumed.kernel);
        let _ = writeln!(
            out,
            "\n{BOLD}With Linux {kernel}, under which all of the above is judged{BOLD:#}"
        );
        if assumed.changes.is_empty() {
            wrapped(out, "  ", "no difference to the running kernel is known");
        }
        for change in &assumed.changes {
            hanging(
                out,
                "  ",
                "*",
                &format!("{}: {}; now: {}", change.what, change.after, change.before),
            );
        }
        for (what, ids) in [("Gone", &assumed.gone), ("New", &assumed.new)] {
            for id in ids {
                hanging(out, "  ", &format!("{what}: {id}"), id.about());
            }
        }
    }

    fn write_measured(&self, out: &mut String) {
        let Some(deep) = &self.deep else { return };
        let _ = writeln!(out, "\n{BOLD}Measured{BOLD:#}");
        if let Some(slope) = &deep.entropy {
            hanging(out, "  ", "entropy_avail", &slope.says());
        }
        for sample in &deep.samples {
            let says: Vec<String> = sample.tests.iter().map(HealthTest::says).collect();
            let says = sample.skipped.clone().unwrap_or_else(|| says.join("; "));
            let says = words::harmless(&says);
            hanging(out, "  ", sample.source, &format!("{} bytes: {says}", sample.bytes));
        }
    }
}

/// Returns the colour of a severity.
pub(crate) fn of(severity: Severity) -> Style {
    match severity {
        Severity::Critical => AnsiColor::Red.on_default().bold(),
        Severity::Warning => AnsiColor::Yellow.on_default().bold(),
        Severity::Note => AnsiColor::Cyan.on_default().bold(),
    }
}

/// Advice that has been printed: what it says, and under which finding.
type Said<'a> = Vec<(&'a str, Id)>;

/// Steps of an excerpt's report. The list is ordered, so those that are left out are the weaker
/// ones, and JSON has all.
const MOST_STEPS: usize = 2;

/// Writes a further finding of an excerpt: the fact, its line, and its first step.
fn write_briefly(out: &mut String, finding: &Finding, before: &[&Finding]) {
    write_title(out, finding);
    let is_new = |place: &str| {
        before.iter().all(|other| other.evidence.iter().all(|seen| seen.place != place))
    };
    if let Some(seen) = finding.evidence.first().filter(|seen| is_new(&seen.place)) {
        write_seen(out, seen);
    }
    let first = finding.fixes.first();
    match before.iter().find(|other| first.is_some_and(|first| other.fixes.contains(first))) {
        Some(same) => {
            let _ = writeln!(out, "  Fix: as for {}", same.id);
        }
        None => {
            if let Some(fix) = finding.fixes.first() {
                fill(out, "  Fix: ", "    ", &words::harmless(&fix.what));
                for line in fix.exact.iter().flat_map(|exact| exact.lines()) {
                    let _ = writeln!(out, "          {BOLD}{}{BOLD:#}", words::harmless(line));
                }
            }
        }
    }
}

fn write_seen(out: &mut String, seen: &Evidence) {
    let says = cut(&words::harmless(&seen.says));
    let mut plain = String::new();
    hanging(&mut plain, "  ", "seen", &format!("{}: {says}", words::harmless(&seen.place)));
    let _ = writeln!(out, "{QUIET}{}{QUIET:#}", plain.trim_end());
}

fn write_title(out: &mut String, finding: &Finding) {
    let style = of(finding.severity);
    let head = format!("{} {}", words::severity(finding.severity).to_uppercase(), finding.id);
    let title = words::harmless(&finding.title);
    // Wrapped without the colours, which have no width.
    let mut plain = String::new();
    hanging(&mut plain, "", &head, &title);
    let _ = write!(out, "{style}{head}{style:#}{}", plain.get(head.len()..).unwrap_or_default());
}

fn write_finding<'a>(
    out: &mut String,
    finding: &'a Finding,
    before: &[&'a Finding],
    said: &mut Said<'a>,
    is_excerpt: bool,
) {
    write_title(out, finding);
    let same = before.iter().find(|other| has_same_fixes(finding, other));
    // An explanation that stands above is not repeated.
    if before.iter().all(|other| other.why != finding.why) {
        wrapped(out, "  ", &words::harmless(&finding.why));
    }
    let most = match (same.is_some(), is_excerpt) {
        (true, _) => 1,
        (false, true) => 2,
        (false, false) => MOST_EVIDENCE,
    };
    for seen in finding.evidence.iter().take(most) {
        write_seen(out, seen);
    }
    if let Some(same) = same {
        let _ = writeln!(out, "  Fix: as for {}", same.id);
        return;
    }
    if let Some(more @ 1..) = finding.evidence.len().checked_sub(MOST_EVIDENCE)
        && !is_excerpt
    {
        let _ = writeln!(out, "  {QUIET}and {more} more; --json has all{QUIET:#}");
    }
    let mut heading = "";
    let most = if is_excerpt { MOST_STEPS } else { usize::MAX };
    for (i, fix) in finding.fixes.iter().enumerate().take(most) {
        if heading != words::side(fix) {
            heading = words::side(fix);
            let _ = writeln!(out, "  {heading}:");
        }
        write_fix(out, i + 1, fix, finding.id, said, !is_excerpt);
    }
    hanging(out, "  ", "To verify:", &words::harmless(&finding.verify));
}

/// Returns whether another finding has these fixes, so that they need not be listed again.
fn has_same_fixes(finding: &Finding, other: &Finding) -> bool {
    !finding.fixes.is_empty() && finding.fixes.iter().all(|fix| other.fixes.contains(fix))
}

/// Writes number, action, command and effect. Advice that a worse finding has printed is not
/// repeated.
fn write_fix<'a>(
    out: &mut String,
    number: usize,
    fix: &'a Fix,
    id: Id,
    said: &mut Said<'a>,
    with_effect: bool,
) {
    let number = format!("{number}.");
    if let Some((_, before)) = said.iter().find(|(what, _)| *what == fix.what) {
        // A setting of one line names it best, and is never cut: the end may be what makes it safe.
        let first = fix.exact.as_deref().filter(|exact| !exact.contains('\n')).unwrap_or(&fix.what);
        let first = words::harmless(first);
        return hanging(out, "    ", &number, &format!("as for {before}: {first}"));
    }
    said.push((&fix.what, id));
    hanging(out, "    ", &number, &words::harmless(&fix.what));
    for line in fix.exact.iter().flat_map(|exact| exact.lines()) {
        let _ = writeln!(out, "          {BOLD}{}{BOLD:#}", words::harmless(line));
    }
    let brings = words::brings(fix);
    if with_effect && !brings.is_empty() {
        let mut plain = String::new();
        wrapped(&mut plain, "        ", &brings);
        let _ = writeln!(out, "{QUIET}{}{QUIET:#}", plain.trim_end());
    }
}

/// Cuts a long text after its first lines.
fn cut(says: &str) -> String {
    const MOST: usize = 180;
    match says.char_indices().nth(MOST) {
        Some((at, _)) => format!("{} ...", says.get(..at).unwrap_or(says)),
        None => says.to_owned(),
    }
}

fn wrapped(out: &mut String, indent: &str, text: &str) {
    fill(out, indent, indent, text);
}

/// Writes a word and a text, whose further lines are indented.
fn hanging(out: &mut String, indent: &str, word: &str, text: &str) {
    fill(out, &format!("{indent}{word}  "), &" ".repeat(indent.len() + 4), text);
}

/// Wraps a text. Lines are not broken at hyphens, because names of services and options have them.
pub(crate) fn fill(out: &mut String, first: &str, rest: &str, text: &str) {
    let options = textwrap::Options::new(COLUMNS)
        .initial_indent(first)
        .subsequent_indent(rest)
        .word_splitter(textwrap::WordSplitter::NoHyphenation);
    out.push_str(&textwrap::fill(text, options));
    out.push('\n');
}
