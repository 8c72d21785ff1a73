//! `headwater lab setup --only arm64`: QEMU and a kernel for arm64, and a libcrypto that its guests are linked with.

use crate::apt::{Apt, Mirrors};
use crate::cache::Cache;
use crate::manifest::Manifest;
use crate::series::{self, SERIES};
use crate::setup::{ARM_PART, Part, TOOLS_SUITES, Wanted, kernel};
use anyhow::{Context, Result};
use std::fs;

const TOOLS: [&str; 2] = ["qemu-system-arm", "qemu-efi-aarch64"];
/// With what a libcrypto may need.
const LIBCRYPTO: [&str; 3] = ["libssl-dev", "zlib1g-dev", "libzstd-dev"];

/// Gets what is not there yet.
pub(crate) fn setup(
    cache: &Cache,
    mirrors: &Mirrors,
    manifest: &mut Manifest,
    wanted: &Wanted,
    say: &dyn Fn(&str),
) -> Result<()> {
    let anew = wanted.refresh || wanted.list;
    let has_kernel =
        manifest.kernels.iter().any(|kernel| kernel.series == ARM_PART && kernel.image.is_file());
    if anew || !has_kernel {
        machine(cache, mirrors, manifest, wanted, say)?;
    }
    if (anew || !cache.arm_libcrypto().join("libcrypto.a").is_file())
        && let Err(error) = libcrypto(cache, mirrors, manifest, wanted, say)
    {
        say(&format!(
            "skipped: OpenSSL on arm64: {error:#}; whether its bytes repeat there is not shown"
        ));
    }
    Ok(())
}

fn machine(
    cache: &Cache,
    mirrors: &Mirrors,
    manifest: &mut Manifest,
    wanted: &Wanted,
    say: &dyn Fn(&str),
) -> Result<()> {
    let tools = Apt::open(cache.apt("tools"), mirrors, &TOOLS_SUITES, "amd64", say)?;
    let part = Part {
        name: "arm64-tools",
        what: "QEMU, its firmware and libraries",
        packages: &TOOLS,
        closure: true,
        to: &cache.tools(),
    };
    part.get(&tools, manifest, wanted, say)?;
    let suites = ["trixie", "trixie-security", "trixie-backports"];
    let apt = Apt::open(cache.apt("arm64"), mirrors, &suites, "arm64", say)?;
    let names = apt.names("^linux-(image|binary|modules)-[0-9].*-cloud-arm64$")?;
    let newest =
        SERIES.iter().rev().find_map(|series| series::newest(series.name, &names, "-cloud-arm64"));
    let Some((release, packages)) = newest else {
        say("skipped: arm64: no mirror serves a kernel for it; its guests are not booted");
        return Ok(());
    };
    kernel(cache, &apt, manifest, wanted, (ARM_PART, "aarch64"), &release, &packages, say)
}

/// The libcrypto of this host's own release: it is linked with the C library of the host's cross compiler, which has no
/// symbols of a later one.
fn libcrypto(
    cache: &Cache,
    mirrors: &Mirrors,
    manifest: &mut Manifest,
    wanted: &Wanted,
    say: &dyn Fn(&str),
) -> Result<()> {
    let release = fs::read_to_string("/etc/os-release").context("cannot read /etc/os-release")?;
    let suite = release
        .lines()
        .find_map(|line| line.strip_prefix("VERSION_CODENAME="))
        .context("/etc/os-release names no suite of Debian's")?
        .trim_matches('"');
    let security = format!("{suite}-security");
    let apt = Apt::open(
        cache.apt("arm64-libraries"),
        mirrors,
        &[suite, security.as_str()],
        "arm64",
        say,
    )?;
    let part = Part {
        name: "arm64-libraries",
        what: "libcrypto for its guests",
        packages: &LIBCRYPTO,
        closure: false,
        to: &cache.arm_libraries(),
    };
    part.get(&apt, manifest, wanted, say)?;
    if wanted.list { Ok(()) } else { manifest.write(&cache.manifest()) }
}
