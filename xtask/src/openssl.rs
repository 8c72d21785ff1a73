//! OpenSSL's module: built, and tested with the OpenSSL of Debian 12 and of Debian 13.
//!
//! The OpenSSL of the other release is unpacked into the target directory, with its C library. It
//! is never installed.

use crate::machine_code::target_directory;
use crate::process::{output, program, root, run};
use crate::report::{Report, Stop, need};
use crate::test::cargo;
use crate::tools;
use anyhow::{Context, Result, ensure};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// The release that has OpenSSL 3.5, and the packages unpacked from it: the command, its libraries
/// down to the C library, and the headers. The preload library's tests run Python there.
const RELEASE: &str = "trixie";
const PACKAGES: [&str; 9] = [
    "openssl",
    "libssl3t64",
    "libssl-dev",
    "libc6",
    "zlib1g",
    "libzstd1",
    "libexpat1",
    "libpython3.13-minimal",
    "python3.13-minimal",
];
/// Debian's keys for the signatures of its releases.
const KEYS: &str = "/usr/share/keyrings/debian-archive-keyring.gpg";
/// Programs that take their random bytes from OpenSSL, and from headwater in the last step.
const SERVERS: &str = "nginx-light postgresql openssh-server nodejs ruby php-cli";

/// Unpacks programs of the other release, which several steps run.
pub(crate) fn other_release(report: &mut Report) {
    report.step("OpenSSL 3.5 and glibc 2.41, unpacked", || {
        const LOSS: &str = "whether the provider works with OpenSSL 3.5, and the preload library with \
                            glibc 2.41";
        need(unpacked(), LOSS).map(drop)
    });
}

/// The steps of `cargo xtask test`.
pub(crate) fn steps(report: &mut Report) {
    report.step("OpenSSL provider", || {
        // Without mandoc the tests of the manual page say that they are skipped.
        let _ = tools::package("mandoc", "mandoc");
        cargo("test -p headwater-openssl")
    });
    report.long_step("OpenSSL provider in servers", in_servers);
}

/// Builds the module and unpacks OpenSSL 3.5 for a person to try, and prints both paths.
pub(crate) fn prepare(speed: bool) -> Result<ExitCode> {
    println!("the module: {}", dist()?.display());
    match unpacked() {
        Ok(folder) => println!("OpenSSL 3.5, unpacked: {}", folder.display()),
        Err(error) => println!("OpenSSL 3.5 is not unpacked: {error:#}"),
    }
    if speed {
        run(&mut program(
            "cargo test --release -p headwater-openssl --test speed -- --ignored --nocapture",
        ))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Builds the module and copies it to a directory for OPENSSL_MODULES, under OpenSSL's name for it.
///
/// Builds all default packages as a user does, because cargo unites features within one build.
///
/// Prints nothing to standard output, which may hold the benchmark's document.
pub(crate) fn dist() -> Result<PathBuf> {
    let built = program("cargo build --quiet --release").current_dir(root()?).status();
    ensure!(built.context("cannot run cargo")?.success(), "the module does not build");
    let release = target_directory()?.join("release");
    let folder = release.join("ossl-modules");
    fs::create_dir_all(&folder)?;
    let module = folder.join("headwater.so");
    // A rename, not a copy over the old file: a program that maps the old file keeps it intact.
    let draft = folder.join("headwater.so.new");
    fs::copy(release.join("libheadwater_openssl.so"), &draft)?;
    fs::rename(&draft, &module)?;
    Ok(module)
}

/// Installs each server, and tests that it draws from headwater.
fn in_servers() -> Result<(), Stop> {
    const LOSS: &str = "whether nginx, PostgreSQL, sshd, Node, Ruby and PHP draw from headwater";
    need(tools::root_user(), LOSS)?;
    need(run(&mut program("apt-get update -qq")), LOSS)?;
    let mut install = program("apt-get install -qq --yes --no-install-recommends");
    // At this run level the packages start no service. The tests start their own elsewhere.
    install.env("RUNLEVEL", "1").env("DEBIAN_FRONTEND", "noninteractive");
    need(run(install.args(SERVERS.split_whitespace())), LOSS)?;
    cargo(
        "test -p headwater-openssl --test servers --test installed \
         -- --ignored --nocapture --test-threads=1",
    )
}

/// Returns the directory of the other release's OpenSSL, which the first call fetches.
fn unpacked() -> Result<PathBuf> {
    let folder = target_directory()?.join("openssl-3.5");
    // The package that was added last.
    if folder.join("usr/bin/python3.13").is_file() {
        return Ok(folder);
    }
    ensure!(Path::new(KEYS).is_file(), "there is no {KEYS}: this is not a Debian system");
    let draft = target_directory()?.join("openssl-3.5.new");
    if draft.exists() {
        fs::remove_dir_all(&draft)?;
    }
    fs::create_dir_all(draft.join("tree"))?;
    let archive = archive()?;
    let source = format!("deb [signed-by={KEYS}] {archive} {RELEASE} main\n");
    fs::write(draft.join("sources.list"), source)?;
    run(apt(&draft)?.args(["-qq", "update"]))?;
    run(apt(&draft)?.args(["-qq", "download"]).args(PACKAGES).current_dir(&draft))?;
    for package in fs::read_dir(&draft)? {
        let package = package?.path();
        if package.extension().is_some_and(|end| end == "deb") {
            run(program("dpkg-deb --extract").arg(&package).arg(draft.join("tree")))?;
        }
    }
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    fs::rename(draft.join("tree"), &folder)?;
    fs::remove_dir_all(&draft)?;
    Ok(folder)
}

/// Returns the archive of this system's own release, which has the other release too.
fn archive() -> Result<String> {
    let mut targets = program("apt-get indextargets");
    targets.args(["--format", "$(REPO_URI) $(LABEL)", "Created-By: Packages"]);
    let targets = output(&mut targets)?;
    let found = targets.lines().find_map(|line| line.strip_suffix(" Debian"));
    found
        .map(str::to_owned)
        .context("apt knows no archive of Debian (has apt-get update been run?)")
}

/// Returns apt-get with its state in this directory, so that the system's state does not change and
/// root is not needed.
fn apt(folder: &Path) -> Result<Command> {
    let folder = if folder.is_absolute() { folder.to_owned() } else { root()?.join(folder) };
    fs::create_dir_all(folder.join("state/lists/partial"))?;
    fs::create_dir_all(folder.join("cache/archives/partial"))?;
    let mut apt = Command::new("apt-get");
    let list = folder.join("sources.list");
    for (option, value) in [
        ("Dir::Etc::sourcelist", list.as_path()),
        ("Dir::Etc::sourceparts", Path::new("/dev/null")),
        ("Dir::State", &folder.join("state")),
        ("Dir::State::status", Path::new("/dev/null")),
        ("Dir::Cache", &folder.join("cache")),
    ] {
        apt.arg("-o").arg(format!("{option}={}", value.display()));
    }
    // Skips translations and texts of the software centre; runs as this user, who owns the
    // directory.
    for option in
        ["Acquire::Languages=none", "Acquire::IndexTargets::deb::DEP-11::DefaultEnabled=false"]
    {
        apt.args(["-o", option]);
    }
    if tools::root_user().is_ok() {
        apt.args(["-o", "APT::Sandbox::User=root"]);
    }
    Ok(apt)
}
