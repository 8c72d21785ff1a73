//! The part that the tests of vanishing pages share.

// Each test binary compiles this directory for itself and uses part of it.
#![allow(dead_code)]

pub(crate) mod settings;
pub(crate) mod storm;

/// Returns the number of bytes in a page of this machine's memory.
pub(crate) fn page_size() -> usize {
    // SAFETY: a number.
    unsafe { libc::sysconf(libc::_SC_PAGESIZE) as usize }
}
