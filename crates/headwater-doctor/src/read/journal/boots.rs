//! Entries become boots.

use super::entry::{Entry, Writer};
use super::event::{LogEvent, event};
use super::stamp::{Stamp, YEAR};
use super::units::Starts;
use crate::Evidence;
use crate::boot::{
    Boot, Clock, EarlyCaller, EarlyRead, Hint, HintKind, Moment, SecureRandomWait, SeedJob,
    SeedWait,
};
use crate::read::strace::Waits;

/// Boots that are kept, the last ones. A broken file may have any number.
const BOOTS: usize = 200;
/// Lines of a kind that are kept of a boot; the kernel's rate limit lets a handful through.
const LINES: usize = 100;
/// The kernel's clock never goes back, but journald writes all earlier lines of the kernel at once.
const BACK: f64 = 60.0;
/// The time in which journald reads the kernel's earlier lines.
const BATCH: f64 = 0.5;
/// The time after the journal's first line in which that reading begins.
const BATCH_BEGINS: f64 = 5.0;
/// A longer gap between two lines of a boot is a clock that was set: the longest stall on record
/// took hours.
const STEP: f64 = 43_200.0;
/// Lines of one moment differ by less: stamps may have whole seconds.
const JITTER: f64 = 1.0;

/// Entries become boots.
#[derive(Default)]
pub(super) struct Boots {
    done: Vec<Boot>,
    open: OpenBoot,
}

/// The boot that is being read.
#[derive(Default)]
struct OpenBoot {
    boot: Boot,
    id: Option<String>,
    starts: Starts,
    /// The first line that only a program can have caused. Its time follows at the end, when the
    /// kernel's start by the wall clock is known.
    program: Option<(Stamp, Evidence)>,
    /// The first line of the kernel by the wall clock. journald reads all earlier lines of the
    /// kernel in one piece, so lines close to this one have happened at some time before.
    batch: Option<f64>,
    /// The kernel's start by the wall clock, from systemd's "Startup finished".
    started: Option<f64>,
    /// True if any wall-clock stamp is in whole seconds.
    is_coarse: bool,
    /// True if the first program's start is known by its own line.
    init_is_start: bool,
    /// True if the line of readiness stands in front of every trace of a program, and this order
    /// means something.
    is_ready_first: bool,
    /// The lines of strace.
    traced: Option<Waits>,
    /// The wall clock when the kernel started: the smallest difference of the two times of a line.
    /// A line is logged after it was said, so larger differences include a delay.
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
    /// True if the last line's wall clock lies behind that of the line before, without a message
    /// about a clock that was set. Either the clock was set, or lines changed places.
    went_back: bool,
    /// A jump of the wall clock at the last line.
    jump: Option<Jump>,
    /// True once the boot has an entry.
    begun: bool,
}

impl Boots {
    /// Takes an entry in. `before` returns the time of the line before it, and is called only where
    /// that time decides; `evidence` quotes the entry.
    pub(super) fn note(
        &mut self,
        entry: &Entry<'_>,
        before: impl FnOnce() -> Option<Stamp>,
        evidence: impl Fn() -> Evidence,
    ) {
        let says = event(entry);
        if self.is_another(entry, says.as_ref()) {
            self.close(before());
            self.open.id = entry.boot.as_deref().map(str::to_owned);
        } else if says == Some(LogEvent::ClockSet) {
            self.open.clock_set(entry.stamp, before());
        }
        let open = &mut self.open;
        open.begun = true;
        if open.id.is_none() {
            open.id = entry.boot.as_deref().map(str::to_owned);
        }
        let stamp = open.stamp(entry.stamp);
        if entry.writer == Writer::Kernel && stamp.kernel.is_none() {
            open.batch = open.batch.or(stamp.wall);
        } else if entry.writer != Writer::Kernel {
            open.program(stamp, &evidence);
        }
        if let Some(says) = says {
            open.note(says, entry, stamp, evidence);
        }
    }

    /// Takes a line `-- Reboot --` or `-- Boot ID --` in. `before` returns the time of the line
    /// before it.
    pub(super) fn separator(&mut self, before: impl FnOnce() -> Option<Stamp>) {
        if self.open.begun {
            self.close(before());
        }
    }

    /// Takes the time of the file's first line in, even if the line has no other use.
    pub(super) fn first(&mut self, stamp: Stamp) {
        self.open.stamp(stamp);
    }

    /// Notes that a program ran when the file's first line was written.
    pub(super) fn program(&mut self, stamp: Stamp, evidence: impl FnOnce() -> Evidence) {
        let stamp = self.open.stamp(stamp);
        self.open.program(stamp, evidence);
    }

    /// Takes in an event of a line that is not of a log's form.
    pub(super) fn note_untimed(&mut self, says: LogEvent<'_>, evidence: impl Fn() -> Evidence) {
        self.open.begun = true;
        let stamp = Stamp::default();
        let entry =
            Entry { stamp, writer: Writer::Other, message: "".into(), unit: None, boot: None };
        self.open.note(says, &entry, stamp, evidence);
    }

    /// Returns all boots, at least one; `last` is the time of the last line.
    pub(super) fn finish(mut self, last: Option<Stamp>) -> Vec<Boot> {
        if self.open.begun || self.done.is_empty() {
            self.close(last);
        }
        self.done
    }

    fn is_another(&self, entry: &Entry<'_>, says: Option<&LogEvent<'_>>) -> bool {
        let open = &self.open;
        if let (Some(id), Some(boot)) = (&open.id, &entry.boot) {
            return id != boot.as_ref();
        }
        let back = match (entry.stamp.kernel, open.last.and_then(|last| last.kernel)) {
            (Some(now), Some(last)) => now < last - BACK,
            _ => false,
        };
        let again = matches!(says, Some(LogEvent::Version(_)))
            && (open.boot.kernel.is_some()
                || open.boot.init.is_some()
                || open.boot.ready.is_some()
                || open.program.is_some());
        open.begun && (back || again)
    }

    fn close(&mut self, last: Option<Stamp>) {
        let mut open = std::mem::take(&mut self.open);
        if let Some(last) = last {
            open.stamp(last);
        }
        if self.done.len() == BOOTS {
            self.done.remove(0);
        }
        self.done.push(open.finish());
    }
}

/// A line that is more than a moment apart from the line before it.
struct Jump {
    /// The corrected time of the line before.
    before: f64,
    /// The distance in seconds.
    step: f64,
    /// The correction at the line before.
    shift: f64,
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

impl OpenBoot {
    /// Records a timestamp, corrected for year roll-over and clock steps.
    fn stamp(&mut self, mut stamp: Stamp) -> Stamp {
        self.is_coarse |= stamp.is_coarse;
        self.went_back = false;
        if let Some(wall) = &mut stamp.wall {
            let last = self.last.and_then(|last| last.wall).filter(|_| stamp.kernel.is_none());
            let returned = self.jump.take().filter(|jump| last.is_some() && jump.is_undone(*wall));
            let mut last = last;
            if let Some(jump) = &returned {
                self.shift = jump.shift;
                let goes_on = *wall + jump.shift >= jump.before - JITTER;
                last = (!goes_on).then_some(jump.before);
            }
            *wall += self.shift;
            if let Some(last) = last {
                let step = *wall - last;
                if step.abs() > JITTER {
                    self.jump = Some(Jump { before: last, step, shift: self.shift });
                }
                if step < -YEAR / 2.0 {
                    self.shift += YEAR;
                    *wall += YEAR;
                } else if step < -JITTER || step > STEP && self.boot.ready.is_none() {
                    // The clock was set without a message. The time that passed is unknown, and
                    // counts as none, so that no wait is longer than it was.
                    self.went_back = step < 0.0;
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

    /// Removes the step of a wall clock that was set between this line and the one before. Programs
    /// report a step after the fact, so it may lie one line earlier. The resulting error in the
    /// boot's length is never reported as waiting time: the line before counts as simultaneous.
    fn clock_set(&mut self, now: Stamp, before: Option<Stamp>) {
        if let (None, Some(now), Some(before)) =
            (now.kernel, now.wall, before.and_then(|before| before.wall))
        {
            self.shift += before - now;
        }
    }

    fn at(&self, stamp: Stamp) -> Option<f64> {
        stamp.kernel.or_else(|| Some(stamp.wall? - self.zero.or(self.first)?))
    }

    fn moment(&self, stamp: Stamp, evidence: impl FnOnce() -> Evidence) -> Moment {
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

    /// Notes the first line of a program, or of the kernel about a program. The first line that has
    /// a time counts.
    fn program(&mut self, stamp: Stamp, evidence: impl FnOnce() -> Evidence) {
        let has_time = |stamp: Stamp| stamp.kernel.or(stamp.wall).is_some();
        if self.program.as_ref().is_none_or(|known| !has_time(known.0) && has_time(stamp)) {
            self.program = Some((stamp, evidence()));
        }
    }

    fn note(
        &mut self,
        says: LogEvent<'_>,
        entry: &Entry<'_>,
        stamp: Stamp,
        evidence: impl Fn() -> Evidence,
    ) {
        match says {
            LogEvent::Version(release) => {
                self.boot.kernel = Some(release.to_owned());
                self.boot.kernel_by = Some(evidence());
            }
            LogEvent::CommandLine(line) => self.boot.command_line = Some(line.to_owned()),
            LogEvent::Init { is_start } => {
                // The kernel frees its start-up code up to a second before the first program.
                if self.boot.init.is_none() || is_start && !self.init_is_start {
                    self.boot.init = Some(self.moment(stamp, evidence));
                    self.init_is_start = is_start;
                }
            }
            LogEvent::Program => self.program(stamp, &evidence),
            LogEvent::SeedWait => {
                if self.boot.seed_wait.is_none() {
                    let from = self.moment(stamp, evidence);
                    self.boot.seed_wait = Some(SeedWait { from, until: None, job: None });
                }
            }
            LogEvent::SeedJob { seconds, is_over } => {
                let from = self.moment(stamp, evidence);
                let wait = SeedWait { from, until: None, job: None };
                let wait = self.boot.seed_wait.get_or_insert(wait);
                let longer = wait.job.filter(|known| known.seconds >= seconds);
                wait.job = longer.or(Some(SeedJob { seconds, is_over }));
            }
            LogEvent::SecureRandom(seconds) => {
                let known = self.boot.secure_random.as_ref().map_or(0.0, |wait| wait.seconds);
                if seconds > known {
                    let moment = self.moment(stamp, evidence);
                    self.boot.secure_random = Some(SecureRandomWait { seconds, moment });
                }
            }
            LogEvent::Traced(tracer) => {
                self.traced.get_or_insert_default().note_logged(
                    entry.message.as_bytes(),
                    tracer,
                    stamp.kernel.or(stamp.wall),
                    evidence,
                );
            }
            LogEvent::StartupFinished(seconds) => {
                self.started = stamp.wall.map(|wall| wall - seconds).or(self.started);
            }
            LogEvent::Dmi(name) => set(&mut self.boot.machine.dmi, name),
            LogEvent::Hypervisor(name) => set(&mut self.boot.machine.hypervisor, name),
            LogEvent::Encryption(name) => set(&mut self.boot.machine.confidential, name),
            LogEvent::Model(name) => set(&mut self.boot.machine.model, name),
            LogEvent::FastInit => {
                if self.boot.fast_init.is_none() {
                    self.boot.fast_init = Some(self.moment(stamp, evidence));
                }
            }
            LogEvent::Ready { trusted } => {
                if trusted {
                    self.hint(HintKind::TrustedCpu, stamp, &evidence);
                }
                // A kernel that trusts its CPU says so before it starts a program. Without times,
                // the order of the lines says the same.
                let is_first = self.boot.init.is_none() && self.program.is_none();
                if self.boot.ready.is_none() && (trusted || is_first && self.last.is_none()) {
                    self.is_ready_first = true;
                }
                if self.boot.ready.is_none() {
                    self.boot.ready = Some(self.moment(stamp, evidence));
                }
            }
            LogEvent::EarlyCaller { caller, crng_init } => {
                self.early_caller(caller, crng_init, stamp, evidence);
            }
            LogEvent::EarlyRead { program, bytes } => {
                self.program(stamp, &evidence);
                self.early_read(program, bytes, stamp, evidence);
            }
            LogEvent::Missed(count) => {
                self.boot.warnings_missed = self.boot.warnings_missed.saturating_add(count);
            }
            LogEvent::Fork if self.boot.forks.len() < LINES => {
                let moment = self.moment(stamp, evidence);
                self.boot.forks.push(moment);
            }
            LogEvent::Resumed if self.boot.resumptions.len() < LINES => {
                let moment = self.moment(stamp, evidence);
                self.boot.resumptions.push(moment);
            }
            LogEvent::Hint(kind) => self.hint(kind, stamp, &evidence),
            LogEvent::Unit => {
                if self.boot.seed_wait.as_ref().is_some_and(|wait| wait.until.is_none())
                    && ends_random_seed(&entry.message)
                {
                    let until = self.moment(stamp, &evidence);
                    if let Some(wait) = &mut self.boot.seed_wait {
                        wait.until = Some(until);
                    }
                }
                let is_ready = self.boot.ready.is_some();
                self.starts.note(&entry.message, entry.unit.as_deref(), is_ready, stamp, evidence);
            }
            LogEvent::Fork | LogEvent::Resumed | LogEvent::ClockSet => {}
        }
    }

    fn early_caller(
        &mut self,
        caller: &str,
        crng_init: u8,
        stamp: Stamp,
        evidence: impl Fn() -> Evidence,
    ) {
        let known = self
            .boot
            .early_callers
            .iter_mut()
            .find(|known| known.caller == caller && known.crng_init == crng_init);
        if let Some(known) = known {
            known.times += 1;
        } else if self.boot.early_callers.len() < LINES {
            let moment = self.moment(stamp, evidence);
            self.boot.early_callers.push(EarlyCaller {
                moment,
                caller: caller.to_owned(),
                crng_init,
                times: 1,
            });
        }
    }

    fn early_read(
        &mut self,
        program: &str,
        bytes: u64,
        stamp: Stamp,
        evidence: impl Fn() -> Evidence,
    ) {
        let known = self.boot.early_reads.iter_mut().find(|known| known.program == program);
        if let Some(known) = known {
            known.times += 1;
            known.bytes = known.bytes.saturating_add(bytes);
        } else if self.boot.early_reads.len() < LINES {
            let moment = self.moment(stamp, evidence);
            self.boot.early_reads.push(EarlyRead {
                moment,
                program: program.to_owned(),
                bytes,
                times: 1,
            });
        }
    }

    fn hint(&mut self, kind: HintKind, stamp: Stamp, evidence: &impl Fn() -> Evidence) {
        if self.boot.hints.len() < LINES {
            let moment = self.moment(stamp, evidence);
            self.boot.hints.push(Hint { kind, moment });
        }
    }

    fn finish(mut self) -> Boot {
        let mut boot = std::mem::take(&mut self.boot);
        boot.clock = match self.last {
            None => Clock::None,
            Some(_) if self.zero.is_some() => Clock::Kernel,
            Some(Stamp { kernel: Some(_), .. }) => Clock::Kernel,
            Some(_) => Clock::FirstLine,
        };
        boot.id = self.id.take();
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
        boot.resolution = if self.is_coarse { 1.0 } else { 0.0 };
        boot.has_kernel_times = self.zero.is_some() || self.begin.is_some();
        let trusted = boot.hints.iter().any(|hint| hint.kind == HintKind::TrustedCpu);
        let has_program = boot.init.is_some() || self.program.is_some();
        boot.is_ready_first =
            self.is_ready_first && (trusted || boot.clock == Clock::None && has_program);
        boot.trace = self.traced.take().and_then(Waits::finish);
        if let Some((stamp, evidence)) = self.program.take()
            // Among lines with times, a line without one proves no time.
            && (boot.clock == Clock::None || stamp.kernel.or(stamp.wall).is_some())
        {
            let mut moment = Moment { at_most: true, ..self.moment(stamp, || evidence) };
            // An upper bound stays one in spite of the stamp's error.
            if boot.clock == Clock::Kernel && stamp.kernel.is_none() {
                moment.at = moment.at.map(|at| at + boot.resolution);
            }
            boot.program = Some(moment);
        }
        boot.units = std::mem::take(&mut self.starts)
            .finish(|stamp, evidence| self.moment(stamp, || evidence));
        if let (Clock::FirstLine, Some(started), Some(first)) =
            (boot.clock, self.started, self.first)
            && first >= started
        {
            boot.shift(first - started);
            boot.clock = Clock::Kernel;
        }
        boot
    }
}

/// Keeps the first value; a log may repeat a line.
fn set(field: &mut Option<String>, value: &str) {
    if field.is_none() {
        *field = Some(value.to_owned());
    }
}

/// Returns whether a message ends the start of systemd-random-seed, which it names by unit or by
/// description.
fn ends_random_seed(message: &str) -> bool {
    let ends = ["Started ", "Finished ", "Failed to start "];
    ends.iter().any(|end| message.starts_with(end))
        && ["Random Seed", "systemd-random-seed.service"].iter().any(|name| message.contains(name))
}
