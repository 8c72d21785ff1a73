//! The observer's tables: processes, threads, and the waits that were seen. They have a fixed size,
//! so that the observation allocates nothing.

use super::record::Victim;
use crate::boot::Bounds;
use serde::{Deserialize, Serialize};

/// Victims that are kept. A boot that stalls has a few dozen.
const MOST_VICTIMS: usize = 512;
/// A thread that is not seen to wait for so long is still in the same wait: a kernel with a jitter
/// loop lets the thread run between two waits.
const GAP_S: f64 = 0.35;
/// A look sees a wait at most this long before the wait's own line says when it began: the time of
/// a look is that of its start.
const LOOK_S: f64 = 0.1;
/// ERESTARTSYS of the kernel: a signal ended the call, which begins again once it is handled.
const RESTARTS: i64 = -512;
/// Length of a name in the tables. Names of units can be longer; they are cut.
const NAME: usize = 96;

/// The end of a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// The generator became ready.
    Ready,
    /// The wait ended before: by a signal, a timeout, or the end of the process.
    GaveUp,
    /// The thread waited when the observer stopped.
    StillWaits,
}

/// A name of limited length.
#[derive(Clone, Copy, Debug)]
pub(super) struct Name {
    bytes: [u8; NAME],
    length: usize,
}

impl Name {
    pub(super) const EMPTY: Name = Name { bytes: [0; NAME], length: 0 };

    pub(super) fn new(text: &[u8]) -> Name {
        let mut name = Name::EMPTY;
        for (to, from) in name.bytes.iter_mut().zip(text) {
            *to = *from;
        }
        name.length = text.len().min(NAME);
        name
    }

    pub(super) fn bytes(&self) -> &[u8] {
        self.bytes.get(..self.length).unwrap_or_default()
    }

    fn text(&self) -> Option<String> {
        (self.length > 0).then(|| String::from_utf8_lossy(self.bytes()).into_owned())
    }
}

/// The facts of a thread that are read when it is first seen to wait.
#[derive(Clone, Copy, Debug)]
pub(super) struct Facts {
    pub(super) unit: Name,
    pub(super) process: Name,
    pub(super) thread: Name,
    pub(super) call: &'static str,
}

impl Facts {
    /// Returns whether the thread can be in getrandom. In the jitter loop the call is not shown.
    fn is_getrandom(&self) -> bool {
        matches!(self.call, "getrandom" | "random")
    }
}

/// A victim.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pid: u32,
    tid: u32,
    facts: Facts,
    /// The start of the first wait, by the look that first saw it.
    from: f64,
    /// The look that first saw the present wait, and the latest time at which it had not begun.
    stretch: (f64, f64),
    /// The last look that saw it wait.
    last: f64,
    /// Bounds of the earlier waits.
    before: (f64, f64),
    waits: u32,
    until: f64,
    is_open: bool,
    /// The tracepoints show the begin of the present wait, and will show its end.
    is_traced: bool,
    /// The last call ended by a signal, and begins again.
    restarts: bool,
    ending: Ending,
}

/// The victims so far.
pub(super) struct Table {
    pub(super) victims: Vec<Entry>,
    pub(super) missed: u64,
}

impl Table {
    /// Returns an empty table, whose memory is present.
    pub(super) fn new() -> Table {
        Table { victims: Vec::with_capacity(MOST_VICTIMS), missed: 0 }
    }

    /// Records that a thread waits at `now`. `not_before` is the latest time at which the wait had
    /// not begun. `facts` are read only for a thread that is new, or that has another name.
    pub(super) fn waits(
        &mut self,
        (pid, tid): (u32, u32),
        now: f64,
        not_before: f64,
        facts: impl FnOnce() -> Facts,
    ) {
        let known =
            self.victims.iter_mut().rev().find(|victim| victim.tid == tid && victim.pid == pid);
        if let Some(entry) = known {
            if entry.is_open {
                entry.last = now;
                return;
            }
            // The end of a wait that was traced is exact, so what follows is another wait.
            if now - entry.last <= GAP_S && !entry.is_traced {
                entry.is_open = true;
                entry.last = now;
                return;
            }
            let facts = facts();
            // After execve(2) the thread is another program, and a victim of its own.
            if facts.process.bytes() == entry.facts.process.bytes() {
                let not_before = not_before.max(entry.until);
                entry.begin_again(now, not_before);
                return;
            }
            self.add((pid, tid), now, not_before, facts);
        } else {
            self.add((pid, tid), now, not_before, facts());
        }
    }

    fn add(&mut self, (pid, tid): (u32, u32), now: f64, not_before: f64, facts: Facts) {
        // Beyond the capacity, a push would allocate.
        if self.victims.len() == self.victims.capacity() {
            self.missed += 1;
            return;
        }
        self.victims.push(Entry {
            pid,
            tid,
            facts,
            from: now,
            stretch: (now, not_before),
            last: now,
            before: (0.0, 0.0),
            waits: 1,
            until: now,
            is_open: true,
            is_traced: false,
            restarts: false,
            ending: Ending::StillWaits,
        });
    }

    /// Records that a thread waits in getrandom since `at`, as the tracepoints show.
    pub(super) fn began(&mut self, (pid, tid): (u32, u32), at: f64, facts: Facts) {
        let is_of = |entry: &&mut Entry| {
            entry.tid == tid
                && entry.pid == pid
                && entry.facts.process.bytes() == facts.process.bytes()
        };
        let Some(entry) = self.victims.iter_mut().rev().find(is_of) else {
            let victims = self.victims.len();
            self.add((pid, tid), at, at, facts);
            if let Some(entry) = self.victims.get_mut(victims) {
                entry.is_traced = true;
            }
            return;
        };
        let is_in_call = entry.is_open && entry.facts.is_getrandom();
        if is_in_call && !entry.is_traced && entry.stretch.0 + LOOK_S >= at {
            // A look saw this wait before its line was read.
            if entry.waits == 1 {
                entry.from = at;
            }
            entry.stretch = (at, at);
            entry.last = entry.last.max(at);
        } else {
            if entry.is_open {
                // The end of the last wait was not seen.
                entry.end(at, Ending::GaveUp);
            }
            let restarts = entry.restarts && at - entry.until <= GAP_S;
            entry.begin_again(at, at);
            entry.waits -= u32::from(restarts);
        }
        entry.is_traced = true;
    }

    /// Records that a thread's call of getrandom returned at `at`. The thread may have begun to
    /// wait before the tracepoints were in use.
    pub(super) fn ended(&mut self, tid: u32, at: f64, returned: i64) {
        let is_of =
            |entry: &&mut Entry| entry.tid == tid && entry.is_open && entry.facts.is_getrandom();
        if let Some(entry) = self.victims.iter_mut().rev().find(is_of) {
            // Bytes are returned once the generator is ready.
            entry.end(at, if returned >= 0 { Ending::Ready } else { Ending::GaveUp });
            entry.last = entry.until;
            entry.is_traced = true;
            entry.restarts = returned == RESTARTS;
        }
    }

    /// Lets the looks decide when the present waits end, because lines of the trace were lost.
    pub(super) fn look_at_traced(&mut self) {
        for entry in self.victims.iter_mut().filter(|entry| entry.is_open) {
            entry.is_traced = false;
        }
    }

    /// Records that a thread has ended.
    pub(super) fn is_gone(&mut self, (pid, tid): (u32, u32), now: f64) {
        for entry in &mut self.victims {
            if entry.is_open && (entry.pid, entry.tid) == (pid, tid) {
                entry.end(now, Ending::GaveUp);
            }
        }
    }

    /// Closes the waits that the look at `now` did not see.
    pub(super) fn close_unseen(&mut self, now: f64) {
        for entry in &mut self.victims {
            if entry.is_open && !entry.is_traced && entry.last < now {
                entry.end(now, Ending::GaveUp);
            }
        }
    }

    /// Ends the observation. Threads that waited at the last look waited until `ready`, if the
    /// generator is ready; a thread that was between two waits of a jitter loop did as well.
    pub(super) fn finish(&mut self, now: f64, ready: Option<f64>) {
        for entry in &mut self.victims {
            let is_in_a_gap = ready.is_some() && !entry.is_traced && now - entry.last <= GAP_S;
            if entry.is_open || is_in_a_gap {
                let ending = if ready.is_some() { Ending::Ready } else { Ending::StillWaits };
                entry.end(ready.unwrap_or(now), ending);
                entry.last = entry.until;
            }
        }
    }
}

impl Entry {
    /// Begins another wait of the same thread.
    fn begin_again(&mut self, at: f64, not_before: f64) {
        self.before = self.bounds(self.until);
        self.stretch = (at, not_before);
        self.last = at;
        self.waits += 1;
        self.is_open = true;
        self.is_traced = false;
        self.restarts = false;
    }

    fn end(&mut self, at: f64, ending: Ending) {
        self.is_open = false;
        self.until = at;
        self.ending = ending;
    }

    /// Returns the bounds of the time waited, if the present wait ended between its last look and
    /// `end`.
    fn bounds(&self, end: f64) -> (f64, f64) {
        let (first, not_before) = self.stretch;
        let least = self.before.0 + (self.last - first).max(0.0);
        (least, self.before.1 + (end - not_before.min(first)).max(0.0))
    }

    pub(super) fn victim(&self) -> Victim {
        let (at_least, at_most) = self.bounds(self.until);
        let round = |seconds: f64| (seconds * 1000.0).round() / 1000.0;
        let thread = self.facts.thread;
        let differs = thread.bytes() != self.facts.process.bytes();
        Victim {
            unit: self.facts.unit.text(),
            process: self.facts.process.text().unwrap_or_default(),
            pid: self.pid,
            thread: thread.text().filter(|_| differs),
            tid: self.tid,
            call: self.facts.call.to_owned(),
            from: round(self.from),
            until: round(self.until),
            seconds: Bounds { at_least: round(at_least), at_most: Some(round(at_most)) },
            waits: self.waits,
            ending: self.ending,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts() -> Facts {
        let name = Name::new(b"sshd");
        Facts { unit: Name::EMPTY, process: name, thread: name, call: "getrandom" }
    }

    /// A thread that the kernel's jitter loop runs between two waits is in one wait; after a longer
    /// time it waits again.
    #[test]
    fn a_short_gap_continues_a_wait_and_a_long_one_ends_it() {
        for (gap, waits) in [(0.3, 1), (0.5, 2)] {
            let mut table = Table::new();
            table.waits((7, 7), 1.0, 0.9, facts);
            table.close_unseen(1.1);
            table.waits((7, 7), 1.0 + gap, 0.9 + gap, facts);
            table.finish(3.0, Some(3.0));
            let victim = table.victims[0].victim();
            assert_eq!((table.victims.len(), victim.waits), (1, waits), "{gap}");
            assert_eq!((victim.ending, victim.until), (Ending::Ready, 3.0));
        }
    }
}
