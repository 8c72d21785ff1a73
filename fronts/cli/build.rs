//! Hands the target triple, which only Cargo knows, and the commit to `headwater --version`.
//!
//! Nothing else about the build enters the program: no time, host or directory. The same commit
//! therefore makes the same file on another day.

use std::env;
use std::fs;
use std::path::Path;
use std::process::Command;

/// Digits of a commit, as many as `git log --abbrev=12` shows.
const DIGITS: usize = 12;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=HEADWATER_COMMIT");
    let target = env::var("TARGET").expect("Cargo sets TARGET for build scripts");
    println!("cargo::rustc-env=HEADWATER_TARGET={target}");
    let commit = named().or_else(packed).or_else(checked_out);
    let commit = commit.unwrap_or_else(|| "unknown".to_owned());
    println!("cargo::rustc-env=HEADWATER_COMMIT={commit}");
}

/// Returns the commit that a packager names, whose sources come without git.
fn named() -> Option<String> {
    digits(&env::var("HEADWATER_COMMIT").ok()?)
}

/// Returns the commit that `cargo package` wrote into the packed crate.
fn packed() -> Option<String> {
    let text = fs::read_to_string(".cargo_vcs_info.json").ok()?;
    let (_, rest) = text.split_once("\"sha1\"")?;
    digits(rest.split('"').nth(1)?)
}

/// Returns the commit of the checkout. The script runs again when the checkout changes its commit,
/// and then only this crate is compiled again.
fn checked_out() -> Option<String> {
    // In another repository, such as one with vendored crates, the commit would be a foreign one.
    if git(&["rev-parse", "--show-prefix"])? != "fronts/cli/" {
        return None;
    }
    // The log has a line for each change of HEAD. Without a log, HEAD names a branch or the commit.
    let places = [git(&["rev-parse", "--git-path", "logs/HEAD"])?, head()?];
    // Cargo takes a missing file for a changed one, and would run the script every time.
    for place in places.iter().filter(|place| Path::new(place).exists()) {
        println!("cargo::rerun-if-changed={place}");
    }
    digits(&git(&["rev-parse", "HEAD"])?)
}

/// Returns the file of the branch, or of HEAD if no branch is checked out.
fn head() -> Option<String> {
    let branch = git(&["symbolic-ref", "--quiet", "HEAD"]);
    git(&["rev-parse", "--git-path", branch.as_deref().unwrap_or("HEAD")])
}

fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}

fn digits(commit: &str) -> Option<String> {
    let digits = commit.get(..DIGITS)?;
    digits.bytes().all(|c| c.is_ascii_hexdigit()).then(|| digits.to_owned())
}
