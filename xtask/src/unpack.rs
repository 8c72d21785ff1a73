//! Packages of another release or architecture of Debian, unpacked into the target directory.
//!
//! Nothing is installed: apt works on a state of its own, and root is not needed.

use crate::process::{output, program, root, run, target_directory};
use crate::tools;
use anyhow::{Context, Result, ensure};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Debian's keys for the signatures of its releases.
const KEYS: &str = "/usr/share/keyrings/debian-archive-keyring.gpg";

/// Packages that are unpacked together.
pub(crate) struct Packages<'a> {
    /// The directory below the target directory.
    pub(crate) directory: &'a str,
    /// The code names of the releases. A name of a package may end in the one that it is from, as
    /// `openssl/experimental`, which is needed where apt would prefer another.
    pub(crate) releases: &'a [&'a str],
    /// Debian's name of another architecture.
    pub(crate) architecture: Option<&'a str>,
    pub(crate) names: &'a [&'a str],
    /// A file that only a complete directory has.
    pub(crate) file: &'a str,
}

/// Returns the directory of the packages' files, which the first call fetches.
pub(crate) fn unpacked(packages: &Packages<'_>) -> Result<PathBuf> {
    let directory = target_directory()?.join(packages.directory);
    if directory.join(packages.file).is_file() {
        return Ok(directory);
    }
    ensure!(Path::new(KEYS).is_file(), "there is no {KEYS}: this is not a Debian system");
    let draft = target_directory()?.join(format!("{}.new", packages.directory));
    if draft.exists() {
        fs::remove_dir_all(&draft)?;
    }
    fs::create_dir_all(draft.join("tree"))?;
    let archive = archive()?;
    let source = |release| format!("deb [signed-by={KEYS}] {archive} {release} main\n");
    let sources: String = packages.releases.iter().map(source).collect();
    fs::write(draft.join("sources.list"), sources)?;
    let apt = || apt(&draft, packages.architecture);
    run(apt()?.args(["-qq", "update"]))?;
    run(apt()?.args(["-qq", "download"]).args(packages.names).current_dir(&draft))?;
    extract(&draft, &draft.join("tree"))?;
    let file = draft.join("tree").join(packages.file);
    ensure!(file.is_file(), "the packages hold no {}", packages.file);
    if directory.exists() {
        fs::remove_dir_all(&directory)?;
    }
    fs::rename(draft.join("tree"), &directory)?;
    fs::remove_dir_all(&draft)?;
    Ok(directory)
}

/// Returns the directory of a package's source, as this system's own release has it.
pub(crate) fn source(package: &str) -> Result<PathBuf> {
    let directory = target_directory()?.join("source").join(package);
    let unpacked = || -> Result<Option<PathBuf>> {
        for entry in fs::read_dir(&directory).into_iter().flatten() {
            let entry = entry?;
            let name = entry.file_name();
            let is_source = name.to_string_lossy().starts_with(&format!("{package}-"));
            if is_source && entry.file_type()?.is_dir() {
                return Ok(Some(entry.path()));
            }
        }
        Ok(None)
    };
    if let Some(source) = unpacked()? {
        return Ok(source);
    }
    tools::package("dpkg-source", "dpkg-dev")?;
    fs::create_dir_all(&directory)?;
    let system = fs::read_to_string("/etc/os-release")?;
    let release = system
        .lines()
        .find_map(|line| line.strip_prefix("VERSION_CODENAME="))
        .context("/etc/os-release names no release")?;
    let line = format!("deb-src [signed-by={KEYS}] {} {release} main\n", archive()?);
    fs::write(directory.join("sources.list"), line)?;
    run(apt(&directory, None)?.args(["-qq", "update"]))?;
    run(apt(&directory, None)?.args(["-qq", "source", package]).current_dir(&directory))?;
    unpacked()?.with_context(|| format!("the source package {package} has no directory"))
}

/// Returns a file of a package of this system's own release. The package is not installed, because
/// it would start services or bring dozens of others.
pub(crate) fn file_of(package: &str, file: &str) -> Result<PathBuf> {
    let directory = root()?.join(target_directory()?).join("tools").join(package);
    let wanted = directory.join(file);
    if wanted.is_file() {
        return Ok(wanted);
    }
    fs::create_dir_all(&directory)?;
    let download = || program("apt-get -qq download").arg(package).current_dir(&directory).status();
    if !download().is_ok_and(|status| status.success()) {
        // Without lists of packages, as in a fresh container.
        run(&mut program("apt-get update -qq"))?;
        ensure!(download()?.success(), "apt-get cannot download {package}");
    }
    extract(&directory, &directory)?;
    ensure!(wanted.is_file(), "the package {package} holds no {file}");
    Ok(wanted)
}

/// Extracts every package in `from`, and erases it.
fn extract(from: &Path, to: &Path) -> Result<()> {
    for package in fs::read_dir(from)? {
        let package = package?.path();
        if package.extension().is_some_and(|end| end == "deb") {
            run(program("dpkg-deb --extract").arg(&package).arg(to))?;
            fs::remove_file(&package)?;
        }
    }
    Ok(())
}

/// Returns the archive of this system's own release, which has the other releases too.
fn archive() -> Result<String> {
    let mut targets = program("apt-get indextargets");
    targets.args(["--format", "$(REPO_URI) $(LABEL)", "Created-By: Packages"]);
    let targets = output(&mut targets)?;
    let found = targets.lines().find_map(|line| line.strip_suffix(" Debian"));
    found
        .map(str::to_owned)
        .context("apt knows no archive of Debian (has apt-get update been run?)")
}

/// Returns apt-get with its state in this directory, so that the system's state does not change and
/// root is not needed.
fn apt(directory: &Path, architecture: Option<&str>) -> Result<Command> {
    let directory =
        if directory.is_absolute() { directory.to_owned() } else { root()?.join(directory) };
    fs::create_dir_all(directory.join("state/lists/partial"))?;
    fs::create_dir_all(directory.join("cache/archives/partial"))?;
    let mut apt = Command::new("apt-get");
    let list = directory.join("sources.list");
    for (option, value) in [
        ("Dir::Etc::sourcelist", list.as_path()),
        ("Dir::Etc::sourceparts", Path::new("/dev/null")),
        ("Dir::State", &directory.join("state")),
        ("Dir::State::status", Path::new("/dev/null")),
        ("Dir::Cache", &directory.join("cache")),
    ] {
        apt.arg("-o").arg(format!("{option}={}", value.display()));
    }
    // Skips translations and texts of the software centre; runs as this user, who owns the
    // directory.
    for option in
        ["Acquire::Languages=none", "Acquire::IndexTargets::deb::DEP-11::DefaultEnabled=false"]
    {
        apt.args(["-o", option]);
    }
    if let Some(architecture) = architecture {
        apt.arg("-o").arg(format!("APT::Architecture={architecture}"));
        apt.arg("-o").arg(format!("APT::Architectures={architecture}"));
    }
    if tools::root_user().is_ok() {
        apt.args(["-o", "APT::Sandbox::User=root"]);
    }
    Ok(apt)
}
