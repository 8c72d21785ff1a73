//! Files that are replaced as a whole.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Replaces a file by this content in one step, readable by all users: a reader, a full disk, a
/// kill and a power cut find the old file or the new one. A device or a pipe is written to.
///
/// # Errors
///
/// Returns the error of open(2), write(2), fsync(2) or rename(2); the old file then remains.
pub fn replace(file: &Path, content: impl AsRef<[u8]>) -> io::Result<()> {
    if is_special(file) {
        return fs::write(file, content);
    }
    let beside = beside(file)?;
    // A run that was killed may have left one, under a number that came again.
    let _ = fs::remove_file(&beside);
    let written = (|| {
        let mut out = OpenOptions::new().write(true).create_new(true).open(&beside)?;
        // Root's umask may keep others out, and the exporter runs as a user of its own.
        out.set_permissions(fs::Permissions::from_mode(0o644))?;
        out.write_all(content.as_ref())?;
        out.sync_all()?;
        fs::rename(&beside, file)
    })();
    if written.is_err() {
        let _ = fs::remove_file(&beside);
    }
    written
}

/// Reports whether [`replace`] is going to work, for callers whose content takes hours.
///
/// # Errors
///
/// Returns an error that says why the file cannot be written. A disk can still fill up later.
pub fn check(file: &Path) -> io::Result<()> {
    let wrong = |kind, reason: String| Err(io::Error::new(kind, reason));
    let directory = match file.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    };
    if file.is_dir() {
        return wrong(io::ErrorKind::IsADirectory, "it is a directory; name a file".to_owned());
    }
    if !directory.is_dir() {
        let reason = format!("there is no directory {}", directory.display());
        return wrong(io::ErrorKind::NotFound, reason);
    }
    if is_special(file) {
        return OpenOptions::new().write(true).open(file).map(drop);
    }
    let beside = beside(file)?;
    let _ = fs::remove_file(&beside);
    OpenOptions::new().write(true).create_new(true).open(&beside)?;
    fs::remove_file(&beside)
}

/// Reports whether a path is a device, a pipe or a socket, which a rename would replace by a file.
fn is_special(file: &Path) -> bool {
    fs::metadata(file).is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir())
}

/// Returns the path of the file that is renamed: another one for each process.
///
/// # Errors
///
/// If the path ends in no name.
pub fn beside(file: &Path) -> io::Result<PathBuf> {
    let name = file.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    // In the same directory, because a rename cannot cross file systems. The name ends in digits,
    // which no collector reads.
    let mut beside = std::ffi::OsString::from(".");
    beside.push(name);
    beside.push(format!(".{}", std::process::id()));
    Ok(file.with_file_name(beside))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::MetadataExt;

    #[test]
    fn a_file_is_replaced_whole_and_readable_by_the_exporter() {
        let folder =
            std::env::temp_dir().join(format!("headwater-text-file-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let file = folder.join("headwater.prom");
        replace(&file, "one\n").unwrap();
        let first = fs::metadata(&file).unwrap();
        // An open reader continues with the old file.
        let reader = fs::File::open(&file).unwrap();
        replace(&file, "two\n").unwrap();
        let second = fs::metadata(&file).unwrap();
        let former = std::io::read_to_string(reader).unwrap();
        let latter = fs::read_to_string(&file).unwrap();
        let names: Vec<_> =
            fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        let nowhere = replace(&folder.join("no/such/folder.prom"), "three\n");
        fs::remove_dir_all(&folder).unwrap();
        assert_eq!((former.as_str(), latter.as_str()), ("one\n", "two\n"));
        assert_ne!(first.ino(), second.ino(), "it was written in place");
        assert_eq!(second.permissions().mode() & 0o777, 0o644);
        assert_eq!(names, ["headwater.prom"], "nothing else is left");
        assert!(nowhere.is_err());
    }

    #[test]
    fn a_place_that_cannot_be_written_is_known_before() {
        let folder = std::env::temp_dir();
        let reason = |file: &Path| check(file).unwrap_err().to_string();
        assert_eq!(reason(&folder), "it is a directory; name a file");
        assert_eq!(reason(Path::new("/no/such/page.html")), "there is no directory /no/such");
        assert!(check(Path::new("/proc/page.html")).is_err());
        let free = folder.join(format!("headwater-text-check-{}", std::process::id()));
        check(&free).unwrap();
        assert!(!free.exists(), "a check leaves no file");
    }

    #[test]
    fn a_device_stays_a_device() {
        check(Path::new("/dev/null")).unwrap();
        replace(Path::new("/dev/null"), "page").unwrap();
        assert!(is_special(Path::new("/dev/null")));
        let full = replace(Path::new("/dev/full"), "page").unwrap_err();
        assert_eq!(full.kind(), io::ErrorKind::StorageFull);
    }
}
