//! Forked children, and how they ended.

/// How a child ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    Exited(i32),
    Killed(i32),
}

impl Ending {
    pub(crate) fn of(status: i32) -> Ending {
        if libc::WIFSIGNALED(status) {
            Ending::Killed(libc::WTERMSIG(status))
        } else {
            Ending::Exited(libc::WEXITSTATUS(status))
        }
    }
}

/// Forks; the child runs `body` and ends by `_exit` with what it returns. To be called in a process with one
/// thread, so that the child may do anything.
pub(crate) fn fork(body: impl FnOnce() -> i32) -> libc::pid_t {
    // SAFETY: the process has one thread (the caller's promise), so no lock is held by a thread that the
    // child lacks.
    let pid = unsafe { libc::fork() };
    assert!(pid >= 0, "fork: {}", std::io::Error::last_os_error());
    if pid == 0 {
        let code = std::panic::catch_unwind(std::panic::AssertUnwindSafe(body)).unwrap_or(101);
        // SAFETY: ends the process, running nothing of the parent's.
        unsafe { libc::_exit(code) };
    }
    pid
}

/// Waits until the child ends.
pub(crate) fn wait(pid: libc::pid_t) -> Ending {
    let mut status = 0;
    // SAFETY: `status` is an int that waitpid writes.
    let waited = unsafe { libc::waitpid(pid, &mut status, 0) };
    assert_eq!(waited, pid, "waitpid: {}", std::io::Error::last_os_error());
    Ending::of(status)
}
