//! Parts of the cache: a set of packages that is fetched and unpacked together, or a kernel.

use crate::machine::apt::{Apt, PlannedDownload, unpack};
use crate::machine::cache::Cache;
use crate::machine::manifest::{KernelImage, Manifest, sha256};
use crate::machine::series::{self, SERIES};
use anyhow::{Context, Result, bail};
use std::fs::{self, File};
use std::io::BufReader;
use std::path::{Path, PathBuf};

/// Suites of QEMU. Versions below 10 double-fault 6.12 guests now and then; these have 10.
pub(crate) const TOOLS_SUITES: [&str; 2] = ["trixie", "trixie-security"];
/// Name of the part with QEMU, its libraries and its firmware.
pub(crate) const TOOLS_PART: &str = "tools";
/// Name of the part with QEMU for arm64, and Debian's kernel and libcrypto for it.
pub(crate) const ARM_PART: &str = "arm64";
/// Name of the part with CRIU 4.2 or later, which omits pages that the kernel may drop.
pub(crate) const CRIU_PART: &str = "criu";

/// Modules that a guest loads, if its kernel does not have them built in.
const MODULES: [&str; 10] = [
    "virtio",
    "virtio_ring",
    "virtio_pci_legacy_dev",
    "virtio_pci_modern_dev",
    "virtio_pci",
    "rng-core",
    "virtio-rng",
    "virtio_blk",
    "ptp",
    "ptp_vmclock",
];

/// The request of `headwater lab setup`.
#[derive(Clone, Debug, Default)]
pub struct SetupRequest {
    /// Parts by name (`tools`, a series, `criu`, `arm64`); empty: all but arm64.
    pub only: Vec<String>,
    /// Fetch package lists and kernels again, even if they are in the cache.
    pub refresh: bool,
    /// Print what would be fetched, and fetch nothing.
    pub list: bool,
}

impl SetupRequest {
    /// Checks the names.
    ///
    /// # Errors
    ///
    /// If a name is not the name of a part.
    pub fn check(&self) -> Result<()> {
        let known = |name: &str| {
            [TOOLS_PART, ARM_PART, CRIU_PART].contains(&name) || series::find(name).is_some()
        };
        if let Some(name) = self.only.iter().find(|name| !known(name)) {
            let names: Vec<&str> = SERIES.iter().map(|series| series.name).collect();
            bail!(
                "unknown part '{name}'; parts are {TOOLS_PART}, {}, {CRIU_PART}, {ARM_PART}",
                names.join(", ")
            );
        }
        Ok(())
    }

    pub(crate) fn has(&self, part: &str) -> bool {
        let asked = self.only.iter().any(|name| {
            name == part || series::find(name).is_some_and(|series| series.name == part)
        });
        asked || self.only.is_empty() && part != ARM_PART
    }
}

/// One run of `headwater lab setup`, as its steps share it.
pub(crate) struct Setup<'a> {
    pub(crate) cache: &'a Cache,
    pub(crate) manifest: Manifest,
    pub(crate) request: &'a SetupRequest,
    /// Reports one line to the user.
    pub(crate) report: &'a dyn Fn(&str),
}

impl Setup<'_> {
    /// Writes the manifest to the cache.
    pub(crate) fn save(&self) -> Result<()> {
        self.manifest.write(&self.cache.manifest())
    }

    /// Prints the cost of a part before it is fetched.
    fn announce(&self, part: &str, content: &str, plan: &[PlannedDownload], growth: u64) {
        let bytes: u64 = plan.iter().map(|package| package.bytes).sum();
        let disk = if growth == 1 {
            String::new()
        } else {
            format!(", {} MiB on disk", (bytes * growth) >> 20)
        };
        (self.report)(&format!(
            "{part}: {content}: {} packages, {} MiB to fetch{disk}",
            plan.len(),
            bytes.div_ceil(1 << 20)
        ));
    }
}

/// Packages that are unpacked into one directory.
pub(crate) struct MachinePart<'a> {
    pub(crate) name: &'a str,
    /// Content of the part, for messages.
    pub(crate) content: &'a str,
    pub(crate) packages: &'a [&'a str],
    /// Also fetch everything that the packages depend on.
    pub(crate) closure: bool,
    pub(crate) to: &'a Path,
}

impl MachinePart<'_> {
    /// Fetches and unpacks the packages; with `--list` only prints their size.
    pub(crate) fn fetch(&self, apt: &Apt, setup: &mut Setup) -> Result<()> {
        let packages: Vec<String> = self.packages.iter().map(|&name| name.to_owned()).collect();
        // Unpacked, packages of programs take about four times their size.
        setup.announce(self.name, self.content, &apt.plan(&packages, self.closure)?, 4);
        if setup.request.list {
            return Ok(());
        }
        let files = apt.download(&packages, self.closure)?;
        setup.manifest.forget(self.name);
        setup.manifest.add_packages(self.name, &files)?;
        for file in &files {
            unpack(file, self.to)?;
        }
        remove_archives(&files)
    }
}

/// A kernel of a distribution's archive.
pub(crate) struct KernelPackages<'a> {
    pub(crate) part: &'a str,
    pub(crate) architecture: &'a str,
    pub(crate) release: &'a str,
    pub(crate) packages: &'a [String],
}

impl KernelPackages<'_> {
    /// Fetches the kernel, and copies its image and the modules that a guest needs.
    pub(crate) fn fetch(&self, apt: &Apt, setup: &mut Setup) -> Result<()> {
        let KernelPackages { part, release, packages, .. } = *self;
        setup.announce(part, release, &apt.plan(packages, false)?, 1);
        if setup.request.list {
            return Ok(());
        }
        let files = apt.download(packages, false)?;
        let directory = setup.cache.kernel(part);
        let unpacked = directory.join("unpacked");
        for file in &files {
            unpack(file, &unpacked)?;
        }
        let image =
            [format!("boot/vmlinuz-{release}"), format!("usr/lib/modules/{release}/vmlinuz")]
                .map(|path| unpacked.join(path))
                .into_iter()
                .find(|path| path.is_file())
                .with_context(|| format!("no kernel image found in {}", packages.join(", ")))?;
        fs::copy(image, directory.join("vmlinuz"))?;
        let modules = ["lib", "usr/lib"]
            .map(|lib| unpacked.join(lib).join("modules").join(release).join("kernel"));
        let modules = copy_modules(&modules, &directory)?;
        let image = directory.join("vmlinuz");
        setup.manifest.forget(part);
        setup.manifest.add_packages(part, &files)?;
        setup.manifest.kernels.push(KernelImage {
            series: part.to_owned(),
            release: release.to_owned(),
            architecture: self.architecture.to_owned(),
            sha256: sha256(&image)?,
            image,
            modules,
        });
        setup.save()?;
        fs::remove_dir_all(&unpacked).context("cannot remove the unpacked kernel packages")?;
        remove_archives(&files)
    }
}

/// Removes unpacked archives: the manifest has their hashes, and apt can fetch the same again.
fn remove_archives(files: &[PathBuf]) -> Result<()> {
    files.iter().try_for_each(fs::remove_file).context("cannot remove unpacked archives")
}

/// Copies the modules that a guest needs, decompressed.
fn copy_modules(trees: &[PathBuf], to: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for tree in trees.iter().filter(|tree| tree.is_dir()) {
        find_modules(tree, &mut found)?;
    }
    let mut modules = Vec::new();
    for name in MODULES {
        let Some(module) = found.iter().find(|path| module_name(path) == Some(name)) else {
            continue;
        };
        let file = to.join(format!("{name}.ko"));
        if module.extension().is_some_and(|extension| extension == "xz") {
            let mut packed = BufReader::new(File::open(module)?);
            lzma_rs::xz_decompress(&mut packed, &mut File::create(&file)?).map_err(|error| {
                anyhow::anyhow!("cannot decompress {}: {error:?}", module.display())
            })?;
        } else {
            fs::copy(module, &file)?;
        }
        modules.push(file);
    }
    Ok(modules)
}

fn find_modules(directory: &Path, found: &mut Vec<PathBuf>) -> Result<()> {
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        if path.is_dir() {
            find_modules(&path, found)?;
        } else if module_name(&path).is_some_and(|name| MODULES.contains(&name)) {
            found.push(path);
        }
    }
    Ok(())
}

/// Returns `virtio-rng` for `virtio-rng.ko.xz`.
fn module_name(path: &Path) -> Option<&str> {
    let name = path.file_name()?.to_str()?;
    name.strip_suffix(".ko").or_else(|| name.strip_suffix(".ko.xz"))
}
