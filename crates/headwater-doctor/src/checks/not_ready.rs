//! HW001: the kernel's generator is not ready.

use super::Answer;
use crate::boot::Boot;
use crate::fixes::Cause;
use crate::host::Ready;
use crate::{Case, Evidence, Finding, Id, Severity};

/// A log that ends sooner after the first program's start may just have been taken early.
const SETTLED_S: f64 = 5.0;

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

/// Judges a log that begins with the kernel, continues past the start of the first program, and has
/// no "crng init done".
fn by_log(case: &Case, boot: &Boot) -> Option<Finding> {
    let (init, end) = (boot.init.as_ref()?, boot.end?);
    let started = init.at?;
    if boot.ready.is_some() || boot.kernel.is_none() || end - started < SETTLED_S {
        return None;
    }
    Some(finding(
        case,
        format!(
            "the kernel's random generator was not ready {:.0} s after the first program started, where the log ends",
            end - started
        ),
        init.evidence.clone(),
    ))
}

fn finding(case: &Case, title: String, evidence: Evidence) -> Finding {
    Finding {
        id: Id::NotReady,
        severity: Severity::Critical,
        title,
        evidence: std::iter::once(evidence).chain(slope(case)).collect(),
        why: "getrandom() waits until the kernel has gathered 256 bits; services, logins and key generation hang \
              with it."
            .to_owned(),
        fixes: case.fixes(Cause::NoSeed),
        verify: "headwater wait --timeout 10 returns at once after a reboot".to_owned(),
    }
}

/// The measured speed of entropy, from which follows the time that is left.
fn slope(case: &Case) -> Option<Evidence> {
    let slope = case.deep.as_ref()?.entropy.as_ref()?;
    Some(Evidence { place: "/proc/sys/kernel/random/entropy_avail".to_owned(), says: slope.says() })
}
