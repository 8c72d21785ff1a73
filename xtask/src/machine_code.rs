//! `cargo xtask machine-code`: builds the probe and runs the checks of `proof/machine-code` on it.

use crate::failures::cargo_test;
use crate::java;
use crate::process::{program, root, run, target_directory};
use crate::report::{Choice, Report, Stop, need};
use crate::tools;
use anyhow::{Context, Result, anyhow};
use machine_code::object::{Architecture, Library};
use machine_code::{arm64, reach};
use std::process::ExitCode;
use std::{env, fs};

/// The architectures with code of their own in the core.
const TARGETS: [&str; 2] = ["x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu"];
/// The probe's functions, each of which draws in another way.
const ROOTS: [&str; 6] =
    ["probe_u64", "probe_u32", "probe_fill", "probe_try_fill", "probe_rng_u64", "probe_rng_fill"];

/// Runs only these checks.
pub(crate) fn check() -> Result<ExitCode> {
    env::set_current_dir(root()?)?;
    let mut report = Report::new(Choice::Ordinary);
    steps(&mut report);
    Ok(report.finish())
}

/// Runs the checks, as steps.
pub(crate) fn steps(report: &mut Report) {
    report.step("no panic in a draw", no_panic);
    report.step("no panic in the C library", no_panic_in_c);
    report.step("no panic in OpenSSL's module", no_panic_in_the_provider);
    report.step("no panic in Java's library", no_panic_in_java);
    report.step("order in the arm64 code", || {
        const LOSS: &str = "whether the arm64 code has its barriers in place";
        let target = TARGETS[1];
        need(tools::target(target), LOSS)?;
        Ok(arm64::check(&library(target)?)?)
    });
    report.step("order in the x86-64 code", order_here);
    // Optimised, because only such a build fuses a multiplication and an addition. Only this crate:
    // a release build would compile all dependencies of its tests once more.
    report.step("nothing fused in the streams", || {
        cargo_test(
            "test -p headwater-streams --lib \
             --config profile.dev.package.headwater-streams.opt-level=3 \
             -- --nocapture no_multiplication samplers",
        )
    });
}

fn no_panic() -> Result<(), Stop> {
    for target in TARGETS {
        need(tools::target(target), "whether a draw can panic or allocate")?;
        let library = library(target)?;
        let mut faults = Vec::new();
        for root in ROOTS {
            match reach::walk(&library, root, &[]) {
                Ok(reached) => println!("{target}: {root} reaches {reached} functions, all sound"),
                Err(error) => faults.push(error.to_string()),
            }
        }
        if !faults.is_empty() {
            return Err(anyhow!("{target}:\n{}", faults.join("\n")).into());
        }
    }
    Ok(())
}

/// Checks every function of headwater.h. Only those that create and free handles may allocate.
fn no_panic_in_c() -> Result<(), Stop> {
    let listed = fs::read_to_string(root()?.join("fronts/c/abi.txt")).context("abi.txt")?;
    for target in TARGETS {
        need(tools::target(target), "whether a function for C can panic or allocate")?;
        let library = archive("-p headwater-c", "libheadwater.a", target, "")?;
        let mut faults = Vec::new();
        for root in listed.lines().filter_map(|line| line.split('@').next()) {
            let allocates = ["headwater_rng_new", "headwater_rng_free"].contains(&root);
            let also = match allocates {
                true => &reach::FOR_C_HANDLES[..],
                false if root.starts_with("headwater_arrow_") => &reach::FOR_C_COLUMNS[..],
                false => &reach::FOR_C[..],
            };
            match reach::walk(&library, root, also) {
                Ok(reached) => println!("{target}: {root} reaches {reached} functions, all sound"),
                Err(error) => faults.push(error.to_string()),
            }
        }
        if !faults.is_empty() {
            return Err(anyhow!("{target}:\n{}", faults.join("\n")).into());
        }
    }
    Ok(())
}

/// Checks all of OpenSSL's module: its one exported function refers to the tables of all others.
fn no_panic_in_the_provider() -> Result<(), Stop> {
    const ROOT: &str = "OSSL_provider_init";
    for target in TARGETS {
        need(tools::target(target), "whether a call from OpenSSL can panic or allocate")?;
        let library =
            archive("-p headwater-openssl-module", "libheadwater_openssl.a", target, UNWINDING)?;
        let reached = reach::walk(&library, ROOT, &reach::FOR_OPENSSL)
            .map_err(|error| anyhow!("{target}:\n{error}"))?;
        println!("{target}: {ROOT} reaches {reached} functions, all sound");
    }
    Ok(())
}

/// A function that is not checked: a permutation's chunks keep checks of indices that the compiler
/// cannot remove. Without these checks they took 1.1 times as long.
const PERMUTING: &str = "permutation11Permutation4fill";

/// Checks the functions that Java calls: a panic would end the JVM.
fn no_panic_in_java() -> Result<(), Stop> {
    let folder = root()?.join("fronts/java/native/src");
    let sources = ["jni.rs", "ffm.rs"].map(|file| fs::read_to_string(folder.join(file)));
    let [jni, ffm] = sources.map(|source| source.context("the functions for Java"));
    let (jni, ffm) = (jni?, ffm?);
    // The name of the C library is asked for by confstr, which musl has too.
    let also = [&reach::FOR_C[..], &["confstr"]].concat();
    for target in TARGETS {
        need(tools::target(target), "whether a call from Java can panic or allocate")?;
        let library = archive(
            &format!("--manifest-path {}", java::MANIFEST),
            "libheadwater_java.a",
            target,
            "--config profile.release.strip=\"none\"",
        )?;
        let mut faults = Vec::new();
        let (mut roots, mut reached) = (0, 0);
        for root in exported(&jni).chain(exported(&ffm)) {
            match reach::walk_up_to(&library, root, &also, &[PERMUTING]) {
                Ok(functions) => (roots, reached) = (roots + 1, reached + functions),
                Err(error) => faults.push(error.to_string()),
            }
        }
        println!("{target}: {roots} functions for Java reach {reached} in all");
        if roots == 0 || !faults.is_empty() {
            return Err(anyhow!("{target}:\n{}", faults.join("\n")).into());
        }
    }
    Ok(())
}

/// Lists the functions of a source file that it exports by their names.
fn exported(source: &str) -> impl Iterator<Item = &str> {
    let exports = source.split("#[unsafe(no_mangle)]").skip(1);
    exports.filter_map(|rest| rest.split_once("fn ")?.1.split('(').next())
}

/// The panic strategy of most programs. With `abort` the unwinding paths would be absent, so
/// nothing would be proved for those programs.
const UNWINDING: &str = "--config profile.release.panic=\"unwind\"";

/// Builds the probe for this target.
fn library(target: &str) -> Result<Library> {
    archive("-p probe", "libprobe.a", target, UNWINDING)
}

/// Builds a static library, the linker's input; building it needs no linker.
fn archive(package: &str, file: &str, target: &str, options: &str) -> Result<Library> {
    let folder = target_directory()?;
    // The directory is named, because a package outside the workspace has one of its own.
    run(program(&format!(
        "cargo rustc --release {package} --lib --crate-type staticlib --target {target} {options}"
    ))
    .env("CARGO_TARGET_DIR", &folder))?;
    let path = folder.join(target).join("release").join(file);
    let library = Library::parse(&fs::read(&path)?).with_context(|| path.display().to_string())?;
    let is_arm = library.architecture == Architecture::Aarch64;
    anyhow::ensure!(
        is_arm == target.starts_with("aarch64"),
        "{} is for another CPU",
        path.display()
    );
    Ok(library)
}

#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
fn order_here() -> Result<(), Stop> {
    run(&mut program("cargo build --release -p probe --bin probe"))?;
    let probe = target_directory()?.join("release/probe");
    let probe = fs::canonicalize(probe).context("the probe")?;
    use machine_code::{sections, trace};
    let (aborts, summary) = sections::check(&fs::read(&probe).context("the probe")?)?;
    println!("{summary}");
    let mut left_out = trace::check(&probe)?;
    left_out.extend(trace::check_aborted(&probe, &aborts)?);
    let all = if left_out.is_empty() { Ok(()) } else { Err(anyhow!(left_out.join("; "))) };
    need(all, "the order of memory accesses in modes that are unavailable here")
}

#[cfg(not(all(target_arch = "x86_64", target_os = "linux")))]
fn order_here() -> Result<(), Stop> {
    let elsewhere = Err(anyhow!("this machine is not x86-64 Linux"));
    need(elsewhere, "the order of memory accesses in the x86-64 code")
}
