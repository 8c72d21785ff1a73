//! `cargo xtask residue`: whether key material stays in memory after a draw.
//!
//! The result depends on the registers that the compiler spills, and so on the profile of the
//! program that uses the library. The package in proof/residue is such a program; its README.md
//! explains the search.

mod arm64;

use crate::failures::run_tests;
use crate::process::{program, root, run, target_directory};
use crate::report::{Report, need};
use crate::tools;
use anyhow::{Context, Result, anyhow};
use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

const MANIFEST: &str = "proof/residue/Cargo.toml";
/// A target directory of its own, because lock file and profiles differ from the workspace's.
const TARGET: &str = "target/residue";
/// All profiles of that package.
const ALL: [&str; 8] = ["release", "thin", "off", "o0", "o1", "o2", "os", "own"];
/// The profiles of a test run: the one of nearly all users, and the two that spill most.
const QUICK: [&str; 3] = ["release", "o0", "os"];
/// Forced facts that choose the locked path, and backends that this CPU would not choose itself.
const FACTS: &[&str] = match cfg!(target_arch = "aarch64") {
    true => &arm64::FACTS,
    false => &["no-sections", "no-avx512", "no-vaes", "no-aes"],
};
/// Modes in which served bytes are looked for.
const MODES: [&str; 4] = ["buffered", "hedged", "strict", "kernel"];
/// Bytes of stack that the first draw of a process may take, and any other draw. An alternate stack
/// for signals often has 8 KiB, of which the kernel's frame takes 3 KiB on a CPU with AVX-512.
const FIRST_LIMIT: &str = if cfg!(target_arch = "aarch64") { arm64::FIRST_LIMIT } else { "4096" };
const REFILL_LIMIT: &str = "2048";

pub(crate) fn steps(report: &mut Report) {
    const LOSS: &str = "what a draw leaves in memory";
    let is_known = || {
        let known = ["x86_64", "aarch64"].contains(&env::consts::ARCH);
        known.then_some(()).context("the registers of this architecture cannot be saved")
    };
    report.step("format and clippy, residue", || {
        need(is_known(), LOSS)?;
        need(tools::component("rustfmt"), "the layout of the source in proof/residue")?;
        run(&mut program(&format!("cargo fmt --all --check --manifest-path {MANIFEST}")))?;
        need(tools::component("clippy"), "what clippy warns of in proof/residue")?;
        let mut clippy = cargo("clippy --release --workspace --all-targets");
        Ok(run(clippy.args(["--features", "subject/forced", "--", "-D", "warnings"]))?)
    });
    report.step("no key stays in memory", || {
        need(is_known(), LOSS)?;
        // The search first finds the keys that its own tests plant; without that, a clean result
        // would prove nothing.
        run_tests(&mut cargo("test --release -p residue"))?;
        Ok(look(false, true)?)
    });
}

/// Searches all profiles, or those of a test run, in programs for this machine or for `arch`. With
/// `witness`, the library reports its keys.
pub(crate) fn residue(all: bool, witness: bool, arch: Option<&str>) -> Result<ExitCode> {
    env::set_current_dir(root()?)?;
    match arch {
        Some(arch) if arch != env::consts::ARCH => arm64::look(all, witness)?,
        _ => look(all, witness)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Continues after a fault, because the next profile is compiled in another way.
fn look(all: bool, witness: bool) -> Result<()> {
    run(&mut cargo("build --release -p residue"))?;
    let mut faults = Vec::new();
    run(&mut cargo("build --release -p subject"))?;
    note(&mut faults, served_by_c());
    let searcher = built("release", "residue");
    for profile in profiles(all) {
        let subject = built(profile, "subject");
        run(&mut cargo(&format!("build -p subject --profile {profile}")))?;
        search_all(&mut faults, searches(&searcher, &subject, profile, None, FIRST_LIMIT));
        if all || *profile == "release" {
            note(&mut faults, run(Command::new(built("release", "residue-disk")).arg(&subject)));
        }
        if !all && *profile != "release" {
            continue;
        }
        let features = if witness { "witness" } else { "forced" };
        run(&mut cargo(&format!("build -p subject --profile {profile} --features {features}")))?;
        if witness {
            note(&mut faults, run(&mut search(&searcher, &subject, profile, None, FIRST_LIMIT)));
        }
        for fact in FACTS {
            search_all(
                &mut faults,
                searches(&searcher, &subject, profile, Some(fact), FIRST_LIMIT),
            );
        }
    }
    match faults.len() {
        0 => Ok(()),
        count => Err(anyhow!("{count} searches found a residue, the first of them {}", faults[0])),
    }
}

fn profiles(all: bool) -> &'static [&'static str] {
    if all { &ALL } else { &QUICK }
}

fn search_all(faults: &mut Vec<String>, searches: Vec<Command>) {
    for mut search in searches {
        note(faults, run(&mut search));
    }
}

fn note(faults: &mut Vec<String>, outcome: Result<()>) {
    faults.extend(outcome.err().map(|error| format!("{error:#}")));
}

/// Lists the searches of a program in this profile: for keys, and in every mode for served bytes.
fn searches(
    searcher: &Path,
    subject: &Path,
    profile: &str,
    fact: Option<&'static str>,
    first_limit: &str,
) -> Vec<Command> {
    let for_keys = search(searcher, subject, profile, fact, first_limit);
    let served = MODES.map(|mode| served(subject, profile, mode, fact));
    [for_keys].into_iter().chain(served).collect()
}

/// Looks for keys and unserved bytes.
fn search(
    searcher: &Path,
    subject: &Path,
    profile: &str,
    fact: Option<&str>,
    first_limit: &str,
) -> Command {
    let mut search = Command::new(searcher);
    search.arg("--subject").arg(subject).args(["--label", profile, "--header"]);
    if let Some(fact) = fact {
        search.args(["--force", fact]);
    }
    match profile {
        // The frames of an unoptimised build have no useful limit.
        "o0" => {}
        // Without inlining across files a large request on the locked path takes 2.2 KiB.
        "o1" => {
            search.args(["--first-limit", first_limit, "--refill-limit", "2560"]);
        }
        _ => {
            search.args(["--first-limit", first_limit, "--refill-limit", REFILL_LIMIT]);
        }
    }
    search
}

/// Looks for served bytes on the dead stack.
///
/// An unoptimised build keeps every value of its functions in memory, and so a word that they
/// return, which no library can prevent. There the search is for longer draws, because these are
/// served by address.
fn served(subject: &Path, profile: &str, mode: &str, fact: Option<&str>) -> Command {
    let what = if profile == "o0" { "served-long" } else { "served" };
    let mut search = Command::new(subject);
    search.args([what, mode]).args(fact).env("HEADWATER_MODE", mode);
    search
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
