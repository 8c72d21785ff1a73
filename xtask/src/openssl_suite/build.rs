//! Compiles Debian's source of OpenSSL with the programs of its test suite, once for each version.

use crate::process::{output, program, root, run};
use crate::{tools, unpack};
use anyhow::{Context, Result};
use std::fs::{self, File};
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::thread;

/// The features that Debian's rules choose.
const FEATURES: &str = "shared no-idea no-mdc2 no-rc5 no-zlib no-ssl3 enable-unit-test \
                        no-ssl3-method enable-rfc3779 enable-cms no-capieng no-rdrand \
                        enable-ec_nistp_64_gcc_128";
/// Optimised less than Debian's packages and without debug information, which halves the time to
/// compile. Nothing is lost, because the speed of the library decides nothing here.
const CFLAGS: &str = "-O1 -w";

/// A built OpenSSL.
pub(super) struct Built {
    /// The package's version, such as `3.0.20-1~deb12u2`.
    pub(super) version: String,
    pub(super) source: PathBuf,
    pub(super) build: PathBuf,
    /// Another run would change the same configurations and directories.
    _lock: File,
}

/// Returns OpenSSL, built in the user's cache. The first call for a version compiles it.
pub(super) fn built() -> Result<Built> {
    let unpacked = root()?.join(unpack::source("openssl")?);
    let folder = unpacked.parent().context("the source lies in no directory")?;
    let (description, version) = description(folder)?;
    let cache = tools::cache()?.join("openssl-suite");
    fs::create_dir_all(&cache)?;
    let lock = File::create(cache.join("lock"))?;
    if lock.try_lock().is_err() {
        println!("waiting for another run in {}", cache.display());
        lock.lock()?;
    }
    let place = cache.join(&version);
    let (source, build) = (place.join("source"), place.join("build"));
    let built = Built { version, source, build, _lock: lock };
    if built.build.join("complete").is_file() {
        return Ok(built);
    }
    if place.exists() {
        fs::remove_dir_all(&place)?;
    }
    fs::create_dir_all(&built.build)?;
    // Unpacked again: the other step configures its own copy, which the headers would come from.
    run(program("dpkg-source --no-check --extract").arg(&description).arg(&built.source))?;
    let mut configure = program("perl");
    configure.arg(built.source.join("Configure")).args(FEATURES.split_whitespace());
    // Targets of Debian's patches.
    let architecture = output(&mut program("dpkg --print-architecture"))?;
    configure.arg(format!("debian-{}", architecture.trim()));
    run(configure.env("CFLAGS", CFLAGS).current_dir(&built.build))?;
    let jobs = thread::available_parallelism().map_or(1, NonZero::get);
    run(program(&format!("make -s -j{jobs} build_sw")).current_dir(&built.build))?;
    fs::write(built.build.join("complete"), "")?;
    Ok(built)
}

/// Returns the description of the source package in this directory, and the version in its name.
fn description(folder: &Path) -> Result<(PathBuf, String)> {
    for file in fs::read_dir(folder)? {
        let file = file?.path();
        let name = file.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let version = name.strip_prefix("openssl_").and_then(|rest| rest.strip_suffix(".dsc"));
        if let Some(version) = version.map(str::to_owned) {
            return Ok((file, version));
        }
    }
    anyhow::bail!("{} holds no description of the source package", folder.display())
}
