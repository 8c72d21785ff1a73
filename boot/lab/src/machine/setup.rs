//! `headwater lab setup`: fetches QEMU, firmware and kernels into the cache, and installs nothing.

use crate::machine::apt::{Apt, Mirrors};
use crate::machine::cache::{COMPLETE, Cache};
use crate::machine::manifest::{KernelImage, Manifest, sha256};
use crate::machine::part::{
    CRIU_PART, KernelPackages, MachinePart, Setup, SetupRequest, TOOLS_PART, TOOLS_SUITES,
};
use crate::machine::series::{self, SERIES, SUITES, Series};
use crate::machine::{arm, command, header};
use anyhow::{Result, anyhow, bail, ensure};
use std::fs;
use std::path::Path;

const TOOLS: [&str; 4] = ["qemu-system-x86", "qemu-utils", "ovmf", "criu"];
/// Debian's next release, because the newest one does not have CRIU 4.2.
const CRIU_SUITES: [&str; 1] = ["forky"];

/// Fetches each requested part that the cache lacks. A part is complete or absent, so an
/// interrupted run can be repeated. If no mirror serves a series, it is reported and skipped,
/// because the others are still of use.
///
/// # Errors
///
/// If QEMU is unavailable, or a file cannot be written.
pub fn setup(cache: &Cache, request: &SetupRequest, report: &dyn Fn(&str)) -> Result<Manifest> {
    request.check()?;
    let mirrors = Mirrors::of_this_machine()?;
    let manifest = Manifest::read(&cache.manifest())?;
    let mut setup = Setup { cache, manifest, request, report };
    let again = request.refresh || request.list;
    if request.has(TOOLS_PART) && (again || !cache.tools().join(COMPLETE).is_file()) {
        fetch_tools(&mirrors, &mut setup)?;
    }
    let has = |manifest: &Manifest, part: &str| {
        manifest.kernels.iter().any(|kernel| kernel.series == part && kernel.image.is_file())
    };
    let missing: Vec<Series> = SERIES
        .into_iter()
        .filter(|series| request.has(series.name))
        .filter(|series| again || !has(&setup.manifest, series.name))
        .collect();
    if !missing.is_empty() {
        fetch_kernels(&mirrors, &mut setup, &missing)?;
    }
    if request.has(CRIU_PART)
        && (again || !cache.criu().join(COMPLETE).is_file())
        && let Err(error) = fetch_criu(&mirrors, &mut setup)
    {
        // Not every mirror serves Debian's next release, and the tools contain an older CRIU.
        report(&format!(
            "skipped: CRIU 4.2: {error:#}; how it treats pages that the kernel may drop is not shown"
        ));
    }
    if request.has(crate::machine::part::ARM_PART) {
        arm::fetch(&mirrors, &mut setup)?;
    }
    Ok(setup.manifest)
}

fn fetch_tools(mirrors: &Mirrors, setup: &mut Setup) -> Result<()> {
    let host = match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => bail!("the lab needs an x86-64 or arm64 host for its QEMU; this host is {other}"),
    };
    let (cache, report) = (setup.cache, setup.report);
    let apt = Apt::open(cache.apt("tools"), mirrors, &TOOLS_SUITES, host, report)?;
    let part = MachinePart {
        name: TOOLS_PART,
        content: "QEMU, its firmware and libraries",
        packages: &TOOLS,
        closure: true,
        to: &cache.tools(),
    };
    part.fetch(&apt, setup)?;
    if !setup.request.list {
        setup.manifest.qemu = Some(command::version(cache)?);
        fs::write(cache.tools().join(COMPLETE), "")?;
        setup.save()?;
    }
    Ok(())
}

fn fetch_kernels(mirrors: &Mirrors, setup: &mut Setup, missing: &[Series]) -> Result<()> {
    let apt = Apt::open(setup.cache.apt("kernels"), mirrors, &SUITES, "amd64", setup.report)?;
    let names = apt.names("^linux-(image|binary|modules)-[0-9].*-cloud-amd64$")?;
    for series in missing {
        let Some((release, packages)) = series::newest(series.name, &names, "-cloud-amd64") else {
            (setup.report)(&format!(
                "skipped: series {}: no mirror serves it any more; its guests are not booted",
                series.name
            ));
            continue;
        };
        let kernel = KernelPackages {
            part: series.name,
            architecture: "x86_64",
            release: &release,
            packages: &packages,
        };
        kernel.fetch(&apt, setup)?;
    }
    Ok(())
}

fn fetch_criu(mirrors: &Mirrors, setup: &mut Setup) -> Result<()> {
    ensure!(std::env::consts::ARCH == "x86_64", "available for x86-64 hosts only");
    let cache = setup.cache;
    let apt = Apt::open(cache.apt("criu"), mirrors, &CRIU_SUITES, "amd64", setup.report)?;
    let part = MachinePart {
        name: CRIU_PART,
        content: "CRIU and its libraries",
        packages: &["criu"],
        closure: true,
        to: &cache.criu(),
    };
    part.fetch(&apt, setup)?;
    if !setup.request.list {
        fs::write(cache.criu().join(COMPLETE), "")?;
        setup.save()?;
    }
    Ok(())
}

/// Returns the names of the series in the cache, in the order of [`SERIES`].
///
/// # Errors
///
/// If the manifest cannot be read.
pub fn series_in(cache: &Cache) -> Result<Vec<&'static str>> {
    let manifest = Manifest::read(&cache.manifest())?;
    let has = |name: &str| manifest.kernels.iter().any(|kernel| kernel.series == name);
    Ok(SERIES.iter().map(|series| series.name).filter(|name| has(name)).collect())
}

/// Returns the kernel of a series, or the kernel image at a path, after a check of the file.
///
/// # Errors
///
/// If the cache lacks the series, or the file is not a whole kernel image, or not the one that was
/// fetched. The message names the command that fetches it.
pub(crate) fn find_kernel(cache: &Cache, wanted: &str) -> Result<KernelImage> {
    let manifest = Manifest::read(&cache.manifest())?;
    let name = series::find(wanted).map_or(wanted, |series| series.name);
    if let Some(kernel) = manifest.kernels.into_iter().find(|kernel| kernel.series == name) {
        check_fetched(&kernel).map_err(|error| {
            anyhow!("{error:#}; run `headwater lab setup --only {name} --refresh`")
        })?;
        return Ok(kernel);
    }
    let file = Path::new(wanted);
    if file.is_file() {
        let image = file.canonicalize()?;
        return Ok(KernelImage {
            series: wanted.to_owned(),
            release: "unknown".to_owned(),
            architecture: header::architecture(&image)?.to_owned(),
            sha256: sha256(&image)?,
            image,
            modules: Vec::new(),
        });
    }
    ensure!(!file.is_dir(), "{wanted} is a directory; name a kernel image");
    match series::find(wanted) {
        Some(series) if !cache.tools().join(COMPLETE).is_file() => bail!(
            "neither QEMU nor kernel {} is in {}; run `headwater lab setup`",
            series.name,
            cache.root().display()
        ),
        Some(series) => bail!(
            "kernel {} is not in the cache; run `headwater lab setup --only {}`",
            series.name,
            series.name
        ),
        None => bail!("'{wanted}' is neither a series (5.10, 6.1, 6.12, 6.18, 7) nor a file"),
    }
}

/// Returns the same for an experiment whose guest needs an x86-64 CPU.
pub(crate) fn find_x86_kernel(cache: &Cache, wanted: &str) -> Result<KernelImage> {
    let kernel = find_kernel(cache, wanted)?;
    ensure!(
        kernel.architecture == "x86_64",
        "'{wanted}' is a kernel for {}, and this experiment needs one for x86-64",
        kernel.architecture
    );
    Ok(kernel)
}

/// Checks that an image is the one that was fetched: a table names its release.
fn check_fetched(kernel: &KernelImage) -> Result<()> {
    let shown = kernel.image.display();
    ensure!(kernel.image.is_file(), "{shown} does not exist any more");
    header::architecture(&kernel.image)?;
    ensure!(
        sha256(&kernel.image)? == kernel.sha256,
        "{shown} is not the kernel that was fetched: its SHA-256 is not that of the manifest"
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::header::tests::bzimage_of;
    use crate::machine::temporary::Temporary;

    #[test]
    fn a_kernel_that_is_not_the_fetched_one_is_refused() {
        let directory = Temporary::directory().unwrap();
        let cache = Cache::open(Some(directory.path())).unwrap();
        let part = cache.kernel("6.12");
        fs::create_dir_all(&part).unwrap();
        let image = part.join("vmlinuz");
        let mut bytes = bzimage_of(64);
        fs::write(&image, &bytes).unwrap();
        let kernel = KernelImage {
            series: "6.12".to_owned(),
            release: "6.12.0".to_owned(),
            architecture: "x86_64".to_owned(),
            sha256: sha256(&image).unwrap(),
            image: image.clone(),
            modules: Vec::new(),
        };
        let manifest = Manifest {
            schema: "headwater.lab-manifest/1".to_owned(),
            kernels: vec![kernel],
            ..Manifest::default()
        };
        manifest.write(&cache.manifest()).unwrap();
        assert_eq!(find_kernel(&cache, "6.12").unwrap().image, image.canonicalize().unwrap());
        assert_eq!(series_in(&cache).unwrap(), ["6.12"]);
        let refused = |why: &str| {
            let error = format!("{:#}", find_kernel(&cache, "6.12").unwrap_err());
            assert!(error.contains(why) && error.ends_with("--only 6.12 --refresh`"), "{error}");
        };
        *bytes.last_mut().unwrap() ^= 1;
        fs::write(&image, &bytes).unwrap();
        refused("is not the kernel that was fetched");
        fs::write(&image, &bytes[..1500]).unwrap();
        refused("is truncated");
        fs::remove_file(&image).unwrap();
        refused("does not exist any more");
        let error = find_kernel(&cache, "/tmp").unwrap_err().to_string();
        assert!(error.contains("/tmp is a directory"), "{error}");
    }
}
