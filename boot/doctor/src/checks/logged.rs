//! Shared parts of the checks of logs: the choice of the boot, and the weight of old boots.

use super::Answer;
use crate::boot::{Boot, Moment};
use crate::{Case, Finding, Kernel, Severity};

/// Runs `find` on the boots from the last one back, up to the first in which something went wrong.
/// If that is an earlier boot, its findings are history and become notes, after those of the last.
/// A last boot that shows nothing has even the notes of an earlier one after it.
pub(super) fn newest(case: &Case, mut find: impl FnMut(&Boot) -> Answer) -> Answer {
    let Some((last, earlier)) = case.boots.split_last() else { return no_log(case) };
    let answer = find(last);
    let went_wrong = |found: &[Finding]| found.iter().any(|one| one.severity > Severity::Note);
    if went_wrong(answer.findings()) {
        return answer;
    }
    let shows_nothing = matches!(&answer, Answer::Found(found) if found.is_empty());
    let history = earlier
        .iter()
        .rev()
        .map(|boot| find(boot).into_findings())
        .find(|found| went_wrong(found) || shows_nothing && !found.is_empty());
    let notes = history.into_iter().flatten().map(|mut finding| {
        finding.severity = Severity::Note;
        finding.title = format!("at an earlier boot, {}", finding.title);
        finding
    });
    answer.with(notes.collect())
}

/// Returns the answer of a check that needs a log, if there is none: on a machine the check could
/// not be made; without a machine it was not asked for.
fn no_log(case: &Case) -> Answer {
    match (&case.host, &case.log_error) {
        (None, _) => Answer::NotAsked,
        (Some(_), Some(trouble)) => Answer::CouldNot(trouble.clone()),
        (Some(_), None) => Answer::CouldNot("there is no log of this boot to read".to_owned()),
    }
}

/// Returns the kernel of a boot, so that words about an earlier boot fit the kernel of that boot.
/// An assumed kernel comes before all.
fn kernel_of(case: &Case, boot: &Boot) -> Option<Kernel> {
    let logged = boot.kernel.as_deref().or(boot.release_hint.as_deref()).and_then(Kernel::parse);
    case.assumed.clone().or(logged).or_else(|| case.kernel())
}

/// Returns whether a kernel is older than 4.8 by its own words: later ones have no pool of this
/// name.
fn has_old_pool(boot: &Boot) -> bool {
    boot.ready.as_ref().is_some_and(|ready| ready.evidence.says.contains("nonblocking pool"))
}

/// Returns whether the kernel gathers entropy by itself while a program waits.
pub(super) fn gathers_jitter(case: &Case, boot: &Boot) -> Option<bool> {
    if has_old_pool(boot) {
        return Some(false);
    }
    kernel_of(case, boot)?.has_jitter_loop()
}

/// Returns whether programs of this boot could wait in getrandom(2). Almost all kernels have the
/// call, so only a number that is too low says no.
pub(super) fn has_getrandom(case: &Case, boot: &Boot) -> bool {
    kernel_of(case, boot).is_none_or(|kernel| kernel.has_getrandom() != Some(false))
}

/// Returns the words of the line by which this boot's kernel says that it is ready.
pub(super) fn words_of_readiness(boot: &Boot) -> &'static str {
    if has_old_pool(boot) { "nonblocking pool" } else { "crng init done" }
}

/// Returns the seconds from one moment to another.
pub(super) fn between(from: &Moment, to: &Moment) -> Option<f64> {
    Some(to.at? - from.at?)
}
