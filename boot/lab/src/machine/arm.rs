//! `headwater lab setup --only arm64`: QEMU and a kernel for arm64, and a libcrypto for its guests.

use crate::machine::apt::{Apt, Mirrors};
use crate::machine::part::{ARM_PART, KernelPackages, MachinePart, Setup, TOOLS_SUITES};
use crate::machine::series::{self, SERIES};
use anyhow::{Context, Result};
use std::fs;

const TOOLS: [&str; 2] = ["qemu-system-arm", "qemu-efi-aarch64"];
/// libcrypto, and the libraries that it may need.
const LIBCRYPTO: [&str; 3] = ["libssl-dev", "zlib1g-dev", "libzstd-dev"];

/// Fetches whatever the cache lacks.
pub(crate) fn fetch(mirrors: &Mirrors, setup: &mut Setup) -> Result<()> {
    let again = setup.request.refresh || setup.request.list;
    let mut kernels = setup.manifest.kernels.iter();
    let has_kernel = kernels.any(|kernel| kernel.series == ARM_PART && kernel.image.is_file());
    if again || !has_kernel {
        fetch_machine(mirrors, setup)?;
    }
    let has_libcrypto = setup.cache.arm_libcrypto().join("libcrypto.a").is_file();
    if (again || !has_libcrypto)
        && let Err(error) = fetch_libcrypto(mirrors, setup)
    {
        (setup.report)(&format!(
            "skipped: OpenSSL on arm64: {error:#}; its repeats there are not shown"
        ));
    }
    Ok(())
}

fn fetch_machine(mirrors: &Mirrors, setup: &mut Setup) -> Result<()> {
    let (cache, report) = (setup.cache, setup.report);
    let tools = Apt::open(cache.apt("tools"), mirrors, &TOOLS_SUITES, "amd64", report)?;
    let part = MachinePart {
        name: "arm64-tools",
        content: "QEMU, its firmware and libraries",
        packages: &TOOLS,
        closure: true,
        to: &cache.tools(),
    };
    part.fetch(&tools, setup)?;
    let suites = ["trixie", "trixie-security", "trixie-backports"];
    let apt = Apt::open(cache.apt("arm64"), mirrors, &suites, "arm64", report)?;
    let names = apt.names("^linux-(image|binary|modules)-[0-9].*-cloud-arm64$")?;
    let newest =
        SERIES.iter().rev().find_map(|series| series::newest(series.name, &names, "-cloud-arm64"));
    let Some((release, packages)) = newest else {
        report("skipped: arm64: no mirror serves a kernel for it; its guests are not booted");
        return Ok(());
    };
    let kernel = KernelPackages {
        part: ARM_PART,
        architecture: "aarch64",
        release: &release,
        packages: &packages,
    };
    kernel.fetch(&apt, setup)
}

/// Fetches the libcrypto of this host's own release. A later one would be nearer to what users
/// have, but the host's cross compiler links the guest with its own C library, which lacks the
/// symbols that a later libcrypto would need.
fn fetch_libcrypto(mirrors: &Mirrors, setup: &mut Setup) -> Result<()> {
    let release = fs::read_to_string("/etc/os-release").context("cannot read /etc/os-release")?;
    let suite = release
        .lines()
        .find_map(|line| line.strip_prefix("VERSION_CODENAME="))
        .context("/etc/os-release does not name a Debian suite")?
        .trim_matches('"');
    let security = format!("{suite}-security");
    let cache = setup.cache;
    let suites = [suite, security.as_str()];
    let apt = Apt::open(cache.apt("arm64-libraries"), mirrors, &suites, "arm64", setup.report)?;
    let part = MachinePart {
        name: "arm64-libraries",
        content: "libcrypto for its guests",
        packages: &LIBCRYPTO,
        closure: false,
        to: &cache.arm_libraries(),
    };
    part.fetch(&apt, setup)?;
    if setup.request.list { Ok(()) } else { setup.save() }
}
