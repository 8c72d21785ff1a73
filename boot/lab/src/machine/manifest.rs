//! The list of fetched files with their hashes, so that a record names the kernels it was made on.

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
    pub kernels: Vec<KernelImage>,
    /// Every fetched package.
    pub packages: Vec<FetchedPackage>,
}

/// A kernel that can be booted.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct KernelImage {
    /// The series or file by which it was requested.
    pub series: String,
    /// The kernel's release, as printed by `uname -r`.
    pub release: String,
    /// `x86_64` or `aarch64`.
    pub architecture: String,
    /// The image.
    pub image: PathBuf,
    /// SHA-256 of the image.
    pub sha256: String,
    /// Modules for the guest, in the order of loading.
    pub modules: Vec<PathBuf>,
}

/// A fetched package.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct FetchedPackage {
    /// Name of the file, which contains package, version and architecture.
    pub file: String,
    /// SHA-256 of the file.
    pub sha256: String,
    /// The part that it was fetched for: `tools`, `criu`, `arm64` or a series.
    pub part: String,
}

impl Manifest {
    /// Reads the manifest of a cache. A cache without a readable manifest counts as empty.
    pub(crate) fn read(file: &Path) -> Manifest {
        let read = || serde_json::from_slice(&fs::read(file).ok()?).ok();
        read().unwrap_or_else(|| Manifest {
            schema: "headwater.lab-manifest/1".to_owned(),
            ..Manifest::default()
        })
    }

    /// Replaces the file in one step, so that an interrupted lab leaves the old one.
    pub(crate) fn write(&self, file: &Path) -> Result<()> {
        let text = serde_json::to_string_pretty(self)? + "\n";
        headwater_text::file::replace(file, text)
            .with_context(|| format!("cannot write {}", file.display()))
    }

    /// Removes the packages and the kernel of a part.
    pub(crate) fn forget(&mut self, part: &str) {
        self.packages.retain(|package| package.part != part);
        self.kernels.retain(|kernel| kernel.series != part);
    }

    /// Adds package files with their hashes.
    pub(crate) fn add_packages(&mut self, part: &str, files: &[PathBuf]) -> Result<()> {
        for file in files {
            let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
            self.packages.push(FetchedPackage {
                file: name,
                sha256: sha256(file)?,
                part: part.to_owned(),
            });
        }
        Ok(())
    }
}

/// Returns the SHA-256 of a file in hexadecimal.
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

    /// The example of FIPS 180-4.
    #[test]
    fn hashes_are_sha256() {
        let file = std::env::temp_dir().join(format!("headwater-lab-sha-{}", std::process::id()));
        fs::write(&file, "abc").unwrap();
        let hash = sha256(&file).unwrap();
        fs::remove_file(&file).unwrap();
        assert_eq!(hash, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }
}
