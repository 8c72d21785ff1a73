//! Debian's packages, built by debhelper from packaging/debian and tested in clean chroots.

use crate::process::{program, root, run};
use crate::release::stage::{self, ARCHITECTURES, VERSION};
use crate::report::{Report, need};
use crate::tools;
use anyhow::{Context, Result};
use std::fs;
use std::path::Path;

/// The packages that the builds need beside Rust.
const TOOLS: [&str; 6] =
    ["debhelper", "dpkg-dev", "fakeroot", "gcc-aarch64-linux-gnu", "lintian", "qemu-user-static"];
/// The releases of Debian that the packages of the oldest one must serve.
const SUITES: [&str; 2] = ["bookworm", "trixie"];

/// Builds the packages of each architecture into `dist`, and lets lintian judge them.
pub(crate) fn build(dist: &Path) -> Result<()> {
    tools::packages(&TOOLS)?;
    let source = stage::source()?;
    prepare(&source)?;
    for (arch, cpu) in ARCHITECTURES {
        tools::target(&format!("{cpu}-unknown-linux-gnu"))?;
        // -d: Rust comes from rustup, because Debian's is too old, and dpkg does not know it.
        let mut build = stage::within(&source, "dpkg-buildpackage -B -us -uc -d")?;
        run(build.args(["--host-arch", arch]))?;
        let output = stage::directory()?;
        let packages = stage::files(&output, &format!("_{arch}.deb"))?;
        let mut lint = program("lintian --allow-root --fail-on error,warning");
        run(lint.args(&packages))?;
        for package in packages {
            let name = package.file_name().context("a package has a name")?.to_os_string();
            stage::deliver(&package, dist, &name.to_string_lossy())?;
        }
        for end in ["changes", "buildinfo"] {
            for file in stage::files(&output, &format!("_{arch}.{end}"))? {
                fs::remove_file(file)?;
            }
        }
    }
    Ok(())
}

/// Puts debian/ where debhelper expects it, with the version and the date of this release.
fn prepare(source: &Path) -> Result<()> {
    let debian = source.join("debian");
    run(program("cp -r --preserve=mode").arg(source.join("packaging/debian")).arg(&debian))?;
    let template = fs::read_to_string(debian.join("changelog.in"))?;
    let date = stage::date("+%a, %d %b %Y %H:%M:%S +0000")?;
    let changelog = template.replace("@VERSION@", VERSION).replace("@DATE@", &date);
    fs::write(debian.join("changelog"), changelog)?;
    Ok(())
}

/// Installs, uses, upgrades and removes the packages in each release of Debian.
pub(crate) fn steps(report: &mut Report) {
    report.long_step("Debian packages in clean chroots", || {
        const LOSS: &str = "whether the packages install, upgrade and leave nothing behind";
        need(tools::root_user(), LOSS)?;
        need(tools::packages(&["debootstrap"]), LOSS)?;
        let dist = stage::directory()?.join("dist");
        build(&dist)?;
        let cache = stage::directory()?.join("chroots");
        for suite in SUITES {
            let mut check = program("sh");
            check.arg(root()?.join("tools/packages/chroot.sh")).arg(suite);
            run(check.args([&dist, &cache]))?;
        }
        Ok(())
    });
}
