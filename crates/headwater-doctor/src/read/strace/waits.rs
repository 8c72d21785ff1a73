//! The calls of getrandom in a trace, and what each took.

use super::clock::TraceClock;
use super::evidence;
use super::line::{TraceEvent, TraceLine};
use crate::Evidence;
use crate::trace::Trace;
use std::collections::{HashMap, HashSet};

/// Calls that are quoted, the longest ones.
const QUOTED: usize = 10;
/// Processes whose calls are followed at a time.
const PROCESSES: usize = 1 << 16;

/// The calls of getrandom in a trace.
pub(super) struct Waits<'a> {
    name: &'a str,
    clock: TraceClock,
    program: Option<String>,
    /// Per process, a call of which it is not known yet how long it took.
    open: HashMap<u32, PendingCall>,
    /// Numbers under which each process has /dev/random open.
    devices: HashSet<(u32, u32)>,
    calls: u64,
    getrandom: f64,
    longest: Vec<(f64, Evidence)>,
    /// TimeColumn in all calls, for traces with `-T` and no clock.
    in_calls: f64,
    has_times: bool,
    /// `-T`, of any call.
    has_lengths: bool,
    /// Calls of any other name. A trace of getrandom alone does not show the end of a call: its
    /// next line may be an hour later.
    has_others: bool,
}

struct PendingCall {
    began: Option<f64>,
    evidence: Evidence,
    /// Its end has come, without its length: it took until the next line at the most.
    ended: bool,
}

impl<'a> Waits<'a> {
    pub(super) fn new(name: &'a str) -> Waits<'a> {
        Waits {
            name,
            clock: TraceClock::default(),
            program: None,
            open: HashMap::new(),
            devices: HashSet::new(),
            calls: 0,
            getrandom: 0.0,
            longest: Vec::new(),
            in_calls: 0.0,
            has_times: false,
            has_lengths: false,
            has_others: false,
        }
    }

    pub(super) fn note(&mut self, record: &TraceLine<'_>, number: u64, line: &[u8]) {
        let event = self.event(record);
        let record = &TraceLine { event, ..*record };
        let now = record.time.map(|time| self.clock.at(time));
        self.has_times |= now.is_some() || record.took.is_some();
        self.has_lengths |= record.took.is_some();
        self.has_others |= record.event == TraceEvent::Call;
        self.in_calls += record.took.unwrap_or(0.0);
        // Without -T, this line's time is the end of the call before.
        if !self.open.is_empty()
            && record.event != TraceEvent::GetrandomResumes
            && let Some(open) = self.open.remove(&record.pid)
        {
            self.took(open.began.zip(now).map(|(began, now)| now - began), open.evidence);
        }
        match record.event {
            TraceEvent::Getrandom => {
                self.calls += 1;
                self.ended(record, now, || evidence(self.name, number, line));
            }
            TraceEvent::GetrandomNonblock => self.calls += 1,
            TraceEvent::GetrandomBegins => {
                self.calls += 1;
                if self.open.len() < PROCESSES {
                    let evidence = evidence(self.name, number, line);
                    self.open
                        .insert(record.pid, PendingCall { began: now, evidence, ended: false });
                }
            }
            TraceEvent::GetrandomResumes => {
                let began = self
                    .open
                    .remove(&record.pid)
                    .filter(|open| !open.ended)
                    .and_then(|open| open.began);
                let evidence = evidence(self.name, number, line);
                let took = record.took.or_else(|| Some(now? - began?));
                self.took(took, evidence);
            }
            TraceEvent::Execve(arguments) => {
                if self.program.is_none() {
                    self.program = program(arguments);
                }
            }
            TraceEvent::Call
            | TraceEvent::Other
            | TraceEvent::OpensRandom(_)
            | TraceEvent::Reads { .. } => {}
        }
    }

    /// Counts a read or a poll of /dev/random as a draw, because it waits like getrandom.
    fn event<'e>(&mut self, record: &TraceLine<'e>) -> TraceEvent<'e> {
        match record.event {
            TraceEvent::OpensRandom(fd) => {
                if self.devices.len() < PROCESSES {
                    self.devices.insert((record.pid, fd));
                }
                TraceEvent::Call
            }
            TraceEvent::Reads { fd, is_random, is_unfinished }
                if is_random || self.devices.contains(&(record.pid, fd)) =>
            {
                if is_unfinished {
                    TraceEvent::GetrandomBegins
                } else {
                    TraceEvent::Getrandom
                }
            }
            TraceEvent::Reads { .. } => TraceEvent::Call,
            event => event,
        }
    }

    fn ended(
        &mut self,
        record: &TraceLine<'_>,
        now: Option<f64>,
        evidence: impl FnOnce() -> Evidence,
    ) {
        let evidence = evidence();
        match record.took {
            Some(took) => self.took(Some(took), evidence),
            None if self.open.len() < PROCESSES => {
                self.open.insert(record.pid, PendingCall { began: now, evidence, ended: true });
            }
            None => {}
        }
    }

    fn took(&mut self, seconds: Option<f64>, evidence: Evidence) {
        let seconds = seconds.unwrap_or(0.0).max(0.0);
        self.getrandom += seconds;
        let place = self.longest.partition_point(|(longer, _)| *longer >= seconds);
        if place < QUOTED {
            self.longest.insert(place, (seconds, evidence));
            self.longest.truncate(QUOTED);
        }
    }

    /// Returns `None` for a trace without durations.
    pub(super) fn finish(mut self) -> Option<Trace> {
        (self.has_times && (self.has_lengths || self.has_others)).then_some(())?;
        // Calls that the trace ends in.
        let now = self.clock.now();
        for (_, open) in std::mem::take(&mut self.open) {
            let seconds =
                if open.ended { None } else { open.began.zip(now).map(|(began, now)| now - began) };
            self.took(seconds, open.evidence);
        }
        let longest = self.longest.first().map_or(0.0, |(seconds, _)| *seconds);
        Some(Trace {
            program: self.program,
            getrandom: self.getrandom,
            longest,
            // The last call may last beyond its line's time.
            total: self.clock.span().map_or(self.in_calls, |span| span.max(longest)),
            calls: self.calls,
            summary: false,
            evidence: self.longest.into_iter().map(|(_, evidence)| evidence).collect(),
        })
    }
}

/// Returns the words of an execve's list: `"/usr/sbin/sshd", ["/usr/sbin/sshd", "-t"], 0x7ff... /*
/// 12 vars */) = 0`.
fn program(arguments: &str) -> Option<String> {
    let (_, list) = arguments.split_once('[')?;
    let (list, _) = list.split_once(']')?;
    let words: Vec<&str> =
        list.split(", ").map(|word| word.trim_matches(['"', '.'])).take(8).collect();
    Some(words.join(" ").chars().take(120).collect())
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_programs_words_are_read() {
        let program = super::program(
            "\"/usr/sbin/sshd\", [\"/usr/sbin/sshd\", \"-t\"], 0x7ffd /* 12 vars */) = 0",
        );
        assert_eq!(program.as_deref(), Some("/usr/sbin/sshd -t"));
    }
}
