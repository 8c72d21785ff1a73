//! HW052: secure bytes may reach swap.

use super::Answer;
use crate::finding::evidence;
use crate::fixes::Cause;
use crate::{Case, Finding, Host, Id, Severity};
use headwater_status::Page;

pub(super) fn check(case: &Case) -> Answer {
    let (Some(kernel), Some(host)) = (case.kernel(), &case.host) else { return Answer::NotAsked };
    let Some((place, swap)) = swap(host) else { return Answer::fine() };
    let running = case.live().filter(|_| case.assumed.is_none()).map(|live| live.status.page);
    let (severity, page) = match (running, kernel.has_droppable()) {
        (Some(Page::WipeOnFork), _) => {
            (Severity::Warning, "the memory could not be locked (RLIMIT_MEMLOCK)")
        }
        (Some(_), _) | (None, Some(true)) => return Answer::fine(),
        // A program's own limit decides whether it may lock memory.
        (None, _) => {
            (Severity::Note, "a program that may not lock memory (RLIMIT_MEMLOCK) cannot help it")
        }
    };
    Finding {
        id: Id::SwappedPages,
        severity,
        title: "bytes that are yet to be given out may be written to swap".to_owned(),
        evidence: vec![evidence(place, swap), evidence("kernel", format!("{kernel} has no MAP_DROPPABLE (Linux 6.11); {page}"))],
        why: "Buffered random bytes are future keys. Linux 6.11 and later have memory that is dropped, never swapped. On older \
              kernels a program has to lock its pages, within the limit RLIMIT_MEMLOCK."
            .to_owned(),
        fixes: case.fixes(Cause::SwappedPages),
        verify: "headwater status says: page droppable, or wipe_on_fork_locked".to_owned(),
    }
    .into()
}

/// Returns a swap area on disk; zram is in memory and does not count.
fn swap(host: &Host) -> Option<(&'static str, String)> {
    let place = "/proc/swaps";
    let text = host.root.text(place).ok()?;
    let line = text.lines().skip(1).find(|line| !line.starts_with("/dev/zram"))?;
    Some((place, line.split_whitespace().take(3).collect::<Vec<&str>>().join(" ")))
}
