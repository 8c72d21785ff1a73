//! All checks on a case.

use crate::checks::{Answer, CHECKS};
use crate::{Case, NotChecked, Report};
use std::cmp::Reverse;

/// Makes every check, and orders what they found: worst first, then by number.
pub fn diagnose(case: Case) -> Report {
    let mut report = Report {
        schema: "headwater.doctor/1",
        of: case.of.clone(),
        platform: case.platform(),
        kernel: case.kernel().map(|kernel| kernel.to_string()),
        ready_seconds: case.boot().and_then(|boot| boot.ready.as_ref()?.at),
        findings: Vec::new(),
        not_checked: Vec::new(),
        passed: Vec::new(),
        boots: Vec::new(),
    };
    for check in CHECKS {
        let id = check.id;
        let findings = match (check.run)(&case) {
            Answer::Found(findings) => {
                if findings.is_empty() {
                    report.passed.push(id);
                }
                findings
            }
            Answer::InPart(findings, why) => {
                report.not_checked.push(NotChecked { id, why });
                findings
            }
            Answer::CouldNot(why) => {
                report.not_checked.push(NotChecked { id, why });
                continue;
            }
            Answer::NotAsked => continue,
        };
        report.findings.extend(findings);
    }
    report.findings.sort_by_key(|finding| (Reverse(finding.severity), finding.id));
    report.boots = case.boots;
    report
}
