//! HW001: the kernel's generator is not ready.

use super::logged::has_getrandom;
use super::{Answer, early_read};
use crate::boot::{Boot, Clock};
use crate::fixes::Cause;
use crate::host::Ready;
use crate::{Case, Evidence, Finding, Id, Severity};

/// A log that ends sooner after the first program's start may just have been taken early.
const SETTLED_S: f64 = 5.0;
/// The length of a wait from which on the finding is critical, as for HW002 and HW004.
const LONG_S: f64 = 30.0;
/// No kernel takes as long for its own start.
const LATE_S: f64 = 60.0;

pub(super) fn check(case: &Case) -> Answer {
    match case.live().map(|live| live.ready) {
        Some(Ready::Yes) => Answer::fine(),
        Some(Ready::Refused(errno)) => Answer::CouldNot(format!(
            "getrandom is refused here, with error {errno}: a sandbox filters system calls; look from outside of it"
        )),
        Some(Ready::No) => finding(
            case,
            "the kernel's random generator is not ready: programs that ask it for bytes wait"
                .to_owned(),
            Evidence {
                place: "getrandom(GRND_NONBLOCK)".to_owned(),
                says: "EAGAIN: resource temporarily unavailable".to_owned(),
            },
        )
        .into(),
        None => case.boot().map_or(Answer::NotAsked, |boot| Answer::from(by_log(case, boot))),
    }
}

/// Judges a log that has lines of the generator's start, or begins with the kernel, and continues
/// for seconds after a program has run, without "crng init done".
fn by_log(case: &Case, boot: &Boot) -> Option<Finding> {
    if boot.readiness().is_some() || boot.ready.is_some() {
        return None;
    }
    // A log that lacks the kernel's first lines may lack the line of readiness as well, unless
    // other lines show the generator's start.
    let begins = boot.fast_init.is_some()
        || !boot.early_reads.is_empty()
        || boot.seed_wait.is_some()
        || boot.kernel.is_some();
    let start = boot.init.as_ref().or(boot.program.as_ref()).or(boot.fast_init.as_ref())?;
    let Some(waited) = boot.waited().filter(|waited| begins && waited.at_least >= SETTLED_S) else {
        return late_fast_init(case, boot);
    };
    let mut evidence = vec![start.evidence.clone()];
    evidence.extend(boot.fast_init.as_ref().map(|moment| moment.evidence.clone()));
    evidence.extend(boot.seed_wait.as_ref().map(|wait| wait.from.evidence.clone()));
    evidence.dedup();
    let finding = finding(
        case,
        format!(
            "the kernel's random generator was not ready {:.0} s after programs ran, where the log \
             ends",
            waited.at_least.floor()
        ),
        start.evidence.clone(),
    );
    let severity = if waited.at_least > LONG_S { Severity::Critical } else { Severity::Warning };
    // Keys that were made meanwhile stay weak, so their remedy is first.
    let fixes = early_read::keys(case, boot).into_iter().chain(finding.fixes).collect();
    Some(Finding { evidence, severity, fixes, ..finding })
}

/// Judges a log whose only line about the generator comes long after the kernel's start, and says
/// that the generator is not ready yet. The log does not show when programs started.
fn late_fast_init(case: &Case, boot: &Boot) -> Option<Finding> {
    let fast_init = boot.fast_init.as_ref()?;
    let is_late = fast_init.at.is_some_and(|at| at > LATE_S) && !fast_init.at_most;
    let is_bound = boot.init.is_none() && boot.program.is_none() && boot.clock == Clock::Kernel;
    (is_late && is_bound).then(|| {
        finding(
            case,
            format!(
                "the kernel's random generator was not ready {:.0} s after the kernel's start, and \
                 the log has no later line about it",
                fast_init.at.unwrap_or_default().floor()
            ),
            fast_init.evidence.clone(),
        )
    })
}

fn finding(case: &Case, title: String, evidence: Evidence) -> Finding {
    Finding {
        id: Id::NotReady,
        severity: Severity::Critical,
        title,
        evidence: std::iter::once(evidence).chain(slope(case)).collect(),
        why: waits(case).to_owned(),
        fixes: case.fixes(Cause::NoSeed),
        verify: "headwater wait --timeout 10 returns at once after a reboot".to_owned(),
    }
}

/// Returns the calls that wait for the generator, by the kernel.
fn waits(case: &Case) -> &'static str {
    if case.boot().is_none_or(|boot| has_getrandom(case, boot)) {
        "getrandom() waits until the kernel has gathered 256 bits (128 before 5.18); services, logins and \
         key generation hang with it."
    } else {
        "A read of /dev/random waits until the kernel has gathered 128 bits, and services that read it hang. This kernel \
         is older than 3.17 and has no getrandom(2), so most programs read /dev/urandom, which does not wait, and \
         whose bytes may be guessed so early."
    }
}

/// Returns the measured speed of entropy, which predicts the time that is left.
fn slope(case: &Case) -> Option<Evidence> {
    let slope = case.deep.as_ref()?.entropy.as_ref()?;
    Some(Evidence { place: "/proc/sys/kernel/random/entropy_avail".to_owned(), says: slope.says() })
}
