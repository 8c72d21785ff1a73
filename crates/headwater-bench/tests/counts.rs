//! What is known beforehand of the calls that `--count` steps through.

#![cfg(all(target_arch = "x86_64", target_os = "linux"))]

use headwater_bench::{Args, Report, Row, run};

fn list(items: &[&str]) -> Vec<String> {
    items.iter().map(|&item| item.to_owned()).collect()
}

fn counted(cases: &[&str], sizes: &[&str], impls: &[&str]) -> Report {
    run(&Args {
        cases: list(cases),
        sizes: list(sizes),
        impls: list(impls),
        count: true,
        rounds: Some(1),
        ..Args::default()
    })
    .unwrap()
}

fn row<'a>(report: &'a Report, implementation: &str) -> Option<&'a Row> {
    report.rows.iter().find(|row| row.implementation == implementation)
}

/// One test, because each count forks, and a fork wants no other thread at work.
#[test]
fn calls_do_what_is_known_of_them() {
    let impls =
        ["headwater[buffered]", "headwater-rng[buffered]", "getrandom-syscall", "urandom-read"];
    let report = counted(&["u64"], &[], &impls);
    let Some(direct) = row(&report, "getrandom-syscall").and_then(|row| row.count.as_ref()) else {
        let skipped =
            report.warnings.iter().any(|warning| warning.contains("ptrace(2) is refused"));
        assert!(skipped, "{:?}", report.warnings);
        eprintln!("skipped: counting: ptrace(2) is refused, WHAT CALLS DO");
        return;
    };
    for name in ["getrandom-syscall", "urandom-read"] {
        let count = row(&report, name).unwrap().count.as_ref().unwrap();
        assert_eq!((count.syscalls, count.locked, count.rdrand), (1, 0, 0), "{name}: {count:?}");
        assert_eq!(count.mean.syscalls, 1.0, "{name}: {count:?}");
    }
    // The call, its wrapper and the loop; nothing that a debug build adds comes near a thousand.
    assert!((5..1000).contains(&direct.instructions), "{direct:?}");
    let two_cpus = direct.shared_lines.is_some();
    for (name, locked) in [("headwater[buffered]", 1), ("headwater-rng[buffered]", 0)] {
        let Some(row) = row(&report, name) else {
            assert!(report.skipped.iter().any(|skipped| skipped.implementation == name));
            continue;
        };
        let count = row.count.as_ref().unwrap();
        assert_eq!(
            (count.locked, count.syscalls, count.rdrand),
            (locked, 0, 0),
            "{name}: {count:?}"
        );
        assert_eq!(count.shared_lines, two_cpus.then_some(0), "{name}: {count:?}");
        assert!(count.calls >= 100, "{name}: {count:?}");
        assert!(count.mean.instructions > count.instructions as f64, "{name}: {count:?}");
    }

    // Whatever this host has can be stepped through, and only what was asked for is.
    let report = counted(&["fill"], &["16", "8k"], &[]);
    for row in &report.rows {
        let title = format!("{} {}", row.implementation, row.len);
        assert_eq!(row.count.is_some(), row.len == 16, "{title}: {:?}", report.warnings);
        if let Some(count) = &row.count {
            assert!(count.instructions > 0 && count.calls > 0, "{title}");
        }
    }
    let text = report.table();
    assert!(text.contains("count: what a warm call of fill 16 B does"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    let json = serde_json::to_value(&report).unwrap();
    let count = json["rows"][0]["count"].as_object().unwrap();
    for field in ["instructions", "locked", "syscalls", "rdrand", "shared_lines", "mean", "calls"] {
        assert!(count.contains_key(field), "{field}");
    }
}
