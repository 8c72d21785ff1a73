//! `cargo xtask residue`: whether key material stays behind in memory after a draw.
//!
//! What stays depends on what the compiler spills, and so on the profile of whoever builds the
//! library. The package in tools/residue is such a foreign crate; its README.md tells how it looks.

use crate::process::{program, root, run};
use crate::report::{Report, need};
use crate::tools;
use anyhow::{Result, anyhow};
use std::env;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

const MANIFEST: &str = "tools/residue/Cargo.toml";
/// A folder of its own: neither its lock file nor its profiles are the workspace's.
const TARGET: &str = "target/residue";
/// All profiles of that package, and what is forced in each.
const ALL: [&str; 8] = ["release", "thin", "off", "o0", "o1", "o2", "os", "own"];
/// What each test run looks at: the profile that nearly all users have, and two that spill most.
const QUICK: [&str; 3] = ["release", "o0", "os"];
/// Facts that choose the draws under locks, and the backends that this CPU would not choose by itself.
const FACTS: [&str; 4] = ["no-sections", "no-avx512", "no-vaes", "no-aes"];
/// Bytes of stack that the first draw of a process may take, and any other draw. An alternate stack
/// for signals often has 8 KiB, of which the kernel's frame takes 3 KiB on a CPU with AVX-512.
const STACK: [&str; 4] = ["--first-limit", "4096", "--refill-limit", "2048"];

pub(crate) fn steps(report: &mut Report) {
    report.step("format and clippy, residue", || {
        need(tools::component("rustfmt"), "the layout of the source in tools/residue")?;
        run(&mut program(&format!("cargo fmt --all --check --manifest-path {MANIFEST}")))?;
        need(tools::component("clippy"), "what clippy warns of in tools/residue")?;
        let mut clippy = cargo("clippy --release --workspace --all-targets");
        Ok(run(clippy.args(["--features", "subject/forced", "--", "-D", "warnings"]))?)
    });
    report.step("no key stays behind", || {
        // What it finds is believed, because it finds what its own tests plant.
        run(&mut cargo("test --release -p residue"))?;
        Ok(look(false, true)?)
    });
}

/// Looks at all profiles, or at those of a test run; with `witness`, the library tells its keys.
pub(crate) fn residue(all: bool, witness: bool) -> Result<ExitCode> {
    env::set_current_dir(root()?)?;
    look(all, witness)?;
    Ok(ExitCode::SUCCESS)
}

/// Goes on after a fault, since the next profile is another compiler's work.
fn look(all: bool, witness: bool) -> Result<()> {
    run(&mut cargo("build --release -p residue"))?;
    let mut faults = Vec::new();
    for profile in if all { &ALL[..] } else { &QUICK } {
        run(&mut cargo(&format!("build -p subject --profile {profile}")))?;
        note(&mut faults, search(profile, None));
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
        }
    }
    match faults.len() {
        0 => Ok(()),
        count => Err(anyhow!("{count} looks found something, the first of them {}", faults[0])),
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
        // Frames of a build that is not optimised have no bound worth keeping.
        "o0" => {}
        // Nothing is inlined across files here: a large request takes 2.2 KiB where draws take locks.
        "o1" => {
            search.args(["--first-limit", "4096", "--refill-limit", "2560"]);
        }
        _ => {
            search.args(STACK);
        }
    }
    run(&mut search)
}

fn built(profile: &str, program: &str) -> PathBuf {
    [TARGET, profile, program].iter().collect()
}

fn cargo(line: &str) -> Command {
    let mut cargo = program(&format!("cargo {line} --locked"));
    cargo.args(["--manifest-path", MANIFEST, "--target-dir", TARGET]);
    // Flags of the workspace's own builds would make these something else than a user's.
    cargo.env_remove("RUSTFLAGS");
    cargo
}
