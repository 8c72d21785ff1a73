//! Files that are replaced as a whole.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Replaces a file by this content in one step, readable by all users: a reader, a full disk, a
/// kill and a power cut find the old file or the new one.
///
/// # Errors
///
/// Returns the error of open(2), write(2), fsync(2) or rename(2); the old file then remains.
pub fn replace(file: &Path, content: impl AsRef<[u8]>) -> io::Result<()> {
    let name = file.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    // In the same directory, because a rename cannot cross file systems. The name ends in digits,
    // which no collector reads.
    let mut beside = std::ffi::OsString::from(".");
    beside.push(name);
    beside.push(format!(".{}", std::process::id()));
    let beside = file.with_file_name(beside);
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
            fs::read_dir(&folder).unwrap().map(|it| it.unwrap().file_name()).collect();
        let nowhere = replace(&folder.join("no/such/folder.prom"), "three\n");
        fs::remove_dir_all(&folder).unwrap();
        assert_eq!((former.as_str(), latter.as_str()), ("one\n", "two\n"));
        assert_ne!(first.ino(), second.ino(), "it was written in place");
        assert_eq!(second.permissions().mode() & 0o777, 0o644);
        assert_eq!(names, ["headwater.prom"], "nothing else is left");
        assert!(nowhere.is_err());
    }
}
