//! The kernel's own answer to "does a process have this file open for writing?"

#![allow(unsafe_code)]

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

/// Reports whether any process has the file open or mapped for writing, of other users and in other
/// containers too. `file` is open for reading only. `None` if the file system has no leases.
///
/// A read lease is granted only while the file has no writer, so it is taken and returned at once.
pub(crate) fn has_writer(file: &File) -> Option<bool> {
    let set = |kind: i32| {
        // SAFETY: F_SETLEASE takes a number, and touches no memory of this process.
        match unsafe { libc::fcntl(file.as_raw_fd(), libc::F_SETLEASE, kind) } {
            -1 => Err(io::Error::last_os_error()),
            _ => Ok(()),
        }
    };
    match set(libc::F_RDLCK) {
        Ok(()) => {
            let _ = set(libc::F_UNLCK);
            Some(false)
        }
        Err(error) if error.raw_os_error() == Some(libc::EAGAIN) => Some(true),
        Err(_) => None,
    }
}
