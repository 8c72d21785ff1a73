//! The guest's program. A released command has it as a file beside it; in a source tree it is built.
//!
//! It is not embedded into the command: 16 megabytes for everybody, that few will boot, and a build script that calls
//! Cargo with other flags in the middle of Cargo. It is not the command itself either: what a guest needs is a static
//! program, and the command is not one.

use crate::cache::Cache;
use crate::process::run_for_long;
use anyhow::{Context, Result, bail};
use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

const NAME: &str = "headwater-guest";

/// The guest's program for an architecture: `given`, or the file beside this command, or a fresh build.
pub(crate) fn find(cache: &Cache, given: Option<&Path>, architecture: &str) -> Result<PathBuf> {
    if let Some(file) = given {
        return file
            .canonicalize()
            .with_context(|| format!("there is no guest program {}", file.display()));
    }
    let triple = format!("{architecture}-unknown-linux-gnu");
    if let Some(workspace) = workspace() {
        return build(cache, &workspace, &triple);
    }
    let command = env::current_exe().context("cannot tell where this command lies")?;
    let name = format!("{NAME}-{architecture}");
    let beside = command.with_file_name(&name);
    if beside.is_file() {
        return Ok(beside);
    }
    bail!(
        "the guest's program {name} is not beside {}; run this in headwater's source tree, where it is built, or name it \
         with --guest",
        command.display()
    )
}

/// The same program linked dynamically, for a process on this host; the static one where it cannot be built, whose C
/// library is then the one that it was linked with.
pub(crate) fn find_dynamic(cache: &Cache, given: Option<&Path>) -> Result<PathBuf> {
    match (given, workspace()) {
        (None, Some(workspace)) => {
            let mut cargo = cargo(&workspace);
            cargo.args(["build", "--quiet", "--release", "--package", NAME]);
            run_for_long(&mut cargo).context("cannot build the program that CRIU dumps")?;
            Ok(target(&workspace).join("release").join(NAME))
        }
        (given, _) => find(cache, given, env::consts::ARCH),
    }
}

fn cargo(workspace: &Path) -> Command {
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.current_dir(workspace);
    cargo
}

fn target(workspace: &Path) -> PathBuf {
    env::var_os("CARGO_TARGET_DIR").map_or_else(|| workspace.join("target"), PathBuf::from)
}

/// The source tree that the caller stands in.
fn workspace() -> Option<PathBuf> {
    let here = env::current_dir().ok()?;
    here.ancestors()
        .find(|folder| folder.join("crates").join(NAME).join("Cargo.toml").is_file())
        .map(Path::to_path_buf)
}

/// Builds it statically, with nothing of the host in it. The target is named even if it is the host's: otherwise the flag would
/// also be for build scripts and procedural macros, which cannot be static.
fn build(cache: &Cache, workspace: &Path, triple: &str) -> Result<PathBuf> {
    let mut cargo = cargo(workspace);
    cargo.args(["build", "--quiet", "--release", "--package", NAME, "--target", triple]);
    cargo.env("RUSTFLAGS", "-C target-feature=+crt-static");
    if triple.starts_with("aarch64") && env::consts::ARCH != "aarch64" {
        cargo.env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER", "aarch64-linux-gnu-gcc");
        let libcrypto = cache.arm_libcrypto();
        if libcrypto.join("libcrypto.a").is_file() {
            cargo.env("HEADWATER_LIBCRYPTO", libcrypto); // what its build script looks for
        }
    }
    run_for_long(&mut cargo)
        .with_context(|| format!("cannot build the guest's program for {triple}"))?;
    Ok(target(workspace).join(triple).join("release").join(NAME))
}

/// The archive that a guest boots from, made anew: the program may have changed since.
pub(crate) fn archive(
    cache: &Cache,
    program: &Path,
    kernel: &crate::manifest::Kernel,
) -> Result<PathBuf> {
    let folder = cache.root().join("guests");
    std::fs::create_dir_all(&folder)
        .with_context(|| format!("cannot make {}", folder.display()))?;
    let name: String = kernel
        .series
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || c == '.' { c } else { '-' })
        .collect();
    let file = folder.join(format!("{name}.cpio"));
    crate::initramfs::Archive::of_guest(program, &kernel.modules)?.write(&file)?;
    Ok(file)
}
