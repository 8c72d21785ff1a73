//! What the checks of logs share: which boots there are, and how much an old one matters.

use super::Answer;
use crate::boot::{Boot, Moment};
use crate::{Case, Severity};

/// Looks at the boots from the last one back, and gives what `find` finds in the first that has something. What an earlier boot
/// showed and the last did not is history: findings of it are no more than notes.
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

/// A machine without a log could not be looked at; without a machine, nobody asked.
fn no_log(case: &Case) -> Answer {
    match (&case.host, &case.log_trouble) {
        (None, _) => Answer::NotAsked,
        (Some(_), Some(trouble)) => Answer::CouldNot(trouble.clone()),
        (Some(_), None) => Answer::CouldNot("there is no log of this boot to read".to_owned()),
    }
}

/// From one moment to another, seconds.
pub(super) fn between(from: &Moment, to: &Moment) -> Option<f64> {
    Some(to.at? - from.at?)
}
