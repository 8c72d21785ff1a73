//! The outside logs by other doors: as people cut, convert and concatenate them. No stall becomes
//! healthy that way, and no healthy boot becomes a stall.

use headwater_doctor::{Case, Id, Report, Severity, Verdict, diagnose, journal};
use headwater_hostfile::{Archive, Entry};
use std::fs;
use std::path::Path;

fn logs() -> Vec<(String, String)> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/outside/logs.txt");
    let archive = Archive::parse(&fs::read(path).unwrap()).unwrap();
    let text = |entry: &Entry| match entry {
        Entry::File(bytes) => String::from_utf8(bytes.clone()).unwrap(),
        other => panic!("{other:?}"),
    };
    let logs: Vec<_> =
        archive.entries().map(|(name, entry)| (name.to_owned(), text(entry))).collect();
    assert!(logs.len() >= 185, "{} logs", logs.len());
    logs
}

/// Returns the report on a log; `None` if the doctor refuses the log.
fn report(log: &str) -> Option<Report> {
    let boots = journal::read(log.as_bytes(), "log").ok()?;
    Some(diagnose(Case { boots, ..Case::default() }))
}

/// Returns the findings that say that something waited, or still waits.
fn stalls(report: &Report) -> Vec<&str> {
    let about = [Id::NotReady, Id::ReadyLate, Id::UnitWaited, Id::TraceWaited];
    let is_stall = |severity, id| about.contains(&id) && severity > Severity::Note;
    let findings = report.findings.iter().filter(|finding| is_stall(finding.severity, finding.id));
    // A bound from the kernel's start is all that a cut log may show; it claims no stall.
    let claims = |title: &str| !title.contains("counts from the kernel's");
    findings
        .filter(|finding| claims(&finding.title))
        .map(|finding| finding.title.as_str())
        .collect()
}

/// Returns what a person would compare: the verdict, and each finding's number and severity.
fn outcome(report: Option<&Report>) -> Option<(Verdict, Vec<(Id, Severity)>)> {
    report.map(|report| {
        (
            report.verdict(),
            report.findings.iter().map(|finding| (finding.id, finding.severity)).collect(),
        )
    })
}

/// Changes each log, and checks that the two verdicts that matter do not turn into each other.
fn through(door: &str, change: impl Fn(&str) -> Vec<String>) {
    let mut wrong = Vec::new();
    let (mut ill, mut sound) = (0, 0);
    for (name, log) in logs() {
        let Some(before) = report(&log) else { continue };
        for changed in change(&log) {
            let Some(after) = report(&changed) else { continue };
            if !stalls(&before).is_empty() {
                ill += 1;
                if after.verdict() == Verdict::Healthy {
                    wrong.push(format!("{name}: healthy now: {:?}\n{changed}", stalls(&before)));
                }
            } else if before.verdict() == Verdict::Healthy {
                sound += 1;
                if !stalls(&after).is_empty() {
                    wrong.push(format!("{name}: a stall now: {:?}\n{changed}", stalls(&after)));
                }
            }
        }
    }
    assert!(ill >= 10 && sound >= 5, "{door}: {ill} stalls, {sound} healthy logs");
    assert!(wrong.is_empty(), "{door}: {}", wrong.join("\n"));
}

/// Changes each log in a way that takes nothing from it, and checks that the result is the same.
fn unchanged(door: &str, change: impl Fn(&str) -> String) {
    let mut wrong = Vec::new();
    for (name, log) in logs() {
        let (before, after) = (report(&log), report(&change(&log)));
        let (before, after) = (outcome(before.as_ref()), outcome(after.as_ref()));
        if before != after {
            wrong.push(format!("{name}: {before:?} became {after:?}"));
        }
    }
    assert!(wrong.is_empty(), "{door}: {}", wrong.join("\n"));
}

#[test]
fn the_line_ends_of_another_system_change_nothing() {
    unchanged("CRLF", |log| log.replace('\n', "\r\n"));
}

#[test]
fn a_file_without_a_last_newline_is_the_same() {
    unchanged("no newline", |log| log.trim_end_matches('\n').to_owned());
}

/// A power cut leaves a run of NULs, in front of what the next boot writes.
#[test]
fn a_run_of_nuls_changes_nothing() {
    unchanged("NULs behind", |log| format!("{log}{}", "\0".repeat(700)));
    unchanged("NULs in a line of their own", |log| format!("{}\n{log}", "\0".repeat(700)));
}

/// NULs inside the file cost the line that they stand in, and no more.
#[test]
fn nuls_in_the_middle_turn_no_verdict() {
    through("NULs", |log| {
        let lines: Vec<&str> = log.lines().collect();
        let torn = |at: usize| {
            let mut torn: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
            torn[at] = format!("{}{}", "\0".repeat(300), torn[at]);
            torn.join("\n")
        };
        (0..lines.len()).map(torn).collect()
    });
}

#[test]
fn grep_random_turns_no_verdict() {
    through("grep random", |log| {
        let kept: Vec<&str> = log.lines().filter(|line| line.contains("random")).collect();
        vec![kept.join("\n")]
    });
}

/// A prefix of every length: the paste's end is cut off, at the end of a line or within one.
#[test]
fn a_cut_end_turns_no_verdict() {
    through("head", |log| {
        let ends = log.char_indices().map(|(at, _)| at);
        let ends = ends.filter(|at| log[..*at].ends_with('\n') || at % 7 == 3);
        ends.map(|end| log[..end].to_owned()).collect()
    });
}

/// The first lines are cut off, as the kernel's buffer loses them.
#[test]
fn a_cut_begin_turns_no_verdict() {
    through("tail", |log| {
        let lines: Vec<&str> = log.lines().collect();
        (1..lines.len()).map(|begin| lines[begin..].join("\n")).collect()
    });
}

#[test]
fn a_log_twice_in_one_file_turns_no_verdict() {
    through("twice", |log| vec![format!("{log}{log}"), format!("{log}\n\n{log}")]);
}

/// Two boots of one machine, or two machines, in one file: the last one counts.
#[test]
fn a_healthy_boot_behind_a_stall_and_the_other_way_round() {
    let stall = "[    0.000000] Linux version 4.19.0\n[    1.000000] Run /init as init process\n\
                 [  120.000000] random: crng init done\n";
    through("a stall behind", |log| {
        // Judged by the last boot, so only healthy logs after the stall are of interest.
        match report(log).map(|report| report.verdict()) {
            Some(Verdict::Healthy) if log.contains("Linux version") => {
                vec![format!("{stall}{log}")]
            }
            _ => vec![log.to_owned()],
        }
    });
}

/// `dmesg -T`: dates in whole seconds in place of the kernel's own times.
#[test]
fn dates_in_place_of_times_turn_no_verdict() {
    through("dmesg -T", |log| {
        let dated = |line: &str| {
            let (time, rest) = line.strip_prefix('[')?.split_once("] ")?;
            let seconds: f64 = time.trim().parse().ok()?;
            let at = 7 * 3600 + seconds as u64;
            let (hour, minute, second) = (at / 3600, at / 60 % 60, at % 60);
            Some(format!("[Sun Nov 22 {hour:02}:{minute:02}:{second:02} 2026] {rest}"))
        };
        let lines: Option<Vec<String>> = log.lines().map(dated).collect();
        lines.map(|lines| lines.join("\n")).into_iter().collect()
    });
}

/// A paste in a mail, an issue or a chat: quoted, indented, or with a list's marks.
#[test]
fn a_quoted_or_indented_paste_turns_no_verdict() {
    for mark in ["> ", ">> ", "    ", "\t"] {
        through(mark, |log| {
            let marked: Vec<String> = log.lines().map(|line| format!("{mark}{line}")).collect();
            vec![marked.join("\n")]
        });
    }
}
