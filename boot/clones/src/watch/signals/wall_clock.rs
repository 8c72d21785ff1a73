//! Steps of the wall clock, the only sign of a copy on machines without a device.
//!
//! A copy continues at the time of its snapshot, until an agent or a time server sets it. The
//! kernel wakes a timer of `TFD_TIMER_CANCEL_ON_SET` when that happens (timerfd_create(2)). The
//! time from boot runs on in such a step, so the difference of both clocks is the step's width.

use anyhow::{Context, Result};
use rustix::io::Errno;
use rustix::time::{
    ClockId, Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, clock_gettime,
    timerfd_create, timerfd_settime,
};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// A smaller step is a correction, and no sign of a copy: time servers step by less than a second
/// where they steer, and a snapshot that is younger than this is rare.
const LEAST_STEP_NS: i128 = 1_000_000_000;
const NS: i128 = 1_000_000_000;

/// A timer that ends when the clock is set.
pub(super) struct WallClock {
    timer: OwnedFd,
    /// Wall clock less time from boot, in nanoseconds.
    difference: i128,
}

impl WallClock {
    pub(super) fn open() -> Result<WallClock> {
        let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
        let timer = timerfd_create(TimerfdClockId::Realtime, flags).context("timerfd_create")?;
        let clock = WallClock { timer, difference: difference() };
        clock.arm()?;
        Ok(clock)
    }

    /// Sets the timer to a time that never comes.
    fn arm(&self) -> Result<()> {
        let never = Timespec { tv_sec: i64::MAX / 2_000_000_000, tv_nsec: 0 };
        let timer = Itimerspec { it_interval: Timespec { tv_sec: 0, tv_nsec: 0 }, it_value: never };
        let flags = TimerfdTimerFlags::ABSTIME | TimerfdTimerFlags::CANCEL_ON_SET;
        timerfd_settime(&self.timer, flags, &timer).context("timerfd_settime")?;
        Ok(())
    }

    /// Returns whether the clock was set forward by a second or more since the last call.
    pub(super) fn was_set_forward(&mut self) -> Result<bool> {
        match rustix::io::read(&self.timer, &mut [0; 8]) {
            Ok(_) | Err(Errno::CANCELED) => self.arm()?,
            Err(Errno::AGAIN | Errno::INTR) => {}
            Err(error) => return Err(error).context("cannot read a timer"),
        }
        let now = difference();
        let step = now - std::mem::replace(&mut self.difference, now);
        Ok(step >= LEAST_STEP_NS)
    }
}

impl AsFd for WallClock {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.timer.as_fd()
    }
}

fn difference() -> i128 {
    let ns = |clock| {
        let now = clock_gettime(clock);
        i128::from(now.tv_sec) * NS + i128::from(now.tv_nsec)
    };
    ns(ClockId::Realtime) - ns(ClockId::Boottime)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_runs_is_not_set() {
        let mut clock = WallClock::open().unwrap();
        assert!(!clock.was_set_forward().unwrap());
        // A step of a second and a half, by what was remembered, since a test must not set the
        // clock of the machine.
        clock.difference -= 3 * NS / 2;
        assert!(clock.was_set_forward().unwrap());
        clock.difference += 3 * NS / 2;
        assert!(!clock.was_set_forward().unwrap(), "a clock that was set back");
        clock.difference -= NS / 2;
        assert!(!clock.was_set_forward().unwrap(), "a correction");
    }
}
