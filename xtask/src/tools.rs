//! The tools that the checks need. Each function installs a missing tool.

use crate::process::{output, program, root, run, target_directory};
use anyhow::{Context, Result, ensure};
use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The version that deny.toml is written for.
const CARGO_DENY: &str = "0.20.2";
/// The version for the compiler in use, 1.95; each version needs one compiler or a later one.
const CARGO_C: &str = "0.10.24+cargo-0.98.0";
const NUMPY: &str = "numpy==2.4.6";

/// Installs a component of the toolchain in use.
pub(crate) fn component(name: &str) -> Result<()> {
    run(&mut program(&format!("rustup component add {name}")))
}

/// Installs the standard library for another target.
pub(crate) fn target(triple: &str) -> Result<()> {
    run(&mut program(&format!("rustup target add {triple}")))
}

/// Installs another toolchain. An installed nightly stays at its version, so that the result of a
/// check does not depend on the date.
pub(crate) fn toolchain(name: &str, components: &[&str]) -> Result<()> {
    let installed = output(&mut program("rustup toolchain list"))?
        .lines()
        .any(|line| line.strip_prefix(name).is_some_and(|rest| rest.starts_with('-')));
    if !installed {
        let mut install = program("rustup toolchain install --profile minimal --no-self-update");
        for component in components {
            install.args(["--component", component]);
        }
        run(install.arg(name))
    } else if !components.is_empty() {
        run(program("rustup component add --toolchain").arg(name).args(components))
    } else {
        Ok(())
    }
}

/// Returns the path of a Chromium or Chrome, and installs Debian's if there is none.
pub(crate) fn chromium() -> Result<PathBuf> {
    let present = || {
        let folders = env::var_os("PATH").unwrap_or_default();
        let folders: Vec<PathBuf> = env::split_paths(&folders).collect();
        let names = ["chromium", "chromium-browser", "google-chrome"];
        let mut files =
            names.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
        files.find(|file| file.is_file())
    };
    if let Some(file) = present() {
        return Ok(file);
    }
    packages(&["chromium"])?;
    present().context("the package chromium holds no chromium")
}

/// Installs Debian packages, unless all of them are installed.
pub(crate) fn packages(names: &[&str]) -> Result<()> {
    let installed = |name: &&str| {
        let status = output(program("dpkg-query --show --showformat=${Status}").arg(name));
        status.is_ok_and(|status| status.ends_with(" installed"))
    };
    if names.iter().all(installed) {
        return Ok(());
    }
    root_user()?;
    run(&mut program("apt-get update -qq"))?;
    let mut install = program("apt-get install -qq --yes --no-install-recommends");
    // At this run level the packages start no service.
    install.env("RUNLEVEL", "1").env("DEBIAN_FRONTEND", "noninteractive");
    run(install.args(names))
}

/// Returns a Python with these packages, in an environment of its own in the target directory.
pub(crate) fn python(packages: &[&str]) -> Result<PathBuf> {
    python_in("python", packages)
}

/// Returns the Python of the virtual environment of this name, with these packages installed.
pub(crate) fn python_in(name: &str, packages: &[&str]) -> Result<PathBuf> {
    python_of("python3", name, packages)
}

/// Returns the same of this interpreter.
pub(crate) fn python_of(interpreter: &str, name: &str, packages: &[&str]) -> Result<PathBuf> {
    let environment = target_directory()?.join("tools").join(name);
    let python = environment.join("bin/python");
    if !python.exists() {
        if interpreter == "python3" {
            self::packages(&["python3-venv"])?;
        }
        run(Command::new(interpreter).args(["-m", "venv"]).arg(&environment))?;
    }
    run(Command::new(&python)
        .args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"])
        .args(packages))?;
    Ok(python)
}

/// Finds a program, and installs its Debian package if it is missing.
pub(crate) fn package(program_name: &str, package: &str) -> Result<()> {
    let folders = env::var_os("PATH").unwrap_or_default();
    let is_there = || env::split_paths(&folders).any(|folder| folder.join(program_name).is_file());
    if is_there() {
        return Ok(());
    }
    packages(&[package])?;
    ensure!(is_there(), "the package {package} holds no {program_name}");
    Ok(())
}

/// Returns a Python with the NumPy version that the streams' tests were written against.
pub(crate) fn numpy() -> Result<PathBuf> {
    let target = env::var_os("CARGO_TARGET_DIR").map_or(root()?.join("target"), PathBuf::from);
    let folder = target.join("tools/numpy");
    let python = folder.join("bin/python");
    if !python.is_file() {
        run(program("python3 -m venv").arg(&folder))?;
    }
    let pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", NUMPY];
    run(Command::new(&python).args(pip))?;
    Ok(python)
}

/// Finds programs, each given with its Debian package, and installs the missing ones.
pub(crate) fn debian(tools: &[(&str, &str)]) -> Result<()> {
    let folders = env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = env::split_paths(&folders).collect();
    let is_missing = |program: &str| !folders.iter().any(|folder| folder.join(program).is_file());
    let missing: Vec<&str> = tools
        .iter()
        .filter(|(program, _)| is_missing(program))
        .map(|(_, package)| *package)
        .collect();
    if missing.is_empty() {
        return Ok(());
    }
    root_user().with_context(|| format!("to install {}", missing.join(", ")))?;
    run(&mut program("apt-get update -qq"))?;
    run(program("apt-get install -qq --yes --no-install-recommends").args(missing))
}

/// Returns this project's directory in the user's cache, which outlives the target directory.
pub(crate) fn cache() -> Result<PathBuf> {
    let cache = env::var_os("XDG_CACHE_HOME").filter(|path| !path.is_empty()).map(PathBuf::from);
    let cache = match cache {
        Some(cache) => cache,
        None => PathBuf::from(env::var_os("HOME").context("HOME is not set")?).join(".cache"),
    };
    Ok(cache.join("headwater"))
}

/// Returns an error unless this user may change the machine's settings.
pub(crate) fn root_user() -> Result<()> {
    let user = output(&mut program("id -u"))?;
    ensure!(user.trim() == "0", "user {} is not root", user.trim());
    Ok(())
}

/// Returns the project's cargo-deny, which the first call builds into the target directory.
///
/// A debug build, because that takes 52 s on two cores instead of 179 s, and then checks this tree
/// in less than 1 s. Cargo keeps an installed tool of the same version.
pub(crate) fn cargo_deny() -> Result<PathBuf> {
    // The one on the caller's path serves too, if it is of that version.
    let installed = Command::new("cargo-deny").arg("--version").output();
    if installed.is_ok_and(|said| said.stdout.trim_ascii_end().ends_with(CARGO_DENY.as_bytes())) {
        return Ok("cargo-deny".into());
    }
    cargo_tool("cargo-deny", CARGO_DENY, "cargo-deny")
}

/// Returns cargo-c, whose build takes minutes because it contains cargo.
pub(crate) fn cargo_c() -> Result<PathBuf> {
    cargo_tool("cargo-c", CARGO_C, "cargo-cinstall")
}

/// Returns cargo-hack, which checks every set of features.
pub(crate) fn cargo_hack() -> Result<PathBuf> {
    cargo_tool("cargo-hack", "0.6.46", "cargo-hack")
}

/// Returns cargo-semver-checks, which compares two versions of an interface. Its build takes
/// minutes, because it contains git.
pub(crate) fn cargo_semver_checks() -> Result<PathBuf> {
    // Each version reads what a few compilers say of an interface; 0.45 does not know Rust 1.93.
    cargo_tool("cargo-semver-checks", "0.51.0", "cargo-semver-checks")
}

/// Returns cargo-cyclonedx, which lists the components of a program.
pub(crate) fn cargo_cyclonedx() -> Result<PathBuf> {
    cargo_tool("cargo-cyclonedx", "0.5.9", "cargo-cyclonedx")
}

/// Returns mdBook, which makes the site.
pub(crate) fn mdbook() -> Result<PathBuf> {
    let tools = target_directory()?.join("tools");
    // Without the server of its default features.
    let line = "cargo install --locked --debug --quiet mdbook --no-default-features \
                --features search --version =0.5.4 --root";
    run(program(line).arg(&tools).env("CARGO_PROFILE_DEV_DEBUG", "0"))?;
    Ok(tools.join("bin/mdbook"))
}

fn cargo_tool(package: &str, version: &str, program_name: &str) -> Result<PathBuf> {
    let tools = target_directory()?.join("tools");
    run(program("cargo install --locked --debug --quiet")
        .args([package, "--version"])
        .arg(format!("={version}"))
        .args([Path::new("--root"), &tools])
        .env("CARGO_PROFILE_DEV_DEBUG", "0"))?;
    Ok(tools.join("bin").join(program_name))
}
