//! The tests with every memory access checked, by miri and by two sanitizers.
//!
//! All three need the nightly compiler. Each has a target directory of its own, because their flags
//! leave nothing to share.

use crate::failures::run_tests;
use crate::process::{program, root};
use crate::report::{Report, Stop, need};
use crate::tools;
use anyhow::Result;
use std::env::consts::ARCH;
use std::process::Command;

/// The tests of the library's own modules that make no system call.
const MIRI_UNIT_TESTS: [&str; 10] = [
    "bounded",
    "error",
    "mode",
    "epoch",
    "words_are_taken",
    "blocks_are_taken",
    "keys_mix",
    "rfc_8439",
    "lists_of_cpus",
    "names_are_found",
];
/// The schedules that miri runs. Each also decides which older value a relaxed load may return.
const SEEDS: &str = "-Zmiri-many-seeds=0..16";

pub(crate) fn steps(report: &mut Report) {
    let all = report.is_all();
    report.step("miri", || miri(all));
    report.step("miri, streams", miri_of_streams);
    report.step("address sanitizer", address_sanitizer);
    report.long_step("thread sanitizer", thread_sanitizer);
}

/// Checks for undefined behaviour: aliasing, alignment, provenance, uninitialised bytes, races.
fn miri(all: bool) -> Result<(), Stop> {
    const LOSS: &str = "undefined behaviour, which no other check sees unless it breaks something";
    need(tools::toolchain("nightly", &["miri", "rust-src"]), LOSS)?;
    let miri = |what: &str, seeds: &str| -> Result<Command> {
        let mut miri = program("cargo +nightly miri test --features testing,uuid -p headwater");
        // Before the tests' names, because everything after them is the tests' own.
        miri.arg("--target-dir").arg(root()?.join("target/miri")).args(what.split_whitespace());
        // Provenance can be strict, because only the kernel makes pointers from numbers, and miri
        // has no kernel. Isolation must be off, because it would hide clock and random bytes. Leaks
        // must be ignored, because the pools are never freed, on purpose.
        let flags = "-Zmiri-strict-provenance -Zmiri-disable-isolation -Zmiri-ignore-leaks";
        miri.env("MIRIFLAGS", format!("{flags} {seeds}"));
        if cfg!(target_arch = "x86_64") {
            miri.env("RUSTFLAGS", "-Ctarget-feature=+aes,+sse4.1"); // without, nothing is hedged
        }
        Ok(miri)
    };
    // The table of modes is safe code without a pointer, and takes 5,000 cases.
    run_tests(miri("--lib -- --skip nothing_is_served", "")?.args(MIRI_UNIT_TESTS))?;
    run_tests(&mut miri("--test interpreted -- --test-threads=1", "")?)?;
    if all {
        run_tests(&mut miri("--test interpreted -- --test-threads=1 thread", SEEDS)?)?;
    }
    Ok(())
}

/// Checks for undefined behaviour in the streams' words, bytes and lanes.
fn miri_of_streams() -> Result<(), Stop> {
    const LOSS: &str = "undefined behaviour of the streams, which no other check sees";
    need(tools::toolchain("nightly", &["miri", "rust-src"]), LOSS)?;
    let mut miri = program("cargo +nightly miri test --no-default-features -p headwater-streams");
    miri.arg("--target-dir").arg(root()?.join("target/miri")).args(["--test", "interpreted"]);
    Ok(run_tests(miri.env("MIRIFLAGS", "-Zmiri-strict-provenance"))?)
}

/// Accesses out of bounds or after a free. The streams are here because miri runs none of their
/// wide backends: VAES, AVX-512 and AVX2, as far as this CPU has them.
///
/// One build for both crates: each by itself would compile the core with features of its own.
fn address_sanitizer() -> Result<(), Stop> {
    const LOSS: &str = "accesses out of bounds that happen to hit something";
    need(tools::toolchain("nightly", &["rust-src"]), LOSS)?;
    // Miri runs `interpreted`, and finds more in it.
    let tests = "--lib --test api --test forced --test stress --test partition";
    let packages = "headwater -p headwater-streams --features headwater/testing,headwater/uuid";
    let mut test = sanitized("address", packages, tests)?;
    // The pools are never freed, on purpose: a thread may still draw while the process exits.
    Ok(run_tests(test.env("ASAN_OPTIONS", "detect_leaks=0"))?)
}

/// Checks for data races on pages, slots and states, which locks and the registry's bits have to
/// order.
///
/// The standard library is built for the sanitizer too, because it would not know the locks and
/// channels of an ordinary one. Left out are tests that measure memory, because they would measure
/// the sanitizer's own, and 200,000 rounds of spinning, because they take minutes.
fn thread_sanitizer() -> Result<(), Stop> {
    const LOSS: &str = "data races that happened not to matter in any test";
    need(tools::toolchain("nightly", &["rust-src"]), LOSS)?;
    let tests = "-Zbuild-std --lib --test handles --test interpreted --test races";
    let mut test = sanitized(
        "thread",
        "headwater --features testing,uuid",
        &format!("{tests} --test stress"),
    )?;
    Ok(run_tests(test.args(["--", "--skip", "memory", "--skip", "a_quiesce"]))?)
}

/// Returns the command for tests under a sanitizer. `--cfg sanitized` replaces assembly, which the
/// sanitizer does not see.
fn sanitized(sanitizer: &str, package: &str, tests: &str) -> Result<Command> {
    let mut test = program(&format!("cargo +nightly test -p {package} --target"));
    // With a named target the flags do not apply to build scripts.
    test.arg(format!("{ARCH}-unknown-linux-gnu")).args(tests.split_whitespace());
    test.arg("--target-dir").arg(root()?.join("target").join(sanitizer));
    test.env("RUSTFLAGS", format!("-Zsanitizer={sanitizer} --cfg sanitized"));
    Ok(test)
}
