//! The names of files in the directory of a planting, and the planting's own name.

use anyhow::{Context, Result, ensure};
use sha2::{Digest, Sha256};
use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use zeroize::Zeroizing;

/// Has the planting's name, so that draws of two plantings are not compared.
pub(crate) const FILE: &str = "planting";
/// Has the key of the planting's hashes.
const KEY: &str = "key";
/// Says that the witnesses were made to draw.
pub(crate) const DRAWN: &str = "drawn";
/// Has what `repair` did in this copy.
pub(crate) const REPAIR: &str = "repair";
/// Why a witness was not started.
pub(crate) const ABSENT: &str = "absent";
/// A witness's standard output and error.
pub(crate) const LOG: &str = "log";

/// Returns a new name.
pub(crate) fn new() -> Result<String> {
    let bytes = headwater::array::<8>().context("no random bytes for the planting's name")?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// The key under which the values of a planting are hashed.
///
/// Why a key? A port has 15 bits and an address 30, so their plain hashes could be inverted by
/// trying all values; and plain hashes of a machine's identity would link all reports of it. All
/// copies have the key, because it is copied with them, and no report has it.
pub(crate) struct Key(Zeroizing<Vec<u8>>);

impl Key {
    /// Returns 64 bits of a hash: equal by chance once in 2^64 pairs.
    pub(crate) fn hash(&self, value: &[u8]) -> String {
        let hash = Sha256::new_with_prefix(&*self.0).chain_update(value).finalize();
        hash[..8].iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

/// Makes the planting's name and its key.
pub(crate) fn begin(directory: &Path) -> Result<Key> {
    let bytes = headwater::array::<32>().context("no random bytes for the planting's key")?;
    // First, because `remove` asks for it.
    fs::write(directory.join(FILE), new()?)?;
    let mut file =
        File::options().write(true).create_new(true).mode(0o600).open(directory.join(KEY))?;
    file.write_all(&bytes)?;
    Ok(Key(Zeroizing::new(bytes.to_vec())))
}

/// Returns the planting's key.
///
/// # Errors
///
/// If there is none, as in a planting of an older version.
pub(crate) fn key(directory: &Path) -> Result<Key> {
    let file = directory.join(KEY);
    let bytes = fs::read(&file).with_context(|| {
        format!("{}; plant anew, by the command of this version", file.display())
    })?;
    ensure!(bytes.len() == 32, "{} is damaged; plant anew", file.display());
    Ok(Key(Zeroizing::new(bytes)))
}

/// Returns where a planting lies unless the user says so: in a directory that is emptied at the
/// next boot, and that no other user can make first.
pub(crate) fn default_directory() -> Result<PathBuf> {
    let base = match rustix::process::geteuid().is_root() {
        true => PathBuf::from("/run"),
        false => std::env::var_os("XDG_RUNTIME_DIR")
            .map(PathBuf::from)
            // The XDG specification has an empty or a relative path ignored.
            .filter(|directory| directory.is_absolute())
            .context("XDG_RUNTIME_DIR names no absolute path; name a directory by --dir")?,
    };
    Ok(base.join("headwater-clones"))
}

/// Returns the names of the witnesses of a planting.
///
/// # Errors
///
/// If the directory holds no planting.
pub(crate) fn witnesses(directory: &Path) -> Result<(String, Vec<String>)> {
    check_owner(directory)?;
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

/// Returns an error for a directory that is not this user's alone.
fn check_owner(directory: &Path) -> Result<()> {
    // In a directory that another user may write to, that user chooses what is read and removed.
    if let Ok(metadata) = fs::symlink_metadata(directory) {
        let is_own = metadata.uid() == rustix::process::geteuid().as_raw();
        ensure!(
            metadata.is_dir() && is_own && metadata.mode() & 0o022 == 0,
            "{} belongs to another user, or others may write to it; `plant` makes a directory that \
             is this user's alone",
            directory.display()
        );
    }
    Ok(())
}

/// Removes a planting, whose witnesses then end by themselves.
pub(crate) fn remove(directory: &Path) -> Result<()> {
    check_owner(directory)?;
    let name = directory.display();
    // A `plant` that was killed in its first moment leaves an empty one.
    if fs::remove_dir(directory).is_ok() {
        return Ok(());
    }
    // Not without the file: a wrong --dir must not cost a user a directory. So the file goes
    // last, or what a killed removal leaves could never be removed.
    let file = directory.join(FILE);
    fs::metadata(&file).with_context(|| format!("{name} holds no planting; nothing is removed"))?;
    for entry in fs::read_dir(directory)? {
        let entry = entry?.path();
        let removed = match entry.is_dir() {
            true => fs::remove_dir_all(&entry),
            false if entry == file => continue,
            false => fs::remove_file(&entry),
        };
        removed.with_context(|| format!("cannot remove {}", entry.display()))?;
    }
    fs::remove_dir_all(directory).with_context(|| format!("cannot remove {name}"))
}
