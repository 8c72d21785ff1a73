//! All checks on a case.

use crate::checks::{Answer, CHECKS};
use crate::{Assumed, Case, Finding, Id, NotChecked, Report};
use std::cmp::Reverse;

/// Checks that look at logs only, and cannot look where the machine's own log cannot be read.
const OF_LOGS: [Id; 5] =
    [Id::ReadyLate, Id::UnitWaited, Id::EarlyCaller, Id::EarlyRead, Id::Cloned];

/// Makes every check, and orders what they found: worst first, then by number. Where another kernel is assumed, the findings are
/// those under it, and [`Report::assumed`] says what became of the others.
pub fn diagnose(case: Case) -> Report {
    let looked = Looked::at(&case);
    let assumed = case.assumed.as_ref().map(|kernel| {
        let running = Case { assumed: None, ..case.clone() };
        let is_x86 = case.host.as_ref().is_none_or(|host| host.cpu.is_x86());
        let now = ids(&Looked::at(&running).findings);
        let then = ids(&looked.findings);
        Assumed {
            kernel: kernel.to_string(),
            changes: running.kernel().map_or(Vec::new(), |before| before.changes(kernel, is_x86)),
            gone: now.iter().copied().filter(|id| !then.contains(id)).collect(),
            new: then.iter().copied().filter(|id| !now.contains(id)).collect(),
        }
    });
    let running = Case { assumed: None, ..case.clone() }.kernel();
    Report {
        schema: "headwater.doctor/1",
        of: case.of.clone(),
        platform: case.platform(),
        kernel: running.map(|kernel| kernel.to_string()),
        assumed,
        ready_seconds: case.boot().and_then(|boot| boot.ready.as_ref()?.at),
        findings: looked.findings,
        not_checked: looked.not_checked,
        passed: looked.passed,
        deep: None,
        boots: case.boots,
    }
}

fn ids(findings: &[Finding]) -> Vec<Id> {
    let mut ids: Vec<Id> = findings.iter().map(|finding| finding.id).collect();
    ids.sort_unstable();
    ids.dedup();
    ids
}

/// What the checks answered.
#[derive(Default)]
struct Looked {
    findings: Vec<Finding>,
    not_checked: Vec<NotChecked>,
    passed: Vec<Id>,
}

impl Looked {
    fn at(case: &Case) -> Looked {
        let mut looked = Looked::default();
        for check in CHECKS {
            looked.add(check.id, (check.run)(case), case.log_trouble.as_deref());
        }
        looked.findings.sort_by_key(|finding| (Reverse(finding.severity), finding.id));
        looked
    }

    fn add(&mut self, id: Id, answer: Answer, log_trouble: Option<&str>) {
        match answer {
            Answer::Found(findings) if findings.is_empty() => self.passed.push(id),
            Answer::Found(findings) => self.findings.extend(findings),
            Answer::InPart(findings, why) => {
                self.not_checked.push(NotChecked { id, why });
                self.findings.extend(findings);
            }
            Answer::CouldNot(why) => self.not_checked.push(NotChecked { id, why }),
            Answer::NotAsked => {
                if let Some(why) = log_trouble.filter(|_| OF_LOGS.contains(&id)) {
                    self.not_checked.push(NotChecked { id, why: why.to_owned() });
                }
            }
        }
    }
}
