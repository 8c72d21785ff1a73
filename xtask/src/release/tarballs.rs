//! The C library with OpenSSL's module, and the command, each as an archive of an installation.

use super::{fresh, pack};
use crate::install::{InstallPart, PREFIX, Places, install};
use crate::version::VERSION;
use anyhow::{Context, Result};
use std::env::consts::{ARCH, OS};
use std::fs;
use std::path::Path;

/// The licences of headwater, and of the tables of others in its sources.
pub(super) const LICENCES: [&str; 3] = ["LICENSE-APACHE", "LICENSE-MIT", "LICENSE-THIRD-PARTY"];

pub(super) fn library(dist: &Path) -> Result<()> {
    archive("libheadwater", &[InstallPart::Library, InstallPart::Openssl], dist)
}

pub(super) fn program(dist: &Path) -> Result<()> {
    archive("headwater", &[InstallPart::Command], dist)
}

fn archive(name: &str, parts: &[InstallPart], dist: &Path) -> Result<()> {
    let name = format!("{name}-{VERSION}-{ARCH}-{OS}-gnu");
    let root = fresh("tarballs")?;
    install(Places::below(&root, parts))?;
    // The files of pkg-config and CMake are relative, so the tree may be unpacked anywhere. Only
    // OpenSSL's configuration names the module below /usr/local.
    let tree = root.join(&name);
    fs::rename(root.join(PREFIX.trim_start_matches('/')), &tree)?;
    let documents = tree.join("share/doc/headwater");
    for licence in LICENCES {
        fs::copy(licence, documents.join(licence)).context(licence)?;
    }
    pack(&tree, &dist.join(format!("{name}.tar.gz")))
}
