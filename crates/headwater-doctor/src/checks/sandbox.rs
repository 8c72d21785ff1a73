//! HW050: a sandbox that kills or fails random system calls.

use super::{Answer, evidence};
use crate::boot::HintKind;
use crate::fixes::Cause;
use crate::host::Ready;
use crate::{Case, Evidence, Finding, Id, Severity};

/// getrandom by the kernel's audit line: architecture and number (x86-64, arm64, 32-bit x86).
const CALLS: [(&str, &str); 3] = [("c000003e", "318"), ("c00000b7", "278"), ("40000003", "355")];

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
        (None, true) => return Answer::fine(),
    };
    Finding {
        id: Id::Sandbox,
        severity: Severity::Warning,
        title: title.to_owned(),
        evidence: proof,
        why: "Programs that draw by getrandom() then end, or fall back to /dev/urandom, which is not there in every sandbox. \
              Filters written before 2014 do not know the call, and others forbid what new C libraries need for it (mmap, \
              madvise)."
            .to_owned(),
        fixes: case.fixes(Cause::Sandbox),
        verify: "the program runs, and the kernel's log has no new line with type=1326".to_owned(),
    }
    .into()
}

fn killed(case: &Case) -> Vec<Evidence> {
    let hints = case.boot().into_iter().flat_map(|boot| &boot.hints);
    hints
        .filter(|it| it.kind == HintKind::SeccompKill)
        .map(|it| &it.moment.evidence)
        .filter(|it| {
            let has = |key: &str, value: &str| {
                it.says.split_whitespace().any(|word| word.strip_prefix(key) == Some(value))
            };
            CALLS.iter().any(|(arch, number)| has("arch=", arch) && has("syscall=", number))
        })
        .take(5)
        .cloned()
        .collect()
}
