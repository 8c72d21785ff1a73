//! The results of the case `crowd`: calls, time, and events at headwater's pools.

use serde::Serialize;

/// headwater counts these events at its pools, which are one set for a process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Counters {
    /// The number of pages that were filled.
    pub refills: u64,
    /// The number of probes that found a slot taken.
    pub busy: u64,
    /// The number of requests that found no slot, and were served by a fresh kernel key.
    pub fallbacks: u64,
}

impl Counters {
    /// Reads the numbers of this process.
    pub(crate) fn now() -> Counters {
        let all = headwater::status().counters;
        Counters { refills: all.refills, busy: all.busy, fallbacks: all.fallbacks }
    }

    pub(crate) fn since(self, earlier: Counters) -> Counters {
        Counters {
            refills: self.refills.saturating_sub(earlier.refills),
            busy: self.busy.saturating_sub(earlier.busy),
            fallbacks: self.fallbacks.saturating_sub(earlier.fallbacks),
        }
    }

    pub(crate) fn plus(self, other: Counters) -> Counters {
        Counters {
            refills: self.refills + other.refills,
            busy: self.busy + other.busy,
            fallbacks: self.fallbacks + other.fallbacks,
        }
    }
}

/// A sample sums up all threads of one implementation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stretch {
    /// All threads together made so many calls.
    pub(crate) calls: u64,
    /// Nanoseconds from the first thread's start to the last one's end.
    pub(crate) ns: u64,
    /// The process that drew counted these events at its pools during the stretch.
    pub(crate) counters: Counters,
}
