//! OpenSSL's module: built, and tested with the OpenSSL of Debian 12, of Debian 13, and the newest.
//!
//! The OpenSSL of other releases is unpacked into the target directory, with its C library. It is
//! never installed.

use crate::failures::cargo_test;
use crate::openssl_suite::{command, compiled};
use crate::process::{output, program, root, run, target_directory};
use crate::report::{Report, Stop, need};
use crate::tools;
use crate::unpack::{self, Packages};
use anyhow::{Context, Result, ensure};
use std::path::PathBuf;
use std::process::{Command, ExitCode};
use std::{env, fs};

/// The packages unpacked from the release that has OpenSSL 3.5: the command, its libraries down to
/// the C library, and the headers. The preload library's tests run Python and sshd there.
const PACKAGES: [&str; 26] = [
    "openssl",
    "libssl3t64",
    "libssl-dev",
    "libc6",
    "zlib1g",
    "libzstd1",
    "libexpat1",
    "libpython3.13-minimal",
    "python3.13-minimal",
    // sshd, the libraries that it links, and the shell of a login.
    "dash",
    "libaudit1",
    "libcap-ng0",
    "libcom-err2",
    "libcrypt1",
    "libgssapi-krb5-2",
    "libk5crypto3",
    "libkeyutils1",
    "libkrb5-3",
    "libkrb5support0",
    "libpam0g",
    "libpcre2-8-0",
    "libselinux1",
    "libsqlite3-0",
    "libwrap0",
    "libwtmpdb0",
    "openssh-server",
];
/// Programs that take their random bytes from OpenSSL, and from headwater in the last step.
const SERVERS: &str = "nginx-light postgresql openssh-server nodejs ruby php-cli";

/// Unpacks programs of the other release, which several steps run.
pub(crate) fn other_release(report: &mut Report) {
    report.step("OpenSSL 3.5 and glibc 2.41, unpacked", || {
        const LOSS: &str = "whether the provider works with OpenSSL 3.5, and the preload library with \
                            glibc 2.41";
        need(unpacked(), LOSS).map(drop)
    });
    report.step("OpenSSL 4, unpacked", || {
        need(newest(), "whether the provider works with OpenSSL 4").map(drop)
    });
    report.step("programs with OpenSSL, for tests that cut its module off", || {
        const LOSS: &str = "whether nginx, Python and Node end without their module, where they \
                            are not installed";
        for (name, package) in
            [("openssl", "openssl"), ("nginx", "nginx"), ("python3", "python3"), ("node", "nodejs")]
        {
            need(tools::package(name, package), LOSS)?;
        }
        Ok(())
    });
}

/// Runs the steps of `cargo xtask test` for OpenSSL's module.
pub(crate) fn steps(report: &mut Report) {
    report.step("OpenSSL provider", || {
        // Without mandoc the tests of the manual page say that they are skipped.
        let _ = tools::package("mandoc", "mandoc");
        cargo_test("test -p headwater-openssl")
    });
    report.long_step("OpenSSL provider in servers", in_servers);
    report.long_step("OpenSSL's own tests of its command", || {
        const LOSS: &str = "whether OpenSSL's own tests pass with the module";
        need(tools::debian(&[("openssl", "openssl"), ("make", "make"), ("perl", "perl")]), LOSS)?;
        let source = need(command::prepared(), LOSS)?;
        let module = root()?.join(dist()?);
        Ok(command::run_suite(&source, &module)?)
    });
    report.long_step("OpenSSL's own tests, compiled", || {
        const LOSS: &str = "whether programs of OpenSSL's own tests pass with the module";
        let tools = [("gcc", "gcc"), ("make", "make"), ("perl", "perl"), ("openssl", "openssl")];
        need(tools::debian(&tools), LOSS)?;
        let suite = need(compiled::prepared(), LOSS)?;
        let module = root()?.join(dist()?);
        Ok(compiled::run_suite(&suite, &module)?)
    });
}

/// Builds the module and unpacks OpenSSL 3.5 and 4 for a person to try, and prints the paths.
pub(crate) fn prepare(speed: bool) -> Result<ExitCode> {
    println!("the module: {}", dist()?.display());
    for (version, unpacked) in [("3.5", unpacked()), ("4", newest())] {
        match unpacked {
            Ok(folder) => println!("OpenSSL {version}, unpacked: {}", folder.display()),
            Err(error) => println!("OpenSSL {version} is not unpacked: {error:#}"),
        }
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
    cargo_test(
        "test -p headwater-openssl --test servers --test installed \
         -- --ignored --nocapture --test-threads=1",
    )
}

/// Returns the directory of the other release's programs, which the first call fetches.
pub(crate) fn unpacked() -> Result<PathBuf> {
    unpack::unpacked(&Packages {
        directory: "openssl-3.5",
        releases: &["trixie"],
        architecture: None,
        names: &PACKAGES,
        // A file of the package that was added last.
        file: "usr/sbin/sshd",
    })
}

/// Returns the directory of the newest OpenSSL, which the first call fetches.
fn newest() -> Result<PathBuf> {
    let tree = unpack::unpacked(&Packages {
        directory: "openssl-4",
        // OpenSSL 4 alone is in the second one, and links libraries of the first.
        releases: &["sid", "experimental"],
        architecture: None,
        names: &[
            "openssl/experimental",
            "libssl4/experimental",
            "libssl-dev/experimental",
            "libc6",
            "zlib1g",
            "libzstd1",
        ],
        file: "usr/bin/openssl",
    })?;
    let libraries = tree.join("usr/lib").join(format!("{}-linux-gnu", env::consts::ARCH));
    let loaders =
        ["ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"].map(|name| libraries.join(name));
    let loader = loaders.into_iter().find(|loader| loader.is_file());
    let mut version = Command::new(loader.context("the packages hold no dynamic linker")?);
    version.arg("--library-path").arg(&libraries).arg(tree.join("usr/bin/openssl")).arg("version");
    // These two releases change every day, and one may be ahead of the other.
    if let Err(error) = output(&mut version) {
        fs::remove_dir_all(&tree)?;
        return Err(error.context("the newest OpenSSL does not start with these libraries"));
    }
    Ok(tree)
}
