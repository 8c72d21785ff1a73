//! Builds the commit twice, in two directories and at two times, and compares the bytes.

use super::{COMMIT, EPOCH, commit, epoch, export, files};
use crate::process::{output, program, run};
use anyhow::{Context, Result, ensure};
use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::Command;

/// A step whose artefacts are compared if `dist/` has one.
struct Compared {
    step: &'static str,
    /// The start and the end of an artefact's name.
    name: (&'static str, &'static str),
    directory: Directory,
}

/// The directories of the two builds.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Directory {
    /// Two directories, because nothing of them is in the artefact.
    Any,
    /// One directory for both builds, one after the other.
    Same,
}
use Directory::{Any, Same};

const fn compared(
    step: &'static str,
    start: &'static str,
    end: &'static str,
    directory: Directory,
) -> Compared {
    Compared { step, name: (start, end), directory }
}

const STEPS: [Compared; 4] = [
    compared("library", "libheadwater-", ".tar.gz", Any),
    compared("program", concat!("headwater-", env!("CARGO_PKG_VERSION"), "-"), ".tar.gz", Any),
    // These two have workspaces of their own. Cargo hashes the absolute directory of a crate
    // outside the workspace, and the hash decides the order of functions.
    compared("python", "headwater-", ".whl", Same),
    compared("java", "headwater-", ".jar", Same),
];
/// Names of the directories, of different length, because a path in a file moves what follows it.
const DIRECTORIES: [&str; 2] = ["first", "the second directory's longer name"];
/// The file with the result, for those who build again.
const RESULT: &str = "REPRODUCIBLE.txt";
/// The directory of both builds of those artefacts that depend on it.
const ONE: &str = "one";

pub(super) fn build(dist: &Path) -> Result<()> {
    // Not below the repository: cargo and git look for theirs in every directory above.
    let top = std::env::temp_dir().join(format!("headwater-reproduce-{}", std::process::id()));
    let present = files(dist)?;
    let is_present = |compared: &&Compared| {
        let (start, end) = compared.name;
        present.iter().any(|name| name.starts_with(start) && name.ends_with(end))
    };
    let steps: Vec<&Compared> = STEPS.iter().filter(is_present).collect();
    ensure!(!steps.is_empty(), "{} has no artefact to compare", dist.display());
    let mut built = Vec::new();
    for name in DIRECTORIES {
        let of_both = top.join(name).join("dist");
        for (place, directory) in [(name, Any), (ONE, Same)] {
            build_in(&top.join(place), &steps, directory, &of_both)?;
        }
        built.push(of_both);
    }
    let mut result = format!(
        "Built twice from commit {} with {}={}, by {}\n",
        commit()?,
        EPOCH,
        epoch()?,
        output(&mut program("rustc --version"))?.trim()
    );
    let names = files(&built[0])?;
    ensure!(names == files(&built[1])?, "the two builds have files of different names");
    let mut unexplained = Vec::new();
    for name in names {
        let bytes = built.iter().map(|directory| fs::read(directory.join(&name)));
        let bytes: Vec<Vec<u8>> = bytes.collect::<Result<_, _>>()?;
        let compared = steps.iter().find(|compared| {
            let (start, end) = compared.name;
            name.starts_with(start) && name.ends_with(end)
        });
        let directory = compared.with_context(|| format!("{name}: of no step"))?.directory;
        let is_same = bytes[0] == bytes[1];
        let says = match (is_same, directory) {
            (true, Any) => "same bytes",
            (true, Same) => "same bytes, built in a directory of the same name",
            (false, _) => "different",
        };
        let _ = writeln!(result, "{name}: {says}, {} bytes", bytes[0].len());
        if !is_same {
            unexplained.push(name);
        } else if directory == Any && fs::read(dist.join(&name)).is_ok_and(|it| it != bytes[0]) {
            // The artefact for users is a third build, in the repository itself.
            unexplained.push(format!("{name} of {}", dist.display()));
        }
    }
    print!("{result}");
    ensure!(
        unexplained.is_empty(),
        "not as expected: {}; the builds are in {}",
        unexplained.join(", "),
        top.display()
    );
    fs::remove_dir_all(&top)?;
    Ok(fs::write(dist.join(RESULT), result)?)
}

/// Builds those steps that may use this directory, in a copy of the commit there. Moves the
/// artefacts to `dist`, and removes the copy, so that the next build starts from nothing.
fn build_in(directory: &Path, steps: &[&Compared], kind: Directory, dist: &Path) -> Result<()> {
    let steps = steps.iter().filter(|compared| compared.directory == kind);
    let steps: Vec<&str> = steps.map(|compared| compared.step).collect();
    if steps.is_empty() {
        return Ok(());
    }
    let (tree, target, built) =
        (directory.join("tree"), directory.join("target"), directory.join("built"));
    fs::create_dir_all(&tree)?;
    export(&tree)?;
    // This program itself, because building it twice more would prove nothing about the artefacts.
    let mut build = Command::new(std::env::current_exe()?);
    build.args(["release", "--dist"]).arg(&built).env("CARGO_MANIFEST_DIR", tree.join("xtask"));
    for step in steps {
        build.args(["--only", step]);
    }
    // A shared target directory would hold the first build's files.
    build.env("CARGO_TARGET_DIR", &target);
    build.env(EPOCH, epoch()?.to_string()).env(COMMIT, commit()?);
    run(build.current_dir(&tree))?;
    fs::create_dir_all(dist)?;
    for name in files(&built)? {
        // The sums name the same files.
        if name != super::SUMS {
            fs::rename(built.join(&name), dist.join(&name))?;
        }
    }
    for used in [tree, target, built] {
        fs::remove_dir_all(used)?;
    }
    Ok(())
}
