//! Forked children and their ends.

/// The end of a child process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The child exited with this status.
    Exited(i32),
    /// This signal ended the child.
    Killed(i32),
}

impl Ending {
    /// Decodes a status that waitpid(2) returned.
    pub fn of(status: i32) -> Ending {
        if libc::WIFSIGNALED(status) {
            Ending::Killed(libc::WTERMSIG(status))
        } else {
            Ending::Exited(libc::WEXITSTATUS(status))
        }
    }
}

/// Forks; the child runs `body` and passes its result to `_exit`.
///
/// Call it only in a process with one thread. In a child of a process with more, a lock of another
/// thread stays taken for ever, and the first allocation may block.
pub fn fork(body: impl FnOnce() -> i32) -> libc::pid_t {
    // SAFETY: the process has one thread, as the comment above asks, so no other thread holds a
    // lock that the child needs.
    let pid = unsafe { libc::fork() };
    assert!(pid >= 0, "fork: {}", std::io::Error::last_os_error());
    if pid == 0 {
        let code = std::panic::catch_unwind(std::panic::AssertUnwindSafe(body)).unwrap_or(101);
        // Not `exit`: the parent's exit handlers would run in the child too.
        // SAFETY: ends the process without running any code of the parent.
        unsafe { libc::_exit(code) };
    }
    pid
}

/// Waits until the child ends.
pub fn wait(pid: libc::pid_t) -> Ending {
    let mut status = 0;
    // SAFETY: `status` is an int that waitpid writes.
    let waited = unsafe { libc::waitpid(pid, &mut status, 0) };
    assert_eq!(waited, pid, "waitpid: {}", std::io::Error::last_os_error());
    Ending::of(status)
}
