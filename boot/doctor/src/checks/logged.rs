//! Shared parts of the checks of logs: the choice of the boot, and the weight of old boots.

use super::Answer;
use crate::boot::{Boot, Moment};
use crate::{Case, Severity};

/// Runs `find` on the boots from the last one back, and returns the first result with findings. If
/// the last boot shows nothing, findings of an earlier boot are history and become notes.
pub(super) fn newest(case: &Case, mut find: impl FnMut(&Boot) -> Answer) -> Answer {
    let Some((last, earlier)) = case.boots.split_last() else { return no_log(case) };
    let answer = find(last);
    if !matches!(&answer, Answer::Found(findings) if findings.is_empty()) {
        return answer;
    }
    let history = earlier.iter().rev().find_map(|boot| match find(boot) {
        Answer::Found(findings) | Answer::InPart(findings, _) if !findings.is_empty() => {
            Some(findings)
        }
        _ => None,
    });
    Answer::Found(
        history
            .unwrap_or_default()
            .into_iter()
            .map(|mut finding| {
                finding.severity = Severity::Note;
                finding.title = format!("at an earlier boot, {}", finding.title);
                finding
            })
            .collect(),
    )
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

/// Returns the seconds from one moment to another.
pub(super) fn between(from: &Moment, to: &Moment) -> Option<f64> {
    Some(to.at? - from.at?)
}
