//! Properties of calls that are known before `--count` steps through them.

#![cfg(all(target_arch = "x86_64", target_os = "linux"))]

use headwater_bench::{Args, Count, Report, run};
use headwater_stepper::allowed_cpus;

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

fn count<'a>(report: &'a Report, implementation: &str) -> Option<&'a Count> {
    let row = report.rows.iter().find(|row| row.implementation == implementation)?;
    row.count.as_ref()
}

/// Returns the result of `measure` while the kernel does not reseed, which it does once a minute. A
/// stepped call takes so long that under reseeds in a loop it has to draw again each time.
fn undisturbed<T>(measure: impl Fn() -> T) -> Option<T> {
    (0..5).find_map(|_| {
        let before = headwater::status().reseed_generation;
        let measured = measure();
        (headwater::status().reseed_generation == before).then_some(measured)
    })
}

/// One test, because each count forks, and a fork wants no other thread at work.
#[test]
fn calls_do_what_is_known_of_them() {
    // A restartable sequence is aborted at each step; the path with locks can be counted.
    // SAFETY: this test is the only one of its program, and no thread of its own was started yet.
    unsafe { std::env::set_var("HEADWATER_NO_RSEQ", "1") };
    // An implementation on this host can be stepped through, and only the requested ones are. All
    // of them take a minute; `cargo xtask test --all` asks for them by the variable.
    let few = ["getrandom-syscall", "headwater", "urandom-read"];
    let is_all = std::env::var_os("HEADWATER_TEST_EVERY_COUNT").is_some();
    let report = counted(&["fill"], &["256", "8k"], if is_all { &[] } else { &few });
    if report.warnings.iter().any(|warning| warning.contains("ptrace(2) is refused")) {
        eprintln!("skipped: counting: ptrace(2) is refused, WHAT CALLS DO");
        return;
    }
    for row in &report.rows {
        let title = format!("{} {}", row.implementation, row.len);
        assert_eq!(row.count.is_some(), row.len == 256, "{title}: {:?}", report.warnings);
        if let Some(count) = &row.count {
            assert!(count.instructions > 0 && count.calls >= 9, "{title}");
        }
    }
    for name in ["getrandom-syscall", "urandom-read"] {
        let count = count(&report, name).unwrap();
        assert_eq!((count.syscalls, count.rdrand), (1, 0), "{name}: {count:?}");
        assert_eq!(count.mean.syscalls, 1.0, "{name}: {count:?}");
    }
    let direct = count(&report, "getrandom-syscall").unwrap();
    assert_eq!(direct.locked, 0, "{direct:?}");
    // The call, its wrapper and the loop; nothing that a debug build adds comes near a thousand.
    assert!((5..1000).contains(&direct.instructions), "{direct:?}");
    let two_cpus = direct.shared_lines.is_some();
    assert_eq!(two_cpus, allowed_cpus().len() > 1);

    let text = headwater_bench::table(&report);
    assert!(text.contains("count: what a warm call of fill 256 B does"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    let json = serde_json::to_value(&report).unwrap();
    let fields = json["rows"][0]["count"].as_object().unwrap();
    for field in ["instructions", "locked", "syscalls", "rdrand", "shared_lines", "mean", "calls"] {
        assert!(fields.contains_key(field), "{field}");
    }

    // A word from the slot of this CPU: one exchange takes it, and no other CPU's calls come near.
    let Some(report) = undisturbed(|| counted(&["u64"], &[], &["headwater"])) else {
        eprintln!(
            "skipped: the kernel reseeds all the time here, WHAT A QUIET CALL OF HEADWATER DOES"
        );
        return;
    };
    if report.rows[0].mode.as_deref() != Some("buffered") {
        eprintln!("skipped: headwater is not in mode buffered here, WHAT ITS QUICK PATH DOES");
        return;
    }
    let count = count(&report, "headwater").unwrap();
    assert_eq!((count.locked, count.syscalls, count.rdrand), (1, 0, 0), "{count:?}");
    assert_eq!(count.shared_lines, two_cpus.then_some(0), "{count:?}");
    assert!(count.mean.instructions > count.instructions as f64, "refills: {count:?}");
}
