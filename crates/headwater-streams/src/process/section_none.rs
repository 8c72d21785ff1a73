//! No restartable sequences: other CPUs, and builds that an interpreter or a sanitizer looks into.

use super::counters::Claim;
use super::pool::Pool;

pub(crate) const AVAILABLE: bool = false;

pub(crate) fn claim(_: &Pool, _: isize, _: u64) -> Option<Claim> {
    None
}
