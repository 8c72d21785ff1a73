//! Reports of fixed cases, so that the outputs do not depend on the machine.

use crate::boot::{
    Attempt, AttemptOutcome, Boot, Bounds, Clock, EarlyCaller, EarlyRead, Hint, HintKind, Moment,
    Unit,
};
use crate::deep::{Deep, HealthTest, Sample};
use crate::fixes::{Cause, PlatformFacts, for_cause};
use crate::{
    Assumed, Change, Evidence, Finding, Id, NotChecked, Platform, Report, Severity, Verdict,
};

pub(super) fn moment(at: f64, says: &str) -> Moment {
    let evidence = Evidence { place: "boot.log, line 812".to_owned(), says: says.to_owned() };
    Moment { at_most: false, at: Some(at), evidence }
}

/// Returns the boot of the founding case: systemd kills a service at its start timeout and starts
/// it again, until the generator is ready.
pub(super) fn late_boot() -> Boot {
    let attempt = |from: f64, to: f64, outcome| Attempt {
        began: moment(from, "systemd[1]: Starting OpenBSD Secure Shell server..."),
        ended: Some(moment(to, "systemd[1]: Started OpenBSD Secure Shell server.")),
        outcome,
    };
    let unit = |name: &str, attempts| Unit { name: name.to_owned(), attempts };
    Boot {
        clock: Clock::Kernel,
        kernel: Some("4.19.0-27-amd64".to_owned()),
        kernel_by: None,
        id: None,
        command_line: Some("root=/dev/vda1 ro quiet".to_owned()),
        init: Some(moment(1.8, "Run /init as init process")),
        fast_init: Some(moment(4.2, "random: fast init done")),
        ready: Some(moment(101.7, "random: crng init done")),
        end: Some(5000.0),
        early_callers: vec![EarlyCaller {
            moment: moment(
                0.0,
                "random: get_random_bytes called from start_kernel+0x93 with crng_init=0",
            ),
            caller: "start_kernel".to_owned(),
            crng_init: 0,
            times: 1,
        }],
        early_reads: vec![EarlyRead {
            moment: moment(2.1, "random: systemd: uninitialized urandom read (16 bytes read)"),
            program: "systemd".to_owned(),
            bytes: 48,
            times: 3,
        }],
        warnings_missed: 12,
        forks: vec![],
        resumptions: vec![],
        units: vec![
            unit(
                "ssh.service",
                vec![
                    attempt(6.0, 96.1, AttemptOutcome::TimedOut),
                    attempt(96.3, 101.8, AttemptOutcome::Started),
                ],
            ),
            unit("cron.service", vec![attempt(5.5, 5.6, AttemptOutcome::Started)]),
            unit("nginx.service", vec![attempt(6.1, 101.9, AttemptOutcome::Started)]),
        ],
        hints: vec![Hint {
            kind: HintKind::ClockSource,
            moment: moment(1.1, "clocksource: Switched to clocksource tsc"),
        }],
        ..Boot::default()
    }
}

pub(crate) fn late() -> Report {
    let facts = PlatformFacts::of_platform(Some(Platform::Ganeti));
    let seen =
        |says: &str| Evidence { place: "boot.log, line 812".to_owned(), says: says.to_owned() };
    let finding = |id, severity, title: &str, evidence, cause| Finding {
        id,
        severity,
        title: title.to_owned(),
        evidence,
        why: "Users cannot log in until it is over, and nothing in the service's own log names \
              the reason."
            .to_owned(),
        fixes: for_cause(cause, &facts),
        verify: "after the next boot, headwater wait --timeout 10 returns at once".to_owned(),
    };
    Report {
        schema: "headwater.doctor/1",
        verdict: Verdict::Findings,
        version: "0.0.0",
        time: Some(1_795_000_000),
        host: crate::identity::Origin::default(),
        identity: None,
        observed: None,
        of: "boot.log".to_owned(),
        platform: Some(Platform::Ganeti),
        kernel: Some("4.19.0-27-amd64".to_owned()),
        assumed: None,
        ready_seconds: Some(101.7),
        ready_bounds: Some(Bounds { at_least: 101.7, at_most: Some(101.7) }),
        findings: vec![
            finding(
                Id::UnitWaited,
                Severity::Critical,
                "ssh.service waited 95.6 s for the random generator, in two attempts of which systemd killed one at its start timeout",
                vec![
                    seen("[    6.000000] systemd[1]: Starting OpenBSD Secure Shell server..."),
                    seen(
                        "[   96.100000] systemd[1]: ssh.service: Start operation timed out. Terminating.",
                    ),
                    seen("[  101.700000] random: crng init done"),
                    seen("a fourth line"),
                ],
                Cause::NoSeed,
            ),
            finding(
                Id::NoVmgenid,
                Severity::Warning,
                "no clone signal",
                vec![seen("a line with \x1b[31mcolour\x1b[0m, <b>tags</b> & quotes \"\"")],
                Cause::NoVmgenid,
            ),
            finding(
                Id::NeedlessDaemon,
                Severity::Note,
                "haveged runs",
                vec![],
                Cause::NeedlessDaemon,
            ),
        ],
        not_checked: vec![NotChecked {
            id: Id::Blocked,
            why: "needs root to read /proc/1/syscall".to_owned(),
        }],
        passed: vec![Id::NotReady, Id::NoCycleCounter],
        is_excerpt: false,
        deep: None,
        boots: vec![late_boot()],
    }
}

fn healthy() -> Report {
    Report {
        findings: vec![],
        not_checked: vec![],
        boots: vec![],
        ready_seconds: None,
        ready_bounds: None,
        platform: None,
        kernel: None,
        ..late()
    }
}

fn plain(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\x1b') {
        out.push_str(before);
        rest = after.split_once('m').map_or("", |(_, after)| after);
    }
    out + rest
}

#[test]
fn the_terminal_shows_the_verdict_first_and_the_worst_before_the_rest() {
    snapbox::assert_data_eq!(
        plain(&late().text()),
        snapbox::file!["../../tests/snapshots/late.txt"].raw()
    );
    snapbox::assert_data_eq!(
        plain(&healthy().text()),
        snapbox::file!["../../tests/snapshots/healthy.txt"].raw()
    );
}

/// Lines may be longer only if they are commands, which are to be copied.
#[test]
fn the_terminals_text_has_a_hundred_columns_and_no_escapes_but_our_colours() {
    let text = late().text();
    for line in plain(&text).lines() {
        assert!(line.starts_with("          ") || line.chars().count() <= 100, "{line}");
    }
    assert!(!plain(&text).contains("\x1b") && plain(&text).contains(r"\u{1b}[31mcolour"));
}

#[test]
fn an_assumed_kernel_and_what_was_measured_are_told_on_terminal_and_page() {
    let mut report = late();
    report.assumed = Some(Assumed {
        kernel: "6.12".to_owned(),
        changes: vec![Change { what: "gathers entropy by itself", before: "no", after: "yes" }],
        gone: vec![Id::NoJitter],
        new: vec![Id::SwappedPages],
    });
    report.deep = Some(Deep {
        entropy: None,
        samples: vec![Sample {
            source: "RDRAND",
            bytes: 4096,
            tests: vec![HealthTest { name: "repetition count", cutoff: 6, highest: 2, alarms: 0 }],
            skipped: None,
            absent: false,
        }],
    });
    let (text, page) = (plain(&report.text()), report.html());
    for words in [
        "With Linux 6.12",
        "gathers entropy by itself: yes; now: no",
        "Gone: HW010",
        "New: HW052",
        "RDRAND  4096 bytes: repetition count test: 0 alarms; highest count 2, cutoff 6",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
    for words in
        ["With Linux 6.12", "<b>yes</b>", "Gone: HW010", "New: HW052", "RDRAND, 4096 bytes"]
    {
        assert!(page.contains(words), "{words}");
    }
}

#[test]
fn verdicts_follow_severities_and_what_is_ignored_does_not_count() {
    let mut report = late();
    assert_eq!(report.verdict(), Verdict::Findings);
    report.keep(&[], &[Id::UnitWaited, Id::NoVmgenid]);
    assert_eq!(
        (report.verdict(), report.findings.len()),
        (Verdict::Incomplete, 1),
        "a note alone does not count, and a missing check does"
    );
    let mut complete = report.clone();
    complete.keep(&[], &[Id::Blocked]);
    assert_eq!(complete.verdict(), Verdict::Healthy, "a note alone is healthy");
    report.keep(&[Id::Blocked], &[]);
    assert_eq!(
        report.verdict(),
        Verdict::Incomplete,
        "the one check that was wanted could not be made"
    );
}

#[test]
fn the_page_asks_for_nothing_and_escapes_what_logs_say() {
    let page = late().html();
    assert!(page.contains("default-src 'none'"));
    for foreign in ["<script", "src=", "href=", "url(", "@import", "\x1b"] {
        assert!(!page.contains(foreign), "{foreign}");
    }
    assert!(page.contains("&lt;b&gt;tags&lt;/b&gt; &amp; quotes") && !page.contains("<b>tags"));
    assert!(page.contains("gnt-cluster modify"));
}

#[test]
fn the_boot_is_drawn_with_who_waited() {
    let page = late().html();
    assert_eq!(page.matches("<svg").count(), 1);
    for part in [
        "bar timedout",
        "bar straddles",
        "generator ready, 102 s",
        "class=\"waiting\"",
        "class=\"tick\"",
    ] {
        assert!(page.contains(part), "{part}");
    }
    assert!(!healthy().html().contains("<svg"));
}

/// Prometheus' text parser: each metric has its HELP and TYPE first, and no series repeats.
#[test]
fn the_metrics_are_what_the_textfile_collector_reads() {
    let mut report = late();
    // Two units that waited are two findings, and one series.
    report.findings.push(report.findings[0].clone());
    let text = report.prometheus();
    let (mut name, mut series) = (String::new(), std::collections::BTreeMap::new());
    for line in text.lines() {
        if let Some(help) = line.strip_prefix("# HELP ") {
            name = help.split(' ').next().unwrap().to_owned();
        } else if let Some(kind) = line.strip_prefix("# TYPE ") {
            assert_eq!(kind, format!("{name} gauge"));
        } else {
            let (metric, value) = line.rsplit_once(' ').unwrap();
            assert!(metric == name || metric.starts_with(&format!("{name}{{")), "{line}");
            let value: f64 = value.parse().unwrap();
            assert_eq!(series.insert(metric.to_owned(), value), None, "{line} comes twice");
        }
    }
    assert!(text.ends_with('\n'));
    assert_eq!(series["headwater_crng_ready_seconds"], 101.7);
    assert_eq!(series[r#"headwater_doctor_finding{id="HW004",severity="critical"}"#], 1.0);
    assert_eq!(series["headwater_doctor_clone_safe"], 0.0);
    assert_eq!(series.len(), 1 + 1 + 3 + 2 + 1);
    assert!(
        !healthy().prometheus().contains("\nheadwater_crng_ready_seconds "),
        "unknown is not 0"
    );
}

/// Every string of a report that can come from a machine, in every output: no control, bidi or
/// invisible format character is left.
#[test]
fn no_output_contains_control_or_format_characters_of_a_machine() {
    const HOSTILE: &str = "a\x1b[31m\u{9b}2J\u{202e}txt\u{200b}\u{feff}\u{e0041}\x07b";
    let hostile = || HOSTILE.to_owned();
    let mut report = late();
    report.of = hostile();
    report.kernel = Some(hostile());
    report.assumed =
        Some(Assumed { kernel: hostile(), changes: vec![], gone: vec![], new: vec![] });
    report.not_checked.push(NotChecked { id: Id::Sandbox, why: hostile() });
    for finding in &mut report.findings {
        (finding.title, finding.why, finding.verify) = (hostile(), hostile(), hostile());
        finding.evidence.push(Evidence { place: hostile(), says: hostile() });
        for fix in &mut finding.fixes {
            (fix.what, fix.exact) = (hostile(), Some(hostile()));
        }
    }
    for boot in &mut report.boots {
        boot.kernel = Some(hostile());
        boot.units.iter_mut().for_each(|unit| unit.name = hostile());
        boot.early_reads.iter_mut().for_each(|read| read.program = hostile());
    }
    let errors = [
        crate::LogError::Empty { of: hostile() }.to_string(),
        crate::LogError::Wrong { of: hostile(), seems: "x", instead: "y" }.to_string(),
        crate::Error::Root { path: hostile().into(), reason: hostile() }.to_string(),
    ];
    let outputs =
        [plain(&report.text()), report.html(), report.prometheus(), report.json().unwrap()];
    for output in outputs.iter().chain(&errors) {
        let left: Vec<char> = output
            .chars()
            .filter(|letter| *letter != '\n')
            .filter(|letter| {
                let text = letter.to_string();
                headwater_text::escape::untrusted(&text) != text
            })
            .collect();
        assert!(left.is_empty(), "{left:?} in {output}");
    }
}
