//! `cargo xtask packages`: the packages from outside that a program links with the core.
//!
//! They are the surface of an audit. Why not read them in `Cargo.lock`? It has the packages of
//! every storey, so a change that concerns the core is one line among hundreds. A lock file of the
//! core's own would need a workspace of its own: Cargo lets a package belong to one only, so each
//! of the thirty packages that stand on the core would be tested apart from it, and every build
//! would be made twice. So the lines are copied out, with their checksums, and compared.

use crate::process::{output, program, root};
use anyhow::{Context, Result, ensure};
use std::collections::BTreeSet;
use std::fs;
use std::process::ExitCode;

/// The checked-in list, below the root of the workspace.
const RECORD: &str = "core/packages.txt";
/// The packages of the core.
const CORE: [&str; 2] = ["headwater", "headwater-status"];
/// The systems on which the core is more than a forwarder to another crate.
const TARGETS: [&str; 2] = ["x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu"];

/// Prints today's list, and writes it as the record or compares it.
pub(crate) fn packages(bless: bool) -> Result<ExitCode> {
    let list = list()?;
    print!("{list}");
    if bless {
        fs::write(root()?.join(RECORD), list).context(RECORD)?;
    } else {
        check()?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns an error if the record is not today's list.
pub(crate) fn check() -> Result<()> {
    let record = fs::read_to_string(root()?.join(RECORD)).context(RECORD)?;
    ensure!(
        record == list()?,
        "{RECORD} is not what the core links: review the packages that changed, then `cargo xtask \
         packages --bless`"
    );
    Ok(())
}

/// Formats the record: name, version and checksum, a package a line.
fn list() -> Result<String> {
    let root = root()?;
    let lock = fs::read_to_string(root.join("Cargo.lock")).context("Cargo.lock")?;
    let mut lines = BTreeSet::new();
    for target in TARGETS {
        // All features, because an audit covers what any user can enable. Build scripts count too:
        // they run on the machine that builds.
        let mut tree = program("cargo tree --locked --prefix none --format {p} --all-features");
        tree.args(["--edges", "normal,build", "--target", target]);
        for package in CORE {
            tree.args(["-p", package]);
        }
        for line in output(tree.current_dir(&root))?.lines() {
            let mut words = line.split(' ');
            let (Some(name), Some(version)) = (words.next(), words.next()) else { continue };
            let version = version.trim_start_matches('v');
            if let Some(checksum) = checksum(&lock, name, version) {
                lines.insert(format!("{name} {version} {checksum}\n"));
            }
        }
    }
    ensure!(!lines.is_empty(), "cargo tree lists no package from outside");
    Ok(lines.into_iter().collect())
}

/// Returns the checksum that the lock file has for a package, which packages of this repository
/// have none of.
fn checksum<'a>(lock: &'a str, name: &str, version: &str) -> Option<&'a str> {
    let entry = format!("[[package]]\nname = \"{name}\"\nversion = \"{version}\"\n");
    let rest = lock.split(&*entry).nth(1)?;
    let own = rest.split("[[package]]").next()?;
    own.split("checksum = \"").nth(1)?.split('"').next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_record_is_what_the_core_links() {
        check().unwrap();
    }

    #[test]
    fn a_checksum_is_the_packages_own() {
        let lock = "[[package]]\nname = \"ours\"\nversion = \"0.2.0\"\n\n\
                    [[package]]\nname = \"libc\"\nversion = \"0.2.1\"\nchecksum = \"ab\"\n";
        assert_eq!(checksum(lock, "libc", "0.2.1"), Some("ab"));
        assert_eq!(checksum(lock, "libc", "0.2.2"), None);
        assert_eq!(checksum(lock, "ours", "0.2.0"), None, "the next package's checksum");
    }
}
