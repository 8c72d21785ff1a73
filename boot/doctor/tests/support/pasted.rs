//! Reports of logs as a user pastes them.

use headwater_doctor::{Case, Finding, Id, Report, diagnose, journal};

pub(crate) fn of_log(text: &str) -> Report {
    of_bytes(text.as_bytes())
}

pub(crate) fn of_bytes(log: &[u8]) -> Report {
    let boots = journal::read(log, "log").unwrap_or_else(|error| panic!("{error}"));
    diagnose(Case { boots, ..Case::default() })
}

pub(crate) fn find(report: &Report, id: Id) -> Option<&Finding> {
    report.findings.iter().find(|finding| finding.id == id)
}

#[track_caller]
pub(crate) fn one(report: &Report, id: Id) -> &Finding {
    find(report, id)
        .unwrap_or_else(|| panic!("{id}: {:?}, {:?}", report.findings, report.not_checked))
}

/// Returns the words and the commands of all fixes of a finding.
pub(crate) fn fixes(finding: &Finding) -> String {
    let texts = finding
        .fixes
        .iter()
        .map(|fix| format!("{} {}", fix.what, fix.exact.as_deref().unwrap_or_default()));
    texts.collect::<Vec<String>>().join("\n")
}
