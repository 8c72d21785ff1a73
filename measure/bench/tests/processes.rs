//! Tests that need several processes. They have no harness: a process that forks must have one
//! thread, and one that is started again must see its arguments first.

use headwater_bench::{Args, Report, Row, run};
use std::process::{Command, ExitCode, Stdio};

fn main() -> ExitCode {
    if let Some(code) = headwater_bench::child() {
        return code;
    }
    let tests: [(&str, fn()); 7] = [
        ("a_fresh_process_reports_its_first_bytes", a_fresh_process_reports_its_first_bytes),
        ("no_child_has_the_bytes_of_its_parent", no_child_has_the_bytes_of_its_parent),
        ("processes_draw_together", processes_draw_together),
        ("every_single_call_of_every_thread_counts", every_single_call_of_every_thread_counts),
        ("a_pinned_run_gives_its_cpus_back", a_pinned_run_gives_its_cpus_back),
        ("headwater_without_sections_draws_in_the_same_rounds", headwater_without_sections),
        ("a_process_that_dies_ends_the_run", a_process_that_dies_ends_the_run),
    ];
    let wanted: Vec<String> =
        std::env::args().skip(1).filter(|arg| !arg.starts_with('-')).collect();
    for (name, test) in tests {
        if wanted.is_empty() || wanted.iter().any(|part| name.contains(part)) {
            println!("test {name} ...");
            test(); // a panic ends this process, with its reason
        }
    }
    ExitCode::SUCCESS
}

fn list(items: &[&str]) -> Vec<String> {
    items.iter().map(|&item| item.to_owned()).collect()
}

fn quick(case: &str) -> Args {
    Args { cases: list(&[case]), sizes: list(&["16"]), time: 0.002, ..Args::default() }
}

fn rows<'a>(report: &'a Report, implementation: &str) -> Vec<&'a Row> {
    report.rows.iter().filter(|row| row.implementation == implementation).collect()
}

fn a_fresh_process_reports_its_first_bytes() {
    let impls = list(&["headwater", "headwater[kernel]", "getrandom-syscall"]);
    let args = Args { impls, rounds: Some(7), ..quick("first-byte-after-start") };
    let report = run(&args).unwrap();
    assert!(report.rows.iter().all(|row| row.samples == 7 && row.ns_per_call > 0.0));
    let shared = rows(&report, "headwater");
    let notes: Vec<_> = shared.iter().map(|row| row.note.as_deref().unwrap()).collect();
    assert_eq!(notes, ["as started", "2000 mappings"]); // which --check looks for
    let mode = headwater::status().mode.name();
    assert!(shared.iter().all(|row| row.mode.as_deref() == Some(mode)));
    assert_eq!(rows(&report, "headwater[kernel]")[0].mode.as_deref(), Some("kernel"));
    let syscall = rows(&report, "getrandom-syscall");
    assert_eq!((syscall.len(), syscall[0].mode.as_deref()), (1, None));
}

fn no_child_has_the_bytes_of_its_parent() {
    let report = run(&Args { rounds: Some(9), ..quick("first-byte-after-fork") }).unwrap();
    assert!(report.rows.iter().all(|row| row.samples == 9 && row.ns_per_call > 0.0));
    for safe in ["headwater", "headwater-rng", "getrandom-syscall", "urandom-read"] {
        let found = rows(&report, safe);
        assert_eq!((found.len(), found[0].note.as_deref()), (1, None), "{safe}");
    }
    // rand's documentation promises nothing else of its thread generator.
    for row in rows(&report, "rand-thread_rng-held") {
        assert_eq!(row.note.as_deref(), Some("the child's bytes are its parent's"));
    }
}

fn processes_draw_together() {
    let impls = list(&["headwater", "headwater[hedged]", "headwater[kernel]", "getrandom-syscall"]);
    let (procs, threads) = (list(&["1", "3"]), list(&["1", "2"]));
    let report = run(&Args { impls, procs, threads, ..quick("fill") }).unwrap();
    for (procs, threads) in [(1, 1), (1, 2), (3, 1), (3, 2)] {
        let here = |row: &&Row| (row.procs, row.threads) == (procs, threads);
        let kernel = rows(&report, "headwater[kernel]").into_iter().find(here).unwrap();
        assert_eq!(kernel.mode.as_deref(), Some("kernel"));
        let crowd = (procs * threads) as f64;
        for row in report.rows.iter().filter(here) {
            assert!(row.samples >= 6 && row.samples == kernel.samples, "{}", row.implementation);
            assert!((row.calls_per_s * row.ns_per_call / (1e9 * crowd) - 1.0).abs() < 1e-9);
            assert!((row.gb_per_s / (row.calls_per_s * 16e-9) - 1.0).abs() < 1e-9);
        }
    }
    for line in headwater_bench::table(&report).lines() {
        assert!(line.chars().count() <= 100, "{line}");
    }
}

fn every_single_call_of_every_thread_counts() {
    let args = Args {
        impls: list(&["headwater", "urandom-read"]),
        threads: list(&["2"]),
        procs: list(&["2"]),
        ..quick("latency")
    };
    let report = run(&args).unwrap();
    assert_eq!(report.rows.len(), 2);
    for row in &report.rows {
        let found = row.percentiles.as_ref().unwrap();
        assert_eq!(found.calls, 4 * row.calls * row.samples as u64, "{}", row.implementation);
        let ascending = [0.0, found.p50, found.p90, found.p99, found.p99_9, found.max];
        assert!(ascending.is_sorted() && found.p50 > 0.0, "{found:?}");
        assert!(found.clock_ns > 0.0 && found.clock_ns < found.max, "{found:?}");
    }
}

fn a_pinned_run_gives_its_cpus_back() {
    let allowed = || {
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        status.lines().find(|line| line.starts_with("Cpus_allowed_list")).unwrap().to_owned()
    };
    let before = allowed();
    for pin in ["core", "node"] {
        let args = Args {
            impls: list(&["headwater"]),
            procs: list(&["1", "2"]),
            pin: pin.to_owned(),
            ..quick("u64")
        };
        let report = run(&args).unwrap();
        assert!(report.rows.iter().all(|row| row.pin.as_deref() == Some(pin)));
        assert_eq!(allowed(), before);
    }
}

fn headwater_without_sections() {
    const LOCKED: &str = "headwater[locked]";
    let impls = list(&["headwater", LOCKED]);
    for case in ["fill", "u64"] {
        let report = run(&Args { impls: impls.clone(), ..quick(case) }).unwrap();
        assert_eq!(report.rows.len(), 2, "{:?}", report.skipped);
        let locked = rows(&report, LOCKED)[0];
        assert!(locked.samples >= 6 && locked.samples == report.rows[0].samples);
        assert!(locked.note.as_deref().unwrap().ends_with("HEADWATER_NO_RSEQ=1"));
    }
    let count = Args { impls: impls.clone(), count: true, ..quick("fill") };
    let report = run(&count).unwrap();
    assert!(rows(&report, LOCKED)[0].count.is_none());
    let reason = format!("{LOCKED} is not counted: its calls are made by another process");
    assert!(report.warnings.contains(&reason), "{:?}", report.warnings);
    let crowd = Args { impls: impls.clone(), threads: list(&["3"]), ..quick("crowd") };
    let report = run(&Args { rounds: Some(2), time: 0.005, ..crowd }).unwrap();
    for row in rows(&report, LOCKED).into_iter().chain(rows(&report, "headwater")) {
        assert_eq!((row.threads, row.samples), (3, 2));
        assert!(row.counters.is_some());
    }
    assert_eq!(report.rows.len(), 2);
    // The other process offers several threads for `crowd` only.
    let report = run(&Args { impls, threads: list(&["2"]), ..quick("u64") }).unwrap();
    assert_eq!((report.rows.len(), report.skipped.len()), (1, 1));
}

/// Panics unless a run ends when one of its processes dies. The other processes would wait for the
/// dead process until the end of time.
fn a_process_that_dies_ends_the_run() {
    let children = format!("/proc/self/task/{}/children", std::process::id());
    if std::fs::read_to_string(children).is_err() {
        println!("skipped: a process that dies: this kernel does not list children");
        return;
    }
    let script = "sleep 0.5; \
        for child in $(cat /proc/$PPID/task/$PPID/children); do \
        [ $child = $$ ] || kill -9 $child; done";
    let mut killer = Command::new("sh").args(["-c", script]).stdout(Stdio::null()).spawn().unwrap();
    let args = Args {
        impls: list(&["headwater"]),
        procs: list(&["2"]),
        threads: list(&["2"]),
        ..quick("u64")
    };
    let error = run(&Args { time: 600.0, ..args }).unwrap_err();
    assert_eq!(error.to_string(), "a forked process ended by signal 9");
    assert!(!error.is_usage());
    killer.wait().unwrap();
}
