//! Time, readiness and CPU time: system calls that a test replaces.

use super::files::directory;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{CWD, Mode, OFlags, openat};
use rustix::io::Errno;
use rustix::mount::{FsMountFlags, FsOpenFlags, MountAttrFlags, fsconfig_create, fsmount, fsopen};
use rustix::rand::{GetRandomFlags, getrandom};
use rustix::time::{ClockId, Timespec, clock_gettime};
use std::io;
use std::time::Duration;

/// The kernel, as the observation asks it.
pub(super) trait Kernel {
    /// Returns seconds since the kernel's start, suspended time included.
    fn now(&self) -> f64;
    /// Returns whether the generator is ready. Draws no byte and never waits.
    fn is_ready(&mut self) -> bool;
    /// Sleeps until a time, or until the generator is ready if the kernel can wake us then.
    fn wait(&mut self, until: f64);
    /// Returns the CPU time of this process in seconds.
    fn cpu(&self) -> f64;
}

/// The running kernel.
pub(super) struct Live {
    /// /dev/random. Since Linux 5.6, poll(2) reports it readable once the generator is ready, at
    /// that moment.
    device: Option<OwnedFd>,
}

fn seconds(clock: ClockId) -> f64 {
    let time = clock_gettime(clock);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// Asks for no bytes. The kernel refuses the request with EAGAIN while its generator is not ready,
/// before it looks at the length.
fn ask() -> rustix::io::Result<()> {
    getrandom(&mut [] as &mut [u8], GetRandomFlags::NONBLOCK).map(drop)
}

impl Live {
    /// # Errors
    ///
    /// Returns the error of getrandom(2), if a sandbox refuses it or the kernel lacks it.
    pub(super) fn new() -> io::Result<Live> {
        match ask() {
            Ok(()) | Err(Errno::AGAIN | Errno::INTR) => {}
            Err(errno) => return Err(errno.into()),
        }
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK;
        Ok(Live { device: openat(CWD, c"/dev/random", flags, Mode::empty()).ok() })
    }
}

impl Kernel for Live {
    fn now(&self) -> f64 {
        seconds(ClockId::Boottime)
    }

    fn is_ready(&mut self) -> bool {
        ask().is_ok()
    }

    fn wait(&mut self, until: f64) {
        let left = (until - self.now()).max(0.0);
        if let Some(device) = &self.device {
            let mut ready = [PollFd::from_borrowed_fd(device.as_fd(), PollFlags::IN)];
            let limit = Timespec { tv_sec: left as _, tv_nsec: (left.fract() * 1e9) as _ };
            let events = poll(&mut ready, Some(&limit)).unwrap_or(0);
            if events == 0 || ask().is_ok() {
                return;
            }
            // Before 5.6 the device is readable sooner than the generator is ready, and poll would
            // return at once each time.
            self.device = None;
        }
        let left = (until - self.now()).max(0.0);
        std::thread::sleep(Duration::from_secs_f64(left));
    }

    fn cpu(&self) -> f64 {
        seconds(ClockId::ProcessCPUTime)
    }
}

/// Opens /proc. An initramfs may not have mounted it yet, or may move it: in this case a mount of
/// its own, which is attached nowhere, serves (Linux 5.2 and later).
pub(super) fn open_proc() -> io::Result<OwnedFd> {
    let proc = directory(c"/proc");
    if let Ok(proc) = proc
        && openat(&proc, c"self/stat", OFlags::RDONLY, Mode::empty()).is_ok()
    {
        return Ok(proc);
    }
    let context = fsopen("proc", FsOpenFlags::FSOPEN_CLOEXEC)?;
    fsconfig_create(context.as_fd())?;
    let flags = MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NOEXEC;
    Ok(fsmount(context.as_fd(), FsMountFlags::FSMOUNT_CLOEXEC, flags)?)
}
