//! Keeps `headwater run --openssl` closed when its configuration is gone.
//!
//! OpenSSL takes a missing or unreadable `OPENSSL_CONF` for an empty one, and says nothing. So a
//! program that starts after its tree's configuration was removed would draw from OpenSSL's own
//! generator, and nothing in OpenSSL can be configured against that. But this library is in each
//! program of the tree, and runs before OpenSSL reads anything: it is where the loss can be seen.

use super::stats::write_raw;
use super::syscall::stock_syscall;
use core::ffi::{CStr, c_int};

/// Status of a program that does not start, as of env(1).
const NOT_RUN: i64 = 125;

/// Ends the process if `configuration` cannot be opened. `present` is the configuration that this
/// program will read: another value is a choice of the program's parents, and nothing is checked.
pub(super) fn require(configuration: &CStr, present: Option<&CStr>) {
    if present != Some(configuration) || configuration.is_empty() {
        return;
    }
    const FLAGS: c_int = libc::O_RDONLY | libc::O_CLOEXEC;
    let path = configuration.as_ptr().addr() as i64;
    // SAFETY: the path is a string, so the call reads it and opens a file, no more. A descriptor is
    // this function's own until it closes it.
    let is_readable = unsafe {
        let file =
            stock_syscall(libc::SYS_openat, libc::AT_FDCWD.into(), path, FLAGS.into(), 0, 0, 0);
        file >= 0 && stock_syscall(libc::SYS_close, file, 0, 0, 0, 0, 0) == 0
    };
    if is_readable {
        return;
    }
    write_raw(2, b"headwater: OPENSSL_CONF=");
    write_raw(2, configuration.to_bytes());
    write_raw(
        2,
        b" cannot be read, so OpenSSL would use its own generator here; not started. Run the \
          command again under 'headwater run --openssl', or unset OPENSSL_CONF\n",
    );
    // SAFETY: ends the process, before its own code and without its handlers, so that nothing of
    // the program draws.
    unsafe { stock_syscall(libc::SYS_exit_group, NOT_RUN, 0, 0, 0, 0, 0) };
}
