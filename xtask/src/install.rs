//! `cargo xtask install`: copies a release build to the places where other programs look for it.

use crate::process::{output, program, root, run};
use anyhow::{Context, Result, ensure};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// The origin of an artefact.
enum Source {
    /// A file that `cargo build --release` writes to target/release.
    Built(&'static str),
    /// A file of the repository.
    Checked(&'static str),
    /// A template of the repository, with marks for the version and the path of OpenSSL's module.
    Filled(&'static str),
    /// A link to a file beside it.
    Link(&'static str),
    /// The output of the built command for these arguments.
    Printed(&'static [&'static str]),
}
use Source::{Built, Checked, Filled, Link, Printed};

/// The soname: the name that programs ask the loader for.
const SONAME: &str = "libheadwater.so.0";
/// The file itself, as other libraries are named by their version.
const REAL_NAME: &str = concat!("libheadwater.so.", env!("CARGO_PKG_VERSION"));

/// The start of the commented-out path of the module in the configuration for OpenSSL.
const UNNAMED_MODULE: &str = "#module = /usr/local/";

/// The installed files: origin, path below the prefix, permissions.
///
/// Only the configuration for OpenSSL holds the prefix, so that the rest of the tree may be moved.
const ARTEFACTS: &[(Source, &str, u32)] = &[
    (Built("headwater"), "bin/headwater", 0o755),
    (Built("libheadwater.so"), concat!("lib/libheadwater.so.", env!("CARGO_PKG_VERSION")), 0o755),
    (Link(REAL_NAME), "lib/libheadwater.so.0", 0),
    (Link(SONAME), "lib/libheadwater.so", 0),
    (Built("libheadwater.a"), "lib/libheadwater.a", 0o644),
    (Checked("crates/headwater-c/include/headwater.h"), "include/headwater.h", 0o644),
    (Filled("crates/headwater-c/pkg/headwater.pc"), "lib/pkgconfig/headwater.pc", 0o644),
    (
        Checked("crates/headwater-c/pkg/headwater-config.cmake"),
        "lib/cmake/headwater/headwater-config.cmake",
        0o644,
    ),
    (
        Filled("crates/headwater-c/pkg/headwater-config-version.cmake"),
        "lib/cmake/headwater/headwater-config-version.cmake",
        0o644,
    ),
    (Built("libheadwater_openssl.so"), "lib/ossl-modules/headwater.so", 0o755),
    (
        Filled("crates/headwater-openssl/headwater-openssl.cnf"),
        "share/headwater/headwater-openssl.cnf",
        0o644,
    ),
    (Checked("crates/headwater-cli/man/headwater.1"), "share/man/man1/headwater.1", 0o644),
    (Checked("crates/headwater-c/man/headwater.3"), "share/man/man3/headwater.3", 0o644),
    (
        Checked("crates/headwater-openssl/man/headwater-openssl.7"),
        "share/man/man7/headwater-openssl.7",
        0o644,
    ),
    (Checked("docs/openssl.md"), "share/doc/headwater/openssl.md", 0o644),
    (Checked("docs/c.md"), "share/doc/headwater/c.md", 0o644),
    (Checked("LICENSE-APACHE"), "share/doc/headwater/LICENSE-APACHE", 0o644),
    (Checked("LICENSE-MIT"), "share/doc/headwater/LICENSE-MIT", 0o644),
    (Printed(&["completions", "bash"]), "share/bash-completion/completions/headwater", 0o644),
    (Printed(&["completions", "fish"]), "share/fish/vendor_completions.d/headwater.fish", 0o644),
    (Printed(&["completions", "zsh"]), "share/zsh/site-functions/_headwater", 0o644),
];

/// Builds the release, and installs below `prefix`, with `destdir` in place of the root directory.
pub(crate) fn install(prefix: &Path, destdir: Option<&Path>) -> Result<ExitCode> {
    ensure!(prefix.is_absolute(), "--prefix {} does not begin with /", prefix.display());
    let target = match destdir {
        Some(destdir) => destdir.join(prefix.strip_prefix("/")?),
        None => prefix.to_path_buf(),
    };
    let root = root()?;
    run(program("cargo build --release").current_dir(&root))?;
    let built = std::env::var_os("CARGO_TARGET_DIR").map_or(root.join("target"), PathBuf::from);
    let built = built.join("release");
    for (source, name, mode) in ARTEFACTS {
        let to = target.join(name);
        put(source, &to, *mode, &root, &built, prefix)
            .with_context(|| format!("cannot install {}", to.display()))?;
        println!("{}", to.display());
    }
    Ok(ExitCode::SUCCESS)
}

fn put(
    source: &Source,
    to: &Path,
    mode: u32,
    root: &Path,
    built: &Path,
    prefix: &Path,
) -> Result<()> {
    fs::create_dir_all(to.parent().context("the path has no parent directory")?)?;
    // A new file is renamed over the old one: a program that maps the old library keeps it intact.
    let new = PathBuf::from(format!("{}.new", to.display()));
    match fs::remove_file(&new) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error.into()),
        _ => {}
    }
    match source {
        Built(name) => drop(fs::copy(built.join(name), &new)?),
        Checked(path) => drop(fs::copy(root.join(path), &new)?),
        Filled(path) => {
            let text = fs::read_to_string(root.join(path))?;
            let text = text.replace("@VERSION@", env!("CARGO_PKG_VERSION"));
            let module = format!("module = {}", prefix.join("").display());
            fs::write(&new, text.replace(UNNAMED_MODULE, &module))?;
        }
        Link(name) => symlink(name, &new)?,
        Printed(arguments) => {
            let mut command = Command::new(built.join("headwater"));
            fs::write(&new, output(command.args(*arguments))?)?;
        }
    }
    if mode != 0 {
        fs::set_permissions(&new, fs::Permissions::from_mode(mode))?;
    }
    fs::rename(&new, to)?;
    Ok(())
}
