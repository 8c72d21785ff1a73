//! Builds the commit of `dist/` once more, from nothing, at another time and, where the artefact
//! allows that, in another directory. Compares the bytes.

use super::{COMMIT, commit, epoch, export, files};
use crate::process::{EPOCH, output, program, root, run};
use anyhow::{Context, Result, ensure};
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A step whose artefacts are compared if `dist/` has one.
struct Compared {
    step: &'static str,
    /// The start and the end of an artefact's name.
    name: (&'static str, &'static str),
    directory: Directory,
}

/// The directory of the second build.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Directory {
    /// Another one than that of `dist/`'s build, because nothing of it is in the artefact.
    Other,
    /// One of the same name.
    Same,
}
use Directory::{Other, Same};

const fn compared(
    step: &'static str,
    start: &'static str,
    end: &'static str,
    directory: Directory,
) -> Compared {
    Compared { step, name: (start, end), directory }
}

const STEPS: [Compared; 5] = [
    compared("library", "libheadwater-", ".tar.gz", Other),
    compared("program", concat!("headwater-", env!("CARGO_PKG_VERSION"), "-"), ".tar.gz", Other),
    // These have workspaces of their own. Therefore they cannot be built elsewhere with the
    // same result: cargo hashes the absolute directory of a crate outside the workspace, and the
    // hash decides the order of functions.
    compared("python", "headwater-", ".whl", Same),
    compared("java", "headwater-", ".jar", Same),
    compared("npm", "headwater-", ".tgz", Same),
];
/// The file with the result, for those who build again.
const RESULT: &str = "REPRODUCIBLE.txt";
/// A directory whose name is longer than that of most checkouts, and has characters that few have:
/// a path in a file moves what follows it. A comma would end an argument of the linker.
const DIRECTORY: &str = "the second build's directory has a longer name than the first one's";
/// Runs a command with one directory in the place of another, which keeps its name. Other processes
/// do not see that.
const INSTEAD: &str = "mount --bind \"$1\" \"$2\"; cd \"$2\"; shift 2; exec \"$@\"";

impl Compared {
    fn has(&self, file: &str) -> bool {
        file.starts_with(self.name.0) && file.ends_with(self.name.1)
    }
}

pub(super) fn build(dist: &Path) -> Result<()> {
    // Not below the repository: cargo and git look for theirs in every directory above.
    let top = std::env::temp_dir().join(format!("headwater-reproduce-{}", std::process::id()));
    let present = files(dist)?;
    let is_present = |compared: &&Compared| present.iter().any(|file| compared.has(file));
    let steps: Vec<&Compared> = STEPS.iter().filter(is_present).collect();
    ensure!(!steps.is_empty(), "{} has no artefact to compare", dist.display());
    let mut result = format!(
        "Built twice from commit {} with {}={}, by {}\n",
        commit()?,
        EPOCH,
        epoch()?,
        output(&mut program("rustc --version"))?.trim()
    );
    let mut different = Vec::new();
    for (directory, says) in
        [(Other, "in directories of different names"), (Same, "in directories of the same name")]
    {
        let steps: Vec<&Compared> =
            steps.iter().copied().filter(|compared| compared.directory == directory).collect();
        if steps.is_empty() {
            continue;
        }
        // zig's and Maven's scripts meet a plain name: they are not what is tried here.
        let top = top.join(if directory == Other { DIRECTORY } else { "plain" });
        let built = build_again(&top, &steps, directory)?;
        let of_steps = |file: &&String| steps.iter().any(|compared| compared.has(file));
        for name in present.iter().filter(of_steps) {
            let first = fs::read(dist.join(name))?;
            let is_same = fs::read(built.join(name)).with_context(|| name.clone())? == first;
            let outcome = if is_same { "same" } else { "different" };
            let _ = writeln!(result, "{name}: {outcome} bytes {says}, {} bytes", first.len());
            if !is_same {
                different.push(name.as_str());
            }
        }
    }
    print!("{result}");
    ensure!(
        different.is_empty(),
        "different: {}; the second build is in {}",
        different.join(", "),
        top.display()
    );
    fs::remove_dir_all(&top)?;
    Ok(fs::write(dist.join(RESULT), result)?)
}

/// Builds the steps in a copy of the commit. Returns the directory of the artefacts. The copy and
/// the compiled files are removed, so that the next call starts from nothing.
fn build_again(top: &Path, steps: &[&Compared], directory: Directory) -> Result<PathBuf> {
    let (tree, target, built) = (top.join("tree"), top.join("target"), top.join("built"));
    fs::create_dir_all(&tree)?;
    export(&tree)?;
    // This program itself, because building it once more would prove nothing about the artefacts.
    // Its own file may lie below the directory that is replaced.
    let this = top.join("xtask");
    fs::copy(std::env::current_exe()?, &this)?;
    let (mut build, place) = match directory {
        Other => (Command::new(&this), tree.clone()),
        Same => (instead(&tree, &root()?, &this), root()?),
    };
    build.args(["release", "--dist"]).arg(&built).env("CARGO_MANIFEST_DIR", place.join("xtask"));
    for compared in steps {
        build.args(["--only", compared.step]);
    }
    // A shared target directory would hold the first build's files.
    build.env("CARGO_TARGET_DIR", &target);
    build.env(EPOCH, epoch()?.to_string()).env(COMMIT, commit()?);
    run(build.current_dir(&tree))?;
    for used in [tree, target] {
        fs::remove_dir_all(used)?;
    }
    Ok(built)
}

/// Returns a call of a program for which `tree` has the name `place`.
fn instead(tree: &Path, place: &Path, this: &Path) -> Command {
    let mut command = program("unshare --user --map-root-user --mount sh -ec");
    command.args([INSTEAD, "sh"]).args([tree, place, this]);
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_takes_the_name_of_another_for_one_command() {
        if run(&mut program("unshare --user --map-root-user --mount true")).is_err() {
            println!("skipped: no user namespaces, so wheels and jar cannot be built twice");
            return;
        }
        let top = std::env::temp_dir().join(format!("headwater-instead-{}", std::process::id()));
        let [tree, place] = ["the tree", "the place"].map(|name| top.join(name));
        for directory in [&tree, &place] {
            fs::create_dir_all(directory).unwrap();
            fs::write(directory.join("file"), directory.display().to_string()).unwrap();
        }
        let mut cat = instead(&tree, &place, Path::new("cat"));
        let read = output(cat.arg("file").arg(place.join("file"))).unwrap();
        assert_eq!(read, tree.display().to_string().repeat(2));
        assert_eq!(fs::read(place.join("file")).unwrap(), place.display().to_string().as_bytes());
        let mut pwd = instead(&tree, &place, Path::new("pwd"));
        assert_eq!(output(&mut pwd).unwrap().trim(), place.display().to_string());
        fs::remove_dir_all(&top).unwrap();
    }
}
