//! The CPU time of a process: one system call shows that none of its threads has run.
//!
//! The kernel adds a thread's time to the sum when the thread stops running, at the latest. A
//! thread that waits has stopped, so a process whose sum is the same as before has no new wait.

use super::facts::is_own_namespace;
use rustix::fd::BorrowedFd;

/// Reads of this process's own time, of which half must differ from the one before.
const READS: usize = 64;

/// Returns whether the kernel counts each time that a process runs. Without a cycle counter it
/// counts ticks, and a thread that runs for less than a tick adds nothing.
pub(super) fn counts_runs(proc: BorrowedFd<'_>) -> bool {
    if !is_own_namespace(proc) {
        return false;
    }
    let own = std::process::id();
    let mut last = of(own);
    let mut changes = 0;
    for _ in 0..READS {
        let now = of(own);
        changes += usize::from(now.is_some() && now != last);
        last = now;
    }
    changes >= READS / 2
}

/// Returns the CPU time of all threads of a process in nanoseconds, also of those that ended.
#[allow(unsafe_code)] // rustix has no clock of another process
pub(super) fn of(pid: u32) -> Option<u64> {
    // The clock that clock_getcpuclockid(3) returns: the complement of the number, and the kind 2,
    // the scheduler's time.
    let clock = (!pid.cast_signed() << 3) | 2;
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is writable, and the kernel refuses numbers of processes that are not there.
    let failed = unsafe { libc::clock_gettime(clock, &raw mut time) } != 0;
    if failed {
        return None;
    }
    let (seconds, nanoseconds) = (u64::try_from(time.tv_sec), u64::try_from(time.tv_nsec));
    Some(seconds.ok()?.wrapping_mul(1_000_000_000).wrapping_add(nanoseconds.ok()?))
}
