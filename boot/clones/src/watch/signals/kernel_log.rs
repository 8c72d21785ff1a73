//! The kernel's log, in which a line appears after each copy that vmgenid reports.

use anyhow::{Context, Result};
use headwater::Vmgenid;
use rustix::fs::{Mode, OFlags, SeekFrom};
use rustix::io::Errno;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// The kernel's limit of one record (CONSOLE_EXT_LOG_MAX).
const RECORD: usize = 8192;

/// The log, read up to its end.
pub(super) struct KernelLog(OwnedFd);

impl KernelLog {
    /// Opens the log at its end. Returns None where no line would come, because vmgenid has no
    /// device or no driver, or where this user may not read it.
    pub(super) fn open() -> Option<KernelLog> {
        if headwater::status().vmgenid != Vmgenid::Bound {
            return None;
        }
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let log = rustix::fs::open("/dev/kmsg", flags, Mode::empty()).ok()?;
        rustix::fs::seek(&log, SeekFrom::End(0)).ok()?;
        Some(KernelLog(log))
    }

    /// Reads what is new, and returns whether a copy was reported.
    pub(super) fn has_reported(&mut self) -> Result<bool> {
        let mut record = [0; RECORD];
        let mut reported = false;
        loop {
            match rustix::io::read(&self.0, &mut record) {
                Ok(0) => return Ok(reported),
                Ok(length) => reported |= headwater_status::is_copy_reported(&record[..length]),
                // Lines were overwritten before they were read, and one may have been about a copy.
                Err(Errno::PIPE) => reported = true,
                Err(Errno::AGAIN) => return Ok(reported),
                Err(Errno::INTR) => {}
                Err(error) => return Err(error).context("cannot read /dev/kmsg"),
            }
        }
    }
}

impl AsFd for KernelLog {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}
