//! The names of files in the directory of a planting, and the planting's own name.

use anyhow::{Context, Result, ensure};
use std::fs;
use std::path::{Path, PathBuf};

/// Has the planting's name, so that draws of two plantings are not compared.
pub(crate) const FILE: &str = "planting";
/// Has the kernel's reseed generation at the end of the planting, where it can be read.
pub(crate) const RESEEDS: &str = "reseeds";
/// Why a witness was not started.
pub(crate) const ABSENT: &str = "absent";
/// A witness's standard output and error.
pub(crate) const LOG: &str = "log";

/// Returns a new name.
pub(crate) fn new() -> Result<String> {
    let bytes = headwater::array::<8>().context("no random bytes for the planting's name")?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Returns where a planting lies unless the user says so: in a directory that is emptied at the
/// next boot, and that no other user can make first.
pub(crate) fn default_directory() -> Result<PathBuf> {
    let base = match rustix::process::geteuid().is_root() {
        true => PathBuf::from("/run"),
        false => std::env::var_os("XDG_RUNTIME_DIR")
            .map(PathBuf::from)
            .context("XDG_RUNTIME_DIR is not set; name a directory by --dir")?,
    };
    Ok(base.join("headwater-clones"))
}

/// Returns the names of the witnesses of a planting.
///
/// # Errors
///
/// If the directory holds no planting.
pub(crate) fn witnesses(directory: &Path) -> Result<(String, Vec<String>)> {
    let file = directory.join(FILE);
    let name = fs::read_to_string(&file).with_context(|| {
        format!(
            "{} holds no planting; run `headwater clones plant` before the copy is made",
            directory.display()
        )
    })?;
    let mut names = Vec::new();
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            names.extend(entry.file_name().into_string());
        }
    }
    ensure!(!names.is_empty(), "{} holds no witness", directory.display());
    names.sort();
    Ok((name.trim().to_owned(), names))
}

/// Removes a planting, whose witnesses then end by themselves.
pub(crate) fn remove(directory: &Path) -> Result<()> {
    // Not without the file: a wrong --dir must not cost a user a directory.
    witnesses(directory)?;
    fs::remove_dir_all(directory).with_context(|| format!("cannot remove {}", directory.display()))
}
