//! The C library with OpenSSL's module, and the command, each as an archive of an installation.

use super::{fresh, pack};
use crate::install::{PREFIX, Part, Places, install};
use crate::version::VERSION;
use anyhow::Result;
use std::env::consts::{ARCH, OS};
use std::fs;
use std::path::Path;

pub(super) fn library(dist: &Path) -> Result<()> {
    archive("libheadwater", &[Part::Library, Part::Openssl], dist)
}

pub(super) fn program(dist: &Path) -> Result<()> {
    archive("headwater", &[Part::Command], dist)
}

fn archive(name: &str, parts: &[Part], dist: &Path) -> Result<()> {
    let name = format!("{name}-{VERSION}-{ARCH}-{OS}-gnu");
    let root = fresh("tarballs")?;
    install(Places::below(&root, parts))?;
    // The files of pkg-config and CMake are relative, so the tree may be unpacked anywhere. Only
    // OpenSSL's configuration names the module below /usr/local.
    let tree = root.join(&name);
    fs::rename(root.join(PREFIX.trim_start_matches('/')), &tree)?;
    pack(&tree, &dist.join(format!("{name}.tar.gz")))
}
