//! The reasons for which a draw serves nothing, and their counts.

use crate::linux::pool::slot::count;
use crate::linux::pool::slot_line::SlotCounters;
use crate::linux::process::Process;

/// The reason why a draw served nothing. [Counting](Refused::count) it needs no lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub(crate) enum Refused {
    /// Too few bytes are left, or a guard has voided them: the page needs a refill.
    Empty,
    /// A guard changed during the copy. The copy is void, and so many bytes of the page.
    Torn(u32),
    /// 16 bytes that were never served were zero: the page is not the one that its state describes.
    Zeros(u32),
    /// The CPU's instruction failed or repeated a word, and is not used any more.
    Stuck,
}

/// The fate of a request after a draw that may have refilled its page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub(crate) enum Served {
    /// The caller's buffer holds its bytes.
    Yes,
    /// A guard changed, so what was written to the buffer is void: the next rung has to serve it.
    Void,
}

impl Refused {
    /// Counts the event at this CPU's slot.
    #[cold]
    #[inline(never)]
    pub(crate) fn count(self, process: &Process) {
        let (left, zeros) = match self {
            Refused::Empty | Refused::Stuck => return,
            Refused::Torn(left) => (left, 0),
            Refused::Zeros(left) => (left, 1),
        };
        count(process, |counters| {
            SlotCounters::add(&counters.discarded_bytes, u64::from(left));
            SlotCounters::add(&counters.retries, 1);
            SlotCounters::add(&counters.tripwires, zeros);
        });
    }
}
