//! The patterns of a trial with 234 pasted logs, each in the smallest log that shows it: every test
//! here failed before the doctor was changed.

mod broken_cpu;
mod causes;
mod clock_steps;
mod early_keys;
mod forms;
mod old_kernels;
mod platform;
mod service_managers;

use headwater_doctor::{Case, Finding, Id, Report, diagnose, journal};

fn of_log(text: &str) -> Report {
    of_bytes(text.as_bytes())
}

fn of_bytes(log: &[u8]) -> Report {
    let boots = journal::read(log, "log").unwrap_or_else(|error| panic!("{error}"));
    diagnose(Case { boots, ..Case::default() })
}

fn find(report: &Report, id: Id) -> Option<&Finding> {
    report.findings.iter().find(|finding| finding.id == id)
}

#[track_caller]
fn one(report: &Report, id: Id) -> &Finding {
    find(report, id)
        .unwrap_or_else(|| panic!("{id}: {:?}, {:?}", report.findings, report.not_checked))
}

/// Returns the words and the commands of all fixes of a finding.
fn fixes(finding: &Finding) -> String {
    let texts = finding
        .fixes
        .iter()
        .map(|fix| format!("{} {}", fix.what, fix.exact.as_deref().unwrap_or_default()));
    texts.collect::<Vec<String>>().join("\n")
}

/// Returns the log of a kernel that is ready before its first program, with one more line.
fn ready_with(kernel: &str, line: &str) -> String {
    format!(
        "[    0.000000] Linux version {kernel} (x) #1\n[    0.100000] {line}\n\
         [    0.900000] random: crng init done\n\
         [    2.000000] Run /sbin/init as init process\n"
    )
}
