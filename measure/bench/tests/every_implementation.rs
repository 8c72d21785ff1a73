//! Runs every implementation of this host for a few milliseconds, and checks the rows. The figures
//! describe the machine and are not checked.

use headwater_bench::{Args, Report, run};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Present on every Linux: they need no library and no new kernel.
const ALWAYS: [&str; 5] =
    ["headwater", "headwater-rng", "getrandom-syscall", "urandom-read", "urandom-reopened"];

/// Lets one test run at a time, until the test drops the guard. headwater's mode is one for the
/// whole process, and runs change the mode.
fn alone() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

fn list(items: &[&str]) -> Vec<String> {
    items.iter().map(|&item| item.to_owned()).collect()
}

fn quick() -> Args {
    Args { time: 0.002, ..Args::default() }
}

fn check_rows(report: &Report) {
    for row in &report.rows {
        let title = format!("{} {} {}", row.case, row.implementation, row.len);
        assert!(row.ns_per_call.is_finite() && row.ns_per_call > 0.0, "{title}");
        assert!(row.gb_per_s.is_finite() && row.gb_per_s > 0.0, "{title}");
        assert!(row.mad >= 0.0 && row.max >= row.ns_per_call, "{title}");
        assert!(row.samples >= 6 && row.samples == row.rounds.len(), "{title}");
        assert!(row.calls >= 1 && row.seconds > 0.0, "{title}");
    }
}

#[test]
fn every_case_has_every_implementation_of_this_host() {
    let _alone = alone();
    // Beyond 256 bytes, and beyond 64 KiB, some can only be asked in pieces.
    let report = run(&Args { sizes: list(&["4", "300", "65537"]), ..quick() }).unwrap();
    check_rows(&report);
    for (case, len) in
        [("fill", 4), ("fill", 300), ("fill", 65537), ("u32", 4), ("u64", 8), ("uuid-v4", 16)]
    {
        let rows: Vec<_> =
            report.rows.iter().filter(|row| row.case == case && row.len == len).collect();
        for name in ALWAYS {
            assert!(rows.iter().any(|row| row.implementation == name), "{case} {len} {name}");
        }
        // Interleaved: the k-th round of one was timed beside the k-th of each other.
        assert!(rows.windows(2).all(|pair| pair[0].samples == pair[1].samples), "{case} {len}");
        for skipped in &report.skipped {
            assert!(
                rows.iter().all(|row| row.implementation != skipped.implementation),
                "{skipped}"
            );
        }
    }
}

/// Nothing that this host may have is passed over without a word, except what hardly any host has.
#[test]
fn whatever_is_not_measured_is_skipped_with_its_reason() {
    let _alone = alone();
    let report = run(&Args { cases: list(&["u64"]), rounds: Some(6), ..quick() }).unwrap();
    let told = |name: &str| {
        report.rows.iter().any(|row| row.implementation == name)
            || report
                .skipped
                .iter()
                .any(|skipped| skipped.implementation == name && !skipped.reason.is_empty())
    };
    for name in [
        "getrandom-vdso",
        "libc-getrandom",
        "libc-getentropy",
        "libc-arc4random",
        "openssl-RAND_bytes",
        "boringssl-RAND_bytes",
        "libsodium-randombytes_buf",
        "gnutls-rnd-random",
        "nss-PK11_GenerateRandom",
    ] {
        assert!(told(name), "{name}");
    }
    for row in &report.rows {
        assert!(
            row.version.is_some() || row.implementation.starts_with("rd"),
            "{}",
            row.implementation
        );
    }
    assert!(
        report.skipped.iter().all(|skipped| !skipped.implementation.starts_with("headwater-c"))
    );
    assert!(!told("openssl-RAND_priv_bytes"), "on request only");
}

/// The mode that this machine chooses is the row without a mode, and is not measured twice.
#[test]
fn headwater_is_shown_in_every_mode_once() {
    let _alone = alone();
    let report = run(&Args { cases: list(&["u64"]), rounds: Some(6), ..quick() }).unwrap();
    let chosen = headwater::status().mode.name();
    let rows: Vec<_> = report
        .rows
        .iter()
        .filter(|row| row.implementation.split('[').next() == Some("headwater"))
        .map(|row| (row.implementation.clone(), row.mode.clone().unwrap()))
        .collect();
    assert_eq!(rows[0], ("headwater".to_owned(), chosen.to_owned()));
    for mode in ["buffered", "hedged", "strict", "kernel"] {
        let name = format!("headwater[{mode}]");
        let measured = rows.iter().filter(|row| row.1 == mode).count();
        let skipped =
            report.skipped.iter().filter(|skipped| skipped.implementation == name).count();
        assert_eq!(measured + skipped, 1, "{mode}: {rows:?}");
        assert!(mode != chosen || rows.iter().all(|row| row.0 != name), "{mode}");
    }
}

/// The modes take part by default, and the comparison with the RFC's pools is of the chosen one
/// alone.
#[test]
fn looking_for_the_modes_leaves_the_chosen_one_armed() {
    let _alone = alone();
    let before = headwater::status().mode;
    let rfc = Args { cases: list(&["rfc-u32"]), rounds: Some(6), ..quick() };
    let report = run(&rfc).unwrap();
    let row = report.rows.iter().find(|row| row.implementation == "headwater").unwrap();
    assert_eq!(row.mode.as_deref(), Some(before.name()));
    assert_eq!(headwater::status().mode, before);
}

/// Asked for by name, what is not in the default table is measured like the rest.
#[test]
fn names_on_request_are_known() {
    let _alone = alone();
    for name in ["openssl-RAND_priv_bytes", "gnutls-rnd-nonce"] {
        let asked = Args {
            cases: list(&["u64"]),
            impls: list(&["headwater", name]),
            rounds: Some(6),
            ..quick()
        };
        let report = run(&asked).unwrap();
        let measured = report.rows.iter().any(|row| row.implementation == name);
        let skipped = report.skipped.iter().any(|skipped| skipped.implementation == name);
        assert!(measured != skipped, "{name}");
    }
}

#[test]
fn the_rfc_table_draws_a_fixed_number_and_counts_what_its_pools_discard() {
    let _alone = alone();
    let report = run(&Args {
        cases: list(&["rfc-u32"]),
        impls: list(&["headwater", "getrandom-syscall"]),
        rounds: Some(6),
        ..quick()
    })
    .unwrap();
    check_rows(&report);
    let names: Vec<_> = report.rows.iter().map(|row| row.implementation.as_str()).collect();
    assert_eq!(names, ["getrandom-syscall", "getrandom-syscall[pool]", "headwater"]);
    for row in &report.rows {
        assert_eq!(row.calls * row.samples as u64, 60_000, "{}", row.implementation);
        let keeps_a_pool = row.implementation != "getrandom-syscall";
        assert_eq!(row.discarded_bytes.is_some(), keeps_a_pool, "{}", row.implementation);
    }
}

#[test]
fn threads_draw_together() {
    let _alone = alone();
    let report = run(&Args {
        cases: list(&["fill", "u64"]),
        sizes: list(&["16"]),
        threads: list(&["1", "2", "3"]),
        ..quick()
    })
    .unwrap();
    check_rows(&report);
    for threads in [1, 2, 3] {
        assert!(report.rows.iter().any(|row| row.threads == threads), "{threads}");
    }
    for row in &report.rows {
        let together = row.len as f64 * row.threads as f64 / row.ns_per_call;
        assert!((row.gb_per_s / together - 1.0).abs() < 1e-9);
    }
}

/// A mode that this host cannot serve is skipped with its reason, never measured under a wrong
/// name.
#[test]
fn a_mode_is_the_one_that_was_asked_for() {
    let _alone = alone();
    let modes = ["buffered", "hedged", "strict", "kernel"];
    let mut impls = list(&["getrandom-syscall", "headwater"]);
    impls.extend(modes.map(|mode| format!("headwater[{mode}]")));
    let before = headwater::status().mode;
    let report =
        run(&Args { cases: list(&["fill", "rfc-u32"]), sizes: list(&["16"]), impls, ..quick() })
            .unwrap();
    check_rows(&report);
    for row in report.rows.iter().filter(|row| row.implementation == "headwater") {
        assert_eq!(
            row.mode.as_deref(),
            Some(before.name()),
            "{}: without a mode, the default one",
            row.case
        );
    }
    for mode in modes {
        let name = format!("headwater[{mode}]");
        let row = report.rows.iter().find(|row| row.implementation == name);
        let skipped = report.skipped.iter().find(|skipped| skipped.implementation == name);
        assert!(row.is_some() != skipped.is_some(), "{name}");
        if let Some(row) = row {
            assert_eq!(row.mode.as_deref(), Some(mode));
        }
    }
    assert_eq!(headwater::status().mode, before, "the default mode is in use again");
}

#[test]
fn errors_are_one_line_and_say_whose_fault_it_is() {
    let _alone = alone();
    let error = run(&Args { impls: list(&["openssl"]), ..quick() }).unwrap_err();
    assert!(error.is_usage());
    let text = error.to_string();
    assert!(
        text.contains("unknown implementation 'openssl'") && text.contains("openssl-RAND_bytes")
    );
    assert!(!text.contains('\n'));
}

#[test]
fn the_table_fits_100_columns() {
    let _alone = alone();
    let text = headwater_bench::table(&run(&Args { rounds: Some(6), ..quick() }).unwrap());
    for line in text.lines() {
        assert!(line.chars().count() <= 100, "{line}");
    }
}
