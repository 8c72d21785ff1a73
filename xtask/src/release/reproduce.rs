//! Builds the commit twice, in two directories and at two times, and compares the bytes.

use super::{COMMIT, EPOCH, commit, epoch, export, files};
use crate::process::{output, program, run};
use anyhow::{Result, ensure};
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The steps whose artefacts are compared if `dist/` has one, and a start and an end of its name.
const STEPS: [(&str, &str, &str); 4] = [
    ("library", "libheadwater-", ".tar.gz"),
    ("program", concat!("headwater-", env!("CARGO_PKG_VERSION"), "-"), ".tar.gz"),
    ("python", "headwater-", ".whl"),
    ("java", "headwater-", ".jar"),
];
/// Names of the directories, of different length, because a path in a file moves what follows it.
const DIRECTORIES: [&str; 2] = ["first", "the second directory's longer name"];
/// The file with the result, for those who build again.
const RESULT: &str = "REPRODUCIBLE.txt";
/// Files that differ, each with the reason. An entry that is not needed is an error.
const DIFFERENT: &[(&str, &str)] = &[(
    concat!("headwater-", env!("CARGO_PKG_VERSION"), ".jar"),
    "cargo's hash of a crate outside the workspace of java/native has the directory of the build",
)];

pub(super) fn build(dist: &Path) -> Result<()> {
    // Not below the repository: cargo and git look for theirs in every directory above.
    let top = std::env::temp_dir().join(format!("headwater-reproduce-{}", std::process::id()));
    let present = files(dist)?;
    let is_present = |(_, start, end): &&(&str, &str, &str)| {
        present.iter().any(|name| name.starts_with(start) && name.ends_with(end))
    };
    let steps: Vec<&str> = STEPS.iter().filter(is_present).map(|(step, ..)| *step).collect();
    ensure!(!steps.is_empty(), "{} has no artefact to compare", dist.display());
    let built = DIRECTORIES.iter().map(|name| build_in(&top.join(name), &steps));
    let built: Vec<PathBuf> = built.collect::<Result<_>>()?;
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
        let reason = DIFFERENT.iter().find(|(file, _)| *file == name).map(|(_, reason)| reason);
        let is_same = bytes[0] == bytes[1];
        let says = match (is_same, reason) {
            (true, None) => "same bytes".to_owned(),
            (false, Some(reason)) => format!("different: {reason}"),
            (true, Some(_)) | (false, None) => {
                unexplained.push(name.clone());
                "not as expected".to_owned()
            }
        };
        let _ = writeln!(result, "{name}: {says}, {} bytes", bytes[0].len());
        // The artefact for users is a third build, in the repository itself.
        if is_same && dist.join(&name).exists() && fs::read(dist.join(&name))? != bytes[0] {
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

/// Builds the steps in a copy of the commit. Returns the directory of the artefacts.
fn build_in(directory: &Path, steps: &[&str]) -> Result<PathBuf> {
    let (tree, dist) = (directory.join("tree"), directory.join("dist"));
    fs::create_dir_all(&tree)?;
    export(&tree)?;
    // This program itself, because building it twice more would prove nothing about the artefacts.
    let mut build = Command::new(std::env::current_exe()?);
    build.args(["release", "--dist"]).arg(&dist).env("CARGO_MANIFEST_DIR", tree.join("xtask"));
    for step in steps {
        build.args(["--only", step]);
    }
    // A shared target directory would hold the first build's files.
    build.env("CARGO_TARGET_DIR", directory.join("target"));
    build.env(EPOCH, epoch()?.to_string()).env(COMMIT, commit()?);
    run(build.current_dir(&tree))?;
    fs::remove_dir_all(directory.join("target"))?;
    // The sums name the same files.
    fs::remove_file(dist.join(super::SUMS))?;
    Ok(dist)
}
