//! Where everything that `setup` gets is kept. Nothing is installed into the system.

use anyhow::{Context, Result};
use std::env;
use std::fs;
use std::path::{Path, PathBuf};

/// The folder of packages, kernels, tools and logs.
#[derive(Clone, Debug)]
pub struct Cache {
    root: PathBuf,
}

impl Cache {
    /// The given folder, or `headwater/lab` under `$XDG_CACHE_HOME` or `~/.cache`.
    ///
    /// # Errors
    ///
    /// If none is given and neither variable is set, or the folder cannot be made.
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
        Ok(Cache { root })
    }

    /// The folder itself.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The unpacked QEMU, its libraries and its firmware.
    pub(crate) fn tools(&self) -> PathBuf {
        self.root.join("tools")
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
