//! Time, readiness and CPU time: system calls that a test replaces.

use super::files::{directory, mount_nowhere};
use super::process_time;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{CWD, Mode, OFlags, openat};
use rustix::io::Errno;
use rustix::rand::{GetRandomFlags, getrandom};
use rustix::time::{ClockId, Timespec, clock_gettime};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
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
    /// Returns the CPU time of a process in nanoseconds, or `None` if it cannot show whether the
    /// process has run.
    fn time_of(&self, _pid: u32) -> Option<u64> {
        None
    }
    /// Returns whether the observer was asked to end.
    fn is_stopped(&self) -> bool {
        false
    }
}

/// The running kernel.
pub(super) struct Live {
    /// /dev/random. Since Linux 5.6, poll(2) reports it readable once the generator is ready, at
    /// that moment.
    device: Option<OwnedFd>,
    /// The CPU time of a process counts each time that it runs.
    counts_runs: bool,
    /// A signal has asked the observer to end.
    is_stopped: Arc<AtomicBool>,
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
        let device = openat(CWD, c"/dev/random", flags, Mode::empty()).ok();
        Ok(Live { device, counts_runs: false, is_stopped: Arc::default() })
    }

    /// Notes the signals that end a process, so that the observer leaves a record and no tracing
    /// instance. A signal also ends a wait of poll(2).
    pub(super) fn with_signals(self) -> Live {
        for signal in [SIGTERM, SIGINT, SIGHUP] {
            // Without the handler, the signal ends the observer at once, as other programs.
            let _ = flag::register(signal, Arc::clone(&self.is_stopped));
        }
        self
    }

    /// Uses the CPU time of processes if their numbers in `proc` are those of this process's own
    /// namespace.
    pub(super) fn with_times(mut self, proc: BorrowedFd<'_>) -> Live {
        self.counts_runs = process_time::counts_runs(proc);
        self
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

    fn time_of(&self, pid: u32) -> Option<u64> {
        process_time::of(pid).filter(|_| self.counts_runs)
    }

    fn is_stopped(&self) -> bool {
        self.is_stopped.load(Relaxed)
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
    Ok(mount_nowhere("proc")?)
}
