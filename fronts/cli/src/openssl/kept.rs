//! A directory for configurations, which must stay as long as the command and its children may read
//! them.

use std::collections::hash_map::DefaultHasher;
use std::env;
use std::fs::{self, DirBuilder};
use std::hash::{Hash, Hasher};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

/// Writes `text` to a file that other users can read but not change, and returns its path. The name
/// is a hash of the content, so that equal configurations share a file.
pub(super) fn keep(text: &str) -> Result<PathBuf, String> {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    let name = format!("openssl-{:016x}.cnf", hasher.finish());
    // /proc/self belongs to the effective user.
    let user = fs::metadata("/proc/self").map_err(|error| format!("/proc/self: {error}"))?.uid();
    let runtime = env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
    // A service of root has no session directory.
    let services = (user == 0).then(|| PathBuf::from("/run"));
    let mut reason = String::new();
    for place in [runtime, services, Some(env::temp_dir())].into_iter().flatten() {
        let directory = place.join(format!("headwater-{user}"));
        match owned(&directory, user).and_then(|()| write(&directory, &name, text)) {
            Ok(path) => return Ok(path),
            Err(error) => reason = format!("{}: {error}", directory.display()),
        }
    }
    Err(format!("cannot keep OpenSSL's configuration: {reason}"))
}

/// Makes the directory, or checks that this user owns it and no other user can write there.
fn owned(directory: &Path, user: u32) -> io::Result<()> {
    match DirBuilder::new().mode(0o755).create(directory) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    let found = fs::symlink_metadata(directory)?;
    if found.is_dir() && found.uid() == user && found.mode() & 0o022 == 0 {
        return Ok(());
    }
    let why = "not a directory of this user, or writable by others";
    Err(io::Error::new(ErrorKind::PermissionDenied, why))
}

fn write(directory: &Path, name: &str, text: &str) -> io::Result<PathBuf> {
    let path = directory.join(name);
    if fs::read(&path).is_ok_and(|there| there == text.as_bytes()) {
        return Ok(path);
    }
    headwater_text::file::replace(&path, text)?;
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    #[test]
    fn a_directory_that_others_can_write_to_is_refused() {
        let base = env::temp_dir().join(format!("headwater-owned-{}", std::process::id()));
        fs::create_dir_all(&base).unwrap();
        let user = fs::metadata(&base).unwrap().uid();
        let directory = base.join("directory");
        owned(&directory, user).unwrap();
        owned(&directory, user).unwrap();
        assert_eq!(fs::read(write(&directory, "name", "text").unwrap()).unwrap(), b"text");
        assert_eq!(fs::read(write(&directory, "name", "other").unwrap()).unwrap(), b"other");
        assert_eq!(fs::read_dir(&directory).unwrap().count(), 1);
        assert!(owned(&directory, user + 1).is_err());
        fs::set_permissions(&directory, fs::Permissions::from_mode(0o775)).unwrap();
        assert!(owned(&directory, user).is_err());
        let link = base.join("link");
        symlink(base.join("elsewhere"), &link).unwrap();
        assert!(owned(&link, user).is_err());
        fs::remove_dir_all(&base).unwrap();
    }
}
