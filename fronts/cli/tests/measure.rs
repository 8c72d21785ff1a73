//! `headwater quality` and `headwater bench`, as run.

mod command;

use command::{headwater, misused, text};
use snapbox::str;

/// 1 says "failed" to a script, so a report that no reader can get needs another status.
#[test]
fn quality_without_a_place_for_its_report_has_no_verdict() {
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let done = std::process::Command::new(env!("CARGO_BIN_EXE_headwater"))
        .args(["quality", "--fast", "stuck"])
        .stdout(full)
        .output()
        .unwrap();
    assert_eq!(done.status.code(), Some(3));
    let line = String::from_utf8_lossy(&done.stderr);
    assert!(line.starts_with("headwater: cannot write to standard output"), "{line}");
}

/// A user who forgot the generator would otherwise wait in silence.
#[test]
fn quality_reports_after_five_seconds_that_it_waits_for_standard_input() {
    use std::io::{BufRead, BufReader, Write};
    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_headwater"))
        .args(["quality", "--fast", "-"])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    input.write_all(&[1; 100]).unwrap();
    let begun = std::time::Instant::now();
    let mut line = String::new();
    BufReader::new(child.stderr.take().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, "headwater: waiting for standard input, 100 bytes so far\n");
    assert!(begun.elapsed().as_secs() >= 4);
    drop(input);
    assert_eq!(child.wait().unwrap().code(), Some(3), "100 bytes are too few");
}

#[test]
fn quality_judges_by_its_exit_status() {
    let judge = |args: &[&str]| headwater(&[&["quality", "--fast"], args].concat()).assert();
    judge(&["ars7"]).success().stderr_eq(str![""]);
    judge(&["xorshift128p"]).code(1).stderr_eq(str![[r#"
headwater: xorshift128p failed: its numbers are not random

"#]]);
    misused(&["quality", "dice"]).stderr_eq(str![[r#"
headwater: no generator is called 'dice'; 'headwater quality --list' names all; see 'headwater quality --help'

"#]]);
    misused(&["quality", "--fast", "--deep"]);
    misused(&["quality", "ars7", "--seeds", "5..5"]);
    let few = headwater(&["quality", "-"]).stdin("too little").assert().code(3);
    few.stdout_eq(str![""]).stderr_eq(str![[r#"
headwater: 10 bytes are too few to judge: at least 4096 are needed, some megabytes are better

"#]]);
    misused(&["quality", "ars7", "--fast", "--size", "1"]).stderr_eq(str![[r#"
headwater: only --deep has a size; use --fast or --standard as they are; see 'headwater quality --help'

"#]]);
    misused(&["quality", "headwater", "--seed", "1"]);
    let list = text(&["quality", "--list"]);
    for name in ["headwater-strict", "ars7", "/dev/urandom", "clock%3"] {
        assert!(list.contains(name), "{list}");
    }
}

#[test]
fn quality_writes_its_report_as_json_and_as_a_page() {
    let page = std::env::temp_dir().join(format!("headwater-quality-{}.html", std::process::id()));
    let file = page.to_str().unwrap();
    let done =
        headwater(&["quality", "counter", "--fast", "--json", "--html", file]).assert().code(1);
    let report: serde_json::Value = serde_json::from_slice(&done.get_output().stdout).unwrap();
    assert_eq!(report["schema"], "headwater.quality/1");
    assert_eq!((&report["verdict"], &report["source"]), (&"failed".into(), &"counter".into()));
    assert!(report["rows"][0]["p"].as_f64().unwrap() < 1e-9);
    let text = std::fs::read_to_string(&page).unwrap();
    std::fs::remove_file(&page).unwrap();
    assert!(text.contains("headwater quality: counter"));
    let missing =
        headwater(&["quality", "counter", "--html", "/nonesuch/page.html"]).assert().code(3);
    missing.stdout_eq(str![""]);
}

/// Measures for a moment, then compares with figures that no machine can reach, and with easy ones.
#[test]
fn bench_compares_with_an_earlier_run() {
    let quick = ["bench", "--cases=fill", "--sizes=16", "--impls=headwater", "--rounds=6"];
    let path = std::env::temp_dir().join(format!("headwater-compare-{}.json", std::process::id()));
    let compare = format!("--compare={}", path.display());
    let run = |more: &[&str]| headwater(&[&quick[..], more].concat()).assert();
    let report = text(&[&quick[..], &["--json"]].concat());
    let mut report: serde_json::Value = serde_json::from_str(&report).unwrap();
    for (ns, status) in [(1e-3, 1), (1e9, 0)] {
        for field in ["ns_per_call", "low", "high"] {
            report["rows"][0][field] = ns.into();
        }
        report["rows"][0]["mad"] = 0.0.into();
        std::fs::write(&path, report.to_string()).unwrap();
        let outcome = run(&[compare.as_str()]).code(status);
        let output = outcome.get_output();
        let table = String::from_utf8_lossy(&output.stdout);
        assert!(table.contains(if status == 1 { "| slower |" } else { "| faster |" }), "{table}");
        let words = String::from_utf8_lossy(&output.stderr);
        let complaint = "headwater: 1 of headwater's figures are slower than in the baseline\n";
        assert_eq!(words, if status == 1 { complaint } else { "" });
    }
    report["machine"]["cpu"] = "another".into();
    std::fs::write(&path, report.to_string()).unwrap();
    let refusal = run(&[compare.as_str()]).code(2);
    let words = String::from_utf8_lossy(&refusal.get_output().stderr).into_owned();
    assert!(
        words.starts_with("headwater: the record is of another machine: its CPU is 'another'"),
        "{words}"
    );
    assert_eq!(words.lines().count(), 1);
    run(&[compare.as_str(), "--compare-any-machine"]).code(0);
    std::fs::remove_file(&path).unwrap();
    misused(&["bench", "--compare=/nonesuch"]);
}

#[test]
fn bench_is_there() {
    // The benchmark's own crate tests its measurements.
    let help = text(&["bench", "--help"]);
    assert!(help.contains("--json"), "{help}");
    misused(&["bench", "--impls", "nonesuch"]);
    misused(&["bench", "--from", "old.json"]);
    misused(&["bench", "--html", "page.html", "--from", "old.json", "--json"]);
    misused(&["bench", "--pin", "socket"]);
    misused(&["bench", "--procs", "0"]);
}

/// The cases for which the command forks, or starts itself again.
#[test]
fn bench_tells_of_fresh_processes() {
    for case in ["first-byte-after-start", "first-byte-after-fork"] {
        let impls = "headwater,getrandom-syscall";
        let json = text(&["bench", "--json", "--rounds=3", "--cases", case, "--impls", impls]);
        let report: serde_json::Value = serde_json::from_str(&json).unwrap();
        let rows = report["rows"].as_array().unwrap();
        assert!(rows.iter().any(|row| row["impl"] == "getrandom-syscall"), "{json}");
        for row in rows {
            assert_eq!((&row["case"], &row["samples"]), (&case.into(), &3.into()), "{json}");
            assert!(row["ns_per_call"].as_f64().unwrap() > 0.0, "{json}");
        }
    }
}
