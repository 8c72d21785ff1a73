//! The list of fetched files with their hashes, so that a record names the kernels it was made on.

use crate::machine::cache::Cache;
use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

const SCHEMA: &str = "headwater.lab-manifest/1";

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

impl KernelImage {
    /// Replaces the path of each file by one that is made of its name.
    fn place(&mut self, to: impl Fn(&OsStr) -> PathBuf) {
        for path in std::iter::once(&mut self.image).chain(&mut self.modules) {
            *path = to(path.file_name().unwrap_or_default());
        }
    }
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
    /// Reads the manifest of a cache. A cache without one counts as empty.
    ///
    /// Every file of a kernel lies in the cache, in the directory of its part, and is looked for
    /// there. A cache that was copied or moved therefore has its own kernels, whatever place the
    /// manifest names.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, is damaged, or is another version's.
    pub(crate) fn read(file: &Path) -> Result<Manifest> {
        let shown = file.display();
        let empty = Manifest { schema: SCHEMA.to_owned(), ..Manifest::default() };
        let text = match fs::read(file) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(empty),
            text => text.with_context(|| format!("cannot read {shown}"))?,
        };
        let again = "remove it and run `headwater lab setup`";
        let schema = serde_json::from_slice::<serde_json::Value>(&text).ok();
        let schema = schema.as_ref().and_then(|value| value["schema"].as_str());
        if let Some(schema) = schema.filter(|schema| *schema != SCHEMA) {
            bail!("{shown} has the schema '{schema}', and this lab reads {SCHEMA}; {again}");
        }
        let mut manifest: Manifest = serde_json::from_slice(&text)
            .with_context(|| format!("{shown} is damaged; {again}"))?;
        let root = file.parent().unwrap_or(Path::new(""));
        for kernel in &mut manifest.kernels {
            let part = Cache::kernel_in(root, &kernel.series);
            kernel.place(|name| part.join(name));
        }
        Ok(manifest)
    }

    /// Replaces the file in one step, so that an interrupted lab leaves the old one. The files of
    /// kernels have their names alone.
    pub(crate) fn write(&self, file: &Path) -> Result<()> {
        let text = serde_json::to_string_pretty(&self.without_places())? + "\n";
        headwater_text::file::replace(file, text)
            .with_context(|| format!("cannot write {}", file.display()))
    }

    /// Returns the manifest without the directories of this host.
    pub(crate) fn without_places(&self) -> Manifest {
        let mut manifest = self.clone();
        for kernel in &mut manifest.kernels {
            kernel.place(|name| PathBuf::from(name));
        }
        manifest
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
    use crate::machine::temporary::Temporary;

    /// A damaged manifest counted as an empty one once, and a table without rows as a success.
    #[test]
    fn a_damaged_manifest_and_another_version_are_not_an_empty_cache() {
        let directory = Temporary::directory().unwrap();
        let file = directory.path().join("manifest.json");
        assert!(Manifest::read(&file).unwrap().kernels.is_empty());
        let of = |text: &str| {
            fs::write(&file, text).unwrap();
            format!("{:#}", Manifest::read(&file).unwrap_err())
        };
        for damaged in ["", "{\"schema\": \"headwater.lab-manifest/1\", \"kern", "[]", "{}"] {
            assert!(of(damaged).contains("manifest.json is damaged"), "{damaged}");
        }
        let other = of("{\"schema\": \"headwater.lab-manifest/9\", \"kernels\": []}");
        assert!(other.contains("has the schema 'headwater.lab-manifest/9'"), "{other}");
    }

    #[test]
    fn a_moved_cache_has_its_own_kernels() {
        let directory = Temporary::directory().unwrap();
        let file = directory.path().join("manifest.json");
        let kernel = KernelImage {
            series: "6.12".to_owned(),
            release: String::new(),
            architecture: "x86_64".to_owned(),
            image: PathBuf::from("/the/old/place/kernels/6.12/vmlinuz"),
            sha256: String::new(),
            modules: vec![PathBuf::from("/the/old/place/kernels/6.12/virtio-rng.ko")],
        };
        let schema = SCHEMA.to_owned();
        let old = Manifest { schema, kernels: vec![kernel], ..Manifest::default() };
        // As earlier versions wrote it, with the places, and as this one does.
        fs::write(&file, serde_json::to_string(&old).unwrap()).unwrap();
        let here = directory.path().join("kernels/6.12");
        for _ in 0..2 {
            let read = Manifest::read(&file).unwrap();
            assert_eq!(read.kernels[0].image, here.join("vmlinuz"));
            assert_eq!(read.kernels[0].modules, [here.join("virtio-rng.ko")]);
            read.write(&file).unwrap();
        }
        assert!(fs::read_to_string(&file).unwrap().contains("\"image\": \"vmlinuz\""));
    }

    /// The example of FIPS 180-4.
    #[test]
    fn hashes_are_sha256() {
        let directory = Temporary::directory().unwrap();
        let file = directory.path().join("abc");
        fs::write(&file, "abc").unwrap();
        let hash = sha256(&file).unwrap();
        assert_eq!(hash, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }
}
