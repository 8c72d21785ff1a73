//! Java 21 of Debian 13, unpacked: on this machine with that release's C library, and on arm64.
//!
//! Debian 12 has no Java 21, and Debian 13's needs a newer C library than Debian 12 has.

use crate::process::{root, run};
use crate::unpack::{Packages, unpacked};
use anyhow::{Context, Result, ensure};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Runs programs of arm64.
pub(crate) const EMULATOR: &str = "qemu-aarch64-static";
const NAMES: [&str; 5] = ["openjdk-21-jre-headless", "libc6", "libstdc++6", "libgcc-s1", "zlib1g"];

/// Returns the path of a `java` that starts through the unpacked release's own loader.
///
/// The loader is named in each program, and the C library's directory in each library, because a
/// JVM finds itself and starts its children by the path of its own file. `LD_LIBRARY_PATH` would
/// reach programs of this system that a test starts.
pub(crate) fn native() -> Result<PathBuf> {
    ensure!(cfg!(target_arch = "x86_64"), "this machine is not x86-64");
    let tree = fetch("java-21", None)?;
    let home = tree.join("usr/lib/jvm/java-21-openjdk-amd64");
    let libraries = tree.join("usr/lib/x86_64-linux-gnu");
    for directory in ["bin", "lib", "lib/server"] {
        for file in fs::read_dir(home.join(directory))? {
            let file = file?.path();
            let is_library = file.extension().is_some_and(|end| end == "so");
            let is_program = directory == "bin" || file.ends_with("jspawnhelper");
            if !is_library && !is_program {
                continue;
            }
            let mut patch = Command::new("patchelf");
            if is_program {
                patch.arg("--set-interpreter").arg(libraries.join("ld-linux-x86-64.so.2"));
            }
            let places = format!("$ORIGIN:$ORIGIN/..:$ORIGIN/../lib:{}", libraries.display());
            run(patch.args(["--set-rpath", &places]).arg(&file))?;
        }
    }
    Ok(home.join("bin/java"))
}

/// Returns the path of a `java` for arm64 that runs in an emulator.
pub(crate) fn emulated() -> Result<PathBuf> {
    let tree = fetch("java-21-arm64", Some("arm64"))?;
    let home = tree.join("usr/lib/jvm/java-21-openjdk-arm64");
    // The loader's path in each program begins with /lib.
    let lib = tree.join("lib");
    if !lib.exists() {
        symlink("usr/lib", &lib)?;
    }
    let (java, program) = (home.join("bin/java"), home.join("bin/java.arm64"));
    if !program.exists() {
        fs::rename(&java, &program)?;
    }
    let script =
        format!("#!/bin/sh\nexec {EMULATOR} -L {} {} \"$@\"\n", tree.display(), program.display());
    fs::write(&java, script)?;
    fs::set_permissions(&java, fs::Permissions::from_mode(0o755))?;
    Ok(java)
}

/// Unpacks the release, and points its links to /etc into it.
fn fetch(directory: &str, architecture: Option<&str>) -> Result<PathBuf> {
    let file = format!("usr/lib/jvm/java-21-openjdk-{}/release", architecture.unwrap_or("amd64"));
    let tree = root()?.join(unpacked(&Packages {
        directory,
        releases: &["trixie"],
        architecture,
        names: &NAMES,
        file: &file,
    })?);
    relink(&tree, tree.join(file).parent().context("a file has a directory")?)?;
    Ok(tree)
}

fn relink(tree: &Path, directory: &Path) -> Result<()> {
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let path = entry.path();
        if entry.file_type()?.is_dir() {
            relink(tree, &path)?;
        } else if let Ok(target) = fs::read_link(&path)
            && let Ok(inside) = target.strip_prefix("/")
            && tree.join(inside).exists()
            && !target.starts_with(tree)
        {
            fs::remove_file(&path)?;
            symlink(tree.join(inside), &path)?;
        }
    }
    Ok(())
}
