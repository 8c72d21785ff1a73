//! The tables that a merge fills, one report after the other, and the summary of them.
//!
//! A report is dropped as soon as it is counted. A host keeps some hundred bytes: a row, the
//! numbers of its causes, and the hashes by which clones are found.

use super::clones::{Clones, Evidence, EvidenceKind};
use super::document::{Document, FindingPart, Refused};
use crate::{Id, Severity, Verdict};
use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap};
use std::path::Path;

/// Refused reports that are kept with their reasons. All are counted.
pub(super) const MOST_BAD: usize = 1000;
/// Pairs of cause and fix that are kept apart. A fleet of one make has a dozen.
const MOST_CAUSES: usize = 10_000;
/// Clocks of two reports of one host may differ by so many seconds.
const CLOCK_ERROR_S: u64 = 120;

/// One host: the facts of its newest report.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) name: Box<str>,
    pub(super) verdict: Verdict,
    pub(super) worst: Option<Severity>,
    /// The checks that found something, worst first.
    pub(super) ids: Vec<Box<str>>,
    pub(super) not_checked: usize,
    pub(super) ready_seconds: Option<f64>,
    pub(super) waited_seconds: Option<f64>,
    pub(super) platform: Option<usize>,
    pub(super) kernel: Option<usize>,
    pub(super) version: Option<usize>,
    pub(super) time: Option<u64>,
    /// Indices into [`Fleet::causes`].
    causes: Vec<u32>,
    boot_id: Option<Box<str>>,
    began: Option<u64>,
    /// The number of the newest report.
    report: u32,
    /// Reports of this host that came before.
    pub(super) replaced: u32,
}

/// A finding that several hosts share, with the fix that applies to all of them.
#[derive(Clone, Debug)]
pub(super) struct Cause {
    pub(super) id: Box<str>,
    pub(super) severity: Severity,
    pub(super) platform: Option<usize>,
    pub(super) what: Box<str>,
    pub(super) exact: Option<Box<str>>,
    /// The host whose generator was ready last, and its finding's title.
    pub(super) example: (u32, Box<str>),
    /// The severity on that host.
    pub(super) example_severity: Severity,
    /// The hosts, in the order of [`Fleet::order`].
    pub(super) hosts: Vec<u32>,
}

/// A report that does not count.
#[derive(Clone, Debug)]
pub(super) struct Bad {
    pub(super) source: String,
    pub(super) reason: String,
}

/// All reports.
#[derive(Default)]
pub(super) struct Fleet {
    pub(super) rows: Vec<Row>,
    /// Indices into `rows`, the worst host first.
    pub(super) order: Vec<u32>,
    /// Worst first, then by the number of hosts.
    pub(super) causes: Vec<Cause>,
    pub(super) clones: Clones,
    pub(super) bad: Vec<Bad>,
    pub(super) bad_count: usize,
    pub(super) reports: usize,
    pub(super) salts: BTreeSet<String>,
    by_key: HashMap<Box<str>, Vec<u32>>,
    by_cause: HashMap<Box<str>, u32>,
    names: Vec<Box<str>>,
    by_name: HashMap<Box<str>, usize>,
}

impl Fleet {
    /// Counts a report. `source` names its file, `number` its place in the file.
    pub(super) fn add(&mut self, source: &str, number: usize, document: &Document<'_>) {
        self.reports += 1;
        let name = name(source, number, document);
        let key = key(source, number, document);
        let mut row = self.row(name, document);
        let known = self.by_key.get(key.as_str()).into_iter().flatten();
        let same = known
            .copied()
            .find(|at| self.rows.get(*at as usize).is_some_and(|old| is_same_machine(old, &row)));
        let at = match same {
            Some(at) => at,
            None => u32::try_from(self.rows.len()).unwrap_or(u32::MAX),
        };
        if let Some(old) = self.rows.get(at as usize) {
            if row.time < old.time {
                if let Some(old) = self.rows.get_mut(at as usize) {
                    old.replaced += 1;
                }
                return;
            }
            row.replaced = old.replaced + 1;
        }
        row.causes =
            document.findings.iter().map(|finding| self.cause(at, &row, finding)).collect();
        row.causes.sort_unstable();
        row.causes.dedup();
        self.add_evidence(at, document);
        match self.rows.get_mut(at as usize) {
            Some(old) => *old = row,
            None => {
                self.by_key.entry(key.into_boxed_str()).or_default().push(at);
                self.rows.push(row);
            }
        }
    }

    /// Records a report that does not count.
    pub(super) fn refuse(&mut self, source: &str, number: usize, reason: &Refused) {
        self.bad_count += 1;
        if self.bad.len() < MOST_BAD {
            let source = match number {
                0 => source.to_owned(),
                number => format!("{source}, document {}", number + 1),
            };
            self.bad.push(Bad { source, reason: reason.to_string() });
        }
    }

    /// Orders hosts and causes, and compares the evidence of clones.
    pub(super) fn finish(&mut self) {
        let rows = &self.rows;
        self.order = (0..).take(rows.len()).collect();
        self.order.sort_by(|one, other| {
            let rank = |at: &u32| {
                let row = rows.get(*at as usize);
                (
                    Reverse(row.and_then(|row| row.worst)),
                    row.map(|row| Reverse(seriousness(row.verdict))),
                )
            };
            let late = |at: &u32| {
                let row = rows.get(*at as usize);
                row.map_or(-1.0, |row| row.waited_seconds.or(row.ready_seconds).unwrap_or(-1.0))
            };
            let name = |at: &u32| rows.get(*at as usize).map(|row| &row.name);
            rank(one)
                .cmp(&rank(other))
                .then(late(other).total_cmp(&late(one)))
                .then_with(|| name(one).cmp(&name(other)))
        });
        for at in &self.order {
            for cause in rows.get(*at as usize).iter().flat_map(|row| &row.causes) {
                if let Some(cause) = self.causes.get_mut(*cause as usize) {
                    cause.hosts.push(*at);
                }
            }
        }
        // A cause without hosts is of reports that a newer one replaced.
        self.causes.retain(|cause| !cause.hosts.is_empty());
        self.causes.sort_by(|one, other| {
            (Reverse(one.severity), Reverse(one.hosts.len()), &one.id).cmp(&(
                Reverse(other.severity),
                Reverse(other.hosts.len()),
                &other.id,
            ))
        });
        let newest: Vec<u32> = rows.iter().map(|row| row.report).collect();
        self.clones.finish(&newest);
    }

    /// Returns the fleet's verdict, which the exit status follows.
    pub(super) fn verdict(&self) -> Verdict {
        let has = |wanted| self.rows.iter().any(|row| row.verdict == wanted);
        if self.rows.is_empty() {
            Verdict::CouldNotCheck
        } else if has(Verdict::Findings) || !self.clones.groups.is_empty() {
            Verdict::Findings
        } else if self.bad_count > 0 || has(Verdict::Incomplete) || has(Verdict::CouldNotCheck) {
            Verdict::Incomplete
        } else {
            Verdict::Healthy
        }
    }

    pub(super) fn count(&self, verdict: Verdict) -> usize {
        self.rows.iter().filter(|row| row.verdict == verdict).count()
    }

    /// Returns the number of reports that a newer one of the same host replaced.
    pub(super) fn replaced(&self) -> usize {
        self.rows.iter().map(|row| row.replaced as usize).sum()
    }

    /// Returns a shared text such as a platform's name; empty if there is none.
    pub(super) fn text(&self, at: Option<usize>) -> &str {
        at.and_then(|at| self.names.get(at)).map_or("", |text| text)
    }

    pub(super) fn name(&self, at: u32) -> &str {
        self.rows.get(at as usize).map_or("", |row| &row.name)
    }

    /// Returns the rows, the worst first.
    pub(super) fn ordered(&self) -> impl Iterator<Item = &Row> {
        self.order.iter().filter_map(|at| self.rows.get(*at as usize))
    }

    /// Keeps one copy of a text that many hosts share.
    fn shared(&mut self, text: Option<&Cow<'_, str>>) -> Option<usize> {
        let text: &str = text?;
        if let Some(at) = self.by_name.get(text) {
            return Some(*at);
        }
        let at = self.names.len();
        self.names.push(text.into());
        self.by_name.insert(text.into(), at);
        Some(at)
    }

    fn row(&mut self, name: String, document: &Document<'_>) -> Row {
        let mut findings: Vec<&FindingPart<'_>> = document.findings.iter().collect();
        findings.sort_by_key(|finding| Reverse(severity(&finding.severity)));
        let mut ids: Vec<Box<str>> =
            findings.iter().map(|finding| finding.id.as_ref().into()).collect();
        ids.dedup();
        let began = document.time.zip(document.host.uptime_seconds);
        let victims = document.observed.iter().flat_map(|observed| &observed.victims);
        Row {
            name: name.into_boxed_str(),
            verdict: verdict(&document.verdict),
            worst: findings.first().map(|finding| severity(&finding.severity)),
            ids,
            not_checked: document.not_checked,
            ready_seconds: document.ready_seconds,
            waited_seconds: victims.map(|victim| victim.seconds.at_least).max_by(f64::total_cmp),
            platform: self.shared(document.platform.as_ref()),
            kernel: self.shared(document.kernel.as_ref()),
            version: self.shared(document.version.as_ref()),
            time: document.time,
            causes: Vec::new(),
            boot_id: document.host.boot_id.as_ref().map(|id| id.as_ref().into()),
            began: began.map(|(time, uptime)| time.saturating_sub(uptime)),
            report: u32::try_from(self.reports).unwrap_or(u32::MAX),
            replaced: 0,
        }
    }

    /// Returns the index of a finding's cause: the same check, platform and fix.
    fn cause(&mut self, host: u32, row: &Row, finding: &FindingPart<'_>) -> u32 {
        let fix = finding.fixes.first();
        let what = fix.map_or("", |fix| &fix.what);
        let platform = self.text(row.platform);
        let mut key = format!("{}\0{platform}\0{what}", finding.id);
        if self.causes.len() >= MOST_CAUSES && !self.by_cause.contains_key(key.as_str()) {
            key = format!("{}\0\0", finding.id);
        }
        let severity = severity(&finding.severity);
        if let Some(at) = self.by_cause.get(key.as_str()).copied() {
            if let Some(cause) = self.causes.get_mut(at as usize) {
                // The worst host is shown, because the heading has the worst severity.
                let seconds = seconds_in(&finding.title);
                let is_worse = severity > cause.severity
                    || severity == cause.example_severity && seconds > seconds_in(&cause.example.1);
                cause.severity = cause.severity.max(severity);
                if is_worse {
                    cause.example = (host, finding.title.as_ref().into());
                    cause.example_severity = severity;
                }
            }
            return at;
        }
        let at = u32::try_from(self.causes.len()).unwrap_or(u32::MAX);
        self.causes.push(Cause {
            id: finding.id.as_ref().into(),
            severity,
            platform: row.platform,
            what: what.into(),
            exact: fix.and_then(|fix| fix.exact.as_ref()).map(|text| text.as_ref().into()),
            example: (host, finding.title.as_ref().into()),
            example_severity: severity,
            hosts: Vec::new(),
        });
        self.by_cause.insert(key.into_boxed_str(), at);
        at
    }

    fn add_evidence(&mut self, host: u32, document: &Document<'_>) {
        let report = u32::try_from(self.reports).unwrap_or(u32::MAX);
        let mut add = |kind, text: &str| self.clones.add(Evidence::new(host, report, kind, text));
        // Containers run under the boot of their host.
        let has_own_boot = document.platform.as_deref() != Some("container");
        if let Some(id) = document.host.machine_id.as_deref() {
            add(EvidenceKind::MachineId, id);
        }
        if let Some(id) = document.host.boot_id.as_deref().filter(|_| has_own_boot) {
            add(EvidenceKind::BootId, id);
        }
        let Some(identity) = &document.identity else { return };
        if let Some(hash) = identity.machine_id.as_deref() {
            add(EvidenceKind::MachineId, hash);
        }
        if let Some(hash) = identity.boot_id.as_deref().filter(|_| has_own_boot) {
            add(EvidenceKind::BootId, hash);
        }
        if let Some(hash) = identity.random_seed.as_deref() {
            add(EvidenceKind::RandomSeed, hash);
        }
        for hash in &identity.ssh_host_keys {
            add(EvidenceKind::SshHostKey, hash);
        }
        if self.salts.len() < 100 {
            self.salts.insert(identity.salt.clone().into_owned());
        }
    }
}

/// Returns the name of the host: its own, or that of the recording or of the report's file.
fn name(source: &str, number: usize, document: &Document<'_>) -> String {
    let stem = |path: &str| {
        let stem = Path::new(path).file_stem().map(|stem| stem.to_string_lossy().into_owned());
        stem.filter(|stem| !stem.is_empty())
    };
    let of = (document.of != "this machine").then(|| stem(&document.of)).flatten();
    match (&document.host.name, of, number) {
        (Some(name), ..) => name.clone().into_owned(),
        (None, Some(of), _) => of,
        (None, None, 0) if source != "-" => stem(source).unwrap_or_else(|| source.to_owned()),
        (None, None, number) => format!("{source}, document {}", number + 1),
    }
}

/// Returns the text by which two reports of one host are recognised.
fn key(source: &str, number: usize, document: &Document<'_>) -> String {
    fn text<'a>(value: &'a Option<Cow<'_, str>>) -> &'a str {
        value.as_deref().unwrap_or_default()
    }
    let host = &document.host;
    let hardware = document.identity.as_ref().and_then(|identity| identity.hardware.as_ref());
    if host.name.is_some() || host.machine_id.is_some() {
        let hardware = hardware.map_or("", |hardware| hardware);
        return format!("host\0{}\0{}\0{hardware}", text(&host.name), text(&host.machine_id));
    }
    if document.of != "this machine" && !document.of.is_empty() {
        return format!("of\0{}", document.of);
    }
    format!("source\0{source}\0{number}")
}

/// Returns whether two reports with the same key are of one machine. Clones that share name and
/// machine id have the same key; if a boot of one began before the other report was made, and the
/// boots differ, both machines ran at once.
fn is_same_machine(old: &Row, new: &Row) -> bool {
    if old.boot_id.is_none() || new.boot_id.is_none() || old.boot_id == new.boot_id {
        return true;
    }
    let (earlier, later) = if new.time < old.time { (new, old) } else { (old, new) };
    match (earlier.time, later.began) {
        (Some(time), Some(began)) => began + CLOCK_ERROR_S >= time,
        _ => true,
    }
}

/// Reads a severity. An unknown one is of a newer version, and counts as a warning.
fn severity(text: &str) -> Severity {
    match text {
        "critical" => Severity::Critical,
        "note" => Severity::Note,
        _ => Severity::Warning,
    }
}

fn verdict(text: &str) -> Verdict {
    match text {
        "healthy" => Verdict::Healthy,
        "findings" => Verdict::Findings,
        "incomplete" => Verdict::Incomplete,
        _ => Verdict::CouldNotCheck,
    }
}

fn seriousness(verdict: Verdict) -> u8 {
    match verdict {
        Verdict::Healthy => 0,
        Verdict::Incomplete => 1,
        Verdict::CouldNotCheck => 2,
        Verdict::Findings => 3,
    }
}

/// Returns the subject of a check, if this version knows it.
pub(super) fn about(id: &str) -> &'static str {
    Id::parse(id).map_or("a check of a newer version", Id::about)
}

/// Returns the first time in a title, such as 101.7 in "ssh.service waited 101.7 s", and -1 for a
/// title without one.
fn seconds_in(title: &str) -> f64 {
    let mut words = title.split(' ').peekable();
    while let Some(word) = words.next() {
        let is_time = words.peek().is_some_and(|unit| unit.trim_end_matches([',', '.']) == "s");
        if let Some(seconds) = word.parse::<f64>().ok().filter(|_| is_time) {
            return seconds;
        }
    }
    -1.0
}
