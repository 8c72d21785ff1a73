//! Where everything that `setup` gets is kept. Nothing is installed into the system.

use anyhow::{Context, Result, bail};
use std::env;
use std::fs::{self, File, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};

/// The folder of packages, kernels, tools and logs, and the only lab that works in it.
#[derive(Debug)]
pub struct Cache {
    root: PathBuf,
    /// Held as long as it is open. A process that ends in whatever way lets go of it, so that no lock can be left behind.
    _lock: File,
}

impl Cache {
    /// The given folder, or `headwater/lab` under `$XDG_CACHE_HOME` or `~/.cache`.
    ///
    /// # Errors
    ///
    /// If none is given and neither variable is set, the folder cannot be made, or another lab works in it.
    pub fn open(folder: Option<&Path>) -> Result<Cache> {
        let root = match folder {
            Some(folder) => folder.to_path_buf(),
            None => {
                let cache = env::var_os("XDG_CACHE_HOME").filter(|path| !path.is_empty());
                let cache = cache.map(PathBuf::from);
                let home = || env::var_os("HOME").map(|home| Path::new(&home).join(".cache"));
                let cache = cache.or_else(home);
                cache
                    .context("neither XDG_CACHE_HOME nor HOME is set; use --cache DIR")?
                    .join("headwater/lab")
            }
        };
        fs::create_dir_all(&root)
            .with_context(|| format!("cannot make {}; use --cache DIR", root.display()))?;
        // QEMU and apt are run elsewhere than where the caller stands.
        let root =
            root.canonicalize().with_context(|| format!("cannot find {}", root.display()))?;
        let _lock = lock(&root)?;
        Ok(Cache { root, _lock })
    }

    /// The folder itself.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The unpacked QEMU, its libraries and its firmware.
    pub(crate) fn tools(&self) -> PathBuf {
        self.root.join("tools")
    }

    /// CRIU of a newer suite, and the libraries that belong to it.
    pub(crate) fn criu(&self) -> PathBuf {
        self.root.join("criu")
    }

    /// What is unpacked of arm64's libcrypto, to link guests with.
    pub(crate) fn arm_libraries(&self) -> PathBuf {
        self.root.join("arm64-libraries")
    }

    /// The folder in it that holds libcrypto.a.
    pub(crate) fn arm_libcrypto(&self) -> PathBuf {
        self.arm_libraries().join("usr/lib/aarch64-linux-gnu")
    }

    /// A kernel and its modules.
    pub(crate) fn kernel(&self, series: &str) -> PathBuf {
        self.root.join("kernels").join(series)
    }

    /// An apt of its own: lists, state, archives.
    pub(crate) fn apt(&self, name: &str) -> PathBuf {
        self.root.join("apt").join(name)
    }

    pub(crate) fn manifest(&self) -> PathBuf {
        self.root.join("manifest.json")
    }

    /// A new folder for the files of one run of guests.
    pub(crate) fn run(&self, name: &str) -> Result<PathBuf> {
        let folder = self.root.join("runs").join(name);
        if folder.exists() {
            fs::remove_dir_all(&folder)
                .with_context(|| format!("cannot empty {}", folder.display()))?;
        }
        fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
        Ok(folder)
    }
}

/// Two labs would empty each other's runs, and resume each other's guests.
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
            let holder = if holder.is_empty() { "of an unknown number" } else { holder };
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
    let told = file.set_len(0).and_then(|()| file.rewind());
    told.and_then(|()| writeln!(file, "{}", std::process::id()))
        .with_context(|| format!("cannot write {}", path.display()))?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};
    use std::thread::sleep;
    use std::time::{Duration, Instant};

    /// A folder of this test's own, gone afterwards.
    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Folder {
            let folder = env::temp_dir().join(format!("headwater-{name}-{}", std::process::id()));
            fs::create_dir_all(&folder).unwrap();
            Folder(folder)
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn two_labs_do_not_work_in_one_cache() {
        let folder = Folder::new("two-labs");
        let first = Cache::open(Some(&folder.0)).unwrap();
        let refused = format!("{:#}", Cache::open(Some(&folder.0)).unwrap_err());
        assert!(refused.contains(&format!("(process {})", std::process::id())), "{refused}");
        assert!(refused.contains("--cache DIR") && !refused.contains('\n'), "{refused}");
        drop(first);
        Cache::open(Some(&folder.0)).unwrap();
    }

    /// What a killed lab leaves behind is its number in the file, and no lock.
    #[test]
    fn the_lock_of_a_dead_process_is_taken_over() {
        let folder = Folder::new("dead-lab");
        let file = folder.0.join("lock");
        let mut holder = Command::new("flock");
        holder.arg("--no-fork").arg(&file).args(["sleep", "60"]).stdin(Stdio::null());
        let Ok(mut holder) = holder.spawn() else {
            println!(
                "skipped: flock(1): not installed, whether a dead lab's lock is taken over is not shown"
            );
            return;
        };
        let begun = Instant::now();
        let refused = loop {
            match Cache::open(Some(&folder.0)) {
                Err(error) => break format!("{error:#}"),
                Ok(_) => assert!(begun.elapsed() < Duration::from_secs(20), "flock never locks"),
            }
            sleep(Duration::from_millis(5));
        };
        assert!(refused.contains("another lab"), "{refused}");
        holder.kill().unwrap();
        holder.wait().unwrap();
        Cache::open(Some(&folder.0)).unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), format!("{}\n", std::process::id()));
    }
}
