//! The directory of everything that `setup` fetches. Nothing is installed into the system.

use anyhow::{Context, Result, bail, ensure};
use std::env;
use std::ffi::OsString;
use std::fs::{self, File, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};

/// The last file that a set-up writes into a tree of unpacked packages.
pub(crate) const COMPLETE: &str = "complete";

/// The directory of packages, kernels, tools and logs, locked for one lab at a time.
#[derive(Debug)]
pub struct Cache {
    root: PathBuf,
    /// The lock belongs to the open file, so that a killed lab leaves no lock.
    _lock: File,
}

impl Cache {
    /// Opens the given directory, or `headwater/lab` under `$XDG_CACHE_HOME` or `~/.cache`. It must
    /// exist, so that a mistyped directory stays absent.
    ///
    /// # Errors
    ///
    /// If no directory is given and neither variable is set, if the directory does not exist, or
    /// if another lab works in it.
    pub fn open(directory: Option<&Path>) -> Result<Cache> {
        let root = root(directory)?;
        ensure!(
            root.is_dir(),
            "there is no cache {}; run `headwater lab setup`, or use --cache DIR",
            root.display()
        );
        Cache::lock(&root)
    }

    /// Opens the directory as [`Cache::open`] does, and creates it if need be.
    ///
    /// # Errors
    ///
    /// If the directory cannot be created, or for another of the reasons of [`Cache::open`].
    pub fn create(directory: Option<&Path>) -> Result<Cache> {
        let root = root(directory)?;
        fs::create_dir_all(&root)
            .with_context(|| format!("cannot create {}; use --cache DIR", root.display()))?;
        Cache::lock(&root)
    }

    fn lock(root: &Path) -> Result<Cache> {
        // QEMU and apt run in other working directories.
        let root =
            root.canonicalize().with_context(|| format!("cannot find {}", root.display()))?;
        let _lock = lock(&root)?;
        Ok(Cache { root, _lock })
    }

    /// Returns the directory itself.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the directory of QEMU, its libraries and its firmware.
    pub(crate) fn tools(&self) -> PathBuf {
        self.root.join("tools")
    }

    /// Returns the directory of the newer CRIU and its libraries.
    pub(crate) fn criu(&self) -> PathBuf {
        self.root.join("criu")
    }

    /// Returns the directory of the arm64 packages that guests are linked with.
    pub(crate) fn arm_libraries(&self) -> PathBuf {
        self.root.join("arm64-libraries")
    }

    /// Returns the directory of arm64's libcrypto.a.
    pub(crate) fn arm_libcrypto(&self) -> PathBuf {
        self.arm_libraries().join("usr/lib/aarch64-linux-gnu")
    }

    /// Returns the directory of a kernel and its modules.
    pub(crate) fn kernel(&self, series: &str) -> PathBuf {
        Cache::kernel_in(&self.root, series)
    }

    pub(crate) fn kernel_in(root: &Path, series: &str) -> PathBuf {
        root.join("kernels").join(series)
    }

    /// Returns the directory of an apt's lists, state and archives.
    pub(crate) fn apt(&self, name: &str) -> PathBuf {
        self.root.join("apt").join(name)
    }

    pub(crate) fn manifest(&self) -> PathBuf {
        self.root.join("manifest.json")
    }

    /// Creates an empty directory for the files of one run of guests.
    pub(crate) fn run(&self, name: &str) -> Result<PathBuf> {
        self.empty(&Path::new("runs").join(name))
    }

    /// Creates an empty directory for what a guest boots from.
    pub(crate) fn guests(&self) -> Result<PathBuf> {
        self.empty(Path::new("guests"))
    }

    fn empty(&self, name: &Path) -> Result<PathBuf> {
        let directory = self.root.join(name);
        if directory.exists() {
            fs::remove_dir_all(&directory)
                .with_context(|| format!("cannot empty {}", directory.display()))?;
        }
        fs::create_dir_all(&directory)
            .with_context(|| format!("cannot create {}", directory.display()))?;
        Ok(directory)
    }
}

fn root(given: Option<&Path>) -> Result<PathBuf> {
    match given {
        Some(directory) => Ok(directory.to_path_buf()),
        None => usual()
            .context("neither XDG_CACHE_HOME nor HOME is set to an absolute path; use --cache DIR"),
    }
}

/// Returns `headwater/lab` under `$XDG_CACHE_HOME` or `~/.cache`, if one of them is set.
fn usual() -> Option<PathBuf> {
    usual_of(env::var_os("XDG_CACHE_HOME"), env::var_os("HOME"))
}

/// Ignores a path that is empty or relative, as the XDG specification asks: the cache would lie in
/// whatever directory the lab is started in.
fn usual_of(cache: Option<OsString>, home: Option<OsString>) -> Option<PathBuf> {
    let absolute =
        |path: Option<OsString>| path.map(PathBuf::from).filter(|path| path.is_absolute());
    let cache = absolute(cache).or_else(|| Some(absolute(home)?.join(".cache")))?;
    Some(cache.join("headwater/lab"))
}

/// Returns the complete trees of the usual cache that may have a CRIU, the newest first.
///
/// It takes no lock. The obvious way, [`Cache::open`], failed whenever a lab or another check ran,
/// and looked like a machine without CRIU. But a set-up may be at work, so a tree without its last
/// file is not looked at.
pub(crate) fn criu_trees() -> Vec<PathBuf> {
    let trees = usual().map(|root| ["criu", "tools"].map(|name| root.join(name)));
    let mut trees: Vec<PathBuf> = trees.into_iter().flatten().collect();
    trees.retain(|tree| tree.join(COMPLETE).exists());
    trees
}

/// Locks the cache: two labs would empty each other's runs and resume each other's guests.
fn lock(root: &Path) -> Result<File> {
    let path = root.join("lock");
    let open = File::options().read(true).write(true).create(true).truncate(false).open(&path);
    let mut file = open.with_context(|| format!("cannot write {}", path.display()))?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            let mut holder = String::new();
            let _ = file.read_to_string(&mut holder); // only for the message
            let holder = holder.trim();
            let holder = if holder.is_empty() { "unknown" } else { holder };
            bail!(
                "another lab (process {holder}) works in {}; wait for it to end, or use --cache DIR",
                root.display()
            );
        }
        Err(TryLockError::Error(error)) => {
            return Err(error).with_context(|| {
                format!("cannot lock {}; use --cache DIR on a local disk", path.display())
            });
        }
    }
    let emptied = file.set_len(0).and_then(|()| file.rewind());
    emptied
        .and_then(|()| writeln!(file, "{}", std::process::id()))
        .with_context(|| format!("cannot write {}", path.display()))?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::temporary::Temporary;
    use std::process::{Command, Stdio};
    use std::thread::sleep;
    use std::time::{Duration, Instant};

    #[test]
    fn a_relative_path_in_the_environment_is_no_place_for_a_cache() {
        let of = |cache: Option<&str>, home: Option<&str>| {
            usual_of(cache.map(OsString::from), home.map(OsString::from))
        };
        let at = |path: &str| Some(PathBuf::from(path));
        assert_eq!(of(Some("/c"), Some("/h")), at("/c/headwater/lab"));
        for ignored in [None, Some(""), Some("rel")] {
            assert_eq!(of(ignored, Some("/h")), at("/h/.cache/headwater/lab"));
            assert_eq!(of(ignored, Some("")), None);
            assert_eq!(of(ignored, Some("rel")), None);
        }
    }

    #[test]
    fn a_mistyped_cache_is_not_made() {
        let directory = Temporary::directory().unwrap();
        let absent = directory.path().join("absent");
        let refused = format!("{:#}", Cache::open(Some(&absent)).unwrap_err());
        assert!(refused.contains("there is no cache") && !absent.exists(), "{refused}");
        drop(Cache::create(Some(&absent)).unwrap());
        open_soon(&absent);
    }

    #[test]
    fn two_labs_do_not_work_in_one_cache() {
        let directory = Temporary::directory().unwrap();
        let first = Cache::open(Some(directory.path())).unwrap();
        let refused = format!("{:#}", Cache::open(Some(directory.path())).unwrap_err());
        assert!(refused.contains(&format!("(process {})", std::process::id())), "{refused}");
        assert!(refused.contains("--cache DIR") && !refused.contains('\n'), "{refused}");
        drop(first);
        open_soon(directory.path());
    }

    /// Opens a cache that was in use. A process that another test forks has the file, and so the
    /// lock, until it executes its program.
    fn open_soon(root: &Path) {
        let begun = Instant::now();
        while let Err(error) = Cache::open(Some(root)) {
            assert!(begun.elapsed() < Duration::from_secs(20), "{error:#}");
            sleep(Duration::from_millis(5));
        }
    }

    /// A killed lab leaves its process number in the file, but not the lock.
    #[test]
    fn the_lock_of_a_dead_process_is_taken_over() {
        let directory = Temporary::directory().unwrap();
        let file = directory.path().join("lock");
        let mut holder = Command::new("flock");
        holder.arg("--no-fork").arg(&file).args(["sleep", "60"]).stdin(Stdio::null());
        let Ok(mut holder) = holder.spawn() else {
            println!(
                "skipped: flock(1) is not installed; taking over a dead lab's lock is not shown"
            );
            return;
        };
        let begun = Instant::now();
        let refused = loop {
            match Cache::open(Some(directory.path())) {
                Err(error) => break format!("{error:#}"),
                Ok(_) => assert!(begun.elapsed() < Duration::from_secs(20), "flock never locks"),
            }
            sleep(Duration::from_millis(5));
        };
        assert!(refused.contains("another lab"), "{refused}");
        holder.kill().unwrap();
        holder.wait().unwrap();
        Cache::open(Some(directory.path())).unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), format!("{}\n", std::process::id()));
    }
}
