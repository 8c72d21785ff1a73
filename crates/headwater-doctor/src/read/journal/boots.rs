//! Entries become boots.

use super::entry::Entry;
use super::event::{LogEvent, event};
use super::stamp::{Stamp, YEAR};
use super::units::Starts;
use crate::Evidence;
use crate::boot::{Boot, Clock, EarlyCaller, EarlyRead, Hint, HintKind, Moment};

/// Boots that are kept, the last ones. A broken file may have any number.
const BOOTS: usize = 200;
/// Lines of a kind that are kept of a boot; the kernel's rate limit lets a handful through.
const LINES: usize = 100;
/// The kernel's clock never goes back, but journald writes down what the kernel said before it in one piece.
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
    /// systemd's first words, in case the kernel's "Run ... as init process" is not there.
    running: Option<(Stamp, Evidence)>,
    /// The wall clock when the kernel started, by the lines that have both times: the smallest difference, for a line is logged
    /// after it was said.
    zero: Option<f64>,
    /// The first line, by the wall clock.
    first: Option<f64>,
    /// The last line.
    last: Option<Stamp>,
    /// What is added to the wall clock: years that the dates do not tell, and what it was set by.
    shift: f64,
    /// Any entry at all.
    begun: bool,
}

impl Boots {
    /// An entry. `before` is the time of the line before it, which is asked for only where it decides; `evidence` quotes the entry.
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
        if let Some(says) = says {
            open.note(says, entry, stamp, evidence);
        }
    }

    /// `-- Reboot --`, or `-- Boot ID --`; `before` is the time of the line before it.
    pub(super) fn separator(&mut self, before: impl FnOnce() -> Option<Stamp>) {
        if self.open.begun {
            self.close(before());
        }
    }

    /// The file's first line, which may say nothing else.
    pub(super) fn first(&mut self, stamp: Stamp) {
        self.open.stamp(stamp);
    }

    /// All boots, one at least; `last` is the time of the last line.
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
                || open.running.is_some());
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
    /// Takes a time in, and straightens it.
    fn stamp(&mut self, mut stamp: Stamp) -> Stamp {
        if let Some(wall) = &mut stamp.wall {
            *wall += self.shift;
            if self.last.and_then(|last| last.wall).is_some_and(|last| *wall < last - YEAR / 2.0) {
                self.shift += YEAR;
                *wall += YEAR;
            }
            self.first.get_or_insert(*wall);
            if let Some(kernel) = stamp.kernel {
                let zero = *wall - kernel;
                self.zero = Some(self.zero.map_or(zero, |known| known.min(zero)));
            }
        }
        if stamp != Stamp::default() {
            self.last = Some(stamp);
        }
        stamp
    }

    /// The wall clock was set: what lies between this line and the one before is not time that went by. Programs tell it after the
    /// fact, so that a jump may lie one line earlier; what a boot's length is off by then is not counted as anybody's waiting,
    /// for the line before counts as written in the same instant.
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
        Moment { at: self.at(stamp), evidence: evidence() }
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
            LogEvent::Init => {
                if self.boot.init.is_none() {
                    self.boot.init = Some(self.moment(stamp, evidence));
                }
            }
            LogEvent::Running => {
                if self.running.is_none() {
                    self.running = Some((stamp, evidence()));
                }
            }
            LogEvent::FastInit => {
                if self.boot.fast_init.is_none() {
                    self.boot.fast_init = Some(self.moment(stamp, evidence));
                }
            }
            LogEvent::Ready { trusted } => {
                if trusted {
                    self.hint(HintKind::TrustedCpu, stamp, &evidence);
                }
                if self.boot.ready.is_none() {
                    self.boot.ready = Some(self.moment(stamp, evidence));
                }
            }
            LogEvent::EarlyCaller { caller, crng_init } => {
                self.early_caller(caller, crng_init, stamp, evidence);
            }
            LogEvent::EarlyRead { program, bytes } => {
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
        if boot.init.is_none() {
            boot.init =
                self.running.take().map(|(stamp, evidence)| self.moment(stamp, || evidence));
        }
        boot.units = std::mem::take(&mut self.starts).finish(|stamp| self.at(stamp));
        boot
    }
}
