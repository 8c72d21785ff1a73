//! The memory that is not searched, with reasons: the whole list, so that nothing is left out
//! silently.
//!
//! Signals are not on it, since none is sent: the kernel saves registers on the stack of a thread
//! only to run a handler, and those frames would be the kernel's doing and not the library's.

use crate::memory::Mapping;
use std::ops::Range;

/// Why memory that can be written to is left out of the search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exception {
    /// The library's own pages, with the states of the vDSO: the kernel writes them to no swap and
    /// to no core dump. A kernel without such memory has memory that it wipes on a fork instead.
    Pages,
    /// Memory of the kernel's, which shows its clocks.
    Kernel,
    /// Memory that no code has touched yet.
    Untouched,
}

/// Returns whether a mapping is left out, and why.
pub fn exception(mapping: &Mapping, droppable: bool) -> Option<Exception> {
    if mapping.has(if droppable { "dp" } else { "wf" }) {
        Some(Exception::Pages)
    } else if mapping.name.starts_with("[vvar") {
        Some(Exception::Kernel)
    } else if !mapping.is_resident {
        Some(Exception::Untouched)
    } else {
        None
    }
}

/// Takes the subject's buffers out of a mapping, with which the kernel may have joined them.
///
/// They hold the caller's bytes, its later draws, and the keys that the library reported to it.
pub fn without(whole: Range<u64>, hole: &Range<u64>) -> [Range<u64>; 2] {
    let before = whole.start..whole.end.min(hole.start).max(whole.start);
    let after = whole.start.max(hole.end).min(whole.end)..whole.end;
    [before, after]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hole_leaves_what_surrounds_it() {
        assert_eq!(without(0..10, &(3..5)), [0..3, 5..10]);
        assert_eq!(without(0..10, &(0..10)), [0..0, 10..10]);
        assert_eq!(without(0..10, &(20..30)), [0..10, 10..10]);
        assert_eq!(without(20..30, &(0..10)), [20..20, 20..30]);
    }
}
