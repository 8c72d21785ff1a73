//! The guest's program: a file beside the released command, or built in a source tree.
//!
//! The command does not embed the program, because every user would carry 11 megabytes that few
//! boot, and because a build script would have to call Cargo with other flags in the middle of a
//! build. The program is not the command itself, because a guest needs a statically linked one.

use crate::machine::cache::Cache;
use crate::machine::elf;
use crate::machine::initramfs::Archive;
use crate::machine::manifest::KernelImage;
use crate::machine::temporary::Temporary;
use crate::process::run_for_long;
use anyhow::{Context, Result, bail, ensure};
use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

const NAME: &str = "headwater-guest";
/// The build in a source tree. In a guest only the core's speed matters, but the doctor and the
/// parser of arguments take most of the time of an ordinary release, so they are hardly optimised.
/// A profile of its own would say this better, but it would compile the procedural macros again.
const QUICKER: [&str; 5] = [
    "profile.release.opt-level=1",
    "profile.release.package.headwater.opt-level=3",
    "profile.release.codegen-units=16",
    "profile.release.lto=\"off\"",
    "profile.release.debug=0",
];
/// Manifest of the program in the source tree.
const MANIFEST: &str = "boot/lab/guest/Cargo.toml";

/// Returns the guest's program for an architecture: the given file, a fresh build in a source tree,
/// or the file beside this command.
pub(crate) fn find(cache: &Cache, given: Option<&Path>, architecture: &str) -> Result<PathBuf> {
    if let Some(file) = given {
        let found = absolute(file)?;
        // A guest would find no program to begin with, after the boot.
        let of = elf::architecture(&found).context("not a guest program")?;
        ensure!(
            of == architecture,
            "the guest program {} is for {of}, and the kernel for {architecture}",
            file.display()
        );
        return Ok(found);
    }
    let triple = format!("{architecture}-unknown-linux-gnu");
    if let Some(workspace) = workspace() {
        return build(cache, &workspace, &triple);
    }
    let command = env::current_exe().context("cannot find the directory of this command")?;
    let name = format!("{NAME}-{architecture}");
    let beside = command.with_file_name(&name);
    if beside.is_file() {
        return Ok(beside);
    }
    bail!(
        "the guest's program {name} is not beside {}; run this command in headwater's source tree, \
         where it builds the program, or name the program with --guest",
        command.display()
    )
}

/// Returns the same program linked dynamically, for a process on this host. Where it cannot be
/// built, the static program serves, with the C library that it was linked with.
pub(crate) fn find_dynamic(cache: &Cache, given: Option<&Path>) -> Result<PathBuf> {
    match (given, workspace()) {
        (None, Some(workspace)) => {
            let mut cargo = cargo(&workspace);
            cargo.args(["build", "--quiet", "--release", "--package", NAME]);
            run_for_long(&mut cargo).context("cannot build the program that CRIU dumps")?;
            Ok(target(&workspace).join("release").join(NAME))
        }
        (Some(file), _) => absolute(file),
        (None, None) => find(cache, None, env::consts::ARCH),
    }
}

fn absolute(file: &Path) -> Result<PathBuf> {
    let found = file.canonicalize();
    found.with_context(|| format!("cannot find the guest program {}", file.display()))
}

fn cargo(workspace: &Path) -> Command {
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.current_dir(workspace);
    for setting in QUICKER {
        cargo.args(["--config", setting]);
    }
    cargo
}

fn target(workspace: &Path) -> PathBuf {
    env::var_os("CARGO_TARGET_DIR").map_or_else(|| workspace.join("target"), PathBuf::from)
}

/// Returns the source tree that contains the working directory.
fn workspace() -> Option<PathBuf> {
    let here = env::current_dir().ok()?;
    here.ancestors().find(|directory| directory.join(MANIFEST).is_file()).map(Path::to_path_buf)
}

/// Builds the program statically. The target is named even if it is the host's: otherwise Cargo
/// applies RUSTFLAGS to build scripts and procedural macros too, which cannot be static.
fn build(cache: &Cache, workspace: &Path, triple: &str) -> Result<PathBuf> {
    let mut cargo = cargo(workspace);
    cargo.args(["build", "--quiet", "--release", "--package", NAME, "--target", triple]);
    cargo.env("RUSTFLAGS", "-C target-feature=+crt-static");
    if triple.starts_with("aarch64") && env::consts::ARCH != "aarch64" {
        cargo.env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER", "aarch64-linux-gnu-gcc");
        let libcrypto = cache.arm_libcrypto();
        if libcrypto.join("libcrypto.a").is_file() {
            cargo.env("HEADWATER_LIBCRYPTO", libcrypto); // read by the program's build script
        }
    }
    run_for_long(&mut cargo)
        .with_context(|| format!("cannot build the guest's program for {triple}"))?;
    Ok(target(workspace).join(triple).join("release").join(NAME))
}

/// Writes the archive that a guest boots from. Each run writes it again, because the program may
/// have changed, and removes it at its end, because it has the size of the program.
pub(crate) fn archive(cache: &Cache, program: &Path, kernel: &KernelImage) -> Result<Temporary> {
    archive_with(cache, program, kernel, &[])
}

/// Writes the archive of a guest that has the files of a job too.
pub(crate) fn archive_with(
    cache: &Cache,
    program: &Path,
    kernel: &KernelImage,
    job: &[PathBuf],
) -> Result<Temporary> {
    let archive = Temporary::new(cache.guests()?.join("guest.cpio"));
    Archive::of_guest(program, &kernel.modules, job)?.write(archive.path())?;
    Ok(archive)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The program moved once, and `lab` then looked for it beside the command in a source tree.
    #[test]
    fn the_source_tree_is_recognised() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        assert!(root.join(MANIFEST).is_file());
    }
}
