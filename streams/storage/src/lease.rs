//! The kernel's own answer to "does a process have this file open for writing?"

#![allow(unsafe_code)]

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

/// The kernel's number, which the libc crate lacks: the signal of a descriptor's events.
const F_SETSIG: i32 = 10;

/// Reports whether any process has the file open or mapped for writing, of other users and in other
/// containers too. `file` is open for reading only. `None` if the file system has no leases.
///
/// A read lease is granted only while the file has no writer, so it is taken and returned at once.
pub(crate) fn has_writer(file: &File) -> Option<bool> {
    let set = |command: i32, value: i32| {
        // SAFETY: both commands take a number, and touch no memory of this process.
        match unsafe { libc::fcntl(file.as_raw_fd(), command, value) } {
            -1 => Err(io::Error::last_os_error()),
            _ => Ok(()),
        }
    };
    // A writer that opens the file while the lease lasts makes the kernel send a signal. By default
    // that is SIGIO, which would end this process. So we ask for SIGURG, which is ignored unless a
    // program wants it.
    set(F_SETSIG, libc::SIGURG).ok()?;
    match set(libc::F_SETLEASE, libc::F_RDLCK) {
        Ok(()) => {
            let _ = set(libc::F_SETLEASE, libc::F_UNLCK);
            Some(false)
        }
        Err(error) if error.raw_os_error() == Some(libc::EAGAIN) => Some(true),
        Err(_) => None,
    }
}
