//! The things by which a machine, or a restored process, learns that it is a copy.
//!
//! | signal | reports | comes |
//! | --- | --- | --- |
//! | the kernel's log | a machine with vmgenid: the kernel writes a line after it has reseeded | as soon as this process runs |
//! | VMClock | a machine with that device, if the hypervisor notifies (Linux 7.0) | as soon as this process runs |
//! | a connection to the host, if one is asked for | a machine whose half of it has no other | when the hypervisor resets it, else within a second |
//! | the wall clock | some program has set it forward, as one has to in a copy of a machine | when that program does |
//! | the start time | this process was restored from an image, and with it its container | as soon as this process runs, else within a minute |
//!
//! A uevent would be the natural signal of vmgenid. Linux 6.9 had one for some weeks and took it
//! back, so the line in the log is all that a program can wait for.

mod kernel_log;
mod link;
mod start_time;
mod vmclock;
mod wall_clock;

use anyhow::Result;
use headwater::internal::watch_page::{BY_KERNEL, BY_VMCLOCK, BY_VSOCK, BY_WALL_CLOCK};
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::io::Errno;
use serde::Serialize;
use std::os::fd::AsFd;

/// The longest sleep: signals that wake nothing are looked at so often.
const TICK: Timespec = Timespec { tv_sec: 60, tv_nsec: 0 };
/// The longest sleep with a connection, on which each look sends a byte.
const BEAT: Timespec = Timespec { tv_sec: 1, tv_nsec: 0 };

/// A signal that a copy was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum Signal {
    /// The kernel's line about a virtual machine that was forked.
    KernelLog,
    /// VMClock's counter moved.
    Vmclock,
    /// A connection to the host ended, or began after a time without.
    Vsock,
    /// The wall clock was set forward.
    WallClock,
    /// This process started anew without running from its beginning.
    Restore,
}

impl Signal {
    /// Returns the words for a reader.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Signal::KernelLog => "the kernel's log (vmgenid)",
            Signal::Vmclock => "VMClock",
            Signal::Vsock => "the connection to the host (vsock), which ended",
            Signal::WallClock => "the wall clock, which was set forward",
            Signal::Restore => "this process's start time: it was restored from an image",
        }
    }
}

/// All signals of this machine.
pub(crate) struct Signals {
    kernel_log: Option<kernel_log::KernelLog>,
    vmclock: Option<vmclock::Vmclock>,
    link: Option<link::Link>,
    wall_clock: Option<wall_clock::WallClock>,
    start_time: start_time::StartTime,
}

impl Signals {
    /// Opens what this machine has, and a connection to the host's address.
    pub(crate) fn open(host: Option<(u32, u32)>) -> Result<Signals> {
        let kernel_log = kernel_log::KernelLog::open();
        let vmclock = vmclock::Vmclock::open();
        let link = host.map(link::Link::open).transpose()?;
        let is_exact = kernel_log.is_some()
            || link.is_some()
            || vmclock.as_ref().is_some_and(vmclock::Vmclock::wakes);
        // A wall clock is set for other reasons too, so it is believed only where nothing better is
        // there. Otherwise it could only add false alarms.
        let wall_clock = if is_exact { None } else { Some(wall_clock::WallClock::open()?) };
        let start_time = start_time::StartTime::now()?;
        Ok(Signals { kernel_log, vmclock, link, wall_clock, start_time })
    }

    /// Returns the signals as bits of the page.
    pub(crate) fn bits(&self) -> u64 {
        let wakes = self.vmclock.as_ref().is_some_and(vmclock::Vmclock::wakes);
        [
            (self.kernel_log.is_some(), BY_KERNEL),
            (wakes, BY_VMCLOCK),
            (self.link.is_some(), BY_VSOCK),
            (self.wall_clock.is_some(), BY_WALL_CLOCK),
        ]
        .into_iter()
        .filter_map(|(is_there, bit)| is_there.then_some(bit))
        .sum()
    }

    /// Returns what is watched, in words.
    pub(crate) fn words(&self) -> Vec<&'static str> {
        let mut words = Vec::new();
        if self.kernel_log.is_some() {
            words.push("the kernel's log (vmgenid)");
        }
        match &self.vmclock {
            Some(clock) if clock.wakes() => words.push("VMClock"),
            Some(_) => {
                words.push("VMClock, once a minute (kernel or hypervisor does not notify)");
            }
            None => {}
        }
        if self.link.is_some() {
            words.push("a connection to the host (vsock)");
        }
        if self.wall_clock.is_some() {
            words.push("steps of the wall clock (no device reports a copy at once)");
        }
        words.push("the start time of this process");
        words
    }

    /// Sleeps until something may have happened, at most a minute, or a second with a connection.
    pub(crate) fn sleep(&self) -> Result<()> {
        let descriptors = [
            self.kernel_log.as_ref().map(AsFd::as_fd),
            self.vmclock.as_ref().filter(|clock| clock.wakes()).map(AsFd::as_fd),
            self.link.as_ref().and_then(link::Link::as_fd),
            self.wall_clock.as_ref().map(AsFd::as_fd),
        ];
        let mut set: Vec<PollFd<'_>> = descriptors
            .into_iter()
            .flatten()
            .map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN))
            .collect();
        let longest = if self.link.is_some() { &BEAT } else { &TICK };
        match rustix::event::poll(&mut set, Some(longest)) {
            // A restore ends a sleep too: CRIU restarts no call that had a time to wait. So the
            // signals are looked at as soon as a restored watcher runs.
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Returns the signals that came since the last call, of which one copy may send several.
    pub(crate) fn take(&mut self) -> Result<Vec<Signal>> {
        let mut seen = Vec::new();
        // First, because a restored process has its log open at another place than before, and may
        // find a line there about a copy of long ago, for which the kernel has reseeded.
        if self.start_time.has_changed()? {
            seen.push(Signal::Restore);
        }
        if let Some(log) = &mut self.kernel_log
            && log.has_reported()?
        {
            seen.push(Signal::KernelLog);
        }
        if let Some(clock) = &mut self.vmclock
            && clock.has_moved()?
        {
            seen.push(Signal::Vmclock);
        }
        if let Some(link) = &mut self.link
            && link.has_ended()
        {
            seen.push(Signal::Vsock);
        }
        if let Some(clock) = &mut self.wall_clock
            && clock.was_set_forward()?
        {
            seen.push(Signal::WallClock);
        }
        Ok(seen)
    }
}
