//! A tracing instance of the observer: a directory of tracefs with its own buffers, events and
//! clock, so that the tracing of other users does not change.
//!
//! The kernel keeps an instance until its directory is removed, and an event that is on slows every
//! system call of the machine a little. So the instance is removed on every way out, and a lock on
//! its directory shows whether its observer still runs: the lock of a killed process is free.

use crate::observe::files::{FILE, FixedPath, directory, mount_nowhere};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{
    AtFlags, Dir, FlockOperation, Mode, OFlags, flock, fstatfs, mkdirat, openat, statat, unlinkat,
};
use rustix::io::{Errno, write};
use std::ffi::{CStr, CString};

/// Beginning of the instances' names. The number of the process follows.
const NAME: &str = "headwater-observer-";
/// `TRACEFS_MAGIC` of linux/magic.h.
const TRACEFS: u64 = 0x7472_6163;
const BEGIN: &CStr = c"events/syscalls/sys_enter_getrandom";
const DIRECTORY: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// Settings that must succeed, in this order. The end of a call is switched on before its begin: an
/// end without a begin is harmless, and a begin without an end would be a wait without an end.
const SETTINGS: [(&CStr, &str); 4] = [
    // Seconds since the kernel's start, suspended time included, as the observer's own clock
    // (Linux 4.10).
    (c"trace_clock", "boot"),
    // For each CPU. Between two looks a few lines are written.
    (c"buffer_size_kb", "64"),
    (c"events/syscalls/sys_exit_getrandom/enable", "1"),
    (c"events/syscalls/sys_enter_getrandom/enable", "1"),
];

/// Settings that older kernels may lack. A new instance begins with the options of the machine's
/// own tracing, which may have changed the form of a line.
const OPTIONS: [(&CStr, &str); 14] = [
    (c"trace_options", "irq-info"),
    (c"trace_options", "context-info"),
    (c"trace_options", "record-cmd"),
    (c"trace_options", "norecord-tgid"),
    (c"trace_options", "noraw"),
    (c"trace_options", "nohex"),
    (c"trace_options", "nobin"),
    (c"trace_options", "nofields"),
    (c"trace_options", "noverbose"),
    (c"trace_options", "nostacktrace"),
    (c"trace_options", "nouserstacktrace"),
    (c"trace_options", "nolatency-format"),
    // Calls that cannot wait write no line: GRND_NONBLOCK is 1, GRND_INSECURE 4, EAGAIN 11.
    (c"events/syscalls/sys_enter_getrandom/filter", "flags == 0 || flags == 2"),
    (c"events/syscalls/sys_exit_getrandom/filter", "ret != -11"),
];

/// An instance whose events are on. Dropping it removes it.
pub(super) struct Instance {
    instances: OwnedFd,
    name: FixedPath,
    /// Holds the lock.
    directory: OwnedFd,
}

/// Opens the directory of all instances.
///
/// # Errors
///
/// Returns the error of open(2) or fsopen(2): no tracefs, or no right to use it.
pub(super) fn instances() -> rustix::io::Result<OwnedFd> {
    let root = match directory(c"/sys/kernel/tracing") {
        Ok(root) if is_tracefs(root.as_fd()) => root,
        // A mount of our own that is attached nowhere ends with its descriptor (Linux 5.2).
        _ => mount_nowhere("tracefs")?,
    };
    openat(&root, c"instances", DIRECTORY, Mode::empty())
}

fn is_tracefs(directory: BorrowedFd<'_>) -> bool {
    #[allow(clippy::unnecessary_cast)] // another type on some architectures
    fstatfs(directory).is_ok_and(|stat| stat.f_type as u64 == TRACEFS)
}

/// Removes the instances whose observers were killed. Returns how many.
pub(super) fn remove_left(instances: BorrowedFd<'_>) -> usize {
    let Ok(entries) = Dir::read_from(instances) else { return 0 };
    let is_ours = |name: &CString| name.to_bytes().starts_with(NAME.as_bytes());
    // Listed before any is removed, because a removal may move the position in the directory.
    let names: Vec<CString> =
        entries.flatten().map(|entry| entry.file_name().to_owned()).filter(is_ours).collect();
    let is_left = |name: &&CString| {
        let directory = openat(instances, name.as_c_str(), DIRECTORY, Mode::empty());
        directory.is_ok_and(|directory| lock(directory.as_fd()).is_ok())
    };
    let removed = |name: &CString| unlinkat(instances, name.as_c_str(), AtFlags::REMOVEDIR).is_ok();
    names.iter().filter(is_left).filter(|name| removed(name)).count()
}

fn lock(directory: BorrowedFd<'_>) -> rustix::io::Result<()> {
    flock(directory, FlockOperation::NonBlockingLockExclusive)
}

impl Instance {
    /// Makes an instance and switches the two events on.
    ///
    /// # Errors
    ///
    /// Returns the step that failed, and its error. Nothing is left.
    pub(super) fn new(instances: OwnedFd) -> Result<Instance, (&'static str, Errno)> {
        // Making an instance allocates 1.4 MiB for each CPU before its size can be set, so a kernel
        // without the events is recognised by the machine's own directory.
        let known = FixedPath::new().text("../").text(BEGIN.to_str().unwrap_or_default());
        statat(&instances, known.get(), AtFlags::empty())
            .map_err(|errno| ("the tracepoint of getrandom", errno))?;
        let name = FixedPath::new().text(NAME).number(std::process::id());
        mkdirat(&instances, name.get(), Mode::RWXU).map_err(|errno| ("an instance", errno))?;
        let directory = match openat(&instances, name.get(), DIRECTORY, Mode::empty()) {
            Ok(directory) => directory,
            Err(errno) => {
                let _ = unlinkat(&instances, name.get(), AtFlags::REMOVEDIR);
                return Err(("an instance", errno));
            }
        };
        let instance = Instance { instances, name, directory };
        lock(instance.directory.as_fd()).map_err(|errno| ("an instance's lock", errno))?;
        for (file, text) in OPTIONS {
            let _ = instance.set(file, text);
        }
        for (file, text) in SETTINGS {
            instance.set(file, text).map_err(|errno| (file.to_str().unwrap_or_default(), errno))?;
        }
        Ok(instance)
    }

    /// Opens the stream of lines. Reading it never waits, and takes the lines out of the buffer.
    ///
    /// # Errors
    ///
    /// Returns the error of open(2).
    pub(super) fn pipe(&self) -> rustix::io::Result<OwnedFd> {
        openat(&self.directory, c"trace_pipe", FILE | OFlags::NONBLOCK, Mode::empty())
    }

    fn set(&self, file: &CStr, text: &str) -> rustix::io::Result<()> {
        let flags = OFlags::WRONLY | OFlags::CLOEXEC;
        let file = openat(&self.directory, file, flags, Mode::empty())?;
        write(&file, text.as_bytes()).map(drop)
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        // The events go first: if another program holds a file of the instance, the directory
        // stays, and no system call is slowed by it.
        for (file, _) in SETTINGS.iter().rev().take(2) {
            let _ = self.set(file, "0");
        }
        let _ = unlinkat(&self.instances, self.name.get(), AtFlags::REMOVEDIR);
    }
}
