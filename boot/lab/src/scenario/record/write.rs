//! A recording is written whole or not at all.
//!
//! The doctor reads half a recording like any other, and would report what it lacks as absent. So
//! it is made under another name, which goes with an error or a signal, and gets its own name last.

use crate::machine::temporary::Temporary;
use anyhow::{Context, Result, ensure};
use headwater_hostfile::Archive;
use headwater_text::file;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::path::Path;

/// Refuses a path that is in use or cannot be written. Callers of a guest ask before minutes are
/// spent on it.
///
/// # Errors
///
/// If the path holds something already, or nothing can be made there.
pub fn ensure_is_free(path: &Path) -> Result<()> {
    let cannot = || format!("cannot write {}", path.display());
    if is_host_file(path) {
        ensure!(!path.exists(), "{} exists already; name a new file", path.display());
        return file::check(path).with_context(cannot);
    }
    if path.exists() {
        let mut entries =
            fs::read_dir(path).with_context(|| format!("cannot open {}", path.display()))?;
        ensure!(entries.next().is_none(), "{} is not empty; name a new directory", path.display());
        return file::check(&path.join("recording.json")).with_context(cannot);
    }
    // The directories above it are made too, in the first of them that is there.
    let above = path.ancestors().skip(1).find(|path| path.exists()).unwrap_or(Path::new("."));
    file::check(&above.join("recording.json")).with_context(cannot)
}

/// Writes all of a recording, or leaves nothing. Files that others put there meanwhile stay.
pub(super) fn write_whole(archive: &Archive, path: &Path) -> io::Result<()> {
    if is_host_file(path) {
        return write_file(&archive.to_text(), path);
    }
    if path.exists() {
        return fill(archive, path);
    }
    let part = Temporary::new(file::beside(path)?);
    archive.write_directory(part.path())?;
    fs::rename(part.path(), path)
}

fn is_host_file(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "host")
}

/// Writes a host file. The user's umask says who can read it: it has the kernel's log.
fn write_file(text: &str, path: &Path) -> io::Result<()> {
    let part = Temporary::new(file::beside(path)?);
    let mut file = File::create_new(part.path())?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    // A second name replaces no file that was made meanwhile, as a rename would. Some file systems
    // know no second names.
    match fs::hard_link(part.path(), path) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => fs::rename(part.path(), path),
        linked => linked,
    }
}

/// Fills an empty directory of the user's. It keeps its owner and mode, and may be a mount, so that
/// it cannot be replaced.
fn fill(archive: &Archive, path: &Path) -> io::Result<()> {
    let part = Temporary::new(file::beside(&path.join("recording"))?);
    archive.write_directory(part.path())?;
    let mut moved = Vec::new();
    let filled = fs::read_dir(part.path())?.try_for_each(|entry| {
        let name = entry?.file_name();
        let target = path.join(&name);
        if target.symlink_metadata().is_ok() {
            return Err(io::Error::new(ErrorKind::AlreadyExists, "it is not empty any more"));
        }
        fs::rename(part.path().join(&name), &target)?;
        moved.push(name);
        Ok(())
    });
    if filled.is_err() {
        for name in moved {
            let _ = fs::rename(path.join(&name), part.path().join(&name));
        }
    }
    filled
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_others_is_removed_or_replaced() {
        let place = Temporary::directory().unwrap();
        let mut archive = Archive::default();
        archive.replace("log/kernel", b"a line".to_vec()).unwrap();
        archive.replace("recording.json", b"{}".to_vec()).unwrap();
        // While the recording was made, a file came that has one of its names, or another one.
        let full = place.path().join("full");
        fs::create_dir(&full).unwrap();
        fs::write(full.join("recording.json"), "another's").unwrap();
        let beside = place.path().join("beside");
        fs::create_dir(&beside).unwrap();
        fs::write(beside.join("notes"), "mine").unwrap();
        let file = place.path().join("x.host");
        fs::write(&file, "another's").unwrap();
        assert_eq!(write_whole(&archive, &full).unwrap_err().kind(), ErrorKind::AlreadyExists);
        assert_eq!(write_whole(&archive, &file).unwrap_err().kind(), ErrorKind::AlreadyExists);
        write_whole(&archive, &beside).unwrap();
        let names = |directory: &Path| {
            let names = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().file_name());
            let mut names: Vec<_> = names.map(|name| name.into_string().unwrap()).collect();
            names.sort();
            names
        };
        assert_eq!(names(&full), ["recording.json"]);
        assert_eq!(fs::read_to_string(full.join("recording.json")).unwrap(), "another's");
        assert_eq!(fs::read_to_string(&file).unwrap(), "another's");
        assert_eq!(names(&beside), ["log", "notes", "recording.json"]);
        assert_eq!(names(place.path()), ["beside", "full", "x.host"]);
    }
}
