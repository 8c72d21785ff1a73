//! Files that no run leaves: they go when their owner is dropped, and when a signal ends the lab.
//!
//! A signal ends a process without any drop, and a saved guest is a hundred megabytes. So every
//! such path stands in one list, and the thread that waits for signals removes what is in it. QEMU
//! needs no entry, because the kernel kills it with this process.

use anyhow::{Context, Result, ensure};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;
use std::collections::BTreeSet;
use std::env;
use std::fs::{self, DirBuilder};
use std::io::ErrorKind;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

static PATHS: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
/// The longest path of a socket (unix(7), `sun_path`).
const LONGEST: usize = 107;

fn paths() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    PATHS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes what is at a path, if anything is.
fn remove(path: &Path) {
    let is_directory = path.symlink_metadata().is_ok_and(|metadata| metadata.is_dir());
    let _ = if is_directory { fs::remove_dir_all(path) } else { fs::remove_file(path) };
}

/// A file or a directory that is removed with this value.
#[derive(Debug)]
pub(crate) struct Temporary {
    path: PathBuf,
}

impl Temporary {
    /// Takes charge of a path, at which there may be nothing yet.
    pub(crate) fn new(path: PathBuf) -> Temporary {
        paths().insert(path.clone());
        Temporary { path }
    }

    /// Makes an empty directory that no other user can enter. It has a name that nothing has yet,
    /// because in a directory that was made beforehand its owner could exchange the sockets.
    ///
    /// # Errors
    ///
    /// If the directory of temporary files is not one, or cannot be written.
    pub(crate) fn directory() -> Result<Temporary> {
        let parent = env::temp_dir();
        ensure!(
            parent.is_dir(),
            "there is no directory {} for temporary files; set TMPDIR to one that exists",
            parent.display()
        );
        let mut number = 0;
        loop {
            let path = parent.join(format!("headwater-lab-{}-{number}", process::id()));
            // Under the lock, so that a signal finds the directory in the list.
            let mut paths = paths();
            match DirBuilder::new().mode(0o700).create(&path) {
                Ok(()) => {
                    paths.insert(path.clone());
                    return Ok(Temporary { path });
                }
                Err(error) if error.kind() == ErrorKind::AlreadyExists && number < 1000 => {
                    number += 1;
                }
                Err(error) => {
                    return Err(error).with_context(|| format!("cannot create {}", path.display()));
                }
            }
        }
    }

    /// Returns the path.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the path of a socket in this directory.
    ///
    /// # Errors
    ///
    /// If the path is longer than that of a socket can be.
    pub(crate) fn socket(&self, name: &str) -> Result<PathBuf> {
        let socket = self.path.join(name);
        ensure!(
            socket.as_os_str().len() <= LONGEST,
            "{} is too long for a socket, whose path has at most {LONGEST} bytes; set TMPDIR to a \
             shorter one",
            socket.display()
        );
        Ok(socket)
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        remove(&self.path);
        paths().remove(&self.path);
    }
}

/// Removes everything temporary when one of these signals comes, and then ends as the signal
/// asks.
///
/// # Errors
///
/// If no handler can be set.
pub fn clean_up_on(signals: &[i32]) -> Result<()> {
    let mut signals = Signals::new(signals).context("cannot handle signals")?;
    thread::spawn(move || {
        if let Some(signal) = signals.forever().next() {
            // The lock is never given back, so that nothing is made after this.
            for path in paths().iter() {
                remove(path);
            }
            let _ = emulate_default_handler(signal);
            process::exit(128 + signal);
        }
    });
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_directory_is_private_and_new_and_goes_with_its_owner() {
        let one = Temporary::directory().unwrap();
        let mode = fs::metadata(one.path()).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
        // The second meets the first, as it would meet one that another user made beforehand.
        let two = Temporary::directory().unwrap();
        assert_ne!(one.path(), two.path());
        fs::write(two.path().join("socket"), "").unwrap();
        let paths = [one.path().to_owned(), two.path().to_owned()];
        assert!(one.socket(&"x".repeat(100)).unwrap_err().to_string().contains("too long"));
        drop((one, two));
        assert!(paths.iter().all(|path| !path.exists()));
    }
}
