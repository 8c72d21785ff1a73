//! `cargo xtask residue`: whether key material stays in memory after a draw.
//!
//! The result depends on the registers that the compiler spills, and so on the profile of the
//! program that uses the library. The package in proof/residue is such a program; its README.md
//! explains the search.

use crate::failures::run_tests;
use crate::process::{program, root, run, target_directory};
use crate::report::{Report, need};
use crate::tools;
use anyhow::{Result, anyhow};
use std::env;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

const MANIFEST: &str = "proof/residue/Cargo.toml";
/// A target directory of its own, because lock file and profiles differ from the workspace's.
const TARGET: &str = "target/residue";
/// All profiles of that package.
const ALL: [&str; 8] = ["release", "thin", "off", "o0", "o1", "o2", "os", "own"];
/// The profiles of a test run: the one of nearly all users, and the two that spill most.
const QUICK: [&str; 3] = ["release", "o0", "os"];
/// Forced facts that choose the locked path, and backends that this CPU would not choose itself.
const FACTS: [&str; 4] = ["no-sections", "no-avx512", "no-vaes", "no-aes"];
/// Modes in which served bytes are looked for.
const MODES: [&str; 4] = ["buffered", "hedged", "strict", "kernel"];
/// Bytes of stack that the first draw of a process may take, and any other draw. An alternate stack
/// for signals often has 8 KiB, of which the kernel's frame takes 3 KiB on a CPU with AVX-512.
const STACK: [&str; 4] = ["--first-limit", "4096", "--refill-limit", "2048"];

pub(crate) fn steps(report: &mut Report) {
    report.step("format and clippy, residue", || {
        need(tools::component("rustfmt"), "the layout of the source in proof/residue")?;
        run(&mut program(&format!("cargo fmt --all --check --manifest-path {MANIFEST}")))?;
        need(tools::component("clippy"), "what clippy warns of in proof/residue")?;
        let mut clippy = cargo("clippy --release --workspace --all-targets");
        Ok(run(clippy.args(["--features", "subject/forced", "--", "-D", "warnings"]))?)
    });
    report.step("no key stays in memory", || {
        // The search first finds the keys that its own tests plant; without that, a clean result
        // would prove nothing.
        run_tests(&mut cargo("test --release -p residue"))?;
        Ok(look(false, true)?)
    });
}

/// Searches all profiles, or those of a test run. With `witness`, the library reports its keys.
pub(crate) fn residue(all: bool, witness: bool) -> Result<ExitCode> {
    env::set_current_dir(root()?)?;
    look(all, witness)?;
    Ok(ExitCode::SUCCESS)
}

/// Continues after a fault, because the next profile is compiled in another way.
fn look(all: bool, witness: bool) -> Result<()> {
    run(&mut cargo("build --release -p residue"))?;
    let mut faults = Vec::new();
    run(&mut cargo("build --release -p subject"))?;
    note(&mut faults, served_by_c());
    for profile in if all { &ALL[..] } else { &QUICK } {
        run(&mut cargo(&format!("build -p subject --profile {profile}")))?;
        note(&mut faults, search(profile, None));
        note(&mut faults, served(profile, None));
        if all || *profile == "release" {
            note(
                &mut faults,
                run(Command::new(built("release", "residue-disk")).arg(built(profile, "subject"))),
            );
        }
        if !all && *profile != "release" {
            continue;
        }
        let features = if witness { "witness" } else { "forced" };
        run(&mut cargo(&format!("build -p subject --profile {profile} --features {features}")))?;
        if witness {
            note(&mut faults, search(profile, None));
        }
        for fact in FACTS {
            note(&mut faults, search(profile, Some(fact)));
            note(&mut faults, served(profile, Some(fact)));
        }
    }
    match faults.len() {
        0 => Ok(()),
        count => Err(anyhow!("{count} searches found a residue, the first of them {}", faults[0])),
    }
}

fn note(faults: &mut Vec<String>, outcome: Result<()>) {
    faults.extend(outcome.err().map(|error| format!("{error:#}")));
}

fn search(profile: &str, fact: Option<&str>) -> Result<()> {
    let mut search = Command::new(built("release", "residue"));
    search.arg("--subject").arg(built(profile, "subject")).args(["--label", profile, "--header"]);
    if let Some(fact) = fact {
        search.args(["--force", fact]);
    }
    match profile {
        // The frames of an unoptimised build have no useful limit.
        "o0" => {}
        // Without inlining across files a large request on the locked path takes 2.2 KiB.
        "o1" => {
            search.args(["--first-limit", "4096", "--refill-limit", "2560"]);
        }
        _ => {
            search.args(STACK);
        }
    }
    run(&mut search)
}

/// Looks for served bytes on the dead stack, in every mode.
///
/// An unoptimised build keeps every value of its functions in memory, and so a word that they
/// return, which no library can prevent. There the search is for longer draws, because these are
/// served by address.
fn served(profile: &str, fact: Option<&str>) -> Result<()> {
    println!("served bytes on the dead stack, profile {profile}");
    let what = if profile == "o0" { "served-long" } else { "served" };
    for mode in MODES {
        let mut search = Command::new(built(profile, "subject"));
        run(search.args([what, mode]).args(fact).env("HEADWATER_MODE", mode))?;
    }
    Ok(())
}

/// Looks for bytes that the C library served, as it is shipped, in sections and under locks.
fn served_by_c() -> Result<()> {
    run(&mut program("cargo build --release"))?;
    let library = target_directory()?.join("release/libheadwater.so");
    println!("served bytes on the dead stack, C library");
    for (mode, locked) in MODES.into_iter().flat_map(|mode| [(mode, "0"), (mode, "1")]) {
        let mut search = Command::new(built("release", "subject"));
        search.args(["served-c", mode]).arg(&library);
        run(search.env("HEADWATER_MODE", mode).env("HEADWATER_NO_RSEQ", locked))?;
    }
    Ok(())
}

fn built(profile: &str, program: &str) -> PathBuf {
    [TARGET, profile, program].iter().collect()
}

fn cargo(line: &str) -> Command {
    let mut cargo = program(&format!("cargo {line} --locked"));
    cargo.args(["--manifest-path", MANIFEST, "--target-dir", TARGET]);
    // With the flags of the workspace's own builds these would differ from a user's builds.
    cargo.env_remove("RUSTFLAGS");
    cargo
}
