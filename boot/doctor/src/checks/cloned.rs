//! HW043: this VM was cloned or rolled back while running.

use super::Answer;
use super::logged::newest;
use crate::boot::Boot;
use crate::fixes::Cause;
use crate::{Case, Finding, Id, Severity};

pub(super) fn check(case: &Case) -> Answer {
    newest(case, |boot| by_log(case, boot).into())
}

fn by_log(case: &Case, boot: &Boot) -> Option<Finding> {
    let last = boot.forks.last()?;
    let times = match boot.forks.len() {
        1 => "once".to_owned(),
        times => format!("{times} times"),
    };
    let when =
        last.at.map(|at| format!(", the last time {at:.1} s after its start")).unwrap_or_default();
    Some(Finding {
        id: Id::Cloned,
        // The kernel has seen it, and mixed new bytes in at once.
        severity: Severity::Note,
        title: format!("this VM was restored from a snapshot or cloned {times}{when}; the kernel noticed and reseeded"),
        evidence: boot.forks.iter().rev().take(3).map(|fork| fork.evidence.clone()).collect(),
        why: "The kernel's bytes since then differ from clone to clone. Programs that ran before that moment and have random \
              generators of their own do not notice, and make the same numbers in each clone. Bytes that were drawn before and \
              not used yet are the same in each clone as well: keys, nonces, session numbers."
            .to_owned(),
        fixes: case.fixes(Cause::Cloned),
        verify: "programs that ran before that moment were started again, or draw from the kernel or headwater at each use".to_owned(),
    })
}
