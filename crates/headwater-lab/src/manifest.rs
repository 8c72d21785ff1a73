//! What was fetched, with hashes, so that a table says which kernels it was made on.

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

/// The manifest of a cache.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Manifest {
    /// `headwater.lab-manifest/1`
    pub schema: String,
    /// QEMU's version line.
    pub qemu: Option<String>,
    /// The kernels, by series.
    pub kernels: Vec<Kernel>,
    /// Every package that something was taken from.
    pub packages: Vec<Fetched>,
}

/// A kernel that can be booted.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Kernel {
    /// The series it was asked for by, or the file.
    pub series: String,
    /// Its release, as `uname -r` says.
    pub release: String,
    /// `x86_64` or `aarch64`.
    pub architecture: String,
    /// The image.
    pub image: PathBuf,
    /// SHA-256 of the image.
    pub sha256: String,
    /// Modules to be put into the guest, in the order of loading as far as it matters.
    pub modules: Vec<PathBuf>,
}

/// A package.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Fetched {
    /// The file's name, which holds package, version and architecture.
    pub file: String,
    /// SHA-256 of the file.
    pub sha256: String,
    /// What it was fetched for: `tools` or a series.
    pub part: String,
}

impl Manifest {
    pub(crate) fn read(file: &Path) -> Manifest {
        let read = || serde_json::from_slice(&fs::read(file).ok()?).ok();
        read().unwrap_or_else(|| Manifest {
            schema: "headwater.lab-manifest/1".to_owned(),
            ..Manifest::default()
        })
    }

    /// Replaces the file in one step.
    pub(crate) fn write(&self, file: &Path) -> Result<()> {
        let new = file.with_extension("new");
        let text = serde_json::to_string_pretty(self)? + "\n";
        fs::write(&new, text)
            .and_then(|()| fs::rename(&new, file))
            .with_context(|| format!("cannot write {}", file.display()))
    }

    /// Forgets what was fetched for a part.
    pub(crate) fn forget(&mut self, part: &str) {
        self.packages.retain(|package| package.part != part);
        self.kernels.retain(|kernel| kernel.series != part);
    }

    pub(crate) fn add_packages(&mut self, part: &str, files: &[PathBuf]) -> Result<()> {
        for file in files {
            let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
            self.packages.push(Fetched {
                file: name,
                sha256: sha256(file)?,
                part: part.to_owned(),
            });
        }
        Ok(())
    }
}

pub(crate) fn sha256(path: &Path) -> Result<String> {
    let mut file = File::open(path).with_context(|| format!("cannot read {}", path.display()))?;
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        match file.read(&mut buffer).with_context(|| format!("cannot read {}", path.display()))? {
            0 => break,
            length => hash.update(&buffer[..length]),
        }
    }
    Ok(hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// FIPS 180-4's own example.
    #[test]
    fn hashes_are_sha256() {
        let file = std::env::temp_dir().join(format!("headwater-lab-sha-{}", std::process::id()));
        fs::write(&file, "abc").unwrap();
        let hash = sha256(&file).unwrap();
        fs::remove_file(&file).unwrap();
        assert_eq!(hash, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }
}
