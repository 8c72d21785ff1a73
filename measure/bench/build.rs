//! Records for reports which compiler and which peers a benchmark was built with. Unknown values
//! stay unset, and show as unknown.

use std::process::Command;

/// Beside the sources in the repository, absent from a published crate.
const LOCK: &str = "../../Cargo.lock";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if let Some(version) = rustc_version() {
        println!("cargo::rustc-env=HEADWATER_BENCH_RUSTC={version}");
    }
    let Ok(lock) = std::fs::read_to_string(LOCK) else {
        return;
    };
    println!("cargo::rerun-if-changed={LOCK}");
    for (variable, package, series) in [
        ("AWS_LC_RS", "aws-lc-rs", "1."),
        ("BORING", "boring", "5."),
        ("FASTRAND", "fastrand", "2."),
        ("RAND", "rand", "0.10."),
        ("RAND_DISTR", "rand_distr", "0.6."),
        ("RAND_PHILOX", "rand_philox", "0.2."),
        ("RAND_XOSHIRO", "rand_xoshiro", "0.8."),
        ("VDSO_RNG", "vdso-rng", "0.3."),
    ] {
        if let Some(version) = locked_version(&lock, package, series) {
            println!("cargo::rustc-env=HEADWATER_BENCH_{variable}={version}");
        }
    }
}

fn rustc_version() -> Option<String> {
    let output = Command::new(std::env::var_os("RUSTC")?).arg("--version").output().ok()?;
    Some(String::from_utf8(output.stdout).ok()?.trim().to_owned())
}

/// Returns the locked version of `package` that belongs to `series`, because other crates may bring
/// in other series.
fn locked_version<'a>(lock: &'a str, package: &str, series: &str) -> Option<&'a str> {
    let name = format!("name = \"{package}\"");
    lock.split("[[package]]")
        .filter(|entry| entry.lines().any(|line| line == name))
        .filter_map(|entry| entry.lines().find_map(|line| line.strip_prefix("version = \"")))
        .map(|version| version.trim_end_matches('"'))
        .find(|version| version.starts_with(series))
}
