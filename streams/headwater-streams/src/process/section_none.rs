//! Takes the place of `section` on other CPUs than x86-64 and under miri and sanitizers: no
//! restartable sequences.

use super::counters::Claim;
use super::pool::Pool;

pub(crate) const AVAILABLE: bool = false;

pub(crate) fn claim(_: &Pool, _: isize, _: u64) -> Option<Claim> {
    None
}
