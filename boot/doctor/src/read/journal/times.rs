//! The times of a boot's lines: one origin, and a wall clock that is corrected where it was set.

use super::clock_set::ClockStep;
use super::stamp::{DAY, Stamp, YEAR};
use crate::Evidence;
use crate::boot::{Boot, Clock, Moment};

/// The time in which journald reads the kernel's earlier lines.
const BATCH: f64 = 0.5;
/// The time after the journal's first line in which that reading begins.
const BATCH_BEGINS: f64 = 5.0;
/// A longer gap between two lines of a boot is a clock that was set: the longest stall on record
/// took hours.
const STEP: f64 = 43_200.0;
/// 29 February of a date without a year, as [`Stamp::civil`].
const LEAP_DAY: f64 = 59.0 * DAY;
/// Lines of one moment differ by less: stamps may have whole seconds.
const JITTER: f64 = 1.0;

/// The times of one boot.
#[derive(Default)]
pub(super) struct Times {
    /// The first line of the kernel by the wall clock. journald reads all earlier lines of the
    /// kernel in one piece, so lines close to this one have happened at some time before.
    batch: Option<f64>,
    /// The kernel's start by the wall clock, from systemd's "Startup finished".
    started: Option<f64>,
    /// True if any wall-clock stamp is in whole seconds.
    is_coarse: bool,
    /// True if any is known to the minute only.
    is_minute: bool,
    /// The wall clock when the kernel started. The difference of a line's two times should be it.
    /// But a line is logged after it was said, so each difference includes some delay, and the
    /// smallest one is nearest to the truth.
    zero: Option<f64>,
    /// The time of the first line, by the wall clock.
    first: Option<f64>,
    /// The time of the first line, as [`Stamp::civil`].
    civil: Option<f64>,
    /// The time of the first line, by the kernel's clock.
    begin: Option<f64>,
    /// The stamp of the last line.
    last: Option<Stamp>,
    /// Seconds that correct the wall clock: years, which some dates leave out, and steps by which
    /// the clock was set.
    shift: f64,
    /// True if the last line's wall clock is earlier than that of the line before, without a
    /// message about a clock that was set. Either the clock was set, or lines changed places.
    went_back: bool,
    /// The number of steps so far over which an unknown time passed.
    gaps: usize,
    /// A jump of the wall clock at the last line.
    jump: Option<Jump>,
}

/// A line that is more than a moment apart from the line before it.
struct Jump {
    /// The corrected time of the line before.
    before: f64,
    /// The distance in seconds.
    step: f64,
    /// The correction at the line before.
    shift: f64,
    /// [`Times::gaps`] at the line before.
    gaps: usize,
}

impl Jump {
    /// Returns true if the next line continues where the line before the jump was. Then the line
    /// that jumped was out of place, and the clock was not set.
    fn is_undone(&self, wall: f64) -> bool {
        let since = wall + self.shift - self.before;
        if self.step < 0.0 {
            return since >= -JITTER;
        }
        // Two lines out of place may meet: the next one lies before the place of the jump, yet
        // nearer to it than to the line that jumped.
        since > -self.step / 2.0 && since < self.step - JITTER
    }
}

impl Times {
    /// Takes the time of a line in, and returns it corrected for year roll-over and clock steps. A
    /// step back shows itself. A step forward looks like a quiet hour, so only a gap of half a day
    /// counts as one, and only until the generator `is_ready`: a running system may well be quiet
    /// for a day.
    pub(super) fn correct(&mut self, mut stamp: Stamp, is_ready: bool) -> Stamp {
        self.is_coarse |= stamp.is_coarse;
        self.is_minute |= stamp.is_minute;
        self.went_back = false;
        let leaps = self.last.is_some_and(|last| may_leap(last, stamp));
        if let Some(wall) = &mut stamp.wall {
            let last = self.last.and_then(|last| last.wall).filter(|_| stamp.kernel.is_none());
            let returned = self.jump.take().filter(|jump| last.is_some() && jump.is_undone(*wall));
            let mut last = last;
            if let Some(jump) = &returned {
                (self.shift, self.gaps) = (jump.shift, jump.gaps);
                let goes_on = *wall + jump.shift >= jump.before - JITTER;
                last = (!goes_on).then_some(jump.before);
            }
            *wall += self.shift;
            if let Some(last) = last {
                let mut step = *wall - last;
                if step.abs() > JITTER {
                    let (shift, gaps) = (self.shift, self.gaps);
                    self.jump = Some(Jump { before: last, step, shift, gaps });
                }
                if leaps && (DAY..=DAY + STEP).contains(&step) {
                    self.gaps += 1;
                    self.shift -= DAY;
                    *wall -= DAY;
                    step -= DAY;
                }
                if step < -YEAR / 2.0 {
                    self.shift += YEAR;
                    *wall += YEAR;
                } else if step < -JITTER || step > STEP && !is_ready {
                    // The clock was set without a message, so the time that passed between the two
                    // lines is unknown. We count it as none: a guess might make a wait longer than
                    // it was, and the doctor must not report a wait that did not happen. But then
                    // no wait across this step has an upper bound either, because otherwise the
                    // longest stall would look like a healthy boot.
                    self.went_back = step < 0.0;
                    self.gaps += 1;
                    self.shift -= step;
                    *wall = last;
                }
            }
            if self.first.is_none() {
                (self.first, self.civil) = (Some(*wall), stamp.civil);
            }
            if let Some(kernel) = stamp.kernel {
                let zero = *wall - kernel;
                self.zero = Some(self.zero.map_or(zero, |known| known.min(zero)));
            }
        }
        if let Some(kernel) = stamp.kernel {
            self.begin = Some(self.begin.map_or(kernel, |begin| begin.min(kernel)));
        }
        if stamp != Stamp::default() {
            self.last = Some(stamp);
        }
        stamp
    }

    /// Removes the step of a wall clock that was set between this line and the one before. Where
    /// the program states the step, the rest of the distance is time that passed. Otherwise a
    /// distance of an hour may be a step of an hour, a wait of an hour, or some of both, so the
    /// time counts as unknown: as none in a lower bound, and no upper bound spans it. The same is
    /// true of a report that may mean a step, because its gap would be a false wait if it did; only
    /// a gap that is too short for such a step stays.
    ///
    /// Programs report a step after the fact, so it may lie one line earlier: a stated step that is
    /// longer than the distance must. Returns its seconds then, by which that line is too late.
    pub(super) fn was_set(
        &mut self,
        step: ClockStep,
        now: Stamp,
        before: Option<Stamp>,
    ) -> Option<f64> {
        let (None, Some(now), Some(before)) =
            (now.kernel, now.wall, before.and_then(|before| before.wall))
        else {
            return None;
        };
        if let (ClockStep::By(seconds), Some(jump)) = (step, &self.jump)
            && now - before < seconds - 2.0 * JITTER
            && jump.step >= seconds - 2.0 * JITTER
        {
            let seconds = seconds.min(jump.step);
            self.shift -= seconds;
            self.jump = None;
            // The next line must not seem to have gone back.
            if let Some(wall) = self.last.as_mut().and_then(|last| last.wall.as_mut()) {
                *wall -= seconds;
            }
            return Some(seconds);
        }
        let distance = now - before;
        let known = match step {
            // Stamps in whole seconds can make the rest a little less than nothing. A clock that
            // went back, and a distance forward, contradict each other.
            ClockStep::By(seconds) if distance - seconds >= -2.0 * JITTER => {
                (seconds >= 0.0 || distance <= JITTER).then_some(seconds.min(distance))
            }
            ClockStep::Possible(least) if distance.abs() <= JITTER.max(least - JITTER) => {
                return None;
            }
            _ => None,
        };
        if known.is_none() && distance.abs() > JITTER {
            self.gaps += 1;
        }
        self.shift -= known.unwrap_or(distance);
        None
    }

    /// Notes the corrected time of a line of the kernel that has no time of its own.
    pub(super) fn kernels(&mut self, stamp: Stamp) {
        self.batch = self.batch.or(stamp.wall);
    }

    /// Notes that the boot was complete, so many seconds after the kernel's start.
    pub(super) fn complete(&mut self, stamp: Stamp, seconds: f64) {
        self.started = stamp.wall.map(|wall| wall - seconds).or(self.started);
    }

    /// Returns the number of steps so far over which an unknown time passed.
    pub(super) fn gaps(&self) -> usize {
        self.gaps
    }

    /// Returns the kernel's time of the last line.
    pub(super) fn last_by_kernel(&self) -> Option<f64> {
        self.last?.kernel
    }

    /// Returns whether no line has had a time.
    pub(super) fn is_empty(&self) -> bool {
        self.last.is_none()
    }

    /// Returns whether the order of the kernel's lines says more than their times: lines without
    /// any, and those that journald read in one piece.
    pub(super) fn are_moot(&self, stamp: Stamp) -> bool {
        self.is_empty() || self.is_late(stamp)
    }

    fn at(&self, stamp: Stamp) -> Option<f64> {
        stamp.kernel.or_else(|| Some(stamp.wall? - self.zero.or(self.first)?))
    }

    /// Returns the time of the last line.
    pub(super) fn now(&self) -> Option<f64> {
        self.at(self.last?)
    }

    /// Returns the moment of a line.
    pub(super) fn moment(&self, stamp: Stamp, evidence: impl FnOnce() -> Evidence) -> Moment {
        let at_most = self.went_back || self.is_late(stamp);
        Moment { at: self.at(stamp), at_most, evidence: evidence() }
    }

    /// Returns whether journald may have stamped the line long after it was written.
    fn is_late(&self, stamp: Stamp) -> bool {
        let (None, Some(wall), Some(batch)) = (stamp.kernel, stamp.wall, self.batch) else {
            return false;
        };
        // A first line of the kernel long after the journal's own is not of the time before.
        let begins = self.first.is_none_or(|first| batch - first <= BATCH_BEGINS);
        begins && wall - batch <= if self.is_coarse { 1.0 } else { BATCH }
    }

    /// Writes the boot's clock, its first and last time, and the error of its times.
    pub(super) fn describe(&self, boot: &mut Boot) {
        boot.clock = match self.last {
            None => Clock::None,
            Some(_) if self.zero.is_some() => Clock::Kernel,
            Some(Stamp { kernel: Some(_), .. }) => Clock::Kernel,
            Some(_) => Clock::FirstLine,
        };
        boot.end = self.last.and_then(|last| self.at(last));
        boot.begin = match boot.clock {
            Clock::FirstLine => Some(0.0),
            _ => self.begin,
        };
        // The origin of the boot's times, on the scale that all formats share.
        let origin = self.zero.or(self.first);
        boot.wall = origin
            .zip(self.first)
            .zip(self.civil)
            .map(|((origin, first), civil)| civil - (first - origin));
        boot.resolution = match (self.is_minute, self.is_coarse) {
            (true, _) => 60.0,
            (false, true) => 1.0,
            (false, false) => 0.0,
        };
        boot.has_kernel_times = self.zero.is_some() || self.begin.is_some();
    }

    /// Returns the seconds from the kernel's start to the first line, if "Startup finished" shows
    /// them.
    pub(super) fn since_start(&self) -> Option<f64> {
        let since = self.first? - self.started?;
        (since >= 0.0).then_some(since)
    }
}

/// Returns whether 29 February lies between two lines whose dates have no year. A date without one
/// counts as that of a leap year, but three years of four have no such day. So a stall across the
/// last night of February would look like a clock that was set, if we did not try the shorter
/// reading first. In a leap year it makes a wait shorter than it was, so that such a wait has no
/// upper bound.
fn may_leap(last: Stamp, now: Stamp) -> bool {
    let (Some(last), Some(civil)) = (last.civil, now.civil) else { return false };
    now.wall == now.civil && last < LEAP_DAY && civil >= LEAP_DAY + DAY
}
