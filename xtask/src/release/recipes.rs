//! Packages by the recipes for RPM and Arch, as far as Debian has their tools.

use crate::process::{program, run};
use crate::release::stage::{self, VERSION};
use crate::tools;
use anyhow::Result;
use std::fs;
use std::path::Path;

/// Builds this machine's packages into `dist`, and lets rpmlint judge RPM's.
pub(crate) fn build(dist: &Path) -> Result<()> {
    let source = stage::source()?;
    rpm(&source, dist)?;
    arch(&source, dist)
}

fn rpm(source: &Path, dist: &Path) -> Result<()> {
    tools::packages(&["rpm", "rpmlint"])?;
    let top = stage::directory()?.join("rpm");
    let _ = fs::remove_dir_all(&top);
    // Rust comes from rustup, which RPM's database does not know.
    let mut build = stage::within(source, "rpmbuild -bb --build-in-place --nodeps")?;
    for (name, value) in [
        ("upstream", VERSION),
        ("rustup", "1"),
        ("_topdir", &top.to_string_lossy()),
        // Debian's rpm has Debian's directory of libraries.
        ("_libdir", "/usr/lib64"),
        ("_lib", "lib64"),
        ("_libexecdir", "/usr/libexec"),
        ("_unitdir", "/usr/lib/systemd/system"),
        ("_udevrulesdir", "/usr/lib/udev/rules.d"),
        ("use_source_date_epoch_as_buildtime", "1"),
        ("clamp_mtime_to_source_date_epoch", "1"),
        ("_buildhost", "headwater"),
    ] {
        build.arg("--define").arg(format!("{name} {value}"));
    }
    run(build.arg("tools/release/rpm/headwater.spec"))?;
    let packages = stage::files(&top.join(format!("RPMS/{}", std::env::consts::ARCH)), ".rpm")?;
    let mut lint = program("rpmlint --rpmlintrc tools/release/rpm/headwater.rpmlintrc");
    run(lint.current_dir(source).args(&packages))?;
    fs::create_dir_all(dist)?;
    for package in packages {
        run(program("mv -f -t").arg(dist).arg(package))?;
    }
    Ok(())
}

/// Builds Arch's package from an archive of the tree, as makepkg wants it.
fn arch(source: &Path, dist: &Path) -> Result<()> {
    // makepkg ends with an unknown error where pacman is not found, though it installs nothing.
    let packages = ["makepkg", "pacman-package-manager", "libarchive-tools", "fakeroot"];
    tools::packages(&packages)?;
    let directory = stage::directory()?.join("arch");
    let _ = fs::remove_dir_all(&directory);
    fs::create_dir_all(&directory)?;
    let recipe = fs::read_to_string(source.join("tools/release/arch/PKGBUILD"))?;
    fs::write(directory.join("PKGBUILD"), recipe.replace("@VERSION@", VERSION))?;
    let mut tar = program("tar --sort=name --owner=0 --group=0 --numeric-owner -czf");
    tar.arg(directory.join(format!("headwater-{VERSION}.tar.gz")));
    tar.arg(format!("--transform=s,^[.],headwater-{VERSION},")).arg("-C").arg(source);
    run(tar.arg("."))?;
    // makepkg refuses root. So it runs in a namespace, in which the user has another number and the
    // same rights.
    let mut build = stage::within(&directory, "unshare --user --map-user=1000 --map-group=1000")?;
    build.args(["makepkg", "--nodeps", "--force"]).env("PKGEXT", ".pkg.tar.zst");
    run(build.env("PKGDEST", &directory))?;
    for package in stage::files(&directory, ".pkg.tar.zst")? {
        fs::create_dir_all(dist)?;
        run(program("mv -f -t").arg(dist).arg(package))?;
    }
    Ok(())
}
