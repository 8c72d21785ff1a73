//! The times of one implementation in one comparison.

use crate::draw::crowd::Counters;
use crate::measure::latency::Percentiles;

/// The measurement of one variant.
pub(crate) struct Timing {
    /// Calls of each thread in each round.
    pub(crate) calls: u64,
    /// Nanoseconds per call of a thread, in each round.
    pub(crate) ns: Vec<f64>,
    /// The mode that headwater was in, for a variant that has modes.
    pub(crate) mode: Option<&'static str>,
    /// The bytes that it counted as discarded.
    pub(crate) discarded_bytes: Option<u64>,
    /// The generator's own note.
    pub(crate) note: Option<&'static str>,
    /// The times of single calls, where each call was timed by itself.
    pub(crate) percentiles: Option<Percentiles>,
    /// These events were counted at headwater's pools, in the case `crowd` only.
    pub(crate) counters: Option<Counters>,
}
