//! HW050: a sandbox that kills or fails random system calls.

use super::Answer;
use crate::boot::HintKind;
use crate::finding::evidence;
use crate::fixes::Cause;
use crate::host::Ready;
use crate::{Case, Evidence, Finding, Id, Severity};

pub(super) fn check(case: &Case) -> Answer {
    let refused = match case.live().map(|live| live.ready) {
        Some(Ready::Refused(errno)) => {
            Some(evidence("getrandom(GRND_NONBLOCK)", format!("error {errno}")))
        }
        _ => None,
    };
    let killed = killed(case);
    let (title, proof) = match (refused, killed.is_empty()) {
        (Some(refused), _) => {
            ("getrandom is refused here: a filter for system calls forbids it", vec![refused])
        }
        (None, false) => ("a filter for system calls killed a program for getrandom", killed),
        (None, true) if case.host.is_none() && case.boots.is_empty() => return Answer::NotAsked,
        (None, true) => {
            return match &case.log_error {
                Some(why) => Answer::InPart(Vec::new(), why.clone()),
                None => Answer::fine(),
            };
        }
    };
    Finding {
        id: Id::Sandbox,
        severity: Severity::Warning,
        title: title.to_owned(),
        evidence: proof,
        why: "Programs that draw by getrandom() then end, or fall back to /dev/urandom, which is not there in every sandbox. \
              Filters written before 2014 do not know the call, and others forbid calls that new C libraries need for it \
              (mmap, madvise)."
            .to_owned(),
        fixes: case.fixes(Cause::Sandbox),
        verify: "the program runs, and the kernel's log has no new line with type=1326".to_owned(),
    }
    .into()
}

/// Returns the kills by seccomp in the log. The log reader keeps only those for getrandom.
fn killed(case: &Case) -> Vec<Evidence> {
    let hints = case.boot().into_iter().flat_map(|boot| &boot.hints);
    let kills = hints.filter(|hint| hint.kind == HintKind::SeccompKill);
    kills.map(|hint| hint.moment.evidence.clone()).take(5).collect()
}
