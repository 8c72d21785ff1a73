//! Where a configuration is kept that has to be there for as long as the command, and its children, may read it.

use std::collections::hash_map::DefaultHasher;
use std::fs::{self, DirBuilder, OpenOptions};
use std::hash::{Hash, Hasher};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::{env, process};

/// Writes `text` to a file that other users can read and not change, and returns its path. Named by its content, so
/// that as many files pile up as there are different ones.
pub(super) fn keep(text: &str) -> Result<PathBuf, String> {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    let name = format!("openssl-{:016x}.cnf", hasher.finish());
    // A process's own folder there belongs to its effective user.
    let user = fs::metadata("/proc/self").map_err(|error| format!("/proc/self: {error}"))?.uid();
    let runtime = env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
    // A service of root's has no folder of a session.
    let services = (user == 0).then(|| PathBuf::from("/run"));
    let mut told = String::new();
    for place in [runtime, services, Some(env::temp_dir())].into_iter().flatten() {
        let folder = place.join(format!("headwater-{user}"));
        match owned(&folder, user).and_then(|()| write(&folder, &name, text)) {
            Ok(path) => return Ok(path),
            Err(error) => told = format!("{}: {error}", folder.display()),
        }
    }
    Err(format!("there is no folder to keep OpenSSL's configuration in: {told}"))
}

/// Makes the folder, or sees that nobody but this user could have made it and can write there.
fn owned(folder: &Path, user: u32) -> io::Result<()> {
    match DirBuilder::new().mode(0o755).create(folder) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    let found = fs::symlink_metadata(folder)?;
    if found.is_dir() && found.uid() == user && found.mode() & 0o022 == 0 {
        return Ok(());
    }
    let why = "others can write there, or it is not a folder of yours";
    Err(io::Error::new(ErrorKind::PermissionDenied, why))
}

fn write(folder: &Path, name: &str, text: &str) -> io::Result<PathBuf> {
    let path = folder.join(name);
    if fs::read(&path).is_ok_and(|there| there == text.as_bytes()) {
        return Ok(path);
    }
    // Under another name first: who reads it meanwhile sees all of it or nothing.
    let draft = folder.join(format!("{name}.{}", process::id()));
    let _ = fs::remove_file(&draft);
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o644).open(&draft)?;
    file.write_all(text.as_bytes())?;
    fs::rename(&draft, &path)?;
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    #[test]
    fn a_folder_that_others_can_write_to_is_refused() {
        let base = env::temp_dir().join(format!("headwater-owned-{}", process::id()));
        fs::create_dir_all(&base).unwrap();
        let user = fs::metadata(&base).unwrap().uid();
        let folder = base.join("folder");
        owned(&folder, user).unwrap();
        owned(&folder, user).unwrap();
        assert_eq!(fs::read(write(&folder, "name", "text").unwrap()).unwrap(), b"text");
        assert_eq!(fs::read(write(&folder, "name", "other").unwrap()).unwrap(), b"other");
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
        assert!(owned(&folder, user + 1).is_err());
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o775)).unwrap();
        assert!(owned(&folder, user).is_err());
        let link = base.join("link");
        symlink(base.join("elsewhere"), &link).unwrap();
        assert!(owned(&link, user).is_err());
        fs::remove_dir_all(&base).unwrap();
    }
}
