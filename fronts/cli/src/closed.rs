//! Standard output that the caller has closed.
//!
//! Before `main`, Rust's runtime opens /dev/null in place of a closed standard descriptor, because
//! a file opened later would otherwise become standard output. But then the data of a verb would
//! vanish there, with exit status 0, and `main` comes too late to notice. So a function of
//! `.init_array` runs before the runtime and looks first.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

static IS_CLOSED: AtomicBool = AtomicBool::new(false);

/// Reports whether standard output was closed when the process started.
pub(crate) fn stdout() -> bool {
    IS_CLOSED.load(Relaxed)
}

#[used]
#[unsafe(link_section = ".init_array")]
static LOOK: extern "C" fn() = look;

extern "C" fn look() {
    // SAFETY: F_GETFD takes any number, and only reads.
    let flags = unsafe { libc::fcntl(libc::STDOUT_FILENO, libc::F_GETFD) };
    IS_CLOSED.store(flags == -1, Relaxed);
}
