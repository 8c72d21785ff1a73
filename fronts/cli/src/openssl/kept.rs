//! A directory for configurations, which must stay as long as the command and its children may read
//! them.
//!
//! OpenSSL takes a configuration that is gone for an empty one, so if a machine tidied the file
//! away, each program that starts later would have OpenSSL's own generator. Hence the first choice
//! is a directory of state, which nothing empties. /run and /tmp come last, because logind removes
//! a user's part of /run at logout, and systemd-tmpfiles what is ten days old in /tmp.

use std::collections::hash_map::DefaultHasher;
use std::env;
use std::fs::{self, DirBuilder, Permissions};
use std::hash::{Hash, Hasher};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// Where a configuration is kept.
pub(crate) struct Kept {
    pub(crate) path: PathBuf,
    /// A line for the user, if the file may be tidied away while programs still name it.
    pub(crate) note: Option<String>,
}

/// Writes `text` to a file that other users can read but not change. The name is a hash of the
/// content, so that equal configurations share a file.
pub(super) fn keep(text: &str) -> Result<Kept, String> {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    let name = format!("openssl-{:016x}.cnf", hasher.finish());
    let user = rustix::process::geteuid().as_raw();
    let mut reason = String::new();
    for place in places(user) {
        match owned(&place.directory, user, user == 0)
            .and_then(|()| write(&place.directory, &name, text))
        {
            Ok(path) => {
                let note = (!place.stays).then(|| {
                    let reason = if reason.is_empty() { "HOME is not set" } else { &reason };
                    format!(
                        "{} may be removed while programs still name it ({reason}); under this \
                         library none starts without it, but a program that leaves the library out \
                         has OpenSSL's own generator then",
                        path.display()
                    )
                });
                return Ok(Kept { path, note });
            }
            Err(error) => {
                let separator = if reason.is_empty() { "" } else { ", " };
                reason = format!("{reason}{separator}{}: {error}", place.directory.display());
            }
        }
    }
    Err(format!("cannot keep OpenSSL's configuration: {reason}"))
}

/// A directory for the file.
struct Place {
    directory: PathBuf,
    /// Nothing removes files there.
    stays: bool,
}

/// Returns the directories to try, the best first.
fn places(user: u32) -> Vec<Place> {
    let absolute = |name: &str| {
        let named = env::var_os(name).map(PathBuf::from);
        named.filter(|path| path.is_absolute())
    };
    let state = absolute("XDG_STATE_HOME").or_else(|| match user {
        // Services of root run as other users, who can read this and not root's home.
        0 => Some(PathBuf::from("/var/lib")),
        _ => absolute("HOME").map(|home| home.join(".local/state")),
    });
    let state =
        state.map(|place| Place { directory: place.join("headwater/openssl"), stays: true });
    let runtime = absolute("XDG_RUNTIME_DIR");
    // A service of root has no session directory.
    let services = (user == 0).then(|| PathBuf::from("/run"));
    let passing = [runtime, services, Some(env::temp_dir())].into_iter().flatten();
    let passing = passing
        .map(|place| Place { directory: place.join(format!("headwater-{user}")), stays: false });
    state.into_iter().chain(passing).collect()
}

/// Makes the directory, or checks that this user owns it and no other user can write there. With
/// `for_all`, checks that every user can reach it as well: OpenSSL ignores a file that it cannot
/// open, so a service that has changed its user would have OpenSSL's own generator.
fn owned(directory: &Path, user: u32, for_all: bool) -> io::Result<()> {
    make(directory, for_all)?;
    let refused = |why: &str| Err(io::Error::new(ErrorKind::PermissionDenied, why));
    let found = fs::symlink_metadata(directory)?;
    if !found.is_dir() || found.uid() != user || found.mode() & 0o022 != 0 {
        return refused("not a directory of this user, or writable by others");
    }
    if for_all {
        for above in directory.ancestors() {
            if fs::metadata(above)?.mode() & 0o001 == 0 {
                return refused(&format!("{} is closed to other users", above.display()));
            }
        }
    }
    Ok(())
}

/// Makes the directory and those above it.
fn make(directory: &Path, for_all: bool) -> io::Result<()> {
    if let Some(above) = directory.parent().filter(|above| !above.exists()) {
        make(above, for_all)?;
    }
    match DirBuilder::new().mode(0o755).create(directory) {
        // Root's umask may keep others out of what root makes here.
        Ok(()) if for_all => fs::set_permissions(directory, Permissions::from_mode(0o755)),
        // The caller checks what stands there.
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        made => made,
    }
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
    use std::os::unix::fs::symlink;

    #[test]
    fn a_directory_that_others_can_write_to_is_refused() {
        let base = env::temp_dir().join(format!("headwater-owned-{}", std::process::id()));
        fs::create_dir_all(&base).unwrap();
        let user = fs::metadata(&base).unwrap().uid();
        let directory = base.join("directory");
        owned(&directory, user, false).unwrap();
        owned(&directory, user, false).unwrap();
        assert_eq!(fs::read(write(&directory, "name", "text").unwrap()).unwrap(), b"text");
        assert_eq!(fs::read(write(&directory, "name", "other").unwrap()).unwrap(), b"other");
        assert_eq!(fs::read_dir(&directory).unwrap().count(), 1);
        assert!(owned(&directory, user + 1, false).is_err());
        fs::set_permissions(&directory, fs::Permissions::from_mode(0o775)).unwrap();
        assert!(owned(&directory, user, false).is_err());
        let link = base.join("link");
        symlink(base.join("elsewhere"), &link).unwrap();
        assert!(owned(&link, user, false).is_err());
        fs::remove_dir_all(&base).unwrap();
    }

    /// A service that changed its user could not open the file, and OpenSSL would not say so.
    #[test]
    fn a_directory_that_services_cannot_reach_is_refused() {
        let base = env::temp_dir().join(format!("headwater-closed-{}", std::process::id()));
        fs::create_dir_all(&base).unwrap();
        let user = fs::metadata(&base).unwrap().uid();
        let directory = base.join("a/b");
        owned(&directory, user, true).unwrap();
        fs::set_permissions(base.join("a"), fs::Permissions::from_mode(0o700)).unwrap();
        let refused = owned(&directory, user, true).unwrap_err().to_string();
        assert!(refused.ends_with("a is closed to other users"), "{refused}");
        owned(&directory, user, false).unwrap();
        fs::remove_dir_all(&base).unwrap();
    }

    #[test]
    fn state_comes_before_what_is_tidied_away() {
        let first = places(0).remove(0);
        if env::var_os("XDG_STATE_HOME").is_none() {
            assert_eq!(first.directory, Path::new("/var/lib/headwater/openssl"));
        }
        assert!(first.stays && !places(0).last().unwrap().stays);
    }
}
