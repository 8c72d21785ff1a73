//! `cargo xtask test`: what CI runs, cheap checks first.

use crate::process::{output, program, root, run};
use crate::report::{Report, Stop, need};
use crate::{c_library, checked, lab, machine_code, openssl, prose, residue, tools, unsafe_list};
use anyhow::{Result, anyhow};
use std::env;
use std::process::{Command, ExitCode};

/// A system without any of Linux's interfaces, whose standard library rustup has.
const NOT_LINUX: &str = "x86_64-unknown-freebsd";
/// The second architecture with its own CPU instructions in the core.
const ARM: &str = "aarch64-unknown-linux-gnu";
/// The oldest compiler that Cargo.toml promises.
const MSRV: &str = env!("CARGO_PKG_RUST_VERSION");

/// Runs all, whatever fails on the way; with `all`, what takes long as well.
pub(crate) fn test(all: bool) -> Result<ExitCode> {
    env::set_current_dir(root()?)?;
    let mut report = Report::default();
    source(&mut report);
    tests(&mut report);
    openssl::steps(&mut report, all);
    if all {
        report.step("page of a benchmark, in a browser", || page_in_a_browser("headwater-bench"));
        report.step("page of quality, in a browser", || page_in_a_browser("headwater-quality"));
    }
    other_targets(&mut report);
    release(&mut report);
    c_library::step(&mut report, all);
    real_kernels(&mut report);
    machine_code::steps(&mut report);
    residue::steps(&mut report);
    dependencies(&mut report);
    other_compilers(&mut report);
    checked::steps(&mut report, all);
    Ok(report.finish())
}

/// What needs no more than reading.
fn source(report: &mut Report) {
    report.step("format", || {
        need(tools::component("rustfmt"), "the layout of the source")?;
        cargo("fmt --all --check")
    });
    report.step("unsafe list", || Ok(unsafe_list::check().map(drop)?));
    report.step("prose", || Ok(prose::check()?));
    for (name, scope) in [
        ("clippy", "--workspace"),
        ("clippy, no pools", "-p headwater --no-default-features"),
        ("clippy, all features", "-p headwater --all-features"),
    ] {
        report.step(name, || {
            need(tools::component("clippy"), "what clippy warns of")?;
            cargo(&format!("clippy --all-targets {scope} -- -D warnings"))
        });
    }
    // The library and not its tests, which need the standard library.
    report.step("clippy, streams alone", || {
        need(tools::component("clippy"), "what clippy warns of")?;
        cargo("clippy -p headwater-streams --no-default-features -- -D warnings")
    });
    report.step("documentation", || {
        let mut doc = program("cargo doc --workspace --no-deps");
        Ok(run(doc.env("RUSTDOCFLAGS", "-Dwarnings"))?)
    });
}

fn tests(report: &mut Report) {
    // OpenSSL's module has a step of its own, with what it needs, and the model one with an optimised build.
    report.step("tests", || {
        cargo(
            "test --workspace --exclude headwater-openssl --exclude headwater-model --no-fail-fast",
        )
    });
    report
        .step("tests, fallbacks forced", || cargo("test -p headwater --features testing,uuid,std"));
    report.step("tests that change the machine", || {
        need(tools::root_user(), "huge pages, swap and memory cgroups at their limit")?;
        // As a user would build it: what a build that is not optimised leaves on the stack can reach swap.
        cargo(
            "test --release -p headwater --features testing,uuid --test settings \
             -- --ignored --nocapture --test-threads=1",
        )
    });
    report.step("tests, no pools", || cargo("test -p headwater --no-default-features"));
    report.step("tests, streams of NumPy", || {
        let python = need(tools::numpy(), "whether NumPy still gives the same words")?;
        let mut test = program("cargo test -p headwater-streams --test peers");
        Ok(run(test.env("HEADWATER_TEST_PYTHON", python))?)
    });
    report.step("races, model-checked", || {
        // A folder of its own: with other flags everything would be built anew, there and back.
        let mut models = program("cargo test -p headwater --test loom --target-dir target/loom");
        Ok(run(models.env("RUSTFLAGS", "--cfg loom"))?)
    });
    report.step("draws, every schedule", || {
        // Millions of states, which an unoptimised build would need minutes for.
        cargo("test -p headwater-model --release")
    });
    report.step("races of the streams, model-checked", || {
        let mut models =
            program("cargo test -p headwater-streams --test loom --target-dir target/loom");
        Ok(run(models.env("RUSTFLAGS", "--cfg loom"))?)
    });
}

/// The page that a command's `--html` writes: drawn, selected, printed, and kept from the network.
fn page_in_a_browser(package: &str) -> Result<(), Stop> {
    let chromium = need(tools::chromium(), "whether the page of a report works")?;
    let mut test = program(&format!("cargo test -p {package} --test page -- --ignored"));
    Ok(run(test.env("CHROMIUM", chromium))?)
}

fn other_targets(report: &mut Report) {
    report.step("other systems", || {
        need(tools::target(NOT_LINUX), "whether headwater compiles on other systems")?;
        cargo(&format!("check -p headwater --target {NOT_LINUX}"))
    });
    report.step("streams on other systems", || {
        need(tools::target(NOT_LINUX), "whether the streams compile on other systems")?;
        cargo(&format!("check -p headwater-streams --target {NOT_LINUX}"))
    });
    report.step("arm64", || {
        need(tools::target(ARM), "whether headwater compiles for arm64")?;
        cargo(&format!("check -p headwater --features testing --target {ARM}"))?;
        cargo(&format!("check -p headwater-streams --target {ARM}"))?;
        cargo(&format!("check -p headwater-streams-nostd --target {ARM}"))
    });
}

/// The command as a user would build it.
fn release(report: &mut Report) {
    report.step("release", || cargo("run --release"));
    report.step("no test hooks in the command", || {
        // Cargo adds up what all packages ask of a crate, so any of them could let the hooks in.
        let tree = output(&mut program("cargo tree -p headwater-cli -e normal,build,features"))?;
        if tree.contains("headwater feature \"testing\"") {
            return Err(anyhow!("the feature \"testing\" is on:\n{tree}").into());
        }
        Ok(())
    });
}

/// Boots that stall and clones that repeat, in QEMU.
fn real_kernels(report: &mut Report) {
    report.step("real kernels: boots and clones", || {
        need(lab::set_up(), "whether kernels that stall are told, and whether clones repeat")?;
        Ok(lab::short()?)
    });
}

fn dependencies(report: &mut Report) {
    report.step("licences, bans, sources", || {
        let deny = need(tools::cargo_deny(), "licences and origins of the dependencies")?;
        Ok(run(Command::new(deny).args(["check", "licenses", "bans", "sources"]))?)
    });
    report.step("advisories", || {
        const LOSS: &str = "known vulnerabilities of the dependencies, and yanked versions";
        let deny = need(tools::cargo_deny(), LOSS)?;
        need(run(Command::new(&deny).args(["fetch", "db"])), LOSS)?;
        Ok(run(Command::new(&deny).args(["check", "advisories"]))?)
    });
}

fn other_compilers(report: &mut Report) {
    report.step("oldest compiler", || {
        need(tools::toolchain(MSRV, &[]), "whether the oldest promised compiler still builds it")?;
        cargo(&format!("+{MSRV} check --workspace"))
    });
}

pub(crate) fn cargo(line: &str) -> Result<(), Stop> {
    Ok(run(&mut program(&format!("cargo {line}")))?)
}
