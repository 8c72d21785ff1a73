//! The report as metrics, for the textfile collector of Prometheus' node exporter.
//!
//! Source: the text format 0.0.4 of Prometheus' documentation ("Exposition formats"). The collector
//! reads files that end in `.prom` at any time, so a file is replaced atomically.

use crate::{Id, Report, Verdict};
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// Series of threads that waited, those that waited longest.
const MOST_VICTIMS: usize = 50;

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
        // A thread that was another program meanwhile is two victims, and has one sum here: if a
        // series is there twice, the collector refuses the whole file.
        let mut waited: Vec<(String, f64)> = Vec::new();
        for victim in self.observed.iter().flat_map(|record| &record.victims) {
            let labels = format!(
                "{{unit=\"{}\",process=\"{}\",tid=\"{}\"}}",
                label(victim.unit.as_deref().unwrap_or_default()),
                label(&victim.process),
                victim.tid
            );
            if let Some((_, seconds)) = waited.iter_mut().find(|(known, _)| *known == labels) {
                *seconds += victim.seconds.at_least;
            } else if waited.len() < MOST_VICTIMS {
                waited.push((labels, victim.seconds.at_least));
            }
        }
        let waited: Vec<(String, String)> =
            waited.into_iter().map(|(labels, seconds)| (labels, seconds.to_string())).collect();
        metric(
            "headwater_doctor_waited_seconds",
            "Seconds that a thread waited for the kernel's random generator at this boot.",
            &waited,
        );
        let has = |id| self.findings.iter().any(|finding| finding.id == id);
        let blocked = self.findings.iter().find(|finding| finding.id == Id::Blocked);
        let blocked = blocked.map(|finding| finding.evidence.len());
        let blocked = blocked.or(self.passed.contains(&Id::Blocked).then_some(0));
        let blocked: Vec<(String, String)> =
            blocked.iter().map(|count| (String::new(), count.to_string())).collect();
        metric(
            "headwater_doctor_blocked_processes",
            "Processes that wait for the kernel's random generator now, up to 10.",
            &blocked,
        );
        let signals = [Id::NoVmgenid, Id::VmgenidNoDriver];
        let is_safe = match () {
            () if signals.into_iter().any(has) => Some(0),
            () if signals.iter().all(|id| self.passed.contains(id)) => Some(1),
            () => None,
        };
        let safe: Vec<(String, String)> =
            is_safe.iter().map(|safe| (String::new(), safe.to_string())).collect();
        metric(
            "headwater_doctor_clone_safe",
            "1 if the kernel notices a clone of this machine, 0 if nothing signals it.",
            &safe,
        );
        out
    }
}

/// Escapes the value of a label.
fn label(value: &str) -> String {
    let safe = headwater_text::escape::untrusted(value);
    safe.replace('\\', "\\\\").replace('"', "\\\"")
}
