//! The merge as JSON and CSV.

use super::Merged;
use super::clones::EvidenceKind;
use super::fleet::{Fleet, Row, about};
use crate::identity::now;
use crate::{Severity, Verdict};
use serde::Serialize;
use serde::ser::{SerializeSeq, Serializer};
use std::borrow::Cow;

/// Names of a cause's hosts; the table of hosts has all.
const NAMED: usize = 100;

/// The document of `--json`. Times are in seconds, and an unknown value is null.
#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    version: &'static str,
    /// Unix time of the merge.
    time: Option<u64>,
    verdict: Verdict,
    /// Reports that could be read.
    reports: usize,
    /// Reports of hosts with a newer report.
    replaced: usize,
    counts: Counts,
    causes: Vec<CauseJson<'a>>,
    clones: Vec<CloneJson<'a>>,
    /// Hosts whose evidence was compared.
    compared: usize,
    bad_reports: usize,
    /// The first thousand.
    bad: Vec<BadJson<'a>>,
    #[serde(serialize_with = "rows")]
    hosts: &'a Fleet,
}

#[derive(Serialize)]
struct Counts {
    hosts: usize,
    healthy: usize,
    findings: usize,
    incomplete: usize,
    could_not_check: usize,
}

#[derive(Serialize)]
struct CauseJson<'a> {
    id: &'a str,
    about: &'static str,
    severity: Severity,
    platform: Option<&'a str>,
    hosts: usize,
    what: Option<&'a str>,
    exact: Option<&'a str>,
    example: ExampleJson<'a>,
    /// The first hundred hosts.
    names: Vec<&'a str>,
}

#[derive(Serialize)]
struct ExampleJson<'a> {
    host: &'a str,
    title: &'a str,
}

#[derive(Serialize)]
struct CloneJson<'a> {
    hosts: usize,
    shared: Vec<SharedJson>,
    names: Vec<&'a str>,
}

#[derive(Serialize)]
struct SharedJson {
    kind: EvidenceKind,
    hosts: usize,
    fix: &'static str,
}

#[derive(Serialize)]
struct BadJson<'a> {
    source: &'a str,
    reason: &'a str,
}

#[derive(Serialize)]
struct HostJson<'a> {
    name: &'a str,
    verdict: Verdict,
    severity: Option<Severity>,
    findings: &'a [Box<str>],
    not_checked: usize,
    ready_seconds: Option<f64>,
    waited_seconds: Option<f64>,
    platform: Option<&'a str>,
    kernel: Option<&'a str>,
    version: Option<&'a str>,
    time: Option<u64>,
}

/// Writes the rows one by one, so that they need no second copy.
fn rows<S: Serializer>(fleet: &Fleet, serializer: S) -> Result<S::Ok, S::Error> {
    let mut list = serializer.serialize_seq(Some(fleet.rows.len()))?;
    for row in fleet.ordered() {
        list.serialize_element(&host(fleet, row))?;
    }
    list.end()
}

fn host<'a>(fleet: &'a Fleet, row: &'a Row) -> HostJson<'a> {
    HostJson {
        name: &row.name,
        verdict: row.verdict,
        severity: row.worst,
        findings: &row.ids,
        not_checked: row.not_checked,
        ready_seconds: row.ready_seconds,
        waited_seconds: row.waited_seconds,
        platform: text(fleet, row.platform),
        kernel: text(fleet, row.kernel),
        version: text(fleet, row.version),
        time: row.time,
    }
}

fn text(fleet: &Fleet, at: Option<usize>) -> Option<&str> {
    at.is_some().then(|| fleet.text(at))
}

fn unless_empty(text: &str) -> Option<&str> {
    (!text.is_empty()).then_some(text)
}

impl Merged {
    /// Returns the merge as JSON.
    ///
    /// # Errors
    ///
    /// The errors of serde_json, which cannot occur: every value can be written.
    pub fn json(&self) -> serde_json::Result<String> {
        let fleet = &self.0;
        let causes = fleet.causes.iter().map(|cause| CauseJson {
            id: &cause.id,
            about: about(&cause.id),
            severity: cause.severity,
            platform: text(fleet, cause.platform),
            hosts: cause.hosts.len(),
            what: unless_empty(&cause.what),
            exact: cause.exact.as_deref(),
            example: ExampleJson { host: fleet.name(cause.example.0), title: &cause.example.1 },
            names: cause.hosts.iter().take(NAMED).map(|at| fleet.name(*at)).collect(),
        });
        let clones = fleet.clones.groups.iter().map(|group| CloneJson {
            hosts: group.hosts.len(),
            shared: group
                .shared
                .iter()
                .map(|(kind, hosts)| SharedJson { kind: *kind, hosts: *hosts, fix: kind.fix() })
                .collect(),
            names: group.hosts.iter().map(|at| fleet.name(*at)).collect(),
        });
        let document = Document {
            schema: "headwater.merge/1",
            version: env!("CARGO_PKG_VERSION"),
            time: now(),
            verdict: fleet.verdict(),
            reports: fleet.reports,
            replaced: fleet.replaced(),
            counts: Counts {
                hosts: fleet.rows.len(),
                healthy: fleet.count(Verdict::Healthy),
                findings: fleet.count(Verdict::Findings),
                incomplete: fleet.count(Verdict::Incomplete),
                could_not_check: fleet.count(Verdict::CouldNotCheck),
            },
            causes: causes.collect(),
            clones: clones.collect(),
            compared: fleet.clones.compared,
            bad_reports: fleet.bad_count,
            bad: fleet
                .bad
                .iter()
                .map(|bad| BadJson { source: &bad.source, reason: &bad.reason })
                .collect(),
            hosts: fleet,
        };
        let text = serde_json::to_string(&document)?;
        Ok(headwater_text::escape::json(&text) + "\n")
    }

    /// Returns a table with a line a host, the worst first (RFC 4180).
    pub fn csv(&self) -> String {
        let fleet = &self.0;
        let mut out = String::from(
            "host,verdict,severity,findings,not_checked,ready_seconds,waited_seconds,platform,\
             kernel,version,time\r\n",
        );
        for row in fleet.ordered() {
            let severity = row.worst.map_or("", crate::report::severity);
            let number =
                |value: Option<f64>| value.map(|number| number.to_string()).unwrap_or_default();
            let fields: [Cow<'_, str>; 11] = [
                field(&row.name),
                verdict(row.verdict).into(),
                severity.into(),
                field(&row.ids.join(" ")).into_owned().into(),
                row.not_checked.to_string().into(),
                number(row.ready_seconds).into(),
                number(row.waited_seconds).into(),
                field(fleet.text(row.platform)),
                field(fleet.text(row.kernel)),
                field(fleet.text(row.version)),
                row.time.map(|time| time.to_string()).unwrap_or_default().into(),
            ];
            out.push_str(&fields.join(","));
            out.push_str("\r\n");
        }
        out
    }
}

/// Returns a verdict's name in JSON and CSV.
pub(super) const fn verdict(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Healthy => "healthy",
        Verdict::Findings => "findings",
        Verdict::Incomplete => "incomplete",
        Verdict::CouldNotCheck => "could_not_check",
    }
}

/// Returns a text as a field of CSV. A spreadsheet computes texts that begin like a formula, and
/// host names are chosen by others, so such a text gets an apostrophe first.
fn field(text: &str) -> Cow<'_, str> {
    let is_formula = text.starts_with(['=', '+', '-', '@', '\t', '\r']);
    if !is_formula && !text.contains([',', '"', '\n', '\r']) {
        return Cow::Borrowed(text);
    }
    let mark = if is_formula { "'" } else { "" };
    Cow::Owned(format!("\"{mark}{}\"", text.replace('"', "\"\"")))
}
