//! HW004 by the observer's record: the threads that were seen to wait.
//!
//! A record is better evidence than a log, which shows only how long a start took. Where the
//! observer saw victims, their waits are facts, and the log's guesses are not needed.

use super::Answer;
use crate::fixes::Cause;
use crate::observe::{Ending, Record, RecordOutcome, Victim};
use crate::{Case, Evidence, Finding, Id, Severity};

/// Shorter waits are the jitter loop's.
const LEAST_S: f64 = 5.0;
/// The length of a wait from which on the finding is critical: it locks users out.
const LONG_S: f64 = 30.0;
/// Victims that are named one by one, those that waited longest.
const NAMED: usize = 8;

/// Returns the findings of this boot's record; `None` if the record shows no victim, because the
/// observer may have started too late to see one.
pub(super) fn of_this_boot(case: &Case) -> Option<Answer> {
    let record = case.observed().filter(|record| !record.victims.is_empty())?;
    Some(Answer::Found(findings(case, record)))
}

/// Returns the findings of the newest earlier boot on which a program waited, as notes.
pub(super) fn of_earlier_boots(case: &Case) -> Vec<Finding> {
    let now = case.observed().map(|record| &record.boot_id);
    let mut earlier = case.observed.iter().rev().filter(|record| Some(&record.boot_id) != now);
    let found = earlier.find_map(|record| {
        let findings = findings(case, record);
        (!findings.is_empty()).then_some(findings)
    });
    let mut found = found.unwrap_or_default();
    for finding in &mut found {
        finding.severity = Severity::Note;
        finding.title = format!("at an earlier boot, {}", finding.title);
    }
    found
}

fn findings(case: &Case, record: &Record) -> Vec<Finding> {
    let long = record.victims.iter().filter(|victim| victim.seconds.at_least >= LEAST_S);
    long.take(NAMED).map(|victim| finding(case, record, victim)).collect()
}

fn finding(case: &Case, record: &Record, victim: &Victim) -> Finding {
    let (name, waited) = (victim.name(), victim.waited());
    let title = match (victim.ending, record.outcome) {
        (Ending::StillWaits, RecordOutcome::TimedOut) => {
            format!("{name} waited {waited} for the random generator, until the observer stopped")
        }
        (Ending::GaveUp, _) => format!(
            "{name} waited {waited} for the random generator, and ended before it was ready"
        ),
        _ => format!("{name} waited {waited} for the random generator"),
    };
    let by = record.ready_by.as_ref().map(|by| format!(" by {by}")).unwrap_or_default();
    let ready = match record.ready {
        Some(at) => format!("The kernel's generator was ready {at:.1} s after its start{by}."),
        None => "The kernel's generator was not ready when the observer stopped.".to_owned(),
    };
    Finding {
        id: Id::UnitWaited,
        severity: if victim.seconds.at_least >= LONG_S {
            Severity::Critical
        } else {
            Severity::Warning
        },
        title,
        evidence: vec![Evidence {
            place: "headwater doctor observe".to_owned(),
            says: format!(
                "in {} from {:.1} s to {:.1} s after the kernel's start",
                victim.call, victim.from, victim.until
            ),
        }],
        why: format!("The observer saw the thread wait in the kernel. {ready}"),
        fixes: case.fixes(Cause::NoSeed),
        verify: "after a reboot, the newest file in /run/headwater/boots has no victims".to_owned(),
    }
}
