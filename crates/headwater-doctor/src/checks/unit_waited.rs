//! HW004: a service waited for the kernel's generator.
//!
//! No log says what a service hangs in. What it says is when its start began and ended; a start that hung while the generator was
//! not ready, and was over the moment it was, waited for it. So a unit counts if the generator was late, the start went on for
//! seconds before that, and ended within seconds after, or systemd killed it at its start timeout meanwhile.

use super::Answer;
use super::logged::{between, newest};
use crate::boot::{Attempt, Boot, Moment, Outcome, Unit};
use crate::fixes::Cause;
use crate::host::Ready;
use crate::{Case, Evidence, Finding, Id, Severity};

/// Shorter waits are the jitter loop's, or coincidence.
const LEAST_S: f64 = 5.0;
/// A start that waited is over soon after.
const SOON_S: f64 = 3.0;
/// From here on somebody was locked out.
const LONG_S: f64 = 30.0;
/// Units that are named one by one, those that waited longest.
const NAMED: usize = 8;

pub(super) fn check(case: &Case) -> Answer {
    newest(case, |boot| by_log(case, boot))
}

fn by_log(case: &Case, boot: &Boot) -> Answer {
    let (Some(init), Some(until)) = (&boot.init, until(boot)) else {
        return without_the_kernel(boot);
    };
    let Some(started) = init.at else {
        return Answer::CouldNot(
            "the log has no times: write it with `journalctl -b -o short-monotonic`".to_owned(),
        );
    };
    if until - started < LEAST_S {
        return Answer::fine();
    }
    if boot.units.is_empty() {
        return Answer::CouldNot(
            "the generator was late, and the kernel's log does not name the services that waited: give what `journalctl -b` prints"
                .to_owned(),
        );
    }
    // A start without an end hangs, or its end is not in the log: it counts if the machine itself says that it is not ready.
    let still_waits =
        boot.ready.is_none() && case.live().is_some_and(|live| live.ready == Ready::No);
    let mut waits: Vec<Wait<'_>> =
        boot.units.iter().filter_map(|unit| wait(unit, until, still_waits)).collect();
    waits.sort_by(|one, other| other.seconds.total_cmp(&one.seconds));
    let ready = boot.ready.as_ref().map(|ready| &ready.evidence);
    Answer::Found(waits.iter().take(NAMED).map(|wait| finding(case, wait, ready)).collect())
}

/// Until when whoever asked for random bytes had to wait: until the generator was ready, or the log ends.
fn until(boot: &Boot) -> Option<f64> {
    match &boot.ready {
        Some(ready) => ready.at,
        // A log that begins with the kernel and has no such line.
        None => boot.kernel.as_ref().and(boot.end),
    }
}

/// A unit that waited.
struct Wait<'a> {
    unit: &'a Unit,
    seconds: f64,
    attempts: Vec<&'a Attempt>,
    killed: usize,
    /// The start that went on when the generator was ready; `None` if systemd gave up before.
    over: Option<&'a Moment>,
}

fn wait(unit: &Unit, until: f64, still_waits: bool) -> Option<Wait<'_>> {
    let attempts: Vec<&Attempt> = unit
        .attempts
        .iter()
        .filter(|attempt| attempt.began.at.is_some_and(|at| at < until))
        .collect();
    let end = |attempt: &Attempt| attempt.ended.as_ref().and_then(|ended| ended.at);
    let straddles = |attempt: &Attempt| match end(attempt) {
        // A start that fails for reasons of its own did not wait.
        Some(end) if attempt.outcome != Outcome::Failed => end >= until && end <= until + SOON_S,
        Some(_) => false,
        None => still_waits && attempt.outcome == Outcome::Unknown,
    };
    let last = attempts.last().filter(|attempt| straddles(attempt));
    let killed = attempts.iter().filter(|attempt| attempt.outcome == Outcome::TimedOut).count();
    let counted: Vec<&Attempt> = attempts
        .iter()
        .copied()
        .filter(|attempt| {
            attempt.outcome == Outcome::TimedOut
                || last.is_some_and(|last| std::ptr::eq(*last, *attempt))
        })
        .collect();
    let seconds: f64 = counted
        .iter()
        .filter_map(|attempt| Some(end(attempt).unwrap_or(until).min(until) - attempt.began.at?))
        .sum();
    (seconds >= LEAST_S).then(|| Wait {
        unit,
        seconds,
        attempts: counted,
        killed,
        over: last.and_then(|last| last.ended.as_ref()),
    })
}

fn finding(case: &Case, wait: &Wait<'_>, ready: Option<&Evidence>) -> Finding {
    let name = &wait.unit.name;
    let number = wait.attempts.len();
    let attempts = match (number, wait.killed) {
        (_, 0) => String::new(),
        (1, _) => ", until systemd killed it at its start timeout".to_owned(),
        (number, 1) => {
            format!(", in {number} attempts, of which systemd killed one at its start timeout")
        }
        (number, killed) if number == killed => {
            format!(", in {number} attempts, each of which systemd killed at its start timeout")
        }
        (number, killed) => {
            format!(", in {number} attempts, of which systemd killed {killed} at the start timeout")
        }
    };
    let mut evidence = Vec::new();
    for attempt in &wait.attempts {
        evidence.push(attempt.began.evidence.clone());
        if attempt.outcome == Outcome::TimedOut {
            evidence.extend(attempt.ended.as_ref().map(|ended| ended.evidence.clone()));
        }
    }
    evidence.extend(ready.cloned());
    evidence.extend(wait.over.map(|over| over.evidence.clone()));
    let mut fixes = case.fixes(Cause::NoSeed);
    if wait.killed > 0 {
        fixes.extend(case.fixes(Cause::StartTimeout));
        fixes.sort_by_key(|fix| fix.side);
    }
    Finding {
        id: Id::UnitWaited,
        severity: if wait.seconds >= LONG_S || wait.killed > 0 {
            Severity::Critical
        } else {
            Severity::Warning
        },
        title: format!("{name} waited {:.1} s for the random generator{attempts}", wait.seconds),
        evidence,
        why: format!(
            "The start of {name} hung while the kernel's generator was not ready{}. What it hangs in is getrandom(), which waits; to systemd \
             it is just slow.",
            if wait.over.is_some() { ", and was over as soon as it was" } else { "" }
        ),
        fixes,
        verify: format!(
            "after a reboot, `systemd-analyze blame | grep {name}` shows less than a second"
        ),
    }
}

/// The log of one unit, say. A kill at the start timeout in it may have this cause, or another.
fn without_the_kernel(boot: &Boot) -> Answer {
    let killed = boot.units.iter().find_map(|unit| {
        let attempt = unit.attempts.iter().find(|attempt| attempt.outcome == Outcome::TimedOut)?;
        Some((unit, attempt.ended.as_ref().and_then(|ended| between(&attempt.began, ended))))
    });
    match killed {
        Some((unit, seconds)) => Answer::CouldNot(format!(
            "systemd killed {} at its start timeout{}, and the log has no lines of the kernel's that tell whether it waited for the random \
             generator: give what `journalctl -b` prints, without -u",
            unit.name,
            seconds.map(|seconds| format!(" after {seconds:.0} s")).unwrap_or_default()
        )),
        None => Answer::CouldNot(
            "the log does not tell when the first program started and when the generator was ready: give what `journalctl -b` prints"
                .to_owned(),
        ),
    }
}
