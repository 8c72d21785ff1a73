//! The C library with OpenSSL's module, and the command, each as an archive of an installation.

use super::{fresh, pack};
use crate::install::{PREFIX, Part, Places, install};
use crate::version::VERSION;
use anyhow::Result;
use std::env::consts::{ARCH, OS};
use std::fs;
use std::path::Path;

/// The archives, and the parts of an installation in each.
const ARCHIVES: [(&str, &[Part]); 2] =
    [("libheadwater", &[Part::Library, Part::Openssl]), ("headwater", &[Part::Command])];

pub(super) fn build(dist: &Path) -> Result<()> {
    for (name, parts) in ARCHIVES {
        let name = format!("{name}-{VERSION}-{ARCH}-{OS}-gnu");
        let root = fresh("tarballs")?;
        install(Places::below(&root, parts))?;
        // The files of pkg-config and CMake are relative, so the tree may be unpacked anywhere.
        // Only OpenSSL's configuration names the module below /usr/local.
        let tree = root.join(&name);
        fs::rename(root.join(PREFIX.trim_start_matches('/')), &tree)?;
        pack(&tree, &dist.join(format!("{name}.tar.gz")))?;
    }
    Ok(())
}
