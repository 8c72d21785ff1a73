//! HW005: a traced program spent its time in getrandom.

use super::Answer;
use crate::fixes::Cause;
use crate::trace::Trace;
use crate::{Case, Finding, Id, Severity};

/// One call takes less than a microsecond, some seconds in the jitter loop; longer ones waited for
/// the generator.
const LEAST_S: f64 = 0.3;
const LATE_S: f64 = 5.0;
const LONG_S: f64 = 30.0;

pub(super) fn check(case: &Case) -> Answer {
    // A service that runs under strace leaves a trace in the log.
    let logged = case.boot().and_then(|boot| boot.trace.as_ref());
    let traces = || case.traces.iter().chain(logged);
    if traces().next().is_none() {
        return Answer::NotAsked;
    }
    let findings: Vec<Finding> = traces().filter_map(|trace| by_trace(case, trace)).collect();
    // A table of `strace -c` counts the CPU's time by default, and a call that waits takes none.
    let blind = |trace: &Trace| trace.summary && trace.calls > 0 && trace.longest < LEAST_S;
    if traces().any(blind) {
        return Answer::InPart(
            findings,
            "a table of `strace -c` counts time on the CPU, and a call that waits takes none: trace again with `strace -f -c -w`".to_owned(),
        );
    }
    Answer::Found(findings)
}

fn by_trace(case: &Case, trace: &Trace) -> Option<Finding> {
    let severity = match trace.longest {
        longest if longest < LEAST_S => return None,
        longest if longest < LATE_S => Severity::Note,
        longest if longest < LONG_S => Severity::Warning,
        _ => Severity::Critical,
    };
    let program = trace
        .program
        .as_deref()
        .map_or("a traced program".to_owned(), |program| format!("`{program}`"));
    let share = if trace.total > 0.0 && trace.getrandom <= trace.total {
        format!(", {} of its time", percent(trace.getrandom / trace.total))
    } else {
        String::new()
    };
    let calls = match trace.calls {
        1 if trace.device => "one wait for /dev/random".to_owned(),
        calls if trace.device => format!("{calls} waits for /dev/random"),
        1 => "one call of getrandom".to_owned(),
        calls => format!("{calls} calls of getrandom"),
    };
    Some(Finding {
        id: Id::TraceWaited,
        severity,
        title: format!("{program} spent {:.2} s in {calls}{share}", trace.getrandom),
        evidence: trace.evidence.clone(),
        why: if trace.device {
            "A read of /dev/random, or a select() or poll() of it, waits until the kernel's estimate of its entropy is high enough: \
             before Linux 5.6 again and again, since then until the generator is ready once. OpenSSL 1.1.1 waits like this where \
             getrandom() is missing."
        } else {
            "A call of getrandom() takes less than a microsecond once the kernel's generator is ready, and waits until then. \
              This part of the program's time is a wait, and not work."
        }
        .to_owned(),
        fixes: case.fixes(if trace.device { Cause::Starved } else { Cause::NoSeed }),
        verify: format!("after a reboot, `strace -f -c -w {}` shows no time in getrandom", trace.program.as_deref().unwrap_or("PROGRAM")),
    })
}

/// Formats a share in percent, rounded down, so that it never reads 100 % too early.
fn percent(share: f64) -> String {
    format!("{:.2} %", (share * 10_000.0).floor() / 100.0)
}
