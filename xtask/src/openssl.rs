//! OpenSSL's module: put in place, and tested with the OpenSSLs of Debian 12 and 13.
//!
//! That of the other release is unpacked into the target folder, with its C library, and not installed.

use crate::machine_code::target_folder;
use crate::process::{output, program, root, run};
use crate::report::{Report, Stop, need};
use crate::test::cargo;
use crate::tools;
use anyhow::{Context, Result, ensure};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// The release that has OpenSSL 3.5, and what is unpacked of it: the command, its libraries down to the C library, and
/// the headers.
const RELEASE: &str = "trixie";
const PACKAGES: [&str; 6] = ["openssl", "libssl3t64", "libssl-dev", "libc6", "zlib1g", "libzstd1"];
/// Where Debian keeps the keys that its releases are signed with.
const KEYS: &str = "/usr/share/keyrings/debian-archive-keyring.gpg";
/// Programs that take their random bytes from OpenSSL, which the last step draws from headwater with.
const SERVERS: &str = "nginx-light postgresql openssh-server nodejs ruby php-cli";

/// The steps of `cargo xtask test`.
pub(crate) fn steps(report: &mut Report) {
    report.step("OpenSSL 3.5, unpacked", || {
        need(unpacked(), "whether the provider works with OpenSSL 3.5").map(drop)
    });
    report.step("OpenSSL provider", || {
        // Without it the tests of the manual page say that they are skipped.
        let _ = tools::package("mandoc", "mandoc");
        cargo("test -p headwater-openssl")
    });
    report.long_step("OpenSSL provider in servers", in_servers);
}

/// Makes ready what a person may want to try, and tells where it is.
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

/// Builds the module and puts it where OPENSSL_MODULES may point, under the name that OpenSSL looks for.
///
/// Builds all that a user does, because crates that are built with others may get other features.
///
/// Says nothing on standard output, which may be a document of the benchmark's.
pub(crate) fn dist() -> Result<PathBuf> {
    let built = program("cargo build --quiet --release").current_dir(root()?).status();
    ensure!(built.context("cannot run cargo")?.success(), "the module does not build");
    let release = target_folder()?.join("release");
    let folder = release.join("ossl-modules");
    fs::create_dir_all(&folder)?;
    let module = folder.join("headwater.so");
    // Not over the one there: a program that has it mapped would see it change.
    let draft = folder.join("headwater.so.new");
    fs::copy(release.join("libheadwater_openssl.so"), &draft)?;
    fs::rename(&draft, &module)?;
    Ok(module)
}

/// Each server draws from headwater, for which it has to be installed.
fn in_servers() -> Result<(), Stop> {
    const LOSS: &str = "whether nginx, PostgreSQL, sshd, Node, Ruby and PHP draw from headwater";
    need(tools::root_user(), LOSS)?;
    need(run(&mut program("apt-get update -qq")), LOSS)?;
    let mut install = program("apt-get install -qq --yes --no-install-recommends");
    // So that the packages' scripts start no service: what is tested is started by the tests, elsewhere.
    install.env("RUNLEVEL", "1").env("DEBIAN_FRONTEND", "noninteractive");
    need(run(install.args(SERVERS.split_whitespace())), LOSS)?;
    cargo(
        "test -p headwater-openssl --test servers --test installed \
         -- --ignored --nocapture --test-threads=1",
    )
}

/// The folder that holds the other release's OpenSSL, which is fetched on the first call and kept.
fn unpacked() -> Result<PathBuf> {
    let folder = target_folder()?.join("openssl-3.5");
    if folder.join("usr/bin/openssl").is_file() {
        return Ok(folder);
    }
    ensure!(Path::new(KEYS).is_file(), "there is no {KEYS}: this is not a Debian system");
    let draft = target_folder()?.join("openssl-3.5.new");
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

/// The archive that this system has its own release from: it has the other one, too.
fn archive() -> Result<String> {
    let mut targets = program("apt-get indextargets");
    targets.args(["--format", "$(REPO_URI) $(LABEL)", "Created-By: Packages"]);
    let targets = output(&mut targets)?;
    let found = targets.lines().find_map(|line| line.strip_suffix(" Debian"));
    found
        .map(str::to_owned)
        .context("apt knows no archive of Debian (has apt-get update been run?)")
}

/// apt-get with a state of its own in this folder, so that the system's stays as it is and nobody must be root.
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
    // Neither translations nor the software centre's texts; and as this user, who owns the folder.
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
