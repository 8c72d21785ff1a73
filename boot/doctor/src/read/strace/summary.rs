//! The table of `strace -c`.

use super::evidence;
use crate::Evidence;
use crate::journal::stamp::seconds;
use crate::trace::Trace;

/// The table of `strace -c`; several of them are added up.
pub(super) struct Table<'a> {
    name: &'a str,
    head: Option<Head>,
    getrandom: f64,
    calls: u64,
    total: f64,
    found: bool,
    evidence: Vec<Evidence>,
}

/// Which column is what, by the words of the head; "errors" may be empty in a row.
#[derive(Clone, Copy)]
struct Head {
    columns: usize,
    seconds: usize,
    calls: usize,
    errors: Option<usize>,
    call: usize,
}

/// Returns whether a line is the head `% time     seconds  usecs/call     calls    errors syscall`,
/// also with the columns of `-U`.
pub(super) fn is_head(line: &[u8]) -> bool {
    std::str::from_utf8(line).ok().and_then(head).is_some()
}

fn head(line: &str) -> Option<Head> {
    let line = line.trim().replace("% time", "%");
    let names: Vec<&str> = line.split_ascii_whitespace().collect();
    let place = |wanted: &str| names.iter().position(|name| *name == wanted);
    Some(Head {
        columns: names.len(),
        seconds: place("seconds")?,
        calls: place("calls")?,
        errors: place("errors"),
        call: place("syscall")?,
    })
}

impl<'a> Table<'a> {
    pub(super) fn new(name: &'a str) -> Table<'a> {
        Table {
            name,
            head: None,
            getrandom: 0.0,
            calls: 0,
            total: 0.0,
            found: false,
            evidence: Vec::new(),
        }
    }

    /// Takes a line in that does not belong to a call.
    pub(super) fn note(&mut self, line: &[u8], number: u64) {
        // A row is short; a line that is not is something else's.
        let Some(text) = std::str::from_utf8(line).ok().filter(|line| line.len() < 200) else {
            return;
        };
        if let Some(head) = head(text) {
            self.head = Some(head);
            return;
        }
        let Some(head) = self.head else { return };
        let mut words: Vec<&str> = text.split_ascii_whitespace().collect();
        if words.len() + 1 == head.columns
            && let Some(errors) = head.errors
        {
            words.insert(errors.min(words.len()), "");
        }
        // Newer versions leave the total's time per call out, too.
        let row = (words.len() == head.columns)
            .then(|| Some((seconds(words[head.seconds])?, words[head.calls], words[head.call])));
        let Some((time, calls, call)) = row.flatten() else { return };
        if call == "total" {
            return;
        }
        let Ok(calls) = calls.parse::<u64>() else { return };
        // Added up and not taken from the table's last line, which not every version prints alike.
        self.total += time;
        self.found = true;
        if call == "getrandom" {
            self.getrandom += time;
            self.calls = self.calls.saturating_add(calls);
            if self.evidence.len() < 10 {
                self.evidence.push(evidence(self.name, number, line));
            }
        }
    }

    /// Returns the trace of the table; `None` if there was no table.
    pub(super) fn finish(self) -> Option<Trace> {
        self.found.then_some(Trace {
            program: None,
            getrandom: self.getrandom,
            // A table shows only the mean length of a call.
            longest: if self.calls == 0 { 0.0 } else { self.getrandom / self.calls as f64 },
            total: self.total,
            calls: self.calls,
            summary: true,
            device: false,
            evidence: self.evidence,
        })
    }
}
