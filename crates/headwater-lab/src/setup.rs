//! `headwater lab setup`: QEMU, firmware and kernels into the cache; nothing into the system.

use crate::apt::{Apt, Mirrors, Package, unpack};
use crate::arm;
use crate::cache::Cache;
use crate::manifest::{Kernel, Manifest, sha256};
use crate::qemu;
use crate::series::{self, SERIES, SUITES, Series};
use anyhow::{Context, Result, bail, ensure};
use std::fs::{self, File};
use std::io::BufReader;
use std::path::{Path, PathBuf};

/// QEMU below 10 double-faults 6.12 guests now and then; this suite has 10.
pub(crate) const TOOLS_SUITES: [&str; 2] = ["trixie", "trixie-security"];
const TOOLS: [&str; 4] = ["qemu-system-x86", "qemu-utils", "ovmf", "criu"];

/// Modules that a guest loads where its kernel has them as such.
const MODULES: [&str; 9] = [
    "virtio",
    "virtio_ring",
    "virtio_pci_legacy_dev",
    "virtio_pci_modern_dev",
    "virtio_pci",
    "rng-core",
    "virtio-rng",
    "ptp",
    "ptp_vmclock",
];

/// Name of the part that is QEMU, its libraries and its firmware.
pub(crate) const TOOLS_PART: &str = "tools";
/// Name of the part that is QEMU for arm64, and Debian's kernel and libcrypto for it.
pub(crate) const ARM_PART: &str = "arm64";
/// Name of the part that is a CRIU of 4.2 or later: since then it leaves out what the kernel may drop.
pub(crate) const CRIU_PART: &str = "criu";
/// Debian's next release, as long as the newest has none.
const CRIU_SUITES: [&str; 1] = ["forky"];

/// What to get.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// Parts by name (`tools`, a series, `criu`, `arm64`); empty: all but arm64.
    pub only: Vec<String>,
    /// Fetch lists and kernels anew, although they are there.
    pub refresh: bool,
    /// Tell what would be fetched, and fetch nothing.
    pub list: bool,
}

impl Wanted {
    /// # Errors
    ///
    /// If a name is none of a part.
    pub fn check(&self) -> Result<()> {
        let known = |name: &str| {
            [TOOLS_PART, ARM_PART, CRIU_PART].contains(&name) || series::find(name).is_some()
        };
        if let Some(name) = self.only.iter().find(|name| !known(name)) {
            let names: Vec<&str> = SERIES.iter().map(|series| series.name).collect();
            bail!(
                "there is no part '{name}'; parts are {TOOLS_PART}, {}, {CRIU_PART}, {ARM_PART}",
                names.join(", ")
            );
        }
        Ok(())
    }

    pub(crate) fn has(&self, part: &str) -> bool {
        let asked = self
            .only
            .iter()
            .any(|name| name == part || series::find(name).is_some_and(|it| it.name == part));
        asked || self.only.is_empty() && part != ARM_PART
    }
}

/// Gets what is wanted and not there yet. Each part is complete or absent, so that an interrupted run is gone on with.
///
/// # Errors
///
/// If QEMU cannot be had. A series that is not served is skipped, and told.
pub fn setup(cache: &Cache, wanted: &Wanted, say: &dyn Fn(&str)) -> Result<Manifest> {
    wanted.check()?;
    let mut manifest = Manifest::read(&cache.manifest());
    let mirrors = Mirrors::of_this_machine()?;
    let has_tools = cache.tools().join("complete").is_file();
    let has = |manifest: &Manifest, part: &str| {
        manifest.kernels.iter().any(|kernel| kernel.series == part && kernel.image.is_file())
    };
    if wanted.has(TOOLS_PART) && (!has_tools || wanted.refresh || wanted.list) {
        tools(cache, &mirrors, &mut manifest, wanted, say)?;
    }
    let missing: Vec<Series> = SERIES
        .into_iter()
        .filter(|series| wanted.has(series.name))
        .filter(|series| wanted.refresh || wanted.list || !has(&manifest, series.name))
        .collect();
    if !missing.is_empty() {
        let apt = Apt::open(cache.apt("kernels"), &mirrors, &SUITES, "amd64", say)?;
        let names = apt.names("^linux-(image|binary|modules)-[0-9].*-cloud-amd64$")?;
        for series in missing {
            let found = series::newest(series.name, &names, "-cloud-amd64");
            let Some((release, packages)) = found else {
                say(&format!(
                    "skipped: series {}: no mirror serves it any more; its guests are not booted",
                    series.name
                ));
                continue;
            };
            kernel(
                cache,
                &apt,
                &mut manifest,
                wanted,
                (series.name, "x86_64"),
                &release,
                &packages,
                say,
            )?;
        }
    }
    let has_criu = cache.criu().join("complete").is_file();
    if wanted.has(CRIU_PART)
        && (!has_criu || wanted.refresh || wanted.list)
        && let Err(error) = criu(cache, &mirrors, &mut manifest, wanted, say)
    {
        // Debian's next release is not served everywhere, and the CRIU of the newest is among the tools.
        say(&format!(
            "skipped: CRIU 4.2: {error:#}; what it does with pages that the kernel may drop is not shown"
        ));
    }
    if wanted.has(ARM_PART) {
        arm::setup(cache, &mirrors, &mut manifest, wanted, say)?;
    }
    Ok(manifest)
}

fn tools(
    cache: &Cache,
    mirrors: &Mirrors,
    manifest: &mut Manifest,
    wanted: &Wanted,
    say: &dyn Fn(&str),
) -> Result<()> {
    let host = match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => bail!("the lab's QEMU is fetched for x86-64 and arm64 hosts, and this is {other}"),
    };
    let apt = Apt::open(cache.apt("tools"), mirrors, &TOOLS_SUITES, host, say)?;
    let part = Part {
        name: TOOLS_PART,
        what: "QEMU, its firmware and libraries",
        packages: &TOOLS,
        closure: true,
        to: &cache.tools(),
    };
    part.get(&apt, manifest, wanted, say)?;
    if !wanted.list {
        manifest.qemu = Some(qemu::version(cache)?);
        fs::write(cache.tools().join("complete"), "")?;
        manifest.write(&cache.manifest())?;
    }
    Ok(())
}

fn criu(
    cache: &Cache,
    mirrors: &Mirrors,
    manifest: &mut Manifest,
    wanted: &Wanted,
    say: &dyn Fn(&str),
) -> Result<()> {
    ensure!(std::env::consts::ARCH == "x86_64", "only fetched for x86-64 hosts");
    let apt = Apt::open(cache.apt("criu"), mirrors, &CRIU_SUITES, "amd64", say)?;
    let to = cache.criu();
    let part = Part {
        name: CRIU_PART,
        what: "CRIU and its libraries",
        packages: &["criu"],
        closure: true,
        to: &to,
    };
    part.get(&apt, manifest, wanted, say)?;
    if !wanted.list {
        fs::write(to.join("complete"), "")?;
        manifest.write(&cache.manifest())?;
    }
    Ok(())
}

/// Packages that are unpacked into a folder.
pub(crate) struct Part<'a> {
    pub(crate) name: &'a str,
    /// For people.
    pub(crate) what: &'a str,
    pub(crate) packages: &'a [&'a str],
    /// With all that they depend on.
    pub(crate) closure: bool,
    pub(crate) to: &'a Path,
}

impl Part<'_> {
    /// Fetches and unpacks them; with `--list` only says what that would cost.
    pub(crate) fn get(
        &self,
        apt: &Apt,
        manifest: &mut Manifest,
        wanted: &Wanted,
        say: &dyn Fn(&str),
    ) -> Result<()> {
        let packages: Vec<String> = self.packages.iter().map(|&name| name.to_owned()).collect();
        // Unpacked, packages of programs take about four times their size.
        announce(self.name, self.what, &apt.plan(&packages, self.closure)?, 4, say);
        if wanted.list {
            return Ok(());
        }
        let files = apt.download(&packages, self.closure)?;
        manifest.forget(self.name);
        manifest.add_packages(self.name, &files)?;
        for file in &files {
            unpack(file, self.to)?;
        }
        // Their hashes are on record, and apt would fetch the same again.
        files.iter().try_for_each(fs::remove_file).context("cannot remove what is unpacked")
    }
}

#[expect(clippy::too_many_arguments)]
pub(crate) fn kernel(
    cache: &Cache,
    apt: &Apt,
    manifest: &mut Manifest,
    wanted: &Wanted,
    (part, architecture): (&str, &str),
    release: &str,
    packages: &[String],
    say: &dyn Fn(&str),
) -> Result<()> {
    announce(part, release, &apt.plan(packages, false)?, 1, say);
    if wanted.list {
        return Ok(());
    }
    let files = apt.download(packages, false)?;
    let folder = cache.kernel(part);
    let unpacked = folder.join("unpacked");
    for file in &files {
        unpack(file, &unpacked)?;
    }
    let image = [format!("boot/vmlinuz-{release}"), format!("usr/lib/modules/{release}/vmlinuz")]
        .map(|path| unpacked.join(path))
        .into_iter()
        .find(|path| path.is_file())
        .with_context(|| format!("there is no kernel image in {}", packages.join(", ")))?;
    fs::copy(image, folder.join("vmlinuz"))?;
    let modules = ["lib", "usr/lib"]
        .map(|lib| unpacked.join(lib).join("modules").join(release).join("kernel"));
    let modules = take_modules(&modules, &folder)?;
    let image = folder.join("vmlinuz");
    manifest.forget(part);
    manifest.add_packages(part, &files)?;
    manifest.kernels.push(Kernel {
        series: part.to_owned(),
        release: release.to_owned(),
        architecture: architecture.to_owned(),
        sha256: sha256(&image)?,
        image,
        modules,
    });
    manifest.write(&cache.manifest())?;
    fs::remove_dir_all(&unpacked).context("cannot remove what is unpacked")?;
    files.iter().try_for_each(fs::remove_file).context("cannot remove what is unpacked")?;
    Ok(())
}

/// Copies the modules that a guest needs, decompressed.
fn take_modules(trees: &[PathBuf], to: &Path) -> Result<Vec<PathBuf>> {
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

fn find_modules(folder: &Path, found: &mut Vec<PathBuf>) -> Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            find_modules(&path, found)?;
        } else if module_name(&path).is_some_and(|name| MODULES.contains(&name)) {
            found.push(path);
        }
    }
    Ok(())
}

/// `virtio-rng` of `virtio-rng.ko.xz`.
fn module_name(path: &Path) -> Option<&str> {
    let name = path.file_name()?.to_str()?;
    name.strip_suffix(".ko").or_else(|| name.strip_suffix(".ko.xz"))
}

/// Says beforehand what it will cost.
fn announce(part: &str, what: &str, plan: &[Package], growth: u64, say: &dyn Fn(&str)) {
    let bytes: u64 = plan.iter().map(|package| package.bytes).sum();
    let disk = if growth == 1 {
        String::new()
    } else {
        format!(", {} MiB on disk", (bytes * growth) >> 20)
    };
    say(&format!(
        "{part}: {what}: {} packages, {} MiB to fetch{disk}",
        plan.len(),
        bytes.div_ceil(1 << 20)
    ));
}

/// The kernel of a series, or a file that the caller names.
///
/// # Errors
///
/// If it is not there; the message says how to get it.
pub fn find_kernel(cache: &Cache, wanted: &str) -> Result<Kernel> {
    let manifest = Manifest::read(&cache.manifest());
    let name = series::find(wanted).map_or(wanted, |series| series.name);
    if let Some(kernel) = manifest.kernels.into_iter().find(|kernel| kernel.series == name) {
        ensure!(
            kernel.image.is_file(),
            "{} is gone; run `headwater lab setup --only {name} --refresh`",
            kernel.image.display()
        );
        return Ok(kernel);
    }
    let file = Path::new(wanted);
    if file.is_file() {
        let image = file.canonicalize()?;
        return Ok(Kernel {
            series: wanted.to_owned(),
            release: "unknown".to_owned(),
            architecture: "x86_64".to_owned(),
            sha256: sha256(&image)?,
            image,
            modules: Vec::new(),
        });
    }
    match series::find(wanted) {
        Some(series) if !cache.tools().join("complete").is_file() => bail!(
            "neither QEMU nor a kernel {} is in {}; run `headwater lab setup`",
            series.name,
            cache.root().display()
        ),
        Some(series) => bail!(
            "there is no kernel {} yet; run `headwater lab setup --only {}`",
            series.name,
            series.name
        ),
        None => bail!("'{wanted}' is neither a series (5.10, 6.1, 6.12, 6.18, 7) nor a file"),
    }
}
