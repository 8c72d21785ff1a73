//! A copy of the tree for builders of packages, which write beside the sources.

use crate::process::{EPOCH, output, program, root, run, target_directory};
use anyhow::{Context, Result};
use std::env;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Debian's name of an architecture, and the CPU's in target triples.
pub(crate) const ARCHITECTURES: [(&str, &str); 2] = [("amd64", "x86_64"), ("arm64", "aarch64")];

/// Runs programs of arm64, with the C library of Debian's cross compiler.
pub(crate) const QEMU: &str = "qemu-aarch64-static";

/// Returns the directory of the copy, of the compiled files, and of the builders' output.
pub(crate) fn directory() -> Result<PathBuf> {
    Ok(target_directory()?.join("package"))
}

/// Copies every file that git knows or would add, and returns the copy's root.
///
/// The copy has one place and keeps the times of its files, so that cargo compiles again only the
/// crates that changed. Records and fuzz targets, 30 MB, are in no package.
pub(crate) fn source() -> Result<PathBuf> {
    let (root, copy) = (root()?, directory()?.join("source"));
    let mut list = program("git ls-files -z --cached --others --exclude-standard");
    let files = output(list.current_dir(&root))
        .context("packages are built from the files that git knows, so from a checkout")?;
    if copy.exists() {
        // A file that was deleted in the tree must not stay in the copy.
        fs::remove_dir_all(&copy).with_context(|| copy.display().to_string())?;
    }
    let is_ours = |file: &&str| !file.starts_with("records/") && !file.starts_with("boot/fuzz/");
    for file in files.split_terminator('\0').filter(is_ours) {
        let (from, to) = (root.join(file), copy.join(file));
        let Ok(metadata) = from.symlink_metadata() else { continue }; // deleted, and still listed
        fs::create_dir_all(to.parent().context("a file has a directory")?)?;
        if metadata.is_symlink() {
            symlink(fs::read_link(&from)?, &to)?;
        } else {
            fs::copy(&from, &to).with_context(|| from.display().to_string())?;
            fs::File::options().write(true).open(&to)?.set_modified(metadata.modified()?)?;
        }
    }
    Ok(copy)
}

/// Returns a command of the copy, whose cargo compiles into one directory for all packages.
pub(crate) fn within(source: &Path, line: &str) -> Result<Command> {
    let mut command = program(line);
    command.current_dir(source).env("CARGO_TARGET_DIR", directory()?.join("build"));
    command.env(EPOCH, epoch()?);
    // `headwater --version` shows the commit, which a copy without git cannot know.
    let named = env::var("HEADWATER_COMMIT").ok();
    let commit =
        named.map_or_else(|| output(program("git rev-parse HEAD").current_dir(root()?)), Ok)?;
    command.env("HEADWATER_COMMIT", commit.trim());
    // `cargo xtask` in the copy must not find this tree by the variable of the calling one.
    command.env_remove("CARGO_MANIFEST_DIR");
    Ok(command)
}

/// Returns the time that every package carries: the caller's choice, else the last commit's.
pub(crate) fn epoch() -> Result<String> {
    match env::var(EPOCH) {
        Ok(chosen) => Ok(chosen),
        Err(_) => {
            let mut log = program("git log -1 --format=%ct");
            Ok(output(log.current_dir(root()?))?.trim().to_owned())
        }
    }
}

/// Formats the packages' time by date(1).
pub(crate) fn date(format: &str) -> Result<String> {
    let at = format!("--date=@{}", epoch()?);
    let mut date = program("date --utc");
    Ok(output(date.args([&at, format]).env("LC_ALL", "C"))?.trim().to_owned())
}

/// Moves a file to `dist`, also to another file system.
pub(crate) fn deliver(file: &Path, dist: &Path, name: &str) -> Result<()> {
    fs::create_dir_all(dist)?;
    run(program("mv -f").arg(file).arg(dist.join(name)))
}

/// Returns the files of a directory whose names end so.
pub(crate) fn files(directory: &Path, end: &str) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        if path.to_string_lossy().ends_with(end) {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}
