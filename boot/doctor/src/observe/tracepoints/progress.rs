//! Calls of getrandom(2) that have begun, until they are known to wait.

use super::line::{Call, Event, Line};
use crate::observe::facts::{Known, of_traced};
use crate::observe::victims::{Name, Table};
use rustix::fd::BorrowedFd;

/// Calls in progress that are kept. Each is a thread of its own.
const MOST: usize = 512;
/// A call that takes this long waits. A call that finds the generator ready, or a signal, returns
/// in microseconds; a kernel without a fine clock counts time in ticks of up to 10 ms.
const WAIT_S: f64 = 0.015;
/// GRND_NONBLOCK and GRND_INSECURE of getrandom(2): such a call never waits.
const NEVER_WAITS: u32 = 1 | 4;

struct Begun {
    tid: u32,
    at: f64,
    comm: Name,
    is_noted: bool,
}

/// The calls in progress.
pub(super) struct Progress {
    calls: Vec<Begun>,
}

impl Progress {
    /// Returns an empty list, whose memory is present.
    pub(super) fn new() -> Progress {
        Progress { calls: Vec::with_capacity(MOST) }
    }

    /// Takes a line of the trace.
    pub(super) fn take(&mut self, line: Line<'_>, proc: BorrowedFd<'_>, table: &mut Table) {
        match line {
            Line::Lost(events) => {
                // The end of any call may be among the lost lines. Looks find those that still
                // wait.
                self.calls.clear();
                table.missed = table.missed.saturating_add(events);
                table.look_at_traced();
            }
            Line::Call(call) => match call.event {
                Event::Begin { flags } if flags & NEVER_WAITS != 0 => {}
                Event::Begin { .. } => self.begin(call, table),
                Event::End { returned } => self.end(call, returned, proc, table),
            },
        }
    }

    fn begin(&mut self, call: Call<'_>, table: &mut Table) {
        let Call { tid, at, comm, .. } = call;
        // A thread is in one call. If another one is on the list, its end was not written.
        self.calls.retain(|begun| begun.tid != tid);
        if self.calls.len() == self.calls.capacity() {
            table.missed += 1;
            return;
        }
        self.calls.push(Begun { tid, at, comm: Name::new(comm), is_noted: false });
    }

    fn end(&mut self, call: Call<'_>, returned: i64, proc: BorrowedFd<'_>, table: &mut Table) {
        let Call { tid, at, comm, .. } = call;
        let begun = self.calls.iter().position(|begun| begun.tid == tid);
        if let Some(begun) = begun.map(|index| self.calls.swap_remove(index))
            && !begun.is_noted
        {
            if at - begun.at < WAIT_S {
                return;
            }
            // The wait began and ended since the last look, so the thread may be another program
            // by now.
            let comm = if begun.comm.bytes().is_empty() { comm } else { begun.comm.bytes() };
            let (ids, facts) = of_traced(proc, tid, comm, Known::InTheTrace);
            table.began(ids, begun.at, facts);
        }
        table.ended(tid, at, returned);
    }

    /// Notes the calls that have taken long enough to be waits, with the names of their threads.
    pub(super) fn note_waits(&mut self, now: f64, proc: BorrowedFd<'_>, table: &mut Table) {
        for begun in &mut self.calls {
            if !begun.is_noted && now - begun.at >= WAIT_S {
                begun.is_noted = true;
                let comm = begun.comm.bytes();
                let (ids, facts) = of_traced(proc, begun.tid, comm, Known::InProc);
                table.began(ids, begun.at, facts);
            }
        }
    }
}
