//! The report as metrics, for the textfile collector of Prometheus' node exporter.
//!
//! Source: the text format 0.0.4 of Prometheus' documentation ("Exposition formats"). The collector
//! reads files that end in `.prom` at any time, so a file is replaced atomically.

use crate::{Report, Verdict};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

impl Report {
    /// Returns the report as metrics. A finding is one series by id and severity, however often it
    /// occurs.
    pub fn prometheus(&self) -> String {
        let mut out = String::new();
        let mut metric = |name: &str, help: &str, series: &[(String, String)]| {
            let _ = writeln!(out, "# HELP {name} {help}\n# TYPE {name} gauge");
            for (labels, value) in series {
                let _ = writeln!(out, "{name}{labels} {value}");
            }
        };
        // Absent where it is unknown: 0 would be a time.
        let ready: Vec<(String, String)> =
            self.ready_seconds.iter().map(|seconds| (String::new(), seconds.to_string())).collect();
        metric(
            "headwater_crng_ready_seconds",
            "Seconds from the kernel's start until its random generator was ready.",
            &ready,
        );
        let found: BTreeSet<_> =
            self.findings.iter().map(|finding| (finding.id, finding.severity)).collect();
        let found: Vec<(String, String)> = found
            .into_iter()
            .map(|(id, severity)| {
                let severity = super::words::severity(severity);
                (format!("{{id=\"{id}\",severity=\"{severity}\"}}"), "1".to_owned())
            })
            .collect();
        let verdict = match self.verdict() {
            Verdict::Healthy => "healthy",
            Verdict::Findings => "findings",
            Verdict::Incomplete => "incomplete",
            Verdict::CouldNotCheck => "could_not_check",
        };
        metric(
            "headwater_doctor_verdict",
            "The verdict: healthy, findings, incomplete or could_not_check.",
            &[(format!("{{verdict=\"{verdict}\"}}"), "1".to_owned())],
        );
        metric(
            "headwater_doctor_finding",
            "Findings of headwater doctor; see 'headwater doctor explain ID'.",
            &found,
        );
        let checks = [("passed", self.passed.len()), ("not_checked", self.not_checked.len())];
        let checks =
            checks.map(|(result, count)| (format!("{{result=\"{result}\"}}"), count.to_string()));
        metric(
            "headwater_doctor_checks",
            "Checks that found nothing, and those that could not be made.",
            &checks,
        );
        out
    }
}

/// Replaces `file` atomically by `text`, readable by all users.
///
/// # Errors
///
/// Returns the error of open(2), write(2), fsync(2) or rename(2); the old file then remains.
pub fn write_whole(file: &Path, text: &str) -> io::Result<()> {
    let name = file.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    // In the same directory, because a rename cannot cross file systems. The name ends in digits,
    // which no collector reads.
    let mut beside = std::ffi::OsString::from(".");
    beside.push(name);
    beside.push(format!(".{}", std::process::id()));
    let beside = file.with_file_name(beside);
    // A run that was killed may have left one, under a number that came again.
    let _ = fs::remove_file(&beside);
    let written = (|| {
        let mut out = OpenOptions::new().write(true).create_new(true).open(&beside)?;
        // Root's umask may keep others out, and the exporter runs as a user of its own.
        out.set_permissions(fs::Permissions::from_mode(0o644))?;
        out.write_all(text.as_bytes())?;
        out.sync_all()?;
        fs::rename(&beside, file)
    })();
    if written.is_err() {
        let _ = fs::remove_file(&beside);
    }
    written
}
