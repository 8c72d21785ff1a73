//! All checks on a case.

use crate::boot::{Boot, Bounds};
use crate::checks::{Answer, CHECKS, Check, Needs};
use crate::{Assumed, Case, Finding, Id, NotChecked, Report, Verdict};
use std::cmp::Reverse;

/// Makes every check and orders the findings: worst first, then by number. If another kernel is
/// assumed, the findings are those under that kernel, and [`Report::assumed`] lists the difference.
pub fn diagnose(case: Case) -> Report {
    let results = CheckResults::of(&case);
    let assumed = case.assumed.as_ref().map(|kernel| {
        let running = Case { assumed: None, ..case.clone() };
        let is_x86 = case.host.as_ref().is_none_or(|host| host.cpu.is_x86());
        let now = ids(&CheckResults::of(&running).findings);
        let then = ids(&results.findings);
        Assumed {
            kernel: kernel.to_string(),
            changes: running.kernel().map_or(Vec::new(), |before| before.changes(kernel, is_x86)),
            gone: now.iter().copied().filter(|id| !then.contains(id)).collect(),
            new: then.iter().copied().filter(|id| !now.contains(id)).collect(),
        }
    });
    let running = Case { assumed: None, ..case.clone() }.kernel();
    let ready = case.boot().and_then(Boot::ready_after);
    let mut report = Report {
        schema: "headwater.doctor/1",
        verdict: Verdict::CouldNotCheck,
        version: env!("CARGO_PKG_VERSION"),
        time: case.time,
        host: case.origin.clone(),
        identity: case.identity.clone(),
        observed: case.observed().cloned(),
        of: case.of.clone(),
        platform: case.platform(),
        kernel: running.map(|kernel| kernel.to_string()),
        assumed,
        ready_seconds: ready
            .and_then(Bounds::exact)
            .or(case.observed().and_then(|record| record.ready)),
        ready_bounds: ready,
        findings: results.findings,
        not_checked: results.not_checked,
        passed: results.passed,
        is_excerpt: case.host.is_none(),
        deep: case.deep,
        boots: case.boots,
    };
    report.verdict = report.verdict();
    report
}

fn ids(findings: &[Finding]) -> Vec<Id> {
    let mut ids: Vec<Id> = findings.iter().map(|finding| finding.id).collect();
    ids.sort_unstable();
    ids.dedup();
    ids
}

/// The answers of all checks.
#[derive(Default)]
struct CheckResults {
    findings: Vec<Finding>,
    not_checked: Vec<NotChecked>,
    passed: Vec<Id>,
}

impl CheckResults {
    fn of(case: &Case) -> CheckResults {
        let mut results = CheckResults::default();
        for check in CHECKS {
            results.add(check, (check.run)(case), case.log_error.as_deref());
        }
        results.findings.sort_by_key(|finding| (Reverse(finding.severity), finding.id));
        results
    }

    fn add(&mut self, check: &Check, answer: Answer, log_error: Option<&str>) {
        let id = check.id;
        match answer {
            Answer::Found(findings) if findings.is_empty() => self.passed.push(id),
            Answer::Found(findings) => self.findings.extend(findings),
            Answer::InPart(findings, why) => {
                self.not_checked.push(NotChecked { id, why });
                self.findings.extend(findings);
            }
            Answer::CouldNot(why) => self.not_checked.push(NotChecked { id, why }),
            Answer::NotAsked => {
                if let Some(why) = log_error.filter(|_| check.needs == Needs::Log) {
                    self.not_checked.push(NotChecked { id, why: why.to_owned() });
                }
            }
        }
    }
}
