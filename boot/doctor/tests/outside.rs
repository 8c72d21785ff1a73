//! The doctor on excerpts of logs that people posted in public: tests/outside/README.md has the
//! sources, and the expectations that were written down first.

use headwater_doctor::{Case, Id, Report, diagnose, journal, strace};
use headwater_hostfile::Archive;
use std::fs;
use std::path::{Path, PathBuf};

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/outside").join(name)
}

fn logs() -> Archive {
    Archive::parse(&fs::read(file("logs.txt")).unwrap()).unwrap()
}

fn report(log: &[u8], name: &str) -> Result<Report, String> {
    let boots = journal::read(log, name).map_err(|error| error.to_string())?;
    Ok(diagnose(Case { boots, ..Case::default() }))
}

/// Returns the verdict, the findings about waiting and the bounds, in the words of the table.
fn summary(log: &[u8], name: &str) -> String {
    let report = match report(log, name) {
        Ok(report) => report,
        Err(error) => return error,
    };
    let about = [Id::NotReady, Id::ReadyLate, Id::UnitWaited, Id::TraceWaited, Id::EarlyRead];
    let mut findings: Vec<_> =
        report.findings.iter().filter(|finding| about.contains(&finding.id)).collect();
    findings.sort_by_key(|finding| finding.id);
    let findings: Vec<String> = findings
        .iter()
        .map(|finding| format!("{} {:?}", finding.id, finding.severity).to_lowercase())
        .map(|text| text.replacen("hw", "HW", 1))
        .collect();
    let findings = if findings.is_empty() { "none".to_owned() } else { findings.join(", ") };
    let waited = report.boots.last().and_then(|boot| {
        // Without a line of readiness the bound is only the length of the log.
        boot.waited().filter(|_| boot.readiness().is_some())
    });
    let waited = waited.map_or("unknown".to_owned(), headwater_doctor::boot::Bounds::words);
    format!("{:?}; {findings}; {waited}", report.verdict()).to_lowercase().replace("hw", "HW")
}

#[test]
fn every_outside_log_gets_the_expected_verdict() {
    let readme = fs::read_to_string(file("README.md")).unwrap();
    let (table, _machines) = readme.split_once("## The machine").unwrap();
    let rows: Vec<Vec<&str>> = table
        .lines()
        .filter(|line| {
            line.starts_with("| ") && !line.starts_with("| case") && !line.starts_with("| ---")
        })
        .map(|line| line.trim_matches('|').split(" | ").map(str::trim).collect())
        .collect();
    let logs = logs();
    assert!(rows.len() >= 30, "{} rows", rows.len());
    assert_eq!(rows.len(), logs.entries().count(), "each log has a row");
    let mut wrong = String::new();
    for row in &rows {
        let [name, _source, _person, expected, result] = row.as_slice() else {
            panic!("{row:?}");
        };
        let found = summary(logs.file(name).unwrap(), name);
        let wanted = if *result == "same" { expected } else { result.split(" (").next().unwrap() };
        if found != wanted.trim_start_matches("differs: ") {
            wrong.push_str(&format!("{name}\n  expected {expected}\n  found    {found}\n"));
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

/// Returns the exit status and the findings about waiting and early reads.
fn answer(log: &[u8], name: &str) -> (String, Option<Report>) {
    let report = if name.starts_with("strace-") {
        strace::read(log, name)
            .map(|trace| diagnose(Case { traces: vec![trace], ..Case::default() }))
            .map_err(|error| error.to_string())
    } else {
        report(log, name)
    };
    let Ok(report) = report else { return ("3; none".to_owned(), None) };
    let about = [Id::NotReady, Id::ReadyLate, Id::UnitWaited, Id::TraceWaited, Id::EarlyRead];
    let mut findings: Vec<String> = report
        .findings
        .iter()
        .filter(|finding| about.contains(&finding.id))
        .map(|finding| {
            let severity = format!("{:?}", finding.severity).to_lowercase();
            format!("{} {severity}", finding.id)
        })
        .collect();
    findings.sort();
    let findings = if findings.is_empty() { "none".to_owned() } else { findings.join(", ") };
    (format!("{}; {findings}", report.verdict().exit_status()), Some(report))
}

/// The tables of programs' words and boards, answers.md and further.md in tests/outside. Beside the
/// verdict, line one has to name who waited or how long, and the step that fits.
#[test]
fn every_outside_log_gets_the_expected_answer() {
    let wrong = ["answers", "further"].map(|name| wrong_answers(name, 40));
    let wrong = wrong.concat();
    assert!(wrong.is_empty(), "\n{wrong}");
}

/// Returns the rows of a table that the doctor answers differently.
fn wrong_answers(name: &str, at_least: usize) -> String {
    let table = fs::read_to_string(file(&format!("{name}.md"))).unwrap();
    let logs = Archive::parse(&fs::read(file(&format!("{name}.txt"))).unwrap()).unwrap();
    let rows: Vec<Vec<&str>> = table
        .lines()
        .filter(|line| line.starts_with("| "))
        .skip(2)
        .map(|line| line.trim_matches('|').split(" | ").map(str::trim).collect())
        .collect();
    assert!(rows.len() >= at_least, "{} rows", rows.len());
    assert_eq!(rows.len(), logs.entries().count(), "each log has a row");
    let mut wrong = String::new();
    for row in &rows {
        let [name, _source, expected, says, fix, result] = row.as_slice() else {
            panic!("{row:?}");
        };
        let (found, report) = answer(logs.file(name).unwrap(), name);
        let after =
            |prefix| result.strip_prefix(prefix).and_then(|rest: &str| rest.split(" (").next());
        let (differs, said) = (after("differs: "), after("line one: "));
        assert!(differs.is_some() || said.is_some() || *result == "same", "{row:?}");
        let says = said.unwrap_or(says);
        let first = report.as_ref().map(Report::headline).unwrap_or_default();
        let step = report.as_ref().and_then(Report::answer).and_then(|found| found.fixes.first());
        let step = step.map(|fix| format!("{} {}", fix.what, fix.exact.as_deref().unwrap_or("")));
        let holds = |text: &str, part: &str| {
            part == "-" || text.to_lowercase().contains(&part.to_lowercase())
        };
        // A row that differs by finding nothing has no line one.
        let is_none = differs.is_some_and(|differs| differs.ends_with("none"));
        let is_right =
            is_none || holds(&first, says) && holds(&step.clone().unwrap_or_default(), fix);
        if found != differs.unwrap_or(expected) || !is_right {
            wrong.push_str(&format!("{name}\n  expected {expected}; {says}; {fix}\n"));
            wrong.push_str(&format!("  found    {found}; {first}; {step:?}\n"));
        }
    }
    wrong
}

/// Returns what a log shows of its machine, in the words of the table.
fn machine(log: &[u8], name: &str) -> String {
    let report = match report(log, name) {
        Ok(report) => report,
        Err(error) => return error,
    };
    let platform = report.platform.map(|platform| serde_json::to_value(platform).unwrap());
    let platform = platform.as_ref().and_then(serde_json::Value::as_str).unwrap_or("-");
    let shown = &report.boots.last().unwrap().machine;
    let confidential = if shown.confidential.is_some() { "yes" } else { "no" };
    format!("{platform}; {confidential}; {}", shown.architecture.as_deref().unwrap_or("-"))
}

#[test]
fn every_outside_log_shows_the_expected_machine() {
    let readme = fs::read_to_string(file("README.md")).unwrap();
    let (_, table) = readme.split_once("## The machine").unwrap();
    let logs = logs();
    let mut wrong = String::new();
    let mut rows = 0;
    for line in table.lines().filter(|line| line.starts_with("| ")).skip(2) {
        let row: Vec<&str> = line.trim_matches('|').split(" | ").map(str::trim).collect();
        let [name, expected @ .., result] = row.as_slice() else { panic!("{row:?}") };
        rows += 1;
        let found = machine(logs.file(name).unwrap(), name);
        let differs = result.strip_prefix("differs: ").and_then(|rest| rest.split(" (").next());
        let expected = differs.map_or_else(|| expected.join("; "), str::to_owned);
        assert!(differs.is_some() || *result == "same", "{row:?}");
        if found != expected {
            wrong.push_str(&format!("{name}\n  expected {expected}\n  found    {found}\n"));
        }
    }
    assert!(rows >= 30, "{rows} rows");
    assert!(wrong.is_empty(), "\n{wrong}");
}

/// Advice that does not fit the log's machine costs belief: another architecture's instruction, a
/// package manager or a boot loader without evidence, a kernel that the machine has, the device of
/// an adversary, a hypervisor's operator for a router.
#[test]
fn no_outside_log_gets_advice_of_another_machine() {
    let mut advised = 0;
    let files = ["logs", "answers", "further"].map(|name| fs::read(file(&format!("{name}.txt"))));
    let archives = files.map(|bytes| Archive::parse(&bytes.unwrap()).unwrap());
    for (name, entry) in archives.iter().flat_map(Archive::entries) {
        let headwater_hostfile::Entry::File(log) = entry else { unreachable!() };
        let Ok(report) = report(log, name) else { continue };
        let boot = report.boots.last().unwrap();
        let architecture = boot.machine.architecture.as_deref().unwrap_or("x86-64");
        let series = boot.kernel.as_deref().and_then(|release| {
            let mut parts = release.split(['.', '-']);
            Some((parts.next()?.parse::<u32>().ok()?, parts.next()?.parse::<u32>().ok()?))
        });
        for fix in report.findings.iter().flat_map(|finding| &finding.fixes) {
            advised += 1;
            let exact = fix.exact.as_deref().unwrap_or_default();
            let text = format!("{} {exact}", fix.what);
            let has = |word: &str| text.contains(word);
            let aws = report.platform == Some(headwater_doctor::Platform::Aws);
            if !architecture.starts_with("x86") && !aws {
                assert!(!has("RDRAND") && !has("Ivy Bridge"), "{name}, {architecture}: {text}");
            }
            for word in ["apt ", "dnf ", "zypper ", "apk ", "pacman ", "grub", "dracut"] {
                assert!(!exact.contains(word), "{name}: {text}");
            }
            if series.is_some_and(|series| series >= (5, 4)) {
                assert!(!has("5.4 or later"), "{name}, {:?}: {text}", boot.kernel);
            }
            if boot.machine.confidential.is_some() {
                assert!(!has("virtio-rng"), "{name}: {text}");
                assert_ne!(fix.trusts, Some("the hypervisor"), "{name}: {text}");
            }
            if has("operator of the hypervisor") {
                let is_board = boot.machine.model.is_some()
                    || ["mips", "arm", "riscv64"].contains(&architecture);
                assert!(!is_board, "{name}: {text}");
                assert!(report.platform.is_some() || has("if this is a virtual machine"), "{name}");
            }
            let line = boot.command_line.as_deref().unwrap_or_default();
            if line.contains("random.trust_cpu=on") {
                assert!(!has("add random.trust_cpu=on"), "{name}: {text}");
            }
        }
    }
    assert!(advised > 200, "{advised} fixes");
}

/// The founding post-mortem's two files of one boot, in both orders, in one report.
#[test]
fn the_founding_blocks_are_one_boot_in_any_order() {
    let logs = logs();
    let read = |name: &str| journal::read(logs.file(name).unwrap(), name).unwrap();
    for order in [["founding-grep2", "founding-ssh"], ["founding-ssh", "founding-grep2"]] {
        let boots = journal::put_together(order.map(read).to_vec());
        assert_eq!(boots.len(), 1, "{order:?}");
        let report = diagnose(Case { boots, ..Case::default() });
        let text: Vec<&str> = report.findings.iter().map(|finding| &*finding.title).collect();
        let text = text.join("\n");
        assert!(text.contains("105 s by the log's whole seconds"), "{text}");
        let unit =
            text.lines().find(|line| line.contains("ecure Shell") || line.contains("ssh.service"));
        let unit = unit.unwrap_or_else(|| panic!("{text}"));
        for part in ["2 attempts (90 s and 12 s)", "102 s (± 2 s)", "killed one"] {
            assert!(unit.contains(part), "{part}: {unit}");
        }
    }
    // The log of another boot stays another boot.
    let files = ["founding-grep", "founding-ssh", "founding-grep2"].map(read).to_vec();
    assert_eq!(journal::put_together(files).len(), 2);
}
