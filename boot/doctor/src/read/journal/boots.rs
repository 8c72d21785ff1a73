//! Entries become boots.

use super::entry::{Entry, Writer};
use super::event::event;
use super::log_event::LogEvent;
use super::machine::{self, MachineFact};
use super::shortened::ends_random_seed;
use super::stamp::Stamp;
use super::times::Times;
use super::units::Starts;
use super::waiters::row;
use crate::Evidence;
use crate::boot::{
    Boot, Clock, EarlyCaller, EarlyRead, Hint, HintKind, Moment, ProgramWait, SecureRandomWait,
    SeedJob, SeedWait, Waiter,
};
use crate::read::strace::Waits;

/// The number of boots that are kept, the last ones. Without a limit, a broken file whose every
/// line looks like a start would fill the memory.
const BOOTS: usize = 200;
/// Lines of a kind that are kept of a boot; the kernel's rate limit lets a handful through.
const LINES: usize = 100;
/// The kernel's clock never goes back, so a line that is earlier than the last one should be of the
/// next boot. But journald writes all earlier lines of the kernel at once, when some of its own are
/// there already. So only a larger step back begins a boot.
const BACK: f64 = 60.0;

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
    /// The first line that only a program can have caused. It is kept with its stamp, not its time:
    /// a stamp of the wall clock becomes a time only at the end, when the kernel's start by that
    /// clock is known.
    program: Option<(Stamp, Evidence)>,
    times: Times,
    /// [`Times::gaps`] at the first program's start.
    gaps_at_start: usize,
    /// [`Times::gaps`] at the line of readiness, if only the wall clock dates that line.
    gaps_at_end: Option<usize>,
    /// True if the first program's start is known by its own line.
    init_is_start: bool,
    /// True if the line of readiness stands in front of every trace of a program, and this order
    /// means something.
    is_ready_first: bool,
    order: Order,
    /// The lines of strace.
    traced: Option<Waits>,
    /// The seconds for which a thread or a task hangs whose stack comes next.
    hangs: Option<f64>,
    /// True once the boot has an entry.
    begun: bool,
}

/// The order of the kernel's lines, which counts where their times say nothing.
#[derive(Clone, Copy, Default, PartialEq)]
enum Order {
    /// No line of readiness and no trace of a program so far.
    #[default]
    Open,
    /// The line of readiness came before any trace of a program.
    ReadyFirst,
    /// After it the kernel was still at its own start, so no program had waited.
    ReadyInStart,
    /// A program came first.
    ProgramFirst,
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
        } else if let Some(LogEvent::ClockSet(step)) = says
            && let Some(seconds) = self.open.times.was_set(step, entry.stamp, before())
        {
            self.open.was_late(seconds);
        }
        let open = &mut self.open;
        open.begun = true;
        if open.id.is_none() {
            open.id = entry.boot.as_deref().map(str::to_owned);
        }
        let stamp = open.stamp(entry.stamp);
        if entry.writer == Writer::Kernel && stamp.kernel.is_none() {
            open.times.kernels(stamp);
        } else if entry.writer != Writer::Kernel {
            open.program(stamp, &evidence);
        }
        open.note_order(says.as_ref(), entry.writer, stamp);
        open.boot.has_systemd |= matches!(entry.writer, Writer::Init | Writer::Seed)
            || matches!(&says, Some(LogEvent::EarlyRead { program, .. }) if program.starts_with("systemd"));
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
        let back = match (entry.stamp.kernel, open.times.last_by_kernel()) {
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

impl OpenBoot {
    /// Takes the time of a line in, and returns it corrected.
    fn stamp(&mut self, stamp: Stamp) -> Stamp {
        self.times.correct(stamp, self.boot.ready.is_some())
    }

    /// Corrects the line of readiness, if that is the last line of a time: the clock was set before
    /// it, and the report of this came after it.
    fn was_late(&mut self, seconds: f64) {
        let last = self.times.now();
        let ready = self.boot.ready.as_mut().and_then(|ready| ready.at.as_mut());
        if let (Some(ready), Some(last)) = (ready, last)
            && (*ready - seconds - last).abs() < 1e-3
        {
            *ready -= seconds;
        }
    }

    fn moment(&self, stamp: Stamp, evidence: impl FnOnce() -> Evidence) -> Moment {
        self.times.moment(stamp, evidence)
    }

    /// Follows the order of the kernel's lines, which journald and syslog daemons keep.
    fn note_order(&mut self, says: Option<&LogEvent<'_>>, writer: Writer, stamp: Stamp) {
        let is_program = writer != Writer::Kernel
            || matches!(
                says,
                Some(LogEvent::Init { .. } | LogEvent::Program | LogEvent::EarlyRead { .. })
            );
        let is_start = matches!(
            says,
            Some(
                LogEvent::KernelStarts
                    | LogEvent::Init { .. }
                    | LogEvent::Machine(MachineFact::Firmware(_))
            )
        );
        self.order = match (self.order, says) {
            (Order::Open, Some(LogEvent::Ready { .. })) if self.times.are_moot(stamp) => {
                Order::ReadyFirst
            }
            (Order::Open, _) if is_program => Order::ProgramFirst,
            (Order::ReadyFirst, _) if is_start && self.times.are_moot(stamp) => Order::ReadyInStart,
            (order, _) => order,
        };
    }

    /// Notes the first line of a program, or of the kernel about a program. A line without a time
    /// is better than none, so it is kept, but only until a line with one comes.
    fn program(&mut self, stamp: Stamp, evidence: impl FnOnce() -> Evidence) {
        let has_time = |stamp: Stamp| stamp.kernel.or(stamp.wall).is_some();
        if self.program.as_ref().is_none_or(|known| !has_time(known.0) && has_time(stamp)) {
            self.program = Some((stamp, evidence()));
            if self.boot.init.is_none() {
                self.gaps_at_start = self.times.gaps();
            }
        }
    }

    /// Notes that no earlier line shows readiness.
    fn ends(&mut self, stamp: Stamp) {
        self.gaps_at_end = stamp.kernel.is_none().then(|| self.times.gaps());
    }

    fn note(
        &mut self,
        says: LogEvent<'_>,
        entry: &Entry<'_>,
        stamp: Stamp,
        evidence: impl Fn() -> Evidence,
    ) {
        match says {
            LogEvent::Version(version) => {
                let release = version.split_ascii_whitespace().next();
                self.boot.kernel = release.map(str::to_owned);
                if let Some(name) = machine::of_version(version) {
                    MachineFact::Architecture(name).note(&mut self.boot.machine);
                }
                self.boot.kernel_by = Some(evidence());
            }
            LogEvent::CommandLine(line) => self.boot.command_line = Some(line.to_owned()),
            LogEvent::Init { is_start } => {
                // The kernel frees its start-up code up to a second before the first program.
                if self.boot.init.is_none() || is_start && !self.init_is_start {
                    self.boot.init = Some(self.moment(stamp, evidence));
                    self.init_is_start = is_start;
                    self.gaps_at_start = self.times.gaps();
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
                let moment = self.moment(stamp, evidence);
                match &mut self.boot.secure_random {
                    None => {
                        self.boot.secure_random =
                            Some(SecureRandomWait { seconds, others: Vec::new(), moment });
                    }
                    Some(known) if known.others.len() < LINES => {
                        let shorter = known.seconds.min(seconds);
                        known.others.push(shorter);
                        if seconds > known.seconds {
                            (known.seconds, known.moment) = (seconds, moment);
                        }
                    }
                    Some(_) => {}
                }
            }
            LogEvent::ProgramWaits { waiter, seconds } => {
                let seconds = seconds.or(self.hangs.take());
                self.program_waits(waiter, seconds, self.moment(stamp, evidence));
            }
            LogEvent::Hangs(seconds) => self.hangs = (seconds > 0.0).then_some(seconds),
            LogEvent::Frame(waiter) => {
                if let Some(seconds) = self.hangs.take() {
                    self.program_waits(waiter, Some(seconds), self.moment(stamp, evidence));
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
                self.times.complete(stamp, seconds);
            }
            LogEvent::Machine(fact) => fact.note(&mut self.boot.machine),
            LogEvent::FastInit => {
                if self.boot.fast_init.is_none() {
                    self.boot.fast_init = Some(self.moment(stamp, evidence));
                }
            }
            LogEvent::Ready { trusted } => {
                if trusted {
                    self.hint(HintKind::TrustedCpu, stamp, &evidence);
                }
                // Did any program have to wait? Where lines have times, they answer. Otherwise two
                // things say no: a kernel that trusts its CPU is ready before it starts a program,
                // and in a log without any times the line of readiness stands before every trace of
                // a program.
                let is_first = self.boot.init.is_none() && self.program.is_none();
                if self.boot.ready.is_none() && (trusted || is_first && self.times.is_empty()) {
                    self.is_ready_first = true;
                }
                if self.boot.ready.is_none() {
                    self.boot.ready = Some(self.moment(stamp, evidence));
                    self.ends(stamp);
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
                    if self.boot.ready.is_none() {
                        self.ends(stamp);
                    }
                    if let Some(wait) = &mut self.boot.seed_wait {
                        wait.until = Some(until);
                    }
                }
                let is_ready = self.boot.ready.is_some();
                self.starts.note(&entry.message, entry.unit.as_deref(), is_ready, stamp, evidence);
            }
            LogEvent::Fork | LogEvent::Resumed | LogEvent::ClockSet(_) | LogEvent::KernelStarts => {
            }
        }
    }

    /// Keeps a program's wait: the first one that says how long, or the first of all. A later frame
    /// of a Java stack shows that its generator is the blocking one.
    fn program_waits(&mut self, waiter: Waiter, seconds: Option<f64>, moment: Moment) {
        if let Some(known) = &mut self.boot.program_wait {
            if known.waiter == Waiter::Java && waiter == Waiter::JavaBlocking {
                known.waiter = waiter;
            }
            if known.seconds.is_some() || seconds.is_none() {
                return;
            }
        }
        let line = &moment.evidence.says;
        let program = named(line).or_else(|| row(line).map(|(_, name)| name)).map(str::to_owned);
        self.boot.program_wait = Some(ProgramWait { program, waiter, seconds, moment });
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
        boot.id = self.id.take();
        self.times.describe(&mut boot);
        boot.has_gap = self.gaps_at_end.is_some_and(|gaps| gaps != self.gaps_at_start);
        let trusted = boot.hints.iter().any(|hint| hint.kind == HintKind::TrustedCpu);
        let has_program = boot.init.is_some() || self.program.is_some();
        boot.is_ready_first = self.order == Order::ReadyInStart
            || self.is_ready_first && (trusted || boot.clock == Clock::None && has_program);
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
        if let (Clock::FirstLine, Some(since)) = (boot.clock, self.times.since_start()) {
            boot.shift(since);
            boot.clock = Clock::Kernel;
        }
        boot
    }
}

/// Returns the name in the `NAME[PID]: ` of a line.
fn named(line: &str) -> Option<&str> {
    let (head, _) = line.split_once("]: ")?;
    let (before, _) = head.rsplit_once('[')?;
    before.rsplit(' ').next().filter(|name| !name.is_empty())
}
