//! A process that loses the right to getrandom while it draws.
//!
//! A sandbox that is put on late does this. From then on a draw may fail, and that is the right
//! answer; but what it does serve must be as good as before.

use super::record::{self, Event};
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

static REFUSED: AtomicBool = AtomicBool::new(false);

/// Returns true in a process that lost the right, and in its children.
pub(crate) fn is_refused() -> bool {
    REFUSED.load(SeqCst)
}

/// Returns what a call drew, or None if it failed in a process that has lost the right. A failure
/// in another process ends it.
pub(crate) fn drawn<T, E: std::fmt::Debug>(result: Result<T, E>) -> Option<T> {
    if result.is_err() && is_refused() {
        record::count(Event::RefusedDraw);
        return None;
    }
    Some(result.expect("random bytes"))
}

/// Has the kernel refuse getrandom to all threads of this process, with this error.
pub(crate) fn refuse(errno: i32) {
    const NUMBER: u32 = 0; // of the call, in `seccomp_data`
    let step = |code: u32, k: u32, jt: u8| libc::sock_filter { code: code as u16, jt, jf: 0, k };
    let filter = [
        step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, NUMBER, 0),
        step(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, libc::SYS_getrandom as u32, 1),
        step(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_ALLOW, 0),
        step(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_ERRNO | errno as u32, 0),
    ];
    let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_ptr().cast_mut() };
    // Before the filter, so that no draw fails while the word still says that none may.
    REFUSED.store(true, SeqCst);
    // SAFETY: the program is valid while the calls last, and the kernel copies it.
    let done = unsafe {
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
        let (set, all) = (libc::SECCOMP_SET_MODE_FILTER, libc::SECCOMP_FILTER_FLAG_TSYNC);
        libc::syscall(libc::SYS_seccomp, set, all, &raw const program)
    };
    if done != 0 {
        // No filter, so no draw may fail.
        REFUSED.store(false, SeqCst);
        return;
    }
    let mut byte = 0u8;
    // SAFETY: the byte is valid for the one that is asked for.
    let drawn = unsafe { libc::syscall(libc::SYS_getrandom, &raw mut byte, 1, 0) };
    assert_eq!(drawn, -1, "the filter refuses nothing");
    record::count(Event::Refusal);
}
