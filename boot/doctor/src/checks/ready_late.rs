//! HW002: the kernel's generator was ready late.

use super::Answer;
use super::logged::{gathers_jitter, has_getrandom, newest, words_of_readiness};
use crate::boot::{Boot, Bounds, Clock, Moment};
use crate::fixes::Cause;
use crate::{Case, Evidence, Finding, Id, Severity};

/// A shorter wait is not noticeable.
const UNNOTICED_S: f64 = 0.3;
/// The jitter loop takes 256 ticks of the kernel's timer, 2.6 s at the slowest (100 a second); in
/// 5.10 it begins a second late.
const JITTER_S: f64 = 5.0;
/// Start timeouts and people lose patience.
const LONG_S: f64 = 30.0;

pub(super) fn check(case: &Case) -> Answer {
    newest(case, |boot| by_log(case, boot))
}

fn by_log(case: &Case, boot: &Boot) -> Answer {
    let Some(evidence) = ready(boot) else {
        return Answer::CouldNot(
            "the log has no line that says when the generator was ready: the line is lost, or came \
             after the log's end"
                .to_owned(),
        );
    };
    let Some(waited) = boot.waited() else {
        return Answer::CouldNot(
            "the log has no times: write it with `journalctl -b -o short-monotonic` or plain `dmesg`"
                .to_owned(),
        );
    };
    let exact = waited.exact();
    // A program's line after readiness says as little about the start of the first one as none.
    let start = boot.init.as_ref().or(boot.program.as_ref()).filter(|start| {
        let until = boot.readiness().and_then(|(until, _)| start.at.map(|at| at <= until));
        !start.at_most || until.unwrap_or(true)
    });
    let is_bound = exact.is_none() && start.is_none() && boot.clock == Clock::Kernel;
    let severity = match (exact.unwrap_or(waited.at_least), waited.at_most) {
        // Without any trace of a program the kernel's start is the only bound. A kernel may need
        // half a minute itself; beyond that, the bound is a stall.
        (_, Some(most)) if is_bound && most > 2.0 * LONG_S => Severity::Critical,
        (_, Some(most)) if is_bound && most > LONG_S => Severity::Warning,
        (late, _) if late > LONG_S => Severity::Critical,
        (late, _) if late > JITTER_S => Severity::Warning,
        (late, _) if boot.has_gap && late <= JITTER_S => {
            return Answer::CouldNot(
                "the log does not show how long programs waited for the generator: the clock was \
                 set meanwhile, and no line says by how much; give the whole output of `dmesg`, or \
                 of `journalctl -b -o short-monotonic`"
                    .to_owned(),
            );
        }
        (late, most) if late <= UNNOTICED_S && most.is_none_or(|most| most > JITTER_S) => {
            return Answer::CouldNot(format!(
                "the log does not show how long programs waited for the generator: {}; give the \
                 whole output of `dmesg`, or of `journalctl -b -o short-monotonic`",
                match most {
                    Some(_) => waited.words(),
                    None => "it was ready at some time before the journal started".to_owned(),
                }
            ));
        }
        (late, _) if late <= UNNOTICED_S => return Answer::fine(),
        _ => Severity::Note,
    };
    let (why, fixes) = if severity == Severity::Note {
        let why = match gathers_jitter(case, boot) {
            Some(true) => {
                "The kernel takes this time to gather entropy from the jitter of its own clock: \
                 256 ticks of its timer, 0.26 s at 1000 a second, 1 s at 250, 2.6 s at 100. A \
                 program that asks meanwhile waits so long once, and no longer."
            }
            Some(false) => {
                "Kernels before 5.4 gather entropy from interrupts alone, and on this machine \
                 enough of them came soon. A program that asked meanwhile waited so long."
            }
            None => {
                "Kernels gather entropy from interrupts, and since 5.4 from the jitter of their \
                 own clock as well, which takes 0.26 to 2.6 s. The log does not show which of them \
                 it was here. A program that asked meanwhile waited so long once."
            }
        };
        (why, Vec::new())
    } else if has_getrandom(case, boot) {
        let why = "So long a wait means that no source came in time, and interrupts bring about \
                   one bit a second of the 256 (128 on older kernels). Until then each program that \
                   asks hangs; a service of Type=simple counts as started, so that a log cannot \
                   show which.";
        (why, case.fixes(Cause::NoSeed))
    } else {
        let why = "So long a wait means that no source came in time, and interrupts bring about \
                   one bit a second of the 128. Kernels before 3.17 have no getrandom(2), so only \
                   programs that read /dev/random hang meanwhile. All others read /dev/urandom, \
                   which does not wait, and whose bytes may be guessed so early.";
        (why, case.fixes(Cause::NoSeed))
    };
    let finding = Finding {
        id: Id::ReadyLate,
        severity,
        title: title(boot, waited, start),
        evidence: start.map(|start| start.evidence.clone()).into_iter().chain([evidence]).collect(),
        why: why.to_owned(),
        fixes,
        verify: format!(
            "after a reboot, `dmesg | grep -e 'as init process' -e '{}'` shows the second line \
             first, or less than a second later",
            words_of_readiness(boot)
        ),
    };
    if severity == Severity::Note && may_lack_its_start(boot, waited) {
        let why = "the log begins with a program's line, so the first program may have started \
                   long before: give the whole output of `dmesg`";
        return Answer::InPart(vec![finding], why.to_owned());
    }
    finding.into()
}

/// Returns whether the wait may be longer than a note says, because the log's first line is that of
/// a program, and the kernel's buffer or a paste may have lost earlier ones.
fn may_lack_its_start(boot: &Boot, waited: Bounds) -> bool {
    let is_first =
        |program: &Moment| program.at.zip(boot.begin).is_some_and(|(at, begin)| at <= begin);
    boot.init.is_none()
        && boot.kernel.is_none()
        && boot.program.as_ref().is_some_and(is_first)
        && waited.at_most.is_some_and(|most| most > 2.0 * JITTER_S)
}

/// Returns the line that shows that the generator was ready.
fn ready(boot: &Boot) -> Option<Evidence> {
    let by_seed = || Some(boot.seed_wait.as_ref()?.until.as_ref()?.evidence.clone());
    boot.ready.as_ref().map(|ready| ready.evidence.clone()).or_else(by_seed)
}

fn title(boot: &Boot, waited: Bounds, start: Option<&Moment>) -> String {
    let ready = "the kernel's random generator was ready";
    match (start, waited.exact()) {
        (_, Some(exact)) => format!("{ready} {exact:.1} s after the first program started"),
        // The distance of the two lines lies between the bounds. The time of the second alone
        // counts from the log's first line, which may be long before any program.
        (Some(start), None) => {
            let distance = boot.readiness().zip(start.at).map(|((until, _), at)| until - at);
            let is_whole = boot.clock == Clock::FirstLine && boot.resolution > 0.0 && !boot.has_gap;
            let between = match distance.filter(|_| is_whole) {
                Some(seconds) => format!(" ({seconds:.0} s by the log's whole seconds)"),
                None => String::new(),
            };
            format!("{ready} {} after the first program started{between}", waited.words())
        }
        (None, None) if boot.clock == Clock::FirstLine => {
            format!("{ready} {} after the log's first line", waited.words())
        }
        (None, None) => format!(
            "{ready} {} after the first program started; the log does not show that start, and \
             counts from the kernel's",
            waited.words()
        ),
    }
}
