//! The calls of getrandom in a trace, and what each took.

use super::clock::{TimeColumn, TraceClock};
use super::line::{TraceEvent, TraceLine};
use crate::Evidence;
use crate::trace::Trace;
use std::collections::{HashMap, HashSet};

/// Calls that are quoted, the longest ones.
const QUOTED: usize = 10;
/// Processes whose calls are followed at a time.
const PROCESSES: usize = 1 << 16;

/// The calls of getrandom in a trace.
#[derive(Default)]
pub(crate) struct Waits {
    clock: TraceClock,
    program: Option<String>,
    /// The call of each process whose length is not known yet.
    open: HashMap<u32, PendingCall>,
    /// The time of each process's last line in a log.
    lines: HashMap<u32, f64>,
    /// Numbers under which each process has /dev/random open.
    devices: HashSet<(u32, u32)>,
    calls: u64,
    /// The number of them that read or awaited /dev/random.
    of_device: u64,
    /// The number of them that cannot wait. Each start of a program with glibc has one.
    without_wait: u64,
    getrandom: f64,
    longest: Vec<(f64, Evidence)>,
    /// The same of calls whose end has a line of its own.
    ends_shown: Option<(f64, Vec<(f64, Evidence)>)>,
    /// TimeColumn in all calls, for traces with `-T` and no clock.
    in_calls: f64,
    has_times: bool,
    /// `-T`, of any call.
    has_lengths: bool,
    /// Calls of any other name. Without them, and without `-T`, the end of a call is unknown,
    /// because the next line may be an hour later.
    has_others: bool,
}

/// The meaning of a line's time.
enum Stamp {
    /// strace's own time columns: the call began then.
    AtBegin,
    /// A log's stamp of a line that strace ends when the call does. So the stamp is the call's end,
    /// and its begin is unknown, but it came after the process's line before.
    AtEnd {
        /// The time of that line.
        before: Option<f64>,
    },
}

struct PendingCall {
    began: Option<f64>,
    /// The program, where the line names it.
    program: Option<String>,
    evidence: Evidence,
    /// True if the trace shows the end of the call without its length. Then the time until the next
    /// line is an upper bound, and no more.
    ended: bool,
}

impl Waits {
    /// Takes in a line that strace wrote into a log. Its time is the log's, if it has no time of
    /// its own; a line without a process is of the only program that `tracer` runs.
    pub(crate) fn note_logged(
        &mut self,
        message: &[u8],
        tracer: u32,
        at: Option<f64>,
        evidence: impl Fn() -> Evidence,
    ) {
        let Some(mut record) = super::line::read(message) else { return };
        if record.pid == 0 {
            record.pid = tracer;
        }
        if record.time.is_some() {
            return self.note(&record, evidence);
        }
        record.time = at.map(TimeColumn::Epoch);
        let is_known = self.lines.contains_key(&record.pid) || self.lines.len() < PROCESSES;
        let before = at.filter(|_| is_known).and_then(|at| self.lines.insert(record.pid, at));
        self.note_line(&record, Stamp::AtEnd { before }, evidence);
    }

    pub(super) fn note(&mut self, record: &TraceLine<'_>, evidence: impl Fn() -> Evidence) {
        self.note_line(record, Stamp::AtBegin, evidence);
    }

    fn note_line(&mut self, record: &TraceLine<'_>, stamp: Stamp, evidence: impl Fn() -> Evidence) {
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
            let seconds = open.began.zip(now).map(|(began, now)| now - began);
            self.named(seconds, open.program.as_deref());
            self.took(seconds, open.evidence);
        }
        match record.event {
            TraceEvent::Getrandom => {
                self.calls += 1;
                match stamp {
                    Stamp::AtEnd { before } if record.took.is_none() => {
                        let took = before.zip(now).map(|(before, now)| now - before);
                        self.took(took, evidence());
                    }
                    _ => self.ended(record, now, &evidence),
                }
            }
            TraceEvent::GetrandomNonblock => {
                self.calls += 1;
                self.without_wait += 1;
            }
            TraceEvent::GetrandomBegins => {
                self.calls += 1;
                if self.open.len() < PROCESSES {
                    let program = record.program.map(str::to_owned);
                    let call =
                        PendingCall { began: now, program, evidence: evidence(), ended: false };
                    self.open.insert(record.pid, call);
                }
            }
            TraceEvent::GetrandomResumes => {
                let began = self
                    .open
                    .remove(&record.pid)
                    .filter(|open| !open.ended)
                    .and_then(|open| open.began);
                let evidence = evidence();
                let took = record.took.or_else(|| Some(now? - began?));
                self.named(took, record.program);
                if let Some(seconds) = took {
                    let (sum, longest) = self.ends_shown.get_or_insert_default();
                    *sum += seconds.max(0.0);
                    keep(longest, seconds.max(0.0), evidence.clone());
                }
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
            | TraceEvent::Reads { .. }
            | TraceEvent::Selects { .. } => {}
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
                self.of_device += 1;
                if is_unfinished { TraceEvent::GetrandomBegins } else { TraceEvent::Getrandom }
            }
            TraceEvent::Reads { .. } => TraceEvent::Call,
            TraceEvent::Selects { set, is_unfinished } => {
                let is_device = set.split(|byte| !byte.is_ascii_digit()).any(|digits| {
                    let fd = std::str::from_utf8(digits).ok().and_then(|fd| fd.parse().ok());
                    fd.is_some_and(|fd| self.devices.contains(&(record.pid, fd)))
                }) || memchr::memmem::find(set, b"</dev/random").is_some();
                self.of_device += u64::from(is_device);
                match (is_device, is_unfinished) {
                    (true, true) => TraceEvent::GetrandomBegins,
                    (true, false) => TraceEvent::Getrandom,
                    (false, _) => TraceEvent::Call,
                }
            }
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
            Some(took) => {
                self.named(Some(took), record.program);
                self.took(Some(took), evidence);
            }
            None if self.open.len() < PROCESSES => {
                let program = record.program.map(str::to_owned);
                let call = PendingCall { began: now, program, evidence, ended: true };
                self.open.insert(record.pid, call);
            }
            None => {}
        }
    }

    /// Names the program of the longest call, where lines name programs.
    fn named(&mut self, seconds: Option<f64>, program: Option<&str>) {
        let longest = self.longest.first().map_or(0.0, |(seconds, _)| *seconds);
        if let Some(program) = program.filter(|_| seconds.is_some_and(|wait| wait >= longest)) {
            self.program = Some(program.to_owned());
        }
    }

    fn took(&mut self, seconds: Option<f64>, evidence: Evidence) {
        let seconds = seconds.unwrap_or(0.0).max(0.0);
        self.getrandom += seconds;
        keep(&mut self.longest, seconds, evidence);
    }

    /// Returns `None` for a trace without durations.
    pub(crate) fn finish(mut self) -> Option<Trace> {
        self.has_times.then_some(())?;
        if !self.has_lengths && !self.has_others {
            // Only the calls that end in a line of their own have a known length.
            (self.getrandom, self.longest) = self.ends_shown.take()?;
            self.open.clear();
        }
        // Calls that the trace ends in.
        let now = self.clock.now();
        for (_, open) in std::mem::take(&mut self.open) {
            let seconds =
                if open.ended { None } else { open.began.zip(now).map(|(began, now)| now - began) };
            self.named(seconds, open.program.as_deref());
            self.took(seconds, open.evidence);
        }
        let longest = self.longest.first().map_or(0.0, |(seconds, _)| *seconds);
        let device = self.of_device > 0 && self.of_device + self.without_wait == self.calls;
        Some(Trace {
            program: self.program,
            getrandom: self.getrandom,
            longest,
            // The last call may last beyond its line's time.
            total: self.clock.span().map_or(self.in_calls, |span| span.max(longest)),
            calls: if device { self.of_device } else { self.calls },
            summary: false,
            device,
            evidence: self.longest.into_iter().map(|(_, evidence)| evidence).collect(),
        })
    }
}

/// Keeps a call among the longest ones.
fn keep(longest: &mut Vec<(f64, Evidence)>, seconds: f64, evidence: Evidence) {
    let place = longest.partition_point(|(longer, _)| *longer >= seconds);
    if place < QUOTED {
        longest.insert(place, (seconds, evidence));
        longest.truncate(QUOTED);
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
