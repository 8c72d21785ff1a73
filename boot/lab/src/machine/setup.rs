//! `headwater lab setup`: fetches QEMU, firmware and kernels into the cache, and installs nothing.

use crate::machine::apt::{Apt, Mirrors};
use crate::machine::cache::{COMPLETE, Cache};
use crate::machine::manifest::{KernelImage, Manifest, sha256};
use crate::machine::part::{
    CRIU_PART, KernelPackages, MachinePart, Setup, SetupRequest, TOOLS_PART, TOOLS_SUITES,
};
use crate::machine::series::{self, SERIES, SUITES, Series};
use crate::machine::{arm, qemu};
use anyhow::{Result, bail, ensure};
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
    let manifest = Manifest::read(&cache.manifest());
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
        setup.manifest.qemu = Some(qemu::version(cache)?);
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

/// Returns the kernel of a series, or the kernel image at a path.
///
/// # Errors
///
/// If the cache lacks the series, or the file does not exist. The message names the command that
/// fetches it.
pub fn find_kernel(cache: &Cache, wanted: &str) -> Result<KernelImage> {
    let manifest = Manifest::read(&cache.manifest());
    let name = series::find(wanted).map_or(wanted, |series| series.name);
    if let Some(kernel) = manifest.kernels.into_iter().find(|kernel| kernel.series == name) {
        ensure!(
            kernel.image.is_file(),
            "{} does not exist any more; run `headwater lab setup --only {name} --refresh`",
            kernel.image.display()
        );
        return Ok(kernel);
    }
    let file = Path::new(wanted);
    if file.is_file() {
        let image = file.canonicalize()?;
        return Ok(KernelImage {
            series: wanted.to_owned(),
            release: "unknown".to_owned(),
            architecture: "x86_64".to_owned(),
            sha256: sha256(&image)?,
            image,
            modules: Vec::new(),
        });
    }
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
