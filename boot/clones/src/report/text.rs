//! The report on a terminal.

use super::{advice, answer, counted, late, named};
use crate::clean::clean;
use crate::comparison::{Comparison, Verdict};
use crate::repair::{Proof, Repair};
use crate::watch::Response;
use std::fmt::Write;

/// Returns the report: the answer first, then the sources that repeat, with advice. With `all`, the
/// sources that differ and those that were not shown follow one by one.
pub fn comparison(comparison: &Comparison, all: bool) -> String {
    let mut text = format!("{}\n", answer(comparison));
    if let Some(note) = comparison.note {
        let _ = writeln!(text, "{note}");
    }
    if let Some(ms) = comparison.reseeded_after_ms {
        let _ = writeln!(
            text,
            "The copies' kernels reseeded within {ms} ms of the copy; values from before may repeat."
        );
    }
    if let Some(late) = late(comparison) {
        let _ = writeln!(text, "{late}");
    }
    for verdict in [Verdict::Repeats, Verdict::NotRenewable, Verdict::NotShown, Verdict::Differs] {
        let rows = || comparison.rows.iter().filter(|row| row.verdict == verdict);
        if rows().next().is_none() {
            continue;
        }
        let is_listed = all || matches!(verdict, Verdict::Repeats | Verdict::NotRenewable);
        if !is_listed {
            continue;
        }
        let _ = writeln!(text, "\n{}", named(verdict));
        let width = rows().map(|row| row.id.chars().count()).max().unwrap_or(0);
        for row in rows() {
            let line = format!("  {:<width$}  {:<10}  {}", row.id, counted(row), advice(row));
            let _ = writeln!(text, "{}", line.trim_end());
        }
    }
    if all && !comparison.stamps.is_empty() {
        text += "\nstamps of headwater, after the copy\n";
        for stamps in &comparison.stamps {
            let _ = writeln!(text, "  {:<18}  {}", stamps.witness, super::stamps(stamps));
        }
    }
    if !comparison.absent.is_empty() {
        let _ = writeln!(text, "\nskipped: nothing is known of the sources of these");
        for absent in &comparison.absent {
            let _ = writeln!(text, "  {:<18} {}", absent.witness, absent.why);
        }
    }
    if !all && comparison.differs + comparison.not_shown > 0 {
        text += "\n--all lists the sources that differ and those that were not shown.\n";
    }
    text
}

/// Returns what was done for a copy: the answer first.
pub fn response(response: &Response) -> String {
    let mut text = format!("copy {}: seen by {}\n", response.copies, response.signal.words());
    let mut line = |name: &str, what: &str| {
        let _ = writeln!(text, "  {name:<18} {what}");
    };
    match &response.reseed_error {
        None => line("kernel", "reseeded before the count moved"),
        Some(error) => line("kernel", &format!("NOT reseeded: {error}")),
    }
    line("count", &format!("moved {} us after this process woke", response.us));
    for hook in &response.hooks {
        line(&clean(&hook.name), hook.error.as_deref().unwrap_or("done"));
    }
    text
}

/// Returns what a repair did: the answer first.
pub fn repair(repair: &Repair) -> String {
    let what = match (repair.proof, repair.repaired) {
        (Proof::Generation, true) => "repaired: the kernel was reseeded",
        (Proof::Calls, true) => {
            "repaired by the kernel's word: it accepted the calls, and shows no generation"
        }
        (Proof::None, _) => {
            "not repaired: the kernel accepted the calls, and its reseed generation did not move; do \
             not let this copy run, and reboot it"
        }
        (Proof::Calls, false) if repair.steps.is_empty() => {
            "not proven: the kernel accepted the calls, and shows no generation (Linux 6.11 does); \
             --without-generation takes its word"
        }
        (Proof::Calls, false) => {
            "not repaired: the kernel accepted the calls, and a step after them failed"
        }
        (_, false) => "not repaired: the kernel was reseeded, and a step after it failed",
    };
    let mut text = format!("{what}\n");
    if let [Some(before), Some(after)] = repair.generations {
        let _ = writeln!(text, "  reseed generation  {before} -> {after}");
    }
    let _ = writeln!(
        text,
        "  fingerprint        {}; two copies with the same one are not repaired",
        repair.fingerprint
    );
    for step in &repair.steps {
        let name = clean(&step.name);
        let _ = writeln!(text, "  {name:<18} {}", step.error.as_deref().unwrap_or("done"));
    }
    text
}
