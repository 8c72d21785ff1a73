//! Debian's packages, built by debhelper from tools/release/debian and tested in clean chroots.

use crate::process::{output, program, root, run};
use crate::release::stage::{self, ARCHITECTURES, VERSION};
use crate::report::{Report, need};
use crate::tools;
use anyhow::{Context, Result, ensure};
use std::fs;
use std::path::{Path, PathBuf};

/// The packages that the builds need beside Rust.
const TOOLS: [&str; 7] = [
    "debhelper",
    "dpkg-dev",
    "fakeroot",
    "gcc-aarch64-linux-gnu",
    "libc6-dev-arm64-cross",
    "lintian",
    "qemu-user-static",
];
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
        if arch == "arm64" {
            emulated(&packages)?;
        }
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

/// A program of a user of the library.
const DRAW: &str = "\
#include <headwater.h>
int main(void) {
    unsigned char key[16] = {0};
    headwater_arc4random_buf(key, sizeof key);
    for (unsigned i = 0; i < sizeof key; i++) if (key[i]) return 0;
    return 1;
}
";

/// Unpacks arm64's packages, and runs the command and a C program with either library in qemu-user.
fn emulated(packages: &[PathBuf]) -> Result<()> {
    let tree = stage::directory()?.join("arm64");
    let _ = fs::remove_dir_all(&tree);
    for package in packages {
        run(program("dpkg-deb --extract").arg(package).arg(&tree))?;
    }
    let library = tree.join("usr/lib/aarch64-linux-gnu");
    for name in ["libheadwater.so.0", "libheadwater_preload.so", "ossl-modules/headwater.so"] {
        let header = output(program("readelf --file-header").arg(library.join(name)))?;
        ensure!(header.contains("AArch64"), "{name}:\n{header}");
    }
    let emulator = || {
        let mut emulator = program(stage::QEMU);
        emulator.args(["-L", "/usr/aarch64-linux-gnu", "-E"]);
        emulator.arg(format!("LD_LIBRARY_PATH={}", library.display()));
        emulator
    };
    for arguments in ["--version", "status", "bytes 16 --hex", "uuid"] {
        run(emulator().arg(tree.join("usr/bin/headwater")).args(arguments.split(' ')))?;
    }
    let source = tree.join("draw.c");
    fs::write(&source, DRAW)?;
    for file in ["libheadwater.so", "libheadwater.a"] {
        let linked = tree.join("draw");
        let mut compile = program("aarch64-linux-gnu-gcc -Wall -Werror -o");
        compile.arg(&linked).arg("-I").arg(tree.join("usr/include")).arg(&source);
        run(compile.arg(library.join(file)))?;
        run(emulator().arg(linked))?;
    }
    Ok(())
}

/// Puts debian/ where debhelper expects it, with the version and the date of this release.
fn prepare(source: &Path) -> Result<()> {
    let debian = source.join("debian");
    run(program("cp -r --preserve=mode").arg(source.join("tools/release/debian")).arg(&debian))?;
    let template = fs::read_to_string(debian.join("changelog.in"))?;
    let date = stage::date("+%a, %d %b %Y %H:%M:%S +0000")?;
    let changelog = template.replace("@VERSION@", VERSION).replace("@DATE@", &date);
    fs::write(debian.join("changelog"), changelog)?;
    Ok(())
}

/// Installs, uses, upgrades and removes the packages in each release of Debian.
pub(crate) fn steps(report: &mut Report) {
    report.long_step("Debian packages in clean chroots", || {
        const LOSS: &str = "whether the packages install, upgrade and leave nothing";
        need(tools::root_user(), LOSS)?;
        need(tools::packages(&["debootstrap"]), LOSS)?;
        let dist = stage::directory()?.join("dist");
        build(&dist)?;
        let cache = stage::directory()?.join("chroots");
        for suite in SUITES {
            let mut check = program("sh");
            check.arg(root()?.join("tools/release/packages/chroot.sh")).arg(suite);
            run(check.args([&dist, &cache]))?;
        }
        Ok(())
    });
}
